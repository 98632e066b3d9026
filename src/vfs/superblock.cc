#include "vfs/superblock.h"

#include <functional>
#include <vector>

namespace efivarium::vfs {

std::uint64_t Superblock::next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

Superblock::~Superblock() { drop_tree(); }

void Superblock::drop_tree() {
  if (!root_) return;
  std::vector<Dentry*> folders = {root_.get()};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    for (const auto& [sequence, child] : folders[i]->children_) {
      if (child->inode().is_directory()) folders.push_back(child);
    }
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    while (!(*folder)->children_.empty()) remove(*(*folder)->children_.begin()->second);
  }
  root_.reset();
}

void Superblock::set_root(Ref<Inode> inode) {
  root_ = Ref<Dentry>::adopt(new Dentry({}, "", std::move(inode), ++sequence_));
}

std::uint64_t Superblock::hash_name(std::string_view name) const {
  return std::hash<std::string_view>{}(name);
}

std::uint64_t Superblock::hash(const Dentry& folder, std::string_view name) const {
  return hash_name(name) ^ (folder.sequence() * 0x9E3779B97F4A7C15U);
}

Dentry* Superblock::find(const rcu::ReadSection& section, const Dentry& folder,
                         std::string_view name) const {
  return table_.find(section, hash(folder, name), [&](const Dentry& dentry) {
    return dentry.parent_.get() == &folder && same_name(dentry.name_, name);
  });
}

void Superblock::load_now() {
  const std::lock_guard lock(load_mutex_);
  if (loaded_) return;
  fill();
  loaded_ = true;
}

Result<Ref<Dentry>> Superblock::lookup(const Dentry& folder, std::string_view name) {
  load();
  return find_kept(folder, name);
}

Result<Ref<Dentry>> Superblock::find_kept(const Dentry& folder, std::string_view name) const {
  const rcu::ReadSection section;
  Ref<Dentry> dentry = Ref<Dentry>::from_reader(section, find(section, folder, name));
  if (!dentry) return fail(Code::kNotFound, "no such file");
  return dentry;
}

Result<Ref<Dentry>> Superblock::add(Dentry& folder, std::string name, Ref<Inode> inode) {
  const std::lock_guard lock(tree_mutex_);
  if (!folder.is_listed()) return fail(Code::kNotFound, "the folder is gone");
  if (find_kept(folder, name)) return fail(Code::kExists, "the file exists");
  auto dentry = Ref<Dentry>::adopt(
      new Dentry(Ref<Dentry>::share(folder), std::move(name), std::move(inode), ++sequence_));
  dentry->listed_ = true;
  folder.children_.emplace(dentry->sequence_, dentry.get());
  table_.add(hash(folder, dentry->name_), *dentry);
  Ref<Dentry> of_table = dentry;
  (void)of_table.release();  // remove() takes it back
  return dentry;
}

// With the tree mutex held; the table's reference is the caller's, to drop without it.
Ref<Dentry> Superblock::take_out(Dentry& dentry) {
  if (!dentry.listed_) return {};
  dentry.listed_ = false;
  dentry.parent().children_.erase(dentry.sequence_);
  table_.remove(dentry);
  return Ref<Dentry>::adopt(&dentry);
}

bool Superblock::remove(Dentry& dentry) {
  Ref<Dentry> of_table;
  const std::lock_guard lock(tree_mutex_);
  of_table = take_out(dentry);
  return static_cast<bool>(of_table);
}

Result<void> Superblock::remove_folder(Dentry& folder) {
  Ref<Dentry> of_table;
  const std::lock_guard lock(tree_mutex_);
  if (!folder.children_.empty()) return fail(Code::kNotEmpty, "the folder is not empty");
  of_table = take_out(folder);
  return of_table ? Result<void>() : fail(Code::kNotFound, "no such folder");
}

}  // namespace efivarium::vfs
