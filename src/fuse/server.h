// Server: one MountNamespace on a FUSE mount.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/work_queue.h"
#include "fuse/control.h"
#include "vfs/mount_namespace.h"

namespace efivarium::fuse {

// A name in a folder of the namespace.
struct Name {
  vfs::Path folder;
  std::string name;
};

// Does what callers ask of a server through kControlRequest.
class Controller {
 public:
  struct Answer {
    Fields fields;
    std::vector<Name> changed;  // names that stand for something else now
  };

  virtual ~Controller() = default;
  // On a thread of its own, one request at a time. An error is the ioctl's errno.
  virtual Result<Answer> control(const vfs::Credentials& who, const Fields& request) = 0;
};

struct ServerOptions {
  std::string mount_point;
  std::string source;                       // what /proc/mounts shows as the device
  std::vector<std::string> kernel_options;  // ro, nodev, allow_other, ...: mount(8)'s own
  Controller* controller = nullptr;         // outlives the server
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

  // Makes the kernel look these up anew: one by one if they are few, else whatever it has.
  void forget_names(const std::vector<Name>& names);

  class Session;

 private:
  explicit Server(std::unique_ptr<Session> session);
  const std::unique_ptr<Session> session_;
};

}  // namespace efivarium::fuse
