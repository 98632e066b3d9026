// MountInfo: a line of a listing of mounts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace efivarium::vfs {

// What /proc/self/mountinfo tells of a mount.
struct MountInfo {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // 0 at the root
  std::uint64_t superblock = 0;
  std::string root;         // within the file system
  std::string mount_point;  // from the root that was asked for
  bool read_only = false;   // of this mount, not of its superblock
  std::uint64_t shared = 0, master = 0, propagates_from = 0;  // groups; 0 for none
  bool unbindable = false;
  std::string type;
  std::string source;
  std::string options;  // of the superblock
  // Of no line.
  std::string problem;         // of the superblock
  std::vector<pid_t> openers;  // processes with files of the mount open

  // A line as the kernel writes it.
  std::string to_text() const;
};

}  // namespace efivarium::vfs
