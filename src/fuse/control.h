// The ioctls on a directory of a mount that steer it.
#pragma once

#include <linux/ioctl.h>

#include <cstdint>

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

// The superuser, and whoever runs the server. EINVAL changes nothing.
inline constexpr unsigned kRemountRequest = _IOW(0xEF, 1, RemountRequest);
// Anybody who may open the directory.
inline constexpr unsigned kStatusRequest = _IOR(0xEF, 2, MountStatus);

}  // namespace efivarium::fuse
