#include "efivarium/load_option.h"

#include <limits>

#include "base/byte_writer.h"
#include "efi/load_option.h"
#include "efi/path_values.h"
#include "efi/utf16.h"

namespace efivarium {
namespace {

struct Parts {
  std::uint32_t attributes;
  ByteView description;  // UTF-16 without its NUL
  ByteView paths;
  std::uint64_t paths_offset;
  ByteView optional_data;
};

Result<Parts> take_apart(ByteView bytes) {
  base::ByteReader reader(bytes);
  Parts parts{};
  EFIVARIUM_TRY(parts.attributes, reader.u32());
  EFIVARIUM_TRY(const std::uint16_t paths_size, reader.u16());
  const ByteView rest = reader.rest();
  std::size_t size = 0;
  for (std::uint16_t unit = 1; unit != 0; size += 2) {
    EFIVARIUM_TRY(unit, reader.u16());
  }
  parts.description = rest.first(size - 2);
  parts.paths_offset = reader.offset();
  EFIVARIUM_TRY(parts.paths, reader.take(paths_size));
  parts.optional_data = reader.rest();
  return parts;
}

}  // namespace

Result<LoadOption> LoadOption::parse(ByteView bytes) {
  EFIVARIUM_TRY(const Parts parts, take_apart(bytes));
  LoadOption option;
  option.attributes = parts.attributes;
  option.description = efi::to_wtf8(efi::units_of(parts.description));
  base::ByteReader reader(parts.paths, parts.paths_offset);
  do {
    EFIVARIUM_TRY(DevicePath path, efi::read_device_path(reader));
    option.paths.push_back(std::move(path));
  } while (!reader.at_end());
  option.optional_data.assign(parts.optional_data.begin(), parts.optional_data.end());
  return option;
}

Result<Bytes> LoadOption::serialize() const {
  EFIVARIUM_TRY(const std::u16string units, efi::from_wtf8(description));
  if (units.find(u'\0') != std::u16string::npos) {
    return fail(Code::kInvalidParameter, "a description holds no NUL");
  }
  Bytes list;
  for (const DevicePath& path : paths) {
    const Bytes bytes = path.serialize();
    list.insert(list.end(), bytes.begin(), bytes.end());
  }
  if (list.size() > std::numeric_limits<std::uint16_t>::max()) {
    return fail(Code::kInvalidParameter, "the device paths are too long for a load option");
  }
  base::ByteWriter writer;
  writer.u32(attributes).u16(static_cast<std::uint16_t>(list.size()));
  for (const char16_t unit : units) writer.u16(unit);
  writer.u16(0).bytes(list).bytes(optional_data);
  return std::move(writer).take();
}

namespace efi {

Result<void> check_load_option(ByteView bytes) {
  EFIVARIUM_TRY(const Parts parts, take_apart(bytes));
  return check_device_path(parts.paths);
}

}  // namespace efi
}  // namespace efivarium
