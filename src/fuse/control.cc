#include "fuse/control.h"

#include "base/byte_writer.h"

namespace efivarium::fuse {

Bytes pack(const Fields& fields) {
  base::ByteWriter writer;
  for (const std::string& field : fields) {
    writer.u32(static_cast<std::uint32_t>(field.size()));
    writer.bytes(ByteView(reinterpret_cast<const std::uint8_t*>(field.data()), field.size()));
  }
  return std::move(writer).take();
}

Result<Fields> unpack(ByteView bytes) {
  base::ByteReader reader(bytes);
  Fields fields;
  while (reader.remaining() != 0) {
    EFIVARIUM_TRY(const std::uint32_t size, reader.u32());
    EFIVARIUM_TRY(const ByteView field, reader.take(size));
    fields.emplace_back(field.begin(), field.end());
  }
  return fields;
}

}  // namespace efivarium::fuse
