// The options of a mount, sorted by who takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/device.h"
#include "efivarfs/options.h"

namespace efivarium::tools {

struct MountOptions {
  efivarfs::Options file_system;
  bool read_only = false;
  bool remount = false;
  std::vector<std::string> kernel;  // nosuid, noatime, allow_other, ...
  std::string of_file_system;       // what efivarfs took, as given: for a remount
  std::string of_server;            // umount=, rcu_normal=: a served folder's, as given

  base::Access access() const {
    return read_only ? base::Access::kReadOnly : base::Access::kReadWrite;
  }

  // The defaults for who mounts: the caller owns the files, and statfs asks nobody on a PREEMPT_RT
  // kernel, whose flag file holds 1.
  static MountOptions defaults(const std::string& realtime_flag = "/sys/kernel/realtime");
  // Adds a list with commas. kInvalidParameter, and *bad is the word.
  Result<void> parse(std::string_view options, std::string& bad);
};

}  // namespace efivarium::tools
