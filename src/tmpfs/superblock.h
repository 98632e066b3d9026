// Tmpfs: folders and files in memory, up to a size.
#pragma once

#include <atomic>
#include <memory>

#include "vfs/superblock.h"

namespace efivarium::tmpfs {

class Tmpfs : public vfs::Superblock {
 public:
  // options: size=BYTES, with k, m or g. kInvalidParameter.
  static Result<vfs::Ref<Tmpfs>> make(std::string_view options = {});
  ~Tmpfs() override;

  std::string_view type() const override { return "tmpfs"; }
  std::string show_options() const override;
  // size= alone; kInvalidParameter where more is in use already.
  Result<void> reconfigure(std::string_view options) override;
  void status(vfs::Reply<vfs::FileSystemStatus> reply) override;

  // What the files of one file system take together; they may outlive it.
  struct Space {
    std::atomic<std::uint64_t> limit_pages = 0;  // 0: none
    std::atomic<std::uint64_t> used_pages = 0;

    // A file grows or shrinks. kOutOfResources.
    Result<void> resize(std::uint64_t from_bytes, std::uint64_t to_bytes);
  };
  const std::shared_ptr<Space>& space() const { return space_; }

 protected:
  explicit Tmpfs(mode_t root_mode);

 private:
  const std::shared_ptr<Space> space_ = std::make_shared<Space>();
};

}  // namespace efivarium::tmpfs
