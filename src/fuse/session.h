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
  explicit Session(vfs::MountNamespace& mount_namespace)
      : mount_namespace_(mount_namespace), nodes_(mount_namespace.root()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  Result<void> mount(const ServerOptions& options);
  Result<void> loop();

  vfs::MountNamespace& mount_namespace() const { return mount_namespace_; }
  NodeTable& nodes() { return nodes_; }

  // What the kernel may keep: everything, as each change is told to it, but names that may vanish
  // without a call, and names in folders that not everybody may search.
  fuse_entry_param entry(const Node& node, const std::string& asked_name) const;
  double attribute_timeout(const vfs::InodeAttributes& attributes) const;

  // Makes the kernel read the file's data and attributes anew. Not on the session's thread: a
  // reader that it is to answer may hold what the kernel waits for here.
  void drop_data(std::uint64_t node_id) {
    ::fuse_lowlevel_notify_inval_inode(fuse_, node_id, 0, 0);
  }
  // The same for a name, and then runs the job. Only the queue may wait for the folder's lock,
  // which a caller of ours may hold.
  void drop_name(std::uint64_t folder_id, std::string name, base::WorkQueue::Job then);

  // Requests that have not been answered yet; the session outlives them.
  void begin_call() { ++calls_; }
  void end_call() {
    if (--calls_ == 0) calls_.notify_all();
  }

 private:
  vfs::MountNamespace& mount_namespace_;
  NodeTable nodes_;
  fuse_session* fuse_ = nullptr;
  bool mounted_ = false;
  bool handles_signals_ = false;
  std::atomic<int> calls_ = 0;
  base::WorkQueue notifier_{"fuse_notifier"};
};

// The callbacks; userdata is the Session.
const fuse_lowlevel_ops& operations();

}  // namespace efivarium::fuse
