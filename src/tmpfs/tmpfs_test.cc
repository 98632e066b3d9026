#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tmpfs/superblock.h"
#include "vfs/calls.h"

namespace efivarium::tmpfs {
namespace {

using vfs::File;
using vfs::MountNamespace;
using vfs::Path;
using vfs::Ref;

const vfs::Credentials kRoot{};

struct Mounted {
  explicit Mounted(std::string_view options = {})
      : tmpfs(*Tmpfs::make(options)),
        names(MountNamespace::create(Ref<vfs::Superblock>(Ref<Tmpfs>(tmpfs)), "test")) {}

  Ref<File> open(std::string_view name, int flags = O_RDWR | O_CREAT) const {
    return *vfs::create_file(names->root(), name, flags, 0644, kRoot);
  }
  static int write(const Ref<File>& file, std::uint64_t offset, Bytes bytes) {
    int error = -1;
    vfs::write_file(file, offset, std::move(bytes),
                    [&](Result<void> done) { error = done ? 0 : done.error().to_errno(); });
    return error;
  }
  static Bytes read(const Ref<File>& file, std::uint64_t offset = 0) {
    Bytes content;
    vfs::read_file(file, offset, 1 << 20, [&](Result<Bytes> bytes) { content = *bytes; });
    return content;
  }
  vfs::FileSystemStatus status() const {
    vfs::FileSystemStatus status;
    tmpfs->status([&](Result<vfs::FileSystemStatus> got) { status = *got; });
    return status;
  }

  Ref<Tmpfs> tmpfs;
  std::shared_ptr<MountNamespace> names;
};

TEST(Tmpfs, FilesAreWrittenAnywhere) {
  const Mounted fs;
  const Ref<File> file = fs.open("a");
  EXPECT_EQ(Mounted::write(file, 2, {1, 2}), 0);
  EXPECT_EQ(Mounted::read(file), Bytes({0, 0, 1, 2}));
  EXPECT_EQ(Mounted::write(file, 0, {9}), 0);
  EXPECT_EQ(Mounted::write(fs.open("a", O_WRONLY | O_APPEND), 0, {7}), 0);
  EXPECT_EQ(Mounted::read(file, 1), Bytes({0, 1, 2, 7}));
  EXPECT_TRUE(vfs::resize_file(*file, 1));
  EXPECT_EQ(Mounted::read(file), Bytes({9}));
  EXPECT_EQ(Mounted::read(fs.open("a", O_RDWR | O_TRUNC)), Bytes());
}

TEST(Tmpfs, SizeIsALimit) {
  const Mounted fs("size=8k");
  EXPECT_EQ(fs.names->root().mount->show_options(), "rw,size=8k");
  Ref<File> file = fs.open("a");
  EXPECT_EQ(Mounted::write(file, 0, Bytes(8192, 1)), 0);
  EXPECT_EQ(Mounted::write(file, 8192, {1}), ENOSPC);
  EXPECT_EQ(fs.status().blocks_free, 0U);
  EXPECT_EQ(fs.tmpfs->reconfigure("size=4k").error().code(), Code::kInvalidParameter);
  EXPECT_TRUE(vfs::resize_file(*file, 1));
  EXPECT_EQ(fs.status().blocks_free, 1U);
  for (const char* bad : {"size=", "size=x", "size=1t", "size=99999999999g", "mode=0755"}) {
    EXPECT_EQ(Tmpfs::make(bad).error().code(), Code::kInvalidParameter) << bad;
  }
}

TEST(Tmpfs, FoldersNest) {
  const Mounted fs;
  const Path root = fs.names->root();
  const auto folder = vfs::make_folder(root, "d", 0755, kRoot);
  ASSERT_TRUE(folder);
  EXPECT_EQ(root.dentry->inode().attributes().links, 3U);
  ASSERT_TRUE(vfs::make_folder(*folder, "e", 0755, kRoot));
  EXPECT_TRUE(fs.names->walk("/d/e/.."));
  EXPECT_EQ(vfs::remove_folder(root, "d", kRoot).error().to_errno(), ENOTEMPTY);
  EXPECT_TRUE(vfs::remove_folder(*folder, "e", kRoot));
  EXPECT_TRUE(vfs::remove_folder(root, "d", kRoot));
  EXPECT_EQ(vfs::make_folder(*folder, "x", 0755, kRoot).error().to_errno(), ENOENT);
  EXPECT_EQ(root.dentry->inode().attributes().links, 2U);
}

TEST(Tmpfs, ARemovedFileIsThereWhileItIsOpen) {
  const Mounted fs("size=64k");
  Ref<File> file = fs.open("a");
  EXPECT_EQ(Mounted::write(file, 0, Bytes(5000, 3)), 0);
  vfs::unlink_file(fs.names->root(), "a", kRoot, [](Result<void> done) { EXPECT_TRUE(done); });
  EXPECT_FALSE(fs.names->walk("a"));
  EXPECT_EQ(Mounted::read(file).size(), 5000U);
  EXPECT_EQ(fs.status().blocks_free, 14U);
  vfs::release_file(file);
  file.reset();
  rcu::barrier();  // the name
  rcu::barrier();  // and the file
  EXPECT_EQ(fs.status().blocks_free, 16U);
}

}  // namespace
}  // namespace efivarium::tmpfs
