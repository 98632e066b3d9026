#include "efivarium/device_path.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "efi/load_option.h"

namespace efivarium {
namespace {

constexpr std::uint16_t kHeaderSize = 4;

// Calls visit(type, sub-type, data) for each node up to the one that ends the path, and returns
// what that one has behind its header: nothing, by the book.
template <typename Visit>
Result<ByteView> walk(base::ByteReader& reader, const Visit& visit) {
  while (true) {
    const std::uint64_t start = reader.offset();
    EFIVARIUM_TRY(const std::uint8_t type, reader.u8());
    EFIVARIUM_TRY(const std::uint8_t sub_type, reader.u8());
    EFIVARIUM_TRY(const std::uint16_t length, reader.u16());
    if (length < kHeaderSize) {
      return fail_at(Code::kCorrupt, "a device path node is shorter than its header", start);
    }
    const std::size_t data_size = length - std::size_t{kHeaderSize};
    if (data_size > reader.remaining()) {
      return fail_at(Code::kCorrupt, "a device path node is longer than what is left", start);
    }
    EFIVARIUM_TRY(const ByteView data, reader.take(data_size));
    if (type == DevicePath::kEndType && sub_type == DevicePath::kEndEntire) return data;
    visit(type, sub_type, data);
  }
}

}  // namespace

Result<DevicePath> DevicePath::parse(ByteView bytes) {
  base::ByteReader reader(bytes);
  return efi::read_device_path(reader);
}

Bytes DevicePath::serialize() const {
  base::ByteWriter writer;
  const auto header = [&writer](std::uint8_t type, std::uint8_t sub_type, std::size_t data_size) {
    writer.u8(type).u8(sub_type).u16(static_cast<std::uint16_t>(kHeaderSize + data_size));
  };
  for (const DevicePathNode& node : nodes) {
    header(node.type, node.sub_type, node.data.size());
    writer.bytes(node.data);
  }
  header(kEndType, kEndEntire, 0);
  return std::move(writer).take();
}

namespace efi {

Result<DevicePath> read_device_path(base::ByteReader& reader) {
  DevicePath path;
  const auto keep = [&path](std::uint8_t type, std::uint8_t sub_type, ByteView data) {
    path.nodes.push_back({type, sub_type, Bytes(data.begin(), data.end())});
  };
  EFIVARIUM_TRY(const ByteView rest, walk(reader, keep));
  if (rest.empty()) return path;
  return fail_at(Code::kCorrupt, "the node that ends a device path has data",
                 reader.offset() - rest.size() - kHeaderSize);
}

Result<void> check_device_path(ByteView bytes) {
  base::ByteReader reader(bytes);
  EFIVARIUM_TRY(walk(reader, [](std::uint8_t, std::uint8_t, ByteView) {}));
  return {};
}

}  // namespace efi
}  // namespace efivarium
