// Plain values that the calls of the virtual file system take and give.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace efivarium::vfs {

// How an operation that may have to wait for something slow ends: exactly once, on any thread,
// during the call or after it.
template <typename T>
using Reply = std::move_only_function<void(Result<T>)>;

// Who asks. Supplementary groups are looked up only where a decision needs them.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::function<std::vector<gid_t>()> supplementary_groups;
  pid_t pid = 0;  // 0: not told

  bool in_group(gid_t group) const;
};

struct InodeAttributes {
  std::uint64_t number = 0;
  mode_t mode = 0;  // with the file type
  std::uint32_t links = 1;
  uid_t uid = 0;
  gid_t gid = 0;
  std::uint64_t size_bytes = 0;
  timespec accessed{}, modified{}, changed{};
};

// What setattr(2)-like calls ask for.
struct AttributeChange {
  std::optional<mode_t> mode;  // permission bits
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<std::uint64_t> size_bytes;
  std::optional<timespec> accessed, modified;
  bool times_are_now = false;  // by utimensat(2) with UTIME_NOW: whoever may write may do it
};

struct FileSystemStatus {
  std::uint64_t block_size_bytes = 1;
  std::uint64_t blocks = 0, blocks_free = 0, blocks_available = 0;
  std::uint64_t files = 0, files_free = 0;
  std::uint64_t longest_name_bytes = 255;
};

// Inode flags of FS_IOC_GETFLAGS; only the immutable one has a meaning here.
inline constexpr std::uint32_t kImmutableFlag = 0x10;

inline constexpr int kReadAccess = 4, kWriteAccess = 2, kSearchAccess = 1;  // as in access(2)

timespec current_time();

}  // namespace efivarium::vfs
