#include "tools/namespace_control.h"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/device.h"

namespace efivarium::tools {
namespace {

using fuse::Fields;
using fuse::Name;

// "1234 (cat), 1240 (less)"
std::string describe(std::span<const pid_t> pids) {
  constexpr std::size_t kLongestName = 64;
  constexpr std::size_t kMost = 8;
  std::string text;
  for (const pid_t pid : pids.first(std::min(pids.size(), kMost))) {
    text += (text.empty() ? "" : ", ") + std::to_string(pid);
    const auto name = base::read_file("/proc/" + std::to_string(pid) + "/comm", kLongestName);
    if (name && !name->empty()) text += " (" + std::string(name->begin(), name->end() - 1) + ")";
  }
  return pids.size() > kMost ? text + " and others" : text;
}

std::string reason(const Error& error, const std::vector<pid_t>& openers) {
  if (error.code() != Code::kBusy || openers.empty()) return error.message();
  return error.message() + ": process " + describe(openers);
}

// The paths of mounts at and below the path, last mounted first.
std::vector<std::string> mounts_below(const vfs::MountNamespace& names, const std::string& path) {
  std::vector<std::string> below;
  const std::string prefix = path == "/" ? path : path + "/";
  for (const vfs::MountInfo& info : names.list()) {
    const bool is_root = info.parent == 0;
    const std::string& at = info.mount_point;
    if (!is_root && (at == path || at.starts_with(prefix))) below.push_back(at);
  }
  std::ranges::reverse(below);
  return below;
}

// The names that the paths end in; where a folder is gone, its own name is among them.
std::vector<Name> names_of(const vfs::MountNamespace& names, std::span<const std::string> paths) {
  std::vector<Name> all;
  std::string_view folder;
  Result<vfs::Path> at = names.root();
  for (const std::string_view path : paths) {
    const std::size_t slash = path.rfind('/');
    if (path.substr(0, slash) != folder) {
      folder = path.substr(0, slash);
      at = names.walk(folder);
    }
    if (at) all.push_back({*at, std::string(path.substr(slash + 1))});
  }
  return all;
}

// Takes mounts out together, and lets them end together, when it goes.
class Umounts {
 public:
  Umounts(vfs::MountNamespace& names, vfs::UmountFlags how)
      : names_(names), how_(how), root_(names.root()), ending_(names.table()) {}

  // The path must stay.
  void add(const std::string& path) {
    if (leads_through_what_goes(path)) take_out();
    Result<vfs::Path> where = names_.table().walk(root_, root_, path);
    if (!where) return refuse(path, where.error().message());
    if (where->mount == root_.mount) return refuse(path, "nothing is mounted there");
    going_.insert(path);
    paths_.push_back(&path);
    mounts_.push_back(vfs::Ref<vfs::Mount>::share(*where->mount));
    places_.push_back(*std::move(where));
  }
  // What was added so far.
  void take_out() {
    for (const auto& [index, error] : names_.umount(std::move(places_), how_, ending_)) {
      refuse(*paths_[index], reason(error, mounts_[index]->openers()));
      paths_[index] = nullptr;
    }
    for (const std::string* const path : paths_) {
      if (path != nullptr) gone.push_back(*path);
    }
    going_.clear();
    paths_.clear();
    mounts_.clear();
    places_.clear();
  }

  std::vector<std::string> gone;
  Fields refused;  // a path, its reason, and so on

 private:
  // What such a path means is seen only when that has gone.
  bool leads_through_what_goes(std::string_view path) const {
    std::size_t end = path.size();
    while (end != std::string_view::npos && end != 0) {
      if (going_.contains(path.substr(0, end))) return true;
      end = path.rfind('/', end - 1);
    }
    return false;
  }
  void refuse(const std::string& path, std::string why) {
    refused.insert(refused.end(), {path, std::move(why)});
  }

  vfs::MountNamespace& names_;
  const vfs::UmountFlags how_;
  const vfs::Path root_;
  vfs::Ending ending_;
  // Walked to, and not yet taken out.
  std::unordered_set<std::string_view> going_;
  std::vector<const std::string*> paths_;
  std::vector<vfs::Path> places_;
  std::vector<vfs::Ref<vfs::Mount>> mounts_;
};

}  // namespace

Result<vfs::Ref<Efivarfs>> NamespaceControl::open(const std::string& store,
                                                  const MountOptions& options) const {
  auto opened = mount_store_later(store, options, limits_);
  if (opened || opened.error().code() != Code::kLocked) return opened;
  names_->table().barrier();
  return mount_store_later(store, options, limits_);
}

Result<fuse::Controller::Answer> NamespaceControl::control(const vfs::Credentials& who,
                                                           const Fields& request) {
  if (request.empty()) return fail(Code::kInvalidParameter, "an empty request");
  const std::string& verb = request.front();
  if (verb == "mounts" && request.size() == 1) return list();
  if (verb == "holders" && request.size() == 1) return holders(who.pid);
  if (who.uid != 0 && who.uid != ::geteuid()) {
    return fail(Code::kNotPermitted, "not the caller's server");
  }
  if (verb == "mount" && request.size() == 4) return mount(request[1], request[2], request[3]);
  if (verb == "umount" && request.size() > 2) {
    return umount(request[1], {request.begin() + 2, request.end()});
  }
  return fail(Code::kInvalidParameter, "an unknown request");
}

fuse::Controller::Answer NamespaceControl::list() const {
  Answer answer;
  for (vfs::MountInfo& info : names_->list()) {
    std::string options =
        (info.read_only ? "ro" : info.options.substr(0, 2)) + info.options.substr(2);
    answer.fields.insert(answer.fields.end(), {std::move(info.mount_point), std::move(info.source),
                                               std::move(options), std::move(info.problem)});
  }
  return answer;
}

fuse::Controller::Answer NamespaceControl::holders(pid_t asking) const {
  std::vector<pid_t> pids;
  for (const vfs::MountInfo& info : names_->list()) {
    pids.insert(pids.end(), info.openers.begin(), info.openers.end());
  }
  std::erase(pids, asking);
  return pids.empty() ? Answer{} : Answer{{describe(pids)}, {}};
}

Result<fuse::Controller::Answer> NamespaceControl::mount(const std::string& path,
                                                         const std::string& store,
                                                         const std::string& options) const {
  const auto refuse = [](const std::string& what, const Error& error) {
    return Answer{{what, error.message()}, {}};
  };
  MountOptions parsed = defaults_;
  std::string bad;
  if (const auto done = parsed.parse(options, bad); !done) return refuse("-o " + bad, done.error());
  const Result<vfs::Path> where = names_->walk(path);
  if (!where) return refuse(path, where.error());
  Result<vfs::Ref<Efivarfs>> opened = open(store, parsed);
  if (!opened) return refuse(store, opened.error());
  const Result<void> mounted = names_->mount(*std::move(opened), store, *where);
  if (!mounted) return refuse(path, mounted.error());
  return Answer{{}, names_of(*names_, {&path, 1})};
}

// Everything goes out first; what waits for readers waits for all at once.
fuse::Controller::Answer NamespaceControl::umount(const std::string& flags,
                                                  std::vector<std::string> paths) const {
  vfs::UmountFlags how;
  how.lazy = flags.contains('l');
  if (flags.contains('R')) {
    std::vector<std::string> all;
    for (const std::string& path : paths) {
      const std::vector<std::string> below = mounts_below(*names_, path);
      all.insert(all.end(), below.begin(), below.end());
      if (below.empty()) all.push_back(path);
    }
    paths = std::move(all);
  }
  Umounts umounts(*names_, how);
  for (const std::string& path : paths) umounts.add(path);
  umounts.take_out();
  return {std::move(umounts.refused), names_of(*names_, umounts.gone)};
}

}  // namespace efivarium::tools
