// The mounts of efivarium that this process sees.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fuse/control.h"

namespace efivarium::tools {

struct MountEntry {
  std::string source;
  std::string directory;
  std::string kernel_options;
};

// Of type fuse.efivarium, in the order of /proc/self/mounts.
Result<std::vector<MountEntry>> list_mounts();

// Where a directory is: on which mount of ours, and where in that.
struct Place {
  std::string mount_point;
  std::string path;  // from the mount's root on, "/" for that

  bool is_root() const { return path == "/"; }
  std::string whole() const { return is_root() ? mount_point : mount_point + path; }
};

// What is mounted where, as it was at one time; asks no file system.
class MountMap {
 public:
  static Result<MountMap> read();
  // By the name alone where that leads to a mount of ours, else without symbolic links.
  std::optional<Place> find(const std::string& directory) const;

 private:
  std::optional<Place> find_absolute(const std::string& path) const;
  std::string working_directory_;
  std::unordered_map<std::string, bool> is_ours_;  // by mount point
};

// What the server of a mount says of itself.
struct ServerStatus {
  int pid = 0;
  std::string source;
  std::string options;
};
// kSystem; ENOTTY where the directory is not on a mount of ours.
Result<ServerStatus> server_status(const std::string& directory);
// The answer of the mount's server; see NamespaceControl. kSystem with its errno.
Result<fuse::Fields> request_control(const std::string& directory, const fuse::Fields& request);
// kSystem with the server's errno.
Result<void> request_remount(const std::string& directory, const std::string& options);

}  // namespace efivarium::tools
