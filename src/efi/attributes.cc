#include "efivarium/attributes.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>

#include "base/try.h"
#include "efi/attributes_text.h"

namespace efivarium {
namespace {

struct ShortName {
  Attributes attribute;
  std::string_view text;
};
constexpr std::array kShortNames = {
    ShortName{kNonVolatile, "nv"},
    ShortName{kBootserviceAccess, "bs"},
    ShortName{kRuntimeAccess, "rt"},
    ShortName{kHardwareErrorRecord, "hr"},
    ShortName{kAuthenticatedWriteAccess, "aw"},
    ShortName{kTimeBasedAuthenticatedWriteAccess, "at"},
    ShortName{kAppendWrite, "ap"},
    ShortName{kEnhancedAuthenticatedAccess, "ea"},
};

}  // namespace

std::string Attributes::to_text() const {
  std::string text;
  Attributes left = *this;
  for (const ShortName& name : kShortNames) {
    if (!left.has(name.attribute)) continue;
    if (!text.empty()) text += ',';
    text += name.text;
    left = left.without(name.attribute);
  }
  if (left.empty() && !text.empty()) return text;
  std::array<char, 16> hex{};
  std::snprintf(hex.data(), hex.size(), "%s0x%x", text.empty() ? "" : ",", left.raw());
  return text + hex.data();
}

namespace efi {
namespace {

// 0x and hexadecimal digits, as to_text() writes what has no name.
Result<std::uint32_t> parse_number(std::string_view word) {
  std::uint32_t raw = 0;
  if (word.starts_with("0x")) {
    const char* const end = std::to_address(word.end());
    const auto [stop, error] = std::from_chars(std::to_address(word.begin()) + 2, end, raw, 16);
    if (error == std::errc{} && stop == end) return raw;
  }
  return fail(Code::kInvalidParameter,
              "attributes are words of nv, bs, rt, hr, aw, at, ap, ea, or a number with 0x, with "
              "commas");
}

}  // namespace

Result<Attributes> parse_attributes(std::string_view text) {
  Attributes attributes;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    bool known = false;
    for (const ShortName& name : kShortNames) {
      if (word != name.text) continue;
      attributes = attributes | name.attribute;
      known = true;
    }
    if (!known) {
      EFIVARIUM_TRY(const std::uint32_t raw, parse_number(word));
      attributes = attributes | Attributes::from_raw(raw);
    }
    if (comma == std::string_view::npos) return attributes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace efi
}  // namespace efivarium
