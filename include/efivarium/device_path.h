// Device paths: where a device or a file is, node by node (UEFI 2.10, Device Path Protocol).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "efivarium/variable.h"

namespace efivarium {

struct DevicePathNode {
  std::uint8_t type = 0, sub_type = 0;
  Bytes data;  // what follows the four bytes of type and length

  friend bool operator==(const DevicePathNode&, const DevicePathNode&) = default;
};

// Without the node that ends it; a node of kEndType between two others parts two instances.
struct DevicePath {
  static constexpr std::uint8_t kEndType = 0x7F;
  static constexpr std::uint8_t kEndInstance = 0x01, kEndEntire = 0xFF;  // sub-types

  std::vector<DevicePathNode> nodes;

  // The bytes up to an end node, and no more. kCorrupt, with the offset, for a node that is shorter
  // than its header or longer than what is left, and where the end is missing.
  static Result<DevicePath> parse(std::span<const std::uint8_t> bytes);
  // With the end node. Nodes have at most 65531 bytes of data.
  Bytes serialize() const;

  friend bool operator==(const DevicePath&, const DevicePath&) = default;
};

// Whose text: that of UEFI as edk2 prints it, or what programs over libefivar print.
enum class PathStyle : std::uint8_t { kEdk2, kLibefivar37, kLibefivar39 };

// What has no form of its own, or would not be read back from it, prints its bytes in hex. Text in
// libefivar's style need not lead back to the same bytes; text in edk2's does. UTF-16 that is not
// well-formed comes out as WTF-8.
std::string to_text(const DevicePathNode& node, PathStyle style = PathStyle::kEdk2);
std::string to_text(const DevicePath& path, PathStyle style = PathStyle::kEdk2);

// Text of any of the styles: names in any case, numbers in decimal or with 0x, what is missing at a
// node's end is 0. NVMe addresses are read as edk2 prints them, last byte first. kInvalidParameter,
// with the offset in the text.
Result<DevicePath> parse_path_text(std::string_view text);

}  // namespace efivarium
