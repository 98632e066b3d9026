// The callbacks that list a folder.
#pragma once

#include "fuse/session.h"

namespace efivarium::fuse {

void readdir(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
             fuse_file_info* info) noexcept;
void readdirplus(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
                 fuse_file_info* info) noexcept;

}  // namespace efivarium::fuse
