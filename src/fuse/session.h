// Session: the state behind the FUSE callbacks.
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include <atomic>

#include "base/work_queue.h"
#include "fuse/node_table.h"
#include "fuse/server.h"
#include "vfs/calls.h"

namespace efivarium::fuse {

class Server::Session {
 public:
  Session(vfs::MountNamespace& mount_namespace, Controller* controller)
      : mount_namespace_(mount_namespace),
        controller_(controller),
        nodes_(mount_namespace.root()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  Result<void> mount(const ServerOptions& options);
  Result<void> loop();

  vfs::MountNamespace& mount_namespace() const { return mount_namespace_; }
  Controller* controller() const { return controller_; }
  NodeTable& nodes() { return nodes_; }
  // Runs what has to wait for a file system to be loaded.
  base::WorkQueue& loader() { return loader_; }
  // Runs the controller, and what may wait for a folder's lock, which a caller of ours may hold.
  base::WorkQueue& notifier() { return notifier_; }

  // What the kernel may keep: everything, as each change is told to it, but names that may vanish
  // without a call. keeps_name: what it was looked up by is its name, and anybody may look it up.
  static fuse_entry_param entry(const vfs::Path& path, std::uint64_t id, bool keeps_name);

  // Makes the kernel read the file's data and attributes anew. Not on the session's thread: a
  // reader that it is to answer may hold what the kernel waits for here.
  void drop_data(std::uint64_t node_id) {
    ::fuse_lowlevel_notify_inval_inode(fuse_, node_id, 0, 0);
  }
  // The same for a name, on the notifier, which then runs the job.
  void drop_name(std::uint64_t folder_id, std::string name, base::WorkQueue::Job then);
  // On the notifier: see Server::forget_names().
  void drop_names(const std::vector<Name>& names);

  // Requests that have not been answered yet; the session outlives them.
  void begin_call() { ++calls_; }
  void end_call() {
    if (--calls_ == 0) calls_.notify_all();
  }

 private:
  void drop_name_now(std::uint64_t folder_id, const std::string& name);
  bool drop_all_names();

  vfs::MountNamespace& mount_namespace_;
  Controller* const controller_;
  NodeTable nodes_;
  fuse_session* fuse_ = nullptr;
  bool mounted_ = false;
  bool handles_signals_ = false;
  std::atomic<int> calls_ = 0;
  base::WorkQueue notifier_{"fuse_notifier"};
  base::WorkQueue loader_{"fuse_loader"};
};

// The callbacks; userdata is the Session.
const fuse_lowlevel_ops& operations();

}  // namespace efivarium::fuse
