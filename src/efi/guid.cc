#include "efivarium/guid.h"

namespace efivarium {

Result<Guid> Guid::parse(std::string_view text) {
  Guid guid;
  if (!guid.read_text(text)) {
    return fail(Code::kInvalidParameter, "not a GUID: 8-4-4-4-12 hex digits are");
  }
  return guid;
}

std::string Guid::to_text() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(kTextLength, '-');
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const std::uint8_t byte = bytes_[guid_detail::kByteIndex[i]];
    text[guid_detail::kTextOffset[i]] = kDigits[byte >> 4];
    text[guid_detail::kTextOffset[i] + 1U] = kDigits[byte & 0xF];
  }
  return text;
}

}  // namespace efivarium
