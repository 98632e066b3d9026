#include "vfs/mount_namespace.h"

#include <optional>

#include "vfs/calls.h"
#include "vfs/options.h"

namespace efivarium::vfs {

std::string Mount::show_options() const {
  return (superblock_->is_read_only() ? "ro" : "rw") + superblock_->show_options();
}

Result<Path> MountNamespace::step(const Path& folder, std::string_view name) const {
  if (!folder.dentry->inode().is_directory()) {
    return fail(Code::kNotDirectory, "not a directory");
  }
  if (name.size() > kLongestName) return fail(Code::kNameTooLong, "the name is too long");
  EFIVARIUM_TRY(Ref<Dentry> dentry, folder.mount->superblock().lookup(*folder.dentry, name));
  return Path{folder.mount, std::move(dentry)};
}

Result<Path> MountNamespace::walk(std::string_view path) const {
  Path at = root();
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name == "..") {
      at.dentry = Ref<Dentry>::share(at.dentry->parent());
    } else if (!name.empty() && name != ".") {
      EFIVARIUM_TRY(at, step(at, name));
    }
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return at;
}

Result<void> MountNamespace::remount(const Path& where, std::string_view options) {
  Superblock& superblock = where.mount->superblock();
  std::optional<bool> read_only;
  std::string own;
  for (const std::string_view option : each_option(options)) {
    if (option == "ro" || option == "rw") {
      read_only = option == "ro";
    } else {
      own += own.empty() ? "" : ",";
      own += option;
    }
  }
  if (read_only == false) EFIVARIUM_TRY(superblock.check_writable());
  EFIVARIUM_TRY(superblock.reconfigure(own));
  if (read_only) superblock.set_read_only(*read_only);
  return {};
}

}  // namespace efivarium::vfs
