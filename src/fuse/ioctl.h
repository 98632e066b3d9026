// The callback for ioctl(2): inode flags, and the control requests of control.h.
#pragma once

#include "fuse/session.h"

namespace efivarium::fuse {

void ioctl(fuse_req_t request, fuse_ino_t id, unsigned command, void* argument,
           fuse_file_info* info, unsigned flags, const void* in, std::size_t in_size,
           std::size_t out_size) noexcept;

}  // namespace efivarium::fuse
