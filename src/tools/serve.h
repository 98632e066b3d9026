// Mounting a store and serving it, in the foreground or as a daemon.
#pragma once

#include <string>
#include <vector>

#include "tools/mount_options.h"

namespace efivarium::tools {

struct MountRequest {
  std::string store;
  std::string directory;
  MountOptions options = MountOptions::defaults();
  std::vector<std::string> latencies;  // SERVICE=TIME
  std::string preset;                  // a folder in efivarfs form, or empty
  bool foreground = false;
};

// Returns the exit code: once the daemon serves, or, in the foreground, once it has ended.
int mount_and_serve(const MountRequest& request);

}  // namespace efivarium::tools
