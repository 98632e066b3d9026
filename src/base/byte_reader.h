// ByteReader: the only way in for bytes that come from outside.
#pragma once

#include <cstdint>
#include <span>

#include "base/try.h"
#include "efivarium/variable.h"

namespace efivarium {

using ByteView = std::span<const std::uint8_t>;

namespace base {

// Reads little-endian values one after the other and never past the end: a read that does not
// fit fails with kCorrupt and the offset, and moves nothing.
class ByteReader {
 public:
  // origin: what offset() and errors call the first byte.
  explicit ByteReader(ByteView bytes, std::uint64_t origin = 0) : bytes_(bytes), origin_(origin) {}

  std::uint64_t offset() const { return origin_ + position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return remaining() == 0; }
  ByteView rest() const { return bytes_.subspan(position_); }

  // The next size bytes; the view lives as long as what the reader was made over.
  Result<ByteView> take(std::uint64_t size) {
    if (size > remaining()) return fail_at(Code::kCorrupt, "data ends too early", offset());
    const ByteView taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += taken.size();
    return taken;
  }
  Result<void> skip(std::uint64_t size) {
    EFIVARIUM_TRY(take(size));
    return {};
  }
  Result<std::uint8_t> u8() { return integer<std::uint8_t>(); }
  Result<std::uint16_t> u16() { return integer<std::uint16_t>(); }
  Result<std::uint32_t> u32() { return integer<std::uint32_t>(); }
  Result<std::uint64_t> u64() { return integer<std::uint64_t>(); }
  Result<Guid> guid() {
    EFIVARIUM_TRY(const ByteView raw, take(16));
    std::array<std::uint8_t, 16> bytes{};
    std::copy(raw.begin(), raw.end(), bytes.begin());
    return Guid(bytes);
  }

 private:
  template <typename Integer>
  Result<Integer> integer() {
    EFIVARIUM_TRY(const ByteView raw, take(sizeof(Integer)));
    std::uint64_t value = 0;
    for (std::size_t i = raw.size(); i-- > 0;) value = (value << 8) | raw[i];
    return static_cast<Integer>(value);
  }

  ByteView bytes_;
  std::uint64_t origin_;
  std::size_t position_ = 0;
};

}  // namespace base
}  // namespace efivarium
