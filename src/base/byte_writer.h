// ByteWriter: builds little-endian layouts.
#pragma once

#include <cstdint>
#include <span>

#include "base/byte_reader.h"

namespace efivarium::base {

class ByteWriter {
 public:
  ByteWriter& u8(std::uint8_t value) { return integer(value, 1); }
  ByteWriter& u16(std::uint16_t value) { return integer(value, 2); }
  ByteWriter& u32(std::uint32_t value) { return integer(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return integer(value, 8); }
  ByteWriter& guid(const Guid& value) { return bytes(value.bytes()); }
  ByteWriter& bytes(ByteView view) {
    bytes_.insert(bytes_.end(), view.begin(), view.end());
    return *this;
  }
  ByteWriter& fill(std::size_t count, std::uint8_t value) {
    bytes_.insert(bytes_.end(), count, value);
    return *this;
  }
  // UCS-2 with the terminator.
  ByteWriter& name(const VariableName& name) {
    for (const char16_t unit : name.units()) u16(unit);
    return u16(0);
  }

  std::size_t size() const { return bytes_.size(); }
  Bytes take() && { return std::move(bytes_); }
  ByteView view() const { return bytes_; }

 private:
  ByteWriter& integer(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i, value >>= 8) bytes_.push_back(static_cast<std::uint8_t>(value));
    return *this;
  }

  Bytes bytes_;
};

}  // namespace efivarium::base
