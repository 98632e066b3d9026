// The inodes of efivarfs: its one folder, and a file for each variable.
#pragma once

#include <mutex>

#include "efivarium/variable.h"
#include "vfs/inode.h"

namespace efivarium::efivarfs {

class Efivarfs;

class RootInode final : public vfs::Inode {
 public:
  explicit RootInode(Efivarfs& efivarfs);
  Result<vfs::Ref<vfs::Dentry>> create(vfs::Dentry& folder, std::string_view name, mode_t mode,
                                       const vfs::Credentials& who) override;
  void unlink(vfs::Ref<vfs::Dentry> victim, vfs::Reply<void> reply) override;
  Result<void> sync() override { return {}; }

 private:
  Efivarfs& efivarfs_;
};

// A size of 0 means that there is no such variable (yet, or any more). The name of such a file
// goes with its last close; the file itself may then still be read, and written anew.
class VariableInode final : public vfs::Inode {
 public:
  VariableInode(Efivarfs& efivarfs, VariableKey key, mode_t permissions);

  const VariableKey& key() const { return key_; }
  // Takes the size from the firmware: attributes and data, or 0 if there is no variable.
  void note_size();

  Result<void> open(vfs::File& file) override;
  void read(vfs::Ref<vfs::File> file, std::uint64_t offset, std::size_t size_bytes,
            vfs::Reply<Bytes> reply) override;
  void write(vfs::Ref<vfs::File> file, std::uint64_t offset, Bytes bytes,
             vfs::Reply<void> reply) override;
  void release(vfs::File& file) override;
  Result<void> check_flags() const override;

 private:
  Result<void> set(const Bytes& bytes);
  Bytes read_now(std::uint64_t offset, std::size_t size_bytes);

  Efivarfs& efivarfs_;
  const VariableKey key_;
  std::mutex open_mutex_;
  int opens_ = 0;         // files, and writes under way
  bool removed_ = false;  // by the last close
};

}  // namespace efivarium::efivarfs
