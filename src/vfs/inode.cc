#include "vfs/inode.h"

#include <sys/stat.h>

#include <algorithm>

#include "vfs/file.h"
#include "vfs/superblock.h"

namespace efivarium::vfs {

bool Credentials::in_group(gid_t group) const {
  if (gid == group) return true;
  if (!supplementary_groups) return false;
  const std::vector<gid_t> groups = supplementary_groups();
  return std::ranges::find(groups, group) != groups.end();
}

timespec current_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

Inode::Inode(Superblock& superblock, mode_t mode, uid_t uid, gid_t gid)
    : superblock_(superblock), directory_(S_ISDIR(mode)) {
  attributes_.number = superblock.next_inode_number();
  attributes_.mode = mode;
  attributes_.links = directory_ ? 2 : 1;
  attributes_.uid = uid;
  attributes_.gid = gid;
  attributes_.accessed = attributes_.modified = attributes_.changed = current_time();
}

void Inode::count_open(int change) {
  const std::lock_guard lock(mutex_);
  const bool was_open = opens_ != 0;
  opens_ += change;
  if (is_unlinked_ && was_open != (opens_ != 0)) superblock_.orphans_ += was_open ? -1 : 1;
}

void Inode::note_unlinked() {
  const std::lock_guard lock(mutex_);
  if (attributes_.links != 0 || is_unlinked_) return;
  is_unlinked_ = true;
  if (opens_ != 0) ++superblock_.orphans_;
}

InodeAttributes Inode::attributes() const {
  const std::lock_guard lock(mutex_);
  return attributes_;
}

Result<Ref<Dentry>> Inode::create(Dentry&, std::string_view, mode_t, const Credentials&) {
  return fail(Code::kNotPermitted, "files cannot be created here");
}

void Inode::unlink(Ref<Dentry>, Reply<void> reply) {
  reply(fail(Code::kNotPermitted, "files cannot be removed here"));
}

Result<Ref<Dentry>> Inode::make_folder(Dentry&, std::string_view, mode_t, const Credentials&) {
  return fail(Code::kNotPermitted, "folders cannot be made here");
}

Result<void> Inode::remove_folder(Dentry&) {
  return fail(Code::kNotPermitted, "folders cannot be removed here");
}

Result<void> Inode::open(File&) { return {}; }

void Inode::read(Ref<File>, std::uint64_t, std::size_t, Reply<Bytes> reply) {
  reply(fail(Code::kInvalidParameter, "this cannot be read"));
}

void Inode::write(Ref<File>, std::uint64_t, Bytes, Reply<void> reply) {
  reply(fail(Code::kInvalidParameter, "this cannot be written"));
}

void Inode::release(File&) {}

Result<void> Inode::sync() { return fail(Code::kInvalidParameter, "this cannot be synced"); }

Result<void> Inode::set_attributes(const AttributeChange& change) {
  update([&](InodeAttributes& attributes) {
    if (change.mode)
      attributes.mode = (attributes.mode & S_IFMT) | (*change.mode & ~mode_t{S_IFMT});
    if (change.uid) attributes.uid = *change.uid;
    if (change.gid) attributes.gid = *change.gid;
    if (change.accessed) attributes.accessed = *change.accessed;
    if (change.modified) attributes.modified = *change.modified;
    attributes.changed = current_time();
  });
  return {};
}

Result<void> Inode::check_flags() const {
  return fail(Code::kNotTerminal, "there are no inode flags here");
}

}  // namespace efivarium::vfs
