#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include <cstring>

#include "bench/bench.h"

namespace efivarium::bench {
namespace {

void lookup(fuse_req_t request, fuse_ino_t, const char*) { ::fuse_reply_err(request, ENOENT); }

void getattr(fuse_req_t request, fuse_ino_t, fuse_file_info*) {
  struct stat status {};
  status.st_ino = 1;
  status.st_mode = S_IFDIR | 0755;
  status.st_nlink = 2;
  ::fuse_reply_attr(request, &status, 86400);
}

void statfs(fuse_req_t request, fuse_ino_t) {
  struct statvfs status {};
  status.f_bsize = status.f_frsize = 1;
  status.f_blocks = 262044;
  status.f_bfree = status.f_bavail = 200000;
  status.f_namemax = 255;
  ::fuse_reply_statfs(request, &status);
}

}  // namespace

int serve_plain_fuse(const char* directory, void (*ready)()) {
  fuse_lowlevel_ops operations{};
  operations.lookup = lookup;
  operations.getattr = getattr;
  operations.statfs = statfs;
  char name[] = "plain";
  char* argv[] = {name, nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(1, argv);
  fuse_session* session = ::fuse_session_new(&arguments, &operations, sizeof operations, nullptr);
  if (session == nullptr || ::fuse_session_mount(session, directory) != 0) return 1;
  ready();
  ::fuse_session_loop(session);
  ::fuse_session_destroy(session);
  return 0;
}

}  // namespace efivarium::bench
