#include "vfs/mount.h"

#include "vfs/mount_table.h"

namespace efivarium::vfs {

Mount::Mount(std::shared_ptr<MountTable> table, Ref<Superblock> superblock, Ref<Dentry> root,
             std::shared_ptr<const std::string> source)
    : table_(std::move(table)),
      id_(table_->ids_.fetch_add(1) + 1),
      superblock_(*superblock.release()),
      root_(*root.release()),
      source_(std::move(source)) {
  count_.get();  // its own
}

std::string Mount::show_options() const {
  return (is_read_only() ? "ro" : "rw") + superblock_.show_options();
}

bool Mount::begin_write() {
  const std::lock_guard lock(table_->mutex_);
  if (is_read_only()) return false;
  ++writers_;
  ++superblock_.writers_;
  return true;
}

void Mount::end_write() {
  --writers_;
  --superblock_.writers_;
}

void Mount::release() {
  Ref<Dentry>::adopt(&root_).reset();
  Ref<Superblock>::adopt(&superblock_).reset();
  retire();
}

MountRef::~MountRef() {
  if (mount_ != nullptr) mount_->table_->put(*mount_);
}

}  // namespace efivarium::vfs
