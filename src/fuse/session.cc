#include "fuse/session.h"

#include <linux/fuse.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace efivarium::fuse {
namespace {

// What the kernel keeps is taken back by name and number when it changes, not by time.
constexpr double kForever = 86400;

// One for each inode of all mounts; the first superblock's are its own numbers.
std::uint64_t number_of(const vfs::Path& path, const vfs::InodeAttributes& attributes) {
  return ((path.mount->superblock().number() - 1) << 32) + attributes.number;
}

// libfuse's argument vector.
class Arguments {
 public:
  Arguments() { ::fuse_opt_add_arg(&args_, "efivarium"); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    ::fuse_opt_free_args(&args_);
    std::free(options_);
  }
  // Commas and backslashes in the option are its own.
  void add(const std::string& option) { ::fuse_opt_add_opt_escaped(&options_, option.c_str()); }
  fuse_args* finish() {
    ::fuse_opt_add_arg(&args_, "-o");
    ::fuse_opt_add_arg(&args_, options_);
    return &args_;
  }

 private:
  fuse_args args_ = FUSE_ARGS_INIT(0, nullptr);
  char* options_ = nullptr;
};

}  // namespace

Server::Session::~Session() {
  // Unmounted first, so that nobody asks any more; answers that are still due go nowhere, but
  // their senders need the session.
  if (mounted_) ::fuse_session_unmount(fuse_);
  for (int left = calls_; left != 0; left = calls_) calls_.wait(left);
  if (handles_signals_) ::fuse_remove_signal_handlers(fuse_);
  if (fuse_ != nullptr) ::fuse_session_destroy(fuse_);
}

Result<void> Server::Session::mount(const ServerOptions& options) {
  Arguments arguments;
  arguments.add("fsname=" + options.source);
  arguments.add("subtype=efivarium");
  for (const std::string& option : options.kernel_options) arguments.add(option);
  fuse_ = ::fuse_session_new(arguments.finish(), &operations(), sizeof(fuse_lowlevel_ops), this);
  if (fuse_ == nullptr) return fail(Code::kInvalidParameter, "FUSE does not take these options");
  errno = 0;
  if (::fuse_session_mount(fuse_, options.mount_point.c_str()) != 0) {
    return std::unexpected(Error::system(errno != 0 ? errno : EPERM, "cannot mount"));
  }
  mounted_ = true;
  return {};
}

Result<void> Server::Session::loop() {
  if (::fuse_set_signal_handlers(fuse_) != 0) {
    return fail(Code::kSystem, "cannot set signal handlers");
  }
  handles_signals_ = true;
  const int error = ::fuse_session_loop(fuse_);
  if (error < 0) return std::unexpected(Error::system(-error, "cannot read requests"));
  return {};
}

fuse_entry_param Server::Session::entry(const vfs::Path& path, std::uint64_t id, bool keeps_name) {
  const vfs::InodeAttributes attributes = path.dentry->inode().attributes();
  fuse_entry_param entry{};
  entry.ino = id;
  entry.attr_timeout = S_ISDIR(attributes.mode) || attributes.size_bytes != 0 ? kForever : 0;
  entry.entry_timeout = keeps_name ? entry.attr_timeout : 0;
  entry.attr.st_ino = number_of(path, attributes);
  entry.attr.st_mode = attributes.mode;
  entry.attr.st_nlink = attributes.links;
  entry.attr.st_uid = attributes.uid;
  entry.attr.st_gid = attributes.gid;
  entry.attr.st_size = static_cast<off_t>(attributes.size_bytes);
  entry.attr.st_blksize = 4096;
  entry.attr.st_atim = attributes.accessed;
  entry.attr.st_mtim = attributes.modified;
  entry.attr.st_ctim = attributes.changed;
  return entry;
}

void Server::Session::drop_name(std::uint64_t folder_id, std::string name,
                                base::WorkQueue::Job then) {
  begin_call();
  notifier_.post([this, folder_id, name = std::move(name), then = std::move(then)]() mutable {
    drop_name_now(folder_id, name);
    then();
    end_call();
  });
}

void Server::Session::drop_name_now(std::uint64_t folder_id, const std::string& name) {
  ::fuse_lowlevel_notify_inval_entry(fuse_, folder_id, name.c_str(), name.size());
}

void Server::Session::drop_names(const std::vector<Name>& names) {
  constexpr std::size_t kMany = 16;
  if (names.size() > kMany && drop_all_names()) return;
  for (const Name& name : names) {
    if (const auto id = nodes_.id_of(name.folder)) drop_name_now(*id, name.name);
  }
}

// FUSE_NOTIFY_INC_EPOCH, Linux 6.16: whatever the kernel has is asked for anew. libfuse 3.14 does
// not know of it. False where the kernel does not either.
bool Server::Session::drop_all_names() {
  constexpr std::int32_t kIncreaseEpoch = 8;
  const fuse_out_header message{sizeof message, kIncreaseEpoch, 0};
  return ::write(::fuse_session_fd(fuse_), &message, sizeof message) == sizeof message;
}

Server::Server(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::mount(vfs::MountNamespace& mount_namespace,
                                              const ServerOptions& options) {
  auto session = std::make_unique<Session>(mount_namespace, options.controller);
  EFIVARIUM_TRY(session->mount(options));
  return std::unique_ptr<Server>(new Server(std::move(session)));
}

Result<void> Server::serve() { return session_->loop(); }

void Server::forget_names(const std::vector<Name>& names) {
  session_->notifier().run([&] { session_->drop_names(names); });
}

}  // namespace efivarium::fuse
