// Server: one MountNamespace on a FUSE mount.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vfs/mount_namespace.h"

namespace efivarium::fuse {

struct ServerOptions {
  std::string mount_point;
  std::string source;                       // what /proc/mounts shows as the device
  std::vector<std::string> kernel_options;  // ro, nodev, allow_other, ...: mount(8)'s own
};

// One thread reads the requests. Whatever may wait - a store, slow firmware, a reader over its
// limit - is answered later, from the thread that finished it, so that no request holds up another.
class Server {
 public:
  // Mounts. kSystem with the errno, or kUnsupported where this system has no FUSE.
  static Result<std::unique_ptr<Server>> mount(vfs::MountNamespace& mount_namespace,
                                               const ServerOptions& options);
  // Unmounts if need be, after all that was asked has been answered.
  ~Server();

  // Serves until somebody unmounts, or SIGINT, SIGTERM or SIGHUP arrives.
  Result<void> serve();

  class Session;

 private:
  explicit Server(std::unique_ptr<Session> session);
  const std::unique_ptr<Session> session_;
};

}  // namespace efivarium::fuse
