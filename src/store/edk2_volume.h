// Edk2Volume: where in a file the firmware volume with the variables is, and how it is laid out.
#pragma once

#include "base/device.h"
#include "store/edk2_format.h"

namespace efivarium::store {

enum class StoreKind : std::uint8_t { kAuthenticated, kPlain };

struct Edk2Volume {
  const Edk2Layout* layout = nullptr;
  std::uint64_t base = 0;  // of the volume in the file
  // Where the variable region is read from: base, or the spare area while a rewrite of the region
  // that was cut short has yet to be finished.
  std::uint64_t source = 0;
  StoreKind kind = StoreKind::kAuthenticated;

  std::uint32_t header_size() const {
    return kind == StoreKind::kAuthenticated ? kAuthenticatedHeaderSize : kPlainHeaderSize;
  }
  // Of the variable store's header, in the file.
  std::uint64_t store_offset() const { return base + kVolumeHeaderSize; }
  std::uint64_t working_offset() const { return base + layout->working_offset; }
  std::uint64_t spare_offset() const { return base + layout->spare_offset; }
};

// Looks at the start of the file, then at every 4 KiB. kNotFormatted for a file of zeros or ones
// alone, or with no more than the volume's own header, kUnsupported where there is no such volume
// or one of an unknown layout, kCorrupt with the offset for one that is damaged.
Result<Edk2Volume> find_volume(base::Device& device, Edk2Layouts layouts);

// Whether the file starts with a volume's headers; whether a rewrite of it was cut short is left to
// find_volume().
bool begins_with_volume(base::Device& device, Edk2Layouts layouts);

// The header that a build of the layout starts with.
Bytes serialize_volume_header(const Edk2Layout& layout);
Bytes serialize_store_header(const Edk2Layout& layout, StoreKind kind);

// Checks the header; origin is its offset in the file.
Result<void> check_volume_header(ByteView bytes, std::uint64_t origin, const Edk2Layout& layout);
// Checks the 28 bytes; origin is their offset in the file.
Result<StoreKind> parse_store_header(ByteView bytes, std::uint64_t origin,
                                     const Edk2Layout& layout);

// Whether all bytes are erased, or all the same.
bool is_filled_with(ByteView bytes, std::uint8_t value);

}  // namespace efivarium::store
