// EFI_TIME on the wire.
#pragma once

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "efivarium/variable.h"

namespace efivarium::efi {

inline constexpr std::size_t kTimeSize = 16;

// Year u16, then month to second u8 each, Pad1 u8, Nanosecond u32, TimeZone s16, Daylight u8,
// Pad2 u8 (UEFI 2.10, GetTime()). What comes after the second is read over and written as zero:
// in time stamps of variables it must be zero.
inline Result<EfiTime> parse_time(base::ByteReader& reader) {
  EfiTime time;
  EFIVARIUM_TRY(time.year, reader.u16());
  EFIVARIUM_TRY(time.month, reader.u8());
  EFIVARIUM_TRY(time.day, reader.u8());
  EFIVARIUM_TRY(time.hour, reader.u8());
  EFIVARIUM_TRY(time.minute, reader.u8());
  EFIVARIUM_TRY(time.second, reader.u8());
  EFIVARIUM_TRY(reader.skip(9));
  return time;
}

inline void serialize_time(const EfiTime& time, base::ByteWriter& out) {
  out.u16(time.year).u8(time.month).u8(time.day).u8(time.hour).u8(time.minute).u8(time.second);
  out.fill(9, 0);
}

}  // namespace efivarium::efi
