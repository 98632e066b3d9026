// Images for tests, built record by record.
#pragma once

#include <algorithm>

#include "base/memory_device.h"
#include "store/edk2_create.h"
#include "store/edk2_record.h"

namespace efivarium::store {

// A geometry small enough to cut at every byte: seven blocks of variables, room for two entries.
inline constexpr std::array kTinyLayouts = {
    Edk2Layout{"tiny", 0x1000, 0x00, 0xF00, 0x100, 0x6B8, 0x700, 0x100, 0x800, 0x700, 0x400, 0x480,
               0x400, 0x1000},
};

inline Variable make_variable(const char16_t* name, std::size_t size, std::uint8_t fill) {
  return {{Guid::of("20230501-1234-5678-9abc-def012345678"), *VariableName::from_units(name)},
          kUsualAttributes,
          {},
          Bytes(size, fill)};
}

// Puts records, whatever their states, one behind the other into a blank store.
class Edk2Image {
 public:
  explicit Edk2Image(StoreKind kind = StoreKind::kAuthenticated,
                     const Edk2Layout& layout = kTinyLayouts.front())
      : kind_(kind), bytes_(layout.file_size, layout.padding) {
    base::MemoryDevice device(bytes_);
    (void)format_store(device, layout, kind);
    bytes_ = device.bytes();
  }

  Edk2Image& add(const Variable& variable, std::uint8_t state) {
    const Bytes record = serialize_record(variable, state, kind_);
    std::ranges::copy(record, bytes_.begin() + end_);
    last_ = end_;
    end_ = (end_ + static_cast<std::ptrdiff_t>(record.size()) + 3) / 4 * 4;
    return *this;
  }
  // A byte of the last record.
  Edk2Image& patch_last(std::ptrdiff_t offset, std::uint8_t value) {
    bytes_[static_cast<std::size_t>(last_ + offset)] = value;
    return *this;
  }
  Edk2Image& patch(std::size_t offset, std::uint8_t value) {
    bytes_[offset] = value;
    return *this;
  }
  std::uint64_t last_offset() const { return static_cast<std::uint64_t>(last_); }
  std::uint64_t end_offset() const { return static_cast<std::uint64_t>(end_); }
  const Bytes& bytes() const { return bytes_; }
  std::unique_ptr<base::MemoryDevice> device() const {
    return std::make_unique<base::MemoryDevice>(bytes_);
  }

 private:
  const StoreKind kind_;
  Bytes bytes_;
  std::ptrdiff_t end_ = kVolumeHeaderSize + kStoreHeaderSize;
  std::ptrdiff_t last_ = end_;
};

}  // namespace efivarium::store
