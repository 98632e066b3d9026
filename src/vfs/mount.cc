#include "vfs/mount.h"

#include <algorithm>
#include <memory_resource>

#include "vfs/file.h"

namespace efivarium::vfs {
namespace {

std::pmr::memory_resource& memory_of_mounts() {
  static auto& pool = *new std::pmr::synchronized_pool_resource();
  return pool;
}

}  // namespace

void* Mount::operator new(std::size_t bytes, std::align_val_t alignment) {
  return memory_of_mounts().allocate(bytes, static_cast<std::size_t>(alignment));
}
void Mount::operator delete(void* memory, std::size_t bytes, std::align_val_t alignment) {
  memory_of_mounts().deallocate(memory, bytes, static_cast<std::size_t>(alignment));
}

Mount::Mount(std::shared_ptr<MountTable> table, Ref<Superblock> superblock, Ref<Dentry> root,
             std::shared_ptr<const std::string> source)
    : superblock_(*superblock.release()),
      root_(*root.release()),
      table_(std::move(table)),
      id_(table_->ids_.fetch_add(1) + 1),
      source_(std::move(source)) {
  count_.get();  // its own
}

Mount::~Mount() { Ref<Dentry>::adopt(&root_).reset(); }

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
  Ref<Superblock>::adopt(&superblock_).reset();
  Ref<Mount>::adopt(this).reset();
}

// While it is attached its own reference stays, and the sequence moves before that one goes.
MountRef Mount::lock() {
  const std::uint64_t before = table_->sequence();
  count_.get();
  const bool attached = namespace_.load() != nullptr;
  if (attached && !MountTable::is_changing(before) && table_->sequence() == before) {
    return MountRef::adopt(this);
  }
  const std::lock_guard lock(table_->mutex_);
  if (!doomed_) return MountRef::adopt(this);
  count_.put();
  return {};
}

void Mount::add_file(File& file) {
  const std::lock_guard lock(table_->files_mutex_);
  file.next_ = files_;
  if (files_ != nullptr) files_->previous_ = &file;
  files_ = &file;
}

void Mount::remove_file(File& file) {
  const std::lock_guard lock(table_->files_mutex_);
  (file.previous_ != nullptr ? file.previous_->next_ : files_) = file.next_;
  if (file.next_ != nullptr) file.next_->previous_ = file.previous_;
}

std::vector<pid_t> Mount::openers() const {
  std::vector<pid_t> pids;
  {
    const std::lock_guard lock(table_->files_mutex_);
    for (const File* file = files_; file != nullptr; file = file->next_) {
      if (file->opener().pid != 0) pids.push_back(file->opener().pid);
    }
  }
  std::ranges::sort(pids);
  const auto [rest, end] = std::ranges::unique(pids);
  pids.erase(rest, end);
  return pids;
}

MountRef::~MountRef() {
  if (mount_ != nullptr) mount_->table_->put(*mount_);
}

}  // namespace efivarium::vfs
