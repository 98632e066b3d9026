// The mount options of efivarfs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/work_queue.h"

namespace efivarium::efivarfs {

enum class Profile : std::uint8_t {
  kDefault,  // nothing slow stands behind: no limits, statfs from a figure that is kept current
  kKernel,   // all as Linux does it
};

struct Options {
  uid_t uid = 0;
  gid_t gid = 0;
  Profile profile = Profile::kDefault;
  bool inode_flags = true;   // the immutable flag exists, and protects
  bool report_space = true;  // statfs; nostatfs reports zeros and asks nobody

  base::Placement placement;  // cpus, sched: of the queue that runs the runtime services

  // Takes one option. False if it is none of efivarfs; kInvalidParameter for a bad value.
  Result<bool> take(std::string_view option);
};

// ",cpus=0:2-3,sched=fifo:10", without what is the default.
std::string to_text(const base::Placement& placement);

}  // namespace efivarium::efivarfs
