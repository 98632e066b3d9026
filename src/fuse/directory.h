// The callbacks of an open folder.
#pragma once

#include <mutex>

#include "fuse/session.h"

namespace efivarium::fuse {

// What the kernel has of an open folder. It keeps the mount busy, as any open file does.
struct OpenFolder {
  vfs::Ref<vfs::File> file;
  // Pieces of control messages: of the request so far, and of the answer from taken on.
  std::mutex mutex;
  Bytes request;
  Bytes answer;
  std::size_t taken = 0;
};

inline OpenFolder& folder_of(const fuse_file_info* info) {
  return *reinterpret_cast<OpenFolder*>(info->fh);
}

void opendir(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) noexcept;
void releasedir(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) noexcept;
void readdir(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
             fuse_file_info* info) noexcept;
void readdirplus(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
                 fuse_file_info* info) noexcept;

}  // namespace efivarium::fuse
