#include "tools/served_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "tmpfs/superblock.h"
#include "vfs/calls.h"
#include "vfs/options.h"

namespace efivarium::tools {
namespace {

// Room for mount points, and for whatever else somebody puts beside them.
constexpr const char* kRootOptions = "size=1m";

// The root of what is served: takes the options that are the whole namespace's.
//   umount=expedited|normal|deferred   how an unmount waits for readers
//   rcu_normal=0|1                     no wait interrupts other CPUs, whatever umount= says
class Root final : public tmpfs::Tmpfs {
 public:
  static Result<vfs::Ref<Root>> make() {
    auto root = vfs::Ref<Root>::adopt(new Root());
    EFIVARIUM_TRY(root->reconfigure(kRootOptions));
    return root;
  }
  void steer(vfs::MountTable& table) { table_ = &table; }

  std::string show_options() const override {
    std::string text = Tmpfs::show_options();
    if (policy_ != &kPolicies.front()) text += ",umount=" + std::string(policy_->name);
    return normal_ ? text + ",rcu_normal=1" : text;
  }
  // Called with the table's lock held, as every change of it is made.
  Result<void> reconfigure(std::string_view options) override {
    const Policy* policy = policy_;
    bool normal = normal_;
    std::string rest;
    for (const std::string_view option : vfs::each_option(options)) {
      const std::string_view value = option.substr(std::min(option.find('=') + 1, option.size()));
      if (option.starts_with("umount=")) {
        policy = std::ranges::find(kPolicies, value, &Policy::name);
        if (policy == kPolicies.end()) {
          return fail(Code::kInvalidParameter, "umount is expedited, normal or deferred");
        }
      } else if (option.starts_with("rcu_normal=")) {
        if (value != "0" && value != "1") {
          return fail(Code::kInvalidParameter, "rcu_normal is 0 or 1");
        }
        normal = value == "1";
      } else {
        rest += (rest.empty() ? "" : ",") + std::string(option);
      }
    }
    EFIVARIUM_TRY(Tmpfs::reconfigure(rest));
    policy_ = policy;
    normal_ = normal;
    if (table_ != nullptr) table_->set_policy(policy_->policy);
    rcu::set_normal(normal_);
    return {};
  }

 private:
  Root() : Tmpfs(0755) {}

  struct Policy {
    std::string_view name;
    vfs::UnmountPolicy policy;
  };
  static constexpr std::array kPolicies = {
      Policy{"expedited", vfs::UnmountPolicy::kExpedited},
      Policy{"normal", vfs::UnmountPolicy::kNormal},
      Policy{"deferred", vfs::UnmountPolicy::kDeferred},
  };

  vfs::MountTable* table_ = nullptr;
  const Policy* policy_ = &kPolicies.front();
  bool normal_ = false;
};

std::unexpected<Error> system_error(const char* text) {
  return std::unexpected(Error::system(errno, text));
}

// A store is an open file.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// The process's table of descriptors grows now, while it has one thread: with more, the kernel
// waits for a grace period at each doubling.
void make_room_for_files(const base::UniqueFd& some, std::size_t count) {
  const base::UniqueFd last(::fcntl(some.get(), F_DUPFD_CLOEXEC, static_cast<int>(count)));
}

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
}

}  // namespace

ServedFolder::ServedFolder(std::string folder, std::shared_ptr<vfs::MountNamespace> names,
                           const MountOptions& options)
    : folder_(std::move(folder)),
      control_(std::move(names), options, std::make_shared<efivarfs::Limits>()) {}

Result<std::unique_ptr<ServedFolder>> ServedFolder::open(const std::string& folder,
                                                         const MountOptions& options,
                                                         const Progress& progress) {
  raise_file_limit();
  EFIVARIUM_TRY(vfs::Ref<Root> root, Root::make());
  Root& steered = *root;
  const std::string source = absolute(folder);
  auto names = vfs::MountNamespace::create(std::move(root), source);
  steered.steer(names->table());
  EFIVARIUM_TRY(names->remount(names->root(), options.of_server));
  std::unique_ptr<ServedFolder> served(new ServedFolder(source, std::move(names), options));
  // Watched first, so that nothing that comes meanwhile is missed.
  EFIVARIUM_TRY(served->watch());
  EFIVARIUM_TRY(const std::vector<std::string> files, served->files());
  make_room_for_files(served->inotify_, files.size());
  std::vector<vfs::Ref<Efivarfs>> stores = served->open_all(files, progress);
  for (std::size_t i = 0; i < files.size(); ++i) served->mount(files[i], std::move(stores[i]));
  return served;
}

// By several threads, since most of the time is the kernel's, and the disk's where the files are
// not in memory yet.
std::vector<vfs::Ref<Efivarfs>> ServedFolder::open_all(const std::vector<std::string>& files,
                                                       const Progress& progress) const {
  constexpr std::size_t kMostThreads = 8;
  constexpr std::size_t kFilesWorthAThread = 64;
  std::vector<vfs::Ref<Efivarfs>> stores(files.size());
  std::atomic<std::size_t> next = 0, done = 0;
  const auto open_some = [&](const Progress& report) {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      stores[i] = open(files[i]);
      report(++done, files.size());
    }
  };
  std::vector<std::jthread> helpers(std::min(kMostThreads, files.size() / kFilesWorthAThread));
  for (std::jthread& helper : helpers) {
    helper = std::jthread([&] { open_some([](std::size_t, std::size_t) {}); });
  }
  open_some(progress);
  helpers.clear();
  return stores;
}

Result<std::vector<std::string>> ServedFolder::files() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_.c_str()), ::closedir);
  if (!folder) return system_error("cannot read the folder");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder.get())) {
    const bool is_plain = entry->d_type == DT_REG || entry->d_type == DT_BLK;
    if (entry->d_name[0] == '.' || (!is_plain && !is_file(path_of(entry->d_name)))) continue;
    names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

Result<void> ServedFolder::watch() {
  inotify_ = base::UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  stop_ = base::UniqueFd(::eventfd(0, EFD_CLOEXEC));
  constexpr std::uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVE | IN_ONLYDIR;
  if (!inotify_ || !stop_ || ::inotify_add_watch(inotify_.get(), folder_.c_str(), kEvents) < 0) {
    return system_error("cannot watch the folder");
  }
  return {};
}

vfs::Ref<Efivarfs> ServedFolder::open(const std::string& name) const {
  Result<vfs::Ref<Efivarfs>> opened = control_.open(path_of(name), control_.defaults());
  if (opened) return *std::move(opened);
  return Efivarfs::mount_broken(opened.error().message(), control_.defaults().file_system,
                                control_.limits());
}

void ServedFolder::mount(const std::string& name, vfs::Ref<Efivarfs> store) {
  const vfs::Path root = names().root();
  Result<vfs::Path> place = vfs::make_folder(root, name, 0755, {});
  if (!place) place = names().step(root, name);
  if (place) (void)names().mount(std::move(store), path_of(name), *place);
}

vfs::MountRef ServedFolder::mounted_at(const std::string& name) const {
  const vfs::Path root = names().root();
  const Result<vfs::Path> there = names().step(root, name);
  return there && there->mount != root.mount ? there->mount : vfs::MountRef();
}

void ServedFolder::tell(const std::string& name) {
  server_->forget_names({{names().root(), name}});
}

// Lazily: whoever has a file open keeps it.
void ServedFolder::unmount(vfs::MountNamespace& names, vfs::MountRef mount) {
  auto root = vfs::Ref<vfs::Dentry>::share(mount->root());
  (void)names.umount({std::move(mount), std::move(root)}, {.lazy = true});
}

// What was unmounted by hand stays so until there is another file.
void ServedFolder::appear(const std::string& name, bool is_another_file) {
  const bool is_known = names().step(names().root(), name).has_value();
  vfs::MountRef there = mounted_at(name);
  const bool is_broken = there && !there->superblock().problem().empty();
  if (is_known && !is_another_file && !is_broken) return;
  if (!is_file(path_of(name))) return;
  if (there) unmount(names(), std::move(there));
  mount(name, open(name));
  tell(name);
}

void ServedFolder::disappear(const std::string& name) {
  vfs::MountRef there = mounted_at(name);
  if (there && there->source() != path_of(name)) return;  // somebody's own mount
  if (there) unmount(names(), std::move(there));
  (void)vfs::remove_folder(names().root(), name, {});
  tell(name);
}

void ServedFolder::rescan() {
  for (const vfs::MountInfo& info : names().list()) {
    const std::string name = info.mount_point.substr(1);
    if (info.source == path_of(name) && !is_file(info.source)) disappear(name);
  }
  if (const Result<std::vector<std::string>> now = files()) {
    for (const std::string& name : *now) appear(name, false);
  }
}

// False if there are none.
bool ServedFolder::take_events() {
  alignas(inotify_event) std::array<char, 64 * 1024> buffer;
  const ssize_t size = ::read(inotify_.get(), buffer.data(), buffer.size());
  for (ssize_t at = 0; at < size;) {
    const auto* const event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    const std::string name(event->len != 0 ? event->name : "");
    if ((event->mask & IN_Q_OVERFLOW) != 0) {
      rescan();
    } else if (name.empty() || name.front() == '.' || (event->mask & IN_ISDIR) != 0) {
      continue;
    } else if ((event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
      disappear(name);
    } else if ((event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) {
      appear(name, (event->mask & IN_MOVED_TO) != 0);
    } else {
      // A file that is being written will be closed; a link, or a device, is whole.
      struct stat status {};
      const bool is_new = ::lstat(path_of(name).c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                          status.st_nlink == 1;
      if (!is_new) appear(name, false);
    }
  }
  return size > 0;
}

void ServedFolder::run(const std::stop_token& stop) {
  std::array<pollfd, 2> wait = {pollfd{inotify_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  while (!stop.stop_requested()) {
    if (::poll(wait.data(), wait.size(), -1) <= 0) continue;
    // Events come in swarms, as when many stores are closed: to be woken by each would hold up who
    // makes them.
    constexpr int kPauseMs = 20;
    (void)::poll(&wait[1], 1, kPauseMs);
    while (!stop.stop_requested() && take_events()) {
    }
  }
}

std::jthread ServedFolder::follow(fuse::Server& server) {
  server_ = &server;
  return std::jthread([this](const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { ::eventfd_write(stop_.get(), 1); });
    run(stop);
  });
}

}  // namespace efivarium::tools
