#include "efi/load_option.h"

namespace efivarium::efi {
namespace {

constexpr std::uint8_t kEndType = 0x7F;
constexpr std::uint8_t kEndEntireSubType = 0xFF;
constexpr std::uint16_t kNodeHeaderSize = 4;

}  // namespace

Result<void> check_device_path(ByteView bytes) {
  base::ByteReader reader(bytes);
  while (true) {
    const std::uint64_t start = reader.offset();
    EFIVARIUM_TRY(const std::uint8_t type, reader.u8());
    EFIVARIUM_TRY(const std::uint8_t sub_type, reader.u8());
    EFIVARIUM_TRY(const std::uint16_t length, reader.u16());
    if (length < kNodeHeaderSize) {
      return fail_at(Code::kCorrupt, "a device path node is shorter than its header", start);
    }
    EFIVARIUM_TRY(reader.skip(length - kNodeHeaderSize));
    if (type == kEndType && sub_type == kEndEntireSubType) return {};
  }
}

Result<void> check_load_option(ByteView bytes) {
  base::ByteReader reader(bytes);
  EFIVARIUM_TRY(reader.u32());
  EFIVARIUM_TRY(const std::uint16_t path_length, reader.u16());
  std::uint16_t unit = 0;
  do {
    EFIVARIUM_TRY(unit, reader.u16());
  } while (unit != 0);
  EFIVARIUM_TRY(const ByteView path, reader.take(path_length));
  return check_device_path(path);
}

}  // namespace efivarium::efi
