#include "store/edk2_volume.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "base/byte_writer.h"
#include "store/edk2_ftw.h"

namespace efivarium::store {
namespace {

constexpr std::uint64_t kScanStep = 0x1000;

// The sum of all 16-bit words of a volume header is zero.
std::uint16_t sum_words(ByteView header) {
  unsigned sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2) {
    sum += header[i] | static_cast<unsigned>(header[i + 1] << 8);
  }
  return static_cast<std::uint16_t>(sum);
}

struct VolumeHeader {
  std::uint64_t length;
  std::uint32_t block_size;
};

Result<VolumeHeader> parse_volume_header(ByteView bytes, std::uint64_t origin) {
  base::ByteReader reader(bytes, origin);
  const auto corrupt = [&](const char* text) { return fail_at(Code::kCorrupt, text, origin); };
  EFIVARIUM_TRY(reader.skip(16));  // ZeroVector
  EFIVARIUM_TRY(const Guid file_system, reader.guid());
  VolumeHeader header{};
  EFIVARIUM_TRY(header.length, reader.u64());
  EFIVARIUM_TRY(const std::uint32_t signature, reader.u32());
  if (signature != kVolumeSignature || file_system != kNvDataGuid) {
    return corrupt("no firmware volume with variables");
  }
  EFIVARIUM_TRY(reader.skip(4));  // Attributes
  EFIVARIUM_TRY(const std::uint16_t size, reader.u16());
  EFIVARIUM_TRY(reader.skip(5));  // Checksum, ExtHeaderOffset, Reserved
  EFIVARIUM_TRY(const std::uint8_t revision, reader.u8());
  EFIVARIUM_TRY(reader.skip(4));  // BlockMap[0].NumBlocks
  EFIVARIUM_TRY(header.block_size, reader.u32());
  if (size != kVolumeHeaderSize || revision != kVolumeRevision) {
    return corrupt("the volume header has a wrong length or revision");
  }
  if (sum_words(bytes.first(kVolumeHeaderSize)) != 0) {
    return corrupt("the volume header's checksum is wrong");
  }
  return header;
}

const Edk2Layout* find_layout(Edk2Layouts layouts, const VolumeHeader& header,
                              std::uint32_t store_size, std::uint64_t file_size) {
  const Edk2Layout* found = nullptr;
  for (const Edk2Layout& layout : layouts) {
    if (layout.volume_length != header.length || layout.block_size != header.block_size ||
        layout.store_size != store_size) {
      continue;
    }
    // Platforms that share a geometry differ in the size of their files.
    if (found == nullptr || layout.file_size == file_size) found = &layout;
  }
  return found;
}

// A volume at base whose header and store are read from source.
Result<Edk2Volume> read_volume(base::Device& device, std::uint64_t base_offset,
                               std::uint64_t source, Edk2Layouts layouts) {
  EFIVARIUM_TRY(const Bytes headers,
                device.read_bytes(source, kVolumeHeaderSize + kStoreHeaderSize));
  const ByteView view(headers);
  EFIVARIUM_TRY(const VolumeHeader header,
                parse_volume_header(view.first(kVolumeHeaderSize), source));
  base::ByteReader store_reader(view.subspan(kVolumeHeaderSize), source + kVolumeHeaderSize);
  EFIVARIUM_TRY(store_reader.skip(16));
  EFIVARIUM_TRY(const std::uint32_t store_size, store_reader.u32());
  Edk2Volume volume;
  volume.layout = find_layout(layouts, header, store_size, device.size());
  volume.base = base_offset;
  volume.source = source;
  if (volume.layout == nullptr) {
    return fail_at(Code::kUnsupported, "a firmware volume of an unknown layout", source);
  }
  if (!base::inside(base_offset, volume.layout->volume_length, device.size())) {
    return fail_at(Code::kCorrupt, "the file ends inside the firmware volume", device.size());
  }
  EFIVARIUM_TRY(volume.kind, parse_store_header(view.subspan(kVolumeHeaderSize),
                                                source + kVolumeHeaderSize, *volume.layout));
  return volume;
}

// At this offset: a whole volume, or one whose rewrite through the spare area was cut short. Its
// own header says which layout's working area counts. Only where the cut took the header too is
// every layout tried, the largest first: what is a working area in a smaller one is variables in a
// larger, which a guest may fill as it likes.
Result<Edk2Volume> volume_at(base::Device& device, std::uint64_t base_offset, Edk2Layouts layouts) {
  Result<Edk2Volume> whole = read_volume(device, base_offset, base_offset, layouts);
  if (whole) {
    if (!restore_is_pending(device, base_offset, *whole->layout)) return whole;
    const Result<Edk2Volume> copy =
        read_volume(device, base_offset, whole->spare_offset(), layouts);
    return copy && copy->layout == whole->layout ? copy : whole;
  }
  std::vector<const Edk2Layout*> by_length;
  for (const Edk2Layout& layout : layouts) by_length.push_back(&layout);
  std::ranges::sort(by_length, std::greater(), &Edk2Layout::volume_length);
  for (const Edk2Layout* layout : by_length) {
    if (!base::inside(base_offset, layout->volume_length, device.size())) continue;
    if (!restore_is_pending(device, base_offset, *layout)) continue;
    Result<Edk2Volume> spare =
        read_volume(device, base_offset, base_offset + layout->spare_offset, layouts);
    if (spare && spare->layout->volume_length == layout->volume_length) return spare;
  }
  return whole;
}

Result<bool> has_signature(base::Device& device, std::uint64_t offset) {
  EFIVARIUM_TRY(const Bytes bytes, device.read_bytes(offset, kVolumeSignatureOffset + 4));
  base::ByteReader reader(bytes);
  EFIVARIUM_TRY(reader.skip(16));
  EFIVARIUM_TRY(const Guid file_system, reader.guid());
  EFIVARIUM_TRY(reader.skip(8));
  EFIVARIUM_TRY(const std::uint32_t signature, reader.u32());
  return signature == kVolumeSignature && file_system == kNvDataGuid;
}

// Zeros or ones as far as a volume would reach, or a volume whose store was never written.
Result<bool> is_unformatted(base::Device& device, Edk2Layouts layouts) {
  std::uint64_t longest = 0;
  for (const Edk2Layout& layout : layouts) longest = std::max(longest, layout.volume_length);
  EFIVARIUM_TRY(const Bytes start, device.read_bytes(0, std::min(longest, device.size())));
  if (is_filled_with(start, 0x00) || is_filled_with(start, kErased)) return true;
  const ByteView view(start);
  return std::ranges::any_of(layouts, [&](const Edk2Layout& layout) {
    return view.size() >= layout.volume_length &&
           check_volume_header(view.first(kVolumeHeaderSize), 0, layout) &&
           is_filled_with(view.subspan(kVolumeHeaderSize, layout.store_size), kErased);
  });
}

}  // namespace

bool is_filled_with(ByteView bytes, std::uint8_t value) {
  return bytes.empty() || (bytes.front() == value &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

Result<Edk2Volume> find_volume(base::Device& device, Edk2Layouts layouts) {
  constexpr std::uint64_t kLeast = kVolumeHeaderSize + kStoreHeaderSize;
  if (device.size() < kLeast) {
    return fail(Code::kUnsupported, "too short to be a variable store");
  }
  const Result<Edk2Volume> first = volume_at(device, 0, layouts);
  if (first) return first;
  EFIVARIUM_TRY(const bool unformatted, is_unformatted(device, layouts));
  if (unformatted) {
    return fail(Code::kNotFormatted,
                "not formatted: a guest's firmware does it at its first start");
  }
  EFIVARIUM_TRY(const bool damaged_first, has_signature(device, 0));
  if (damaged_first) return first;
  for (std::uint64_t offset = kScanStep; offset <= device.size() - kLeast; offset += kScanStep) {
    EFIVARIUM_TRY(const bool found, has_signature(device, offset));
    if (found) return volume_at(device, offset, layouts);
  }
  return fail(Code::kUnsupported, "not a variable store that is known");
}

bool begins_with_volume(base::Device& device, Edk2Layouts layouts) {
  return read_volume(device, 0, 0, layouts).has_value();
}

Result<void> check_volume_header(ByteView bytes, std::uint64_t origin, const Edk2Layout& layout) {
  EFIVARIUM_TRY(const VolumeHeader header, parse_volume_header(bytes, origin));
  if (header.length != layout.volume_length || header.block_size != layout.block_size) {
    return fail_at(Code::kCorrupt, "the volume header tells of another layout", origin);
  }
  return {};
}

Result<StoreKind> parse_store_header(ByteView bytes, std::uint64_t origin,
                                     const Edk2Layout& layout) {
  base::ByteReader reader(bytes, origin);
  EFIVARIUM_TRY(const Guid signature, reader.guid());
  EFIVARIUM_TRY(const std::uint32_t size, reader.u32());
  EFIVARIUM_TRY(const std::uint8_t format, reader.u8());
  EFIVARIUM_TRY(const std::uint8_t state, reader.u8());
  if (signature != kAuthenticatedStoreGuid && signature != kPlainStoreGuid) {
    return fail_at(Code::kCorrupt, "the variable store has an unknown signature", origin);
  }
  if (size != layout.store_size || format != kStoreFormatted || state != kStoreHealthy) {
    return fail_at(Code::kCorrupt, "the variable store header is not valid", origin);
  }
  return signature == kPlainStoreGuid ? StoreKind::kPlain : StoreKind::kAuthenticated;
}

Bytes serialize_volume_header(const Edk2Layout& layout) {
  const auto build = [&](std::uint16_t checksum) {
    base::ByteWriter header;
    header.fill(16, 0).guid(kNvDataGuid).u64(layout.volume_length).u32(kVolumeSignature);
    header.u32(kVolumeAttributes).u16(kVolumeHeaderSize).u16(checksum).u16(0).u8(0);
    header.u8(kVolumeRevision);
    header.u32(static_cast<std::uint32_t>(layout.volume_length / layout.block_size));
    header.u32(layout.block_size).u64(0);
    return std::move(header).take();
  };
  return build(static_cast<std::uint16_t>(-sum_words(build(0))));
}

Bytes serialize_store_header(const Edk2Layout& layout, StoreKind kind) {
  base::ByteWriter header;
  header.guid(kind == StoreKind::kPlain ? kPlainStoreGuid : kAuthenticatedStoreGuid);
  header.u32(layout.store_size).u8(kStoreFormatted).u8(kStoreHealthy).u16(0).u32(0);
  return std::move(header).take();
}

}  // namespace efivarium::store
