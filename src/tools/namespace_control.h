// NamespaceControl: what the verbs ask of a server, and the server's side of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuse/server.h"
#include "tools/store_mount.h"

namespace efivarium::tools {

// Requests, by their first field, and what follows it; paths begin at the namespace's root.
//   mounts                        answer: path, source, options and problem of each mount
//   holders                       answer: the processes that have files open
//   mount PATH STORE OPTIONS      answer: nothing, or what is wrong with the store
//   umount FLAGS PATH...          FLAGS: l lazily, R with all below. Answer: path and reason of each
//                                 that stays
// The last two are the superuser's and the server's own user's.
class NamespaceControl final : public fuse::Controller {
 public:
  // defaults: what a mount request's options come on top of.
  NamespaceControl(std::shared_ptr<vfs::MountNamespace> names, MountOptions defaults,
                   std::shared_ptr<efivarfs::Limits> limits)
      : names_(std::move(names)), defaults_(std::move(defaults)), limits_(std::move(limits)) {}

  Result<Answer> control(const vfs::Credentials& who, const fuse::Fields& request) override;

  vfs::MountNamespace& names() const { return *names_; }
  // The store's file system. One that was unmounted just now may hold it still, which is waited for.
  Result<vfs::Ref<Efivarfs>> open(const std::string& store, const MountOptions& options) const;
  const MountOptions& defaults() const { return defaults_; }
  const std::shared_ptr<efivarfs::Limits>& limits() const { return limits_; }

 private:
  Answer list() const;
  Answer holders(pid_t asking) const;
  Result<Answer> mount(const std::string& path, const std::string& store,
                       const std::string& options) const;
  Answer umount(const std::string& flags, std::vector<std::string> paths) const;

  const std::shared_ptr<vfs::MountNamespace> names_;
  const MountOptions defaults_;
  const std::shared_ptr<efivarfs::Limits> limits_;
};

}  // namespace efivarium::tools
