// The ioctls on a directory of a mount that steer it.
#pragma once

#include <linux/ioctl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace efivarium::fuse {

// Text without its NUL fills at most all but the last byte; the rest is zero.
struct RemountRequest {
  char options[4096];  // with commas, as for mount -o
};

struct MountStatus {
  std::uint32_t version;  // kStatusVersion; a longer struct is a new ioctl number
  std::int32_t pid;       // the server's, as it sees itself
  char source[4096];      // absolute path of the store
  char options[4096];     // rw or ro, then what differs from the defaults
};
inline constexpr std::uint32_t kStatusVersion = 1;

// A piece of a request, or of its answer: an ioctl carries 16383 bytes at most. The directory's
// open file gathers the pieces of a request; with the last one the request is done, and the answer
// comes back in as many pieces. Numbers are the machine's, since both ends are on it.
struct ControlMessage {
  // In: a piece of the request follows; out: a piece of the answer can be fetched.
  static constexpr std::uint32_t kMore = 1;
  // In: the next piece of the answer, please.
  static constexpr std::uint32_t kFetch = 2;
  std::uint32_t version;  // kControlVersion
  std::uint32_t flags;
  std::uint32_t size;  // of what is used of the bytes
  std::uint8_t bytes[16356];
};
inline constexpr std::uint32_t kControlVersion = 1;
inline constexpr std::size_t kLargestControlRequest = std::size_t{8} << 20;

// The superuser, and whoever runs the server. EINVAL changes nothing.
inline constexpr unsigned kRemountRequest = _IOW(0xEF, 1, RemountRequest);
// Anybody who may open the directory.
inline constexpr unsigned kStatusRequest = _IOR(0xEF, 2, MountStatus);
// Who may ask what is the controller's to say. ENOTTY where a mount has none.
inline constexpr unsigned kControlRequest = _IOWR(0xEF, 3, ControlMessage);

// What a request and its answer consist of: each field is its length, 4 bytes, and its bytes.
using Fields = std::vector<std::string>;
Bytes pack(const Fields& fields);
// kCorrupt with the offset.
Result<Fields> unpack(ByteView bytes);

}  // namespace efivarium::fuse
