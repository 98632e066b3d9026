// MountNamespace: the mounts that one view sees, and the way from a path to what it names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/superblock.h"

namespace efivarium::vfs {

// A superblock attached to the tree.
class Mount {
 public:
  Mount(std::shared_ptr<Superblock> superblock, std::string source)
      : superblock_(std::move(superblock)), source_(std::move(source)) {}

  Superblock& superblock() const { return *superblock_; }
  // What was mounted: the store, as the user called it.
  const std::string& source() const { return source_; }
  Dentry& root() const { return superblock_->root(); }
  // As in /proc/mounts: ro or rw, then the file system's own.
  std::string show_options() const;

 private:
  const std::shared_ptr<Superblock> superblock_;
  const std::string source_;
};

// A place in a namespace.
struct Path {
  std::shared_ptr<Mount> mount;
  Ref<Dentry> dentry;
};

class MountNamespace {
 public:
  explicit MountNamespace(std::shared_ptr<Mount> root) : root_(std::move(root)) {}

  Path root() const { return {root_, Ref<Dentry>::share(root_->root())}; }
  // One component down. kNotFound, kNotDirectory, kNameTooLong.
  Result<Path> step(const Path& folder, std::string_view name) const;
  // Components apart by slashes, from the root on.
  Result<Path> walk(std::string_view path) const;

  // options: with commas; ro and rw are the mount's, the rest its superblock's. kInvalidParameter,
  // with nothing changed.
  static Result<void> remount(const Path& where, std::string_view options);

 private:
  const std::shared_ptr<Mount> root_;
};

}  // namespace efivarium::vfs
