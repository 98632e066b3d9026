// The mounts of efivarium that this process sees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "efivarium/result.h"

namespace efivarium::tools {

struct MountEntry {
  std::string source;
  std::string directory;
  std::string kernel_options;
};

// Of type fuse.efivarium, in the order of /proc/self/mounts.
Result<std::vector<MountEntry>> list_mounts();

// What the server of a mount says of itself.
struct ServerStatus {
  int pid = 0;
  std::string source;
  std::string options;
};
// kSystem; ENOTTY where the directory is not on a mount of ours.
Result<ServerStatus> server_status(const std::string& directory);
// kSystem with the server's errno.
Result<void> request_remount(const std::string& directory, const std::string& options);

}  // namespace efivarium::tools
