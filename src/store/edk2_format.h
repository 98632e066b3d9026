// The layout of an edk2 variable store in flash. docs/formats/edk2.md tells the whole story.
//
// Offsets are from the start of the firmware volume, integers little endian, erased bytes 0xFF.
// Sources: edk2 MdePkg Include/Pi/PiFirmwareVolume.h, MdeModulePkg Include/Guid/VariableFormat.h,
// Include/Guid/SystemNvDataGuid.h, Universal/FaultTolerantWriteDxe, and the platforms' .fdf files.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "efivarium/guid.h"
#include "store/variable_store.h"

namespace efivarium::store {

inline constexpr std::uint8_t kErased = 0xFF;

// Firmware volume header.
inline constexpr Guid kNvDataGuid = Guid::of("fff12b8d-7696-4c8b-a985-2747075b4f50");
inline constexpr std::uint32_t kVolumeSignature = 0x4856465F;  // _FVH
inline constexpr std::uint64_t kVolumeSignatureOffset = 0x28;
inline constexpr std::uint16_t kVolumeHeaderSize = 0x48;  // with one block-map entry
inline constexpr std::uint8_t kVolumeRevision = 2;
inline constexpr std::uint32_t kVolumeAttributes = 0x0004FEFF;  // of build-time images

// Variable store header, right behind it.
inline constexpr Guid kAuthenticatedStoreGuid = Guid::of("aaf32c78-947b-439a-a180-2e144ec37792");
inline constexpr Guid kPlainStoreGuid = Guid::of("ddcf3616-3275-4164-98b6-fe85707ffe7d");
inline constexpr std::uint32_t kStoreHeaderSize = 28;
inline constexpr std::uint8_t kStoreFormatted = 0x5A;
inline constexpr std::uint8_t kStoreHealthy = 0xFE;

// Variable headers.
inline constexpr std::uint16_t kStartId = 0x55AA;
inline constexpr std::uint32_t kAuthenticatedHeaderSize = 60;
inline constexpr std::uint32_t kPlainHeaderSize = 32;
inline constexpr std::uint32_t kStateOffset = 2;  // in a variable header
inline constexpr std::uint32_t kHeaderAlignment = 4;
inline constexpr std::uint32_t kErasedAttributes = 0xFFFFFFFF;

// A state only ever loses bits.
inline constexpr std::uint8_t kStateUnset = 0xFF;         // being written
inline constexpr std::uint8_t kStateHeaderValid = 0x7F;   // an old writer was cut before the data
inline constexpr std::uint8_t kStateAdded = 0x3F;         // live
inline constexpr std::uint8_t kStateInTransition = 0x3E;  // live unless there is a 0x3F
inline constexpr std::uint8_t kStateDeleted = 0x3D;
inline constexpr std::uint8_t kStateReplaced = 0x3C;
inline constexpr std::uint8_t kTransitionMask = 0xFE;
inline constexpr std::uint8_t kDeletedMask = 0xFD;

// Fault-tolerant write: working block header, write header, write record.
inline constexpr Guid kWorkingBlockGuid = Guid::of("9e58292b-7c68-497d-a0ce-6500fd9f1b95");
inline constexpr Guid kFtwCallerGuid = Guid::of("fe5cea76-4f72-49e8-986f-2cd899dffe5d");
inline constexpr std::uint32_t kWorkingHeaderSize = 32;
inline constexpr std::uint32_t kWriteHeaderSize = 40;
inline constexpr std::uint32_t kWriteRecordSize = 40;
inline constexpr std::uint32_t kWriteEntrySize = kWriteHeaderSize + kWriteRecordSize;
inline constexpr std::uint32_t kWorkingFlagsOffset = 20;
inline constexpr std::uint8_t kWorkingValid = 0xFE;
// Bits of the flags, 0 = set.
inline constexpr std::uint8_t kHeaderAllocated = 0x01, kWritesAllocated = 0x02, kComplete = 0x04;
inline constexpr std::uint8_t kSpareComplete = 0x02, kDestinationComplete = 0x04;

// One build of a platform's flash.
struct Edk2Layout {
  std::string_view name;
  std::uint64_t file_size;      // as shipped; what is behind the volume is padding
  std::uint8_t padding;         // its value
  std::uint64_t volume_length;  // FvLength
  std::uint32_t block_size;
  std::uint32_t store_size;  // with its header
  std::uint64_t working_offset, working_size;
  std::uint64_t spare_offset, spare_size;
  // PcdMaxVariableSize, PcdMaxAuthVariableSize and PcdMaxVolatileVariableSize, headers included.
  std::uint32_t max_variable, max_authenticated, max_volatile;
  std::uint32_t volatile_store;  // PcdVariableStoreSize

  // The whole blocks that a rewrite of the store goes through.
  constexpr std::uint64_t rewritten_size() const {
    const std::uint64_t end = kVolumeHeaderSize + std::uint64_t{store_size};
    return (end + block_size - 1) / block_size * block_size;
  }
};

inline constexpr std::array kEdk2Layouts = {
    Edk2Layout{"ovmf-2m", 0x20000, 0xFF, 0x20000, 0x1000, 0xDFB8, 0xF000, 0x1000, 0x10000, 0x10000,
               0x2000, 0x2800, 0x2000, 0xE000},
    Edk2Layout{"ovmf-4m", 0x84000, 0xFF, 0x84000, 0x1000, 0x3FFB8, 0x41000, 0x1000, 0x42000,
               0x42000, 0x8400, 0x8400, 0x8400, 0x40000},
    Edk2Layout{"aavmf", 0x4000000, 0x00, 0xC0000, 0x40000, 0x3FFB8, 0x40000, 0x40000, 0x80000,
               0x40000, 0x2000, 0x2800, 0x2000, 0x10000},
    Edk2Layout{"riscv-virt", 0x2000000, 0xFF, 0xC0000, 0x40000, 0x3FFB8, 0x40000, 0x40000, 0x80000,
               0x40000, 0x2000, 0x2800, 0x2000, 0x10000},
    Edk2Layout{"loongarch-virt", 0x1000000, 0xFF, 0xC0000, 0x40000, 0x3FFB8, 0x40000, 0x40000,
               0x80000, 0x40000, 0x2000, 0x2800, 0x2000, 0xC0000},
};

using Edk2Layouts = std::span<const Edk2Layout>;

constexpr bool fits(const Edk2Layout& layout) {
  return layout.rewritten_size() <= layout.spare_size &&
         layout.rewritten_size() <= layout.working_offset &&
         layout.working_offset + layout.working_size <= layout.spare_offset &&
         layout.spare_offset + layout.spare_size == layout.volume_length &&
         layout.volume_length <= layout.file_size;
}
static_assert(std::ranges::all_of(kEdk2Layouts, fits));

}  // namespace efivarium::store
