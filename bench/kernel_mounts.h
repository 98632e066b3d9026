// What the kernel does with mounts of its own tmpfs, in a mount namespace that goes with the
// sample.
#pragma once

#include "bench/measure.h"

namespace efivarium::bench {

// Why it cannot be measured here; empty where it can.
std::string kernel_mounts_missing();

// access(2) of a path of so many components, each of which is mounted.
Sample kernel_access(int components);

// mount(2) of each, on folders that are there.
Sample kernel_mount(int mounts);

enum class KernelUmount {
  kEach,      // umount2(2) of each
  kCommand,   // umount(8), once, with the name of each in its folder
  kTogether,  // one of the mount that all are in, with MNT_DETACH
};
Sample kernel_umount(int mounts, KernelUmount how);

}  // namespace efivarium::bench
