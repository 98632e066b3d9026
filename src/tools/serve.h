// Mounting a store, or a folder of them, and serving it, in the foreground or as a daemon.
#pragma once

#include <string>
#include <vector>

#include "tools/mount_options.h"

namespace efivarium::tools {

struct MountRequest {
  std::string store;  // or the folder of stores
  std::string directory;
  MountOptions options = MountOptions::defaults();
  std::string option_text;             // the same, as given
  std::vector<std::string> latencies;  // SERVICE=TIME
  std::string preset;                  // a folder in efivarfs form, or empty
  bool foreground = false;
};

// Each returns the exit code: once the daemon serves, or, in the foreground, once it has ended.
int mount_and_serve(const MountRequest& request);
int serve_folder(const MountRequest& request);

}  // namespace efivarium::tools
