#include "vfs/superblock.h"

#include <functional>
#include <vector>

namespace efivarium::vfs {

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
  root_ = Ref<Dentry>::adopt(new Dentry(nullptr, "", std::move(inode), ++sequence_));
}

std::uint64_t Superblock::hash_name(std::string_view name) const {
  return std::hash<std::string_view>{}(name);
}

std::uint64_t Superblock::hash(const Dentry& folder, std::string_view name) const {
  return hash_name(name) ^ (folder.sequence() * 0x9E3779B97F4A7C15U);
}

Result<Ref<Dentry>> Superblock::lookup(const Dentry& folder, std::string_view name) const {
  const rcu::ReadSection section;
  Dentry* found = table_.find(section, hash(folder, name), [&](const Dentry& dentry) {
    return dentry.parent_ == &folder && same_name(dentry.name_, name);
  });
  Ref<Dentry> dentry = Ref<Dentry>::from_reader(section, found);
  if (!dentry) return fail(Code::kNotFound, "no such file");
  return dentry;
}

Result<Ref<Dentry>> Superblock::add(Dentry& folder, std::string name, Ref<Inode> inode) {
  const std::lock_guard lock(tree_mutex_);
  if (lookup(folder, name)) return fail(Code::kExists, "the file exists");
  auto dentry =
      Ref<Dentry>::adopt(new Dentry(&folder, std::move(name), std::move(inode), ++sequence_));
  dentry->listed_ = true;
  folder.children_.emplace(dentry->sequence_, dentry.get());
  table_.add(hash(folder, dentry->name_), *dentry);
  Ref<Dentry> of_table = dentry;
  (void)of_table.release();  // remove() takes it back
  return dentry;
}

bool Superblock::remove(Dentry& dentry) {
  Ref<Dentry> of_table;
  {
    const std::lock_guard lock(tree_mutex_);
    if (!dentry.listed_) return false;
    dentry.listed_ = false;
    dentry.parent().children_.erase(dentry.sequence_);
    table_.remove(dentry);
    of_table = Ref<Dentry>::adopt(&dentry);
  }
  return true;
}

}  // namespace efivarium::vfs
