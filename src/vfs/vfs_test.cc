#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <thread>

#include "vfs/calls.h"
#include "vfs/options.h"

namespace efivarium::vfs {
namespace {

// A file system of files that hold what was last written to them.
class TinyFile final : public Inode {
 public:
  TinyFile(Superblock& superblock, mode_t permissions, uid_t uid, gid_t gid)
      : Inode(superblock, S_IFREG | permissions, uid, gid) {}
  void read(Ref<File>, std::uint64_t offset, std::size_t size, Reply<Bytes> reply) override {
    const std::size_t begin = std::min<std::size_t>(offset, content_.size());
    const std::size_t end = std::min(begin + size, content_.size());
    reply(Bytes(content_.data() + begin, content_.data() + end));
  }
  void write(Ref<File>, std::uint64_t, Bytes bytes, Reply<void> reply) override {
    content_ = std::move(bytes);
    reply({});
  }
  Result<void> check_flags() const override { return {}; }

 private:
  Bytes content_;
};

class TinyRoot final : public Inode {
 public:
  TinyRoot(Superblock& superblock, mode_t permissions)
      : Inode(superblock, S_IFDIR | permissions, 1, 1) {}
  Result<Ref<Dentry>> create(Dentry& folder, std::string_view name, mode_t mode,
                             const Credentials& who) override {
    return superblock().add(
        folder, std::string(name),
        Ref<TinyFile>::adopt(new TinyFile(superblock(), mode, who.uid, who.gid)));
  }
  void unlink(Ref<Dentry> victim, Reply<void> reply) override {
    superblock().remove(*victim);
    reply({});
  }
};

class TinySystem final : public Superblock {
 public:
  explicit TinySystem(mode_t root_permissions = 0755) {
    set_root(Ref<TinyRoot>::adopt(new TinyRoot(*this, root_permissions)));
  }
  std::string_view type() const override { return "tiny"; }
  std::string show_options() const override { return loud ? ",loud" : ""; }
  Result<void> reconfigure(std::string_view options) override {
    if (!options.empty() && options != "loud") return fail(Code::kInvalidParameter, "unknown");
    loud = options == "loud";
    return {};
  }
  Result<void> check_writable() override {
    return can_write ? Result<void>() : fail(Code::kInvalidParameter, "read-only for good");
  }
  void status(Reply<FileSystemStatus> reply) override { reply(FileSystemStatus()); }

  bool loud = false, can_write = true;
};

Credentials user(uid_t uid, gid_t gid = 100) { return {uid, gid, {}}; }
const Credentials kRoot{};

struct Mounted {
  explicit Mounted(mode_t root_permissions = 0755)
      : system(Ref<TinySystem>::adopt(new TinySystem(root_permissions))),
        names(MountNamespace::create(Ref<Superblock>(Ref<TinySystem>(system)), "test")),
        mount(names->root().mount) {}

  Path add(const std::string& name, mode_t permissions = 0644, uid_t uid = 1, gid_t gid = 1) const {
    auto inode = Ref<TinyFile>::adopt(new TinyFile(*system, permissions, uid, gid));
    return {mount, *system->add(system->root(), name, std::move(inode))};
  }
  Result<void> unlink(std::string_view name, const Credentials& who) const {
    std::promise<Result<void>> done;
    unlink_file(names->root(), name, who, [&](Result<void> result) { done.set_value(result); });
    return done.get_future().get();
  }
  std::vector<std::string> list(std::uint64_t before = ~std::uint64_t{0}) const {
    std::vector<std::string> found;
    system->list(system->root(), before, [&](const Ref<Dentry>& dentry) {
      found.push_back(dentry->name());
      return true;
    });
    return found;
  }

  Ref<TinySystem> system;
  std::shared_ptr<MountNamespace> names;
  MountRef mount;
};

Bytes read(const Ref<File>& file, std::optional<std::uint64_t> offset, std::size_t size) {
  std::promise<Bytes> done;
  read_file(file, offset, size, [&](Result<Bytes> bytes) { done.set_value(bytes.value()); });
  return done.get_future().get();
}
int write(const Ref<File>& file, Bytes bytes) {
  std::promise<Result<void>> done;
  write_file(file, 0, std::move(bytes), [&](Result<void> result) { done.set_value(result); });
  const Result<void> result = done.get_future().get();
  return result ? 0 : result.error().to_errno();
}

template <typename T>
int errno_of(const Result<T>& result) {
  return result ? 0 : result.error().to_errno();
}

TEST(Access, GoesByOwnerThenGroupThenOthers) {
  const Mounted fs;
  const Path file = fs.add("a", 0640, 1, 10);
  const auto access = [&](int what, const Credentials& who) {
    return errno_of(check_access(file, what, who));
  };
  EXPECT_EQ(access(kReadAccess | kWriteAccess, user(1)), 0);
  EXPECT_EQ(access(kReadAccess, user(2, 10)), 0);
  EXPECT_EQ(access(kWriteAccess, user(2, 10)), EACCES);
  EXPECT_EQ(access(kReadAccess, user(2, 11)), EACCES);
  const Credentials member{2, 11, [] { return std::vector<gid_t>{5, 10}; }};
  EXPECT_EQ(access(kReadAccess, member), 0);

  const Path odd = fs.add("b", 0077, 1, 10);  // the first that fits decides
  EXPECT_EQ(errno_of(check_access(odd, kReadAccess, user(1, 10))), EACCES);
  EXPECT_EQ(errno_of(check_access(odd, kReadAccess, user(2, 10))), 0);
}

TEST(Access, TheSuperuserMayAllButRunWhatNobodyMay) {
  const Mounted fs;
  const Path file = fs.add("a", 0);
  EXPECT_TRUE(check_access(file, kReadAccess | kWriteAccess, kRoot));
  EXPECT_EQ(errno_of(check_access(file, kSearchAccess, kRoot)), EACCES);
  EXPECT_TRUE(check_access(fs.add("b", 0001), kSearchAccess, kRoot));
}

TEST(Access, NobodyWritesWhatIsImmutableOrReadOnly) {
  const Mounted fs;
  const Path file = fs.add("a", 0666);
  file.dentry->inode().set_flags(kImmutableFlag);
  EXPECT_EQ(errno_of(open_file(file, O_WRONLY, kRoot)), EPERM);
  EXPECT_EQ(errno_of(open_file(file, O_RDWR, user(1))), EPERM);
  EXPECT_EQ(errno_of(open_file(file, O_RDONLY, user(1))), 0);
  fs.system->set_read_only(true);
  EXPECT_EQ(errno_of(open_file(file, O_WRONLY, kRoot)), EROFS);
  EXPECT_EQ(errno_of(open_file(file, O_RDONLY, kRoot)), 0);
}

TEST(OpenFile, FoldersAreNotWrittenAndMustBeSearchable) {
  const Mounted fs(0700);
  const Path file = fs.add("a", 0666);
  EXPECT_EQ(errno_of(open_file(fs.names->root(), O_WRONLY, kRoot)), EISDIR);
  EXPECT_EQ(errno_of(open_file(fs.names->root(), O_RDONLY, kRoot)), 0);
  EXPECT_EQ(errno_of(open_file(file, O_RDONLY, user(2))), EACCES);
  EXPECT_EQ(errno_of(open_file(file, O_RDONLY, user(1))), 0);
}

TEST(CreateFile, MakesItOrOpensWhatIsThere) {
  const Mounted fs;
  const auto created = create_file(fs.names->root(), "a", O_RDWR | O_EXCL, 0644, user(1, 7));
  ASSERT_TRUE(created);
  EXPECT_EQ((*created)->inode().attributes().gid, 7U);
  EXPECT_EQ(errno_of(create_file(fs.names->root(), "a", O_RDWR | O_EXCL, 0644, kRoot)), EEXIST);
  const auto opened = create_file(fs.names->root(), "a", O_RDONLY, 0600, user(2));
  ASSERT_TRUE(opened);
  EXPECT_EQ(&(*opened)->inode(), &(*created)->inode());
  EXPECT_EQ(errno_of(create_file(fs.names->root(), "a", O_RDWR, 0644, user(2))), EACCES);
}

TEST(CreateFile, IsRefusedForTheReasonsOfLinux) {
  const Mounted fs;
  const auto create = [&](const Path& folder, const std::string& name, const Credentials& who) {
    return errno_of(create_file(folder, name, O_WRONLY, 0644, who));
  };
  EXPECT_EQ(create(fs.names->root(), "a", user(2)), EACCES);
  EXPECT_EQ(create(fs.names->root(), std::string(256, 'a'), kRoot), ENAMETOOLONG);
  EXPECT_EQ(create(fs.names->root(), std::string(255, 'a'), kRoot), 0);
  EXPECT_EQ(create(fs.add("f"), "a", kRoot), ENOTDIR);
  fs.system->set_read_only(true);
  EXPECT_EQ(create(fs.names->root(), "b", kRoot), EROFS);
  EXPECT_EQ(fs.list().size(), 2U);
}

TEST(CreateFile, WhoeverMadeAFileMayUseIt) {
  const Mounted fs;
  const auto created = create_file(fs.names->root(), "a", O_RDWR, 0400, user(1));
  ASSERT_TRUE(created);
  EXPECT_EQ(write(*created, {1, 2}), 0);
  EXPECT_EQ(errno_of(open_file(*fs.names->walk("a"), O_WRONLY, user(1))), EACCES);
}

TEST(File, ReadsMoveThePositionAndWritesDoNot) {
  const Mounted fs;
  const auto file = *open_file(fs.add("a"), O_RDWR, user(1));
  EXPECT_EQ(write(file, {1, 2, 3, 4, 5}), 0);
  EXPECT_EQ(read(file, std::nullopt, 2), Bytes({1, 2}));
  EXPECT_EQ(write(file, {6, 7, 8, 9}), 0);
  EXPECT_EQ(read(file, 0, 1), Bytes({6}));
  EXPECT_EQ(read(file, std::nullopt, 9), Bytes({8, 9}));
  EXPECT_EQ(read(file, std::nullopt, 9), Bytes());
  fs.system->set_read_only(true);
  EXPECT_EQ(write(file, {1}), EROFS);
}

TEST(UnlinkFile, NeedsTheFolderAndAMutableFile) {
  const Mounted fs;
  fs.add("a", 0, 9);
  fs.add("b").dentry->inode().set_flags(kImmutableFlag);
  EXPECT_EQ(errno_of(fs.unlink("c", user(1))), ENOENT);
  EXPECT_EQ(errno_of(fs.unlink("a", user(2))), EACCES);
  EXPECT_EQ(errno_of(fs.unlink("b", kRoot)), EPERM);
  fs.system->set_read_only(true);
  EXPECT_EQ(errno_of(fs.unlink("a", kRoot)), EROFS);
  fs.system->set_read_only(false);
  EXPECT_EQ(errno_of(fs.unlink("a", user(1))), 0);  // of whomever the file is
  EXPECT_THAT(fs.list(), testing::ElementsAre("b"));
}

TEST(ChangeAttributes, IsForTheOwner) {
  const Mounted fs;
  const Path file = fs.add("a", 0644, 1, 1);
  const auto change = [&](const Credentials& who, const auto& edit) {
    AttributeChange asked;
    edit(asked);
    return errno_of(change_attributes(file, asked, who));
  };
  const auto mode = [](AttributeChange& asked) { asked.mode = 0600; };
  const auto owner = [](AttributeChange& asked) { asked.uid = 2; };
  const auto group = [](AttributeChange& asked) { asked.gid = 50; };
  const auto now = [](AttributeChange& asked) {
    asked.modified = current_time();
    asked.times_are_now = true;
  };
  const auto past = [](AttributeChange& asked) { asked.modified = timespec{1, 0}; };
  const auto size = [](AttributeChange& asked) { asked.size_bytes = 0; };
  for (const auto& answer : {change(user(2), mode), change(user(1), owner), change(user(1), group),
                             change(user(2), past)}) {
    EXPECT_EQ(answer, EPERM);
  }
  EXPECT_EQ(change(user(2), now), EACCES);
  EXPECT_EQ(change(user(2), size), EACCES);
  for (const auto& answer : {change(user(1), mode), change(user(1, 50), group),
                             change(user(1), past), change(user(1), size), change(kRoot, owner)}) {
    EXPECT_EQ(answer, 0);
  }
  const InodeAttributes after = file.dentry->inode().attributes();
  EXPECT_EQ(after.mode, mode_t{S_IFREG | 0600});
  EXPECT_EQ(after.uid, 2U);
  EXPECT_EQ(after.gid, 50U);
  EXPECT_EQ(after.modified.tv_sec, 1);
  file.dentry->inode().set_flags(kImmutableFlag);
  EXPECT_EQ(change(kRoot, mode), EPERM);
  fs.system->set_read_only(true);
  EXPECT_EQ(change(kRoot, mode), EROFS);
}

TEST(InodeFlags, AreSetByTheOwnerAndChangedByTheSuperuser) {
  const Mounted fs;
  const Path file = fs.add("a", 0644, 1);
  EXPECT_EQ(errno_of(get_flags(fs.names->root())), ENOTTY);
  EXPECT_EQ(errno_of(set_flags(fs.names->root(), 0, kRoot)), ENOTTY);
  EXPECT_EQ(errno_of(set_flags(file, 0, user(2))), EPERM);
  EXPECT_EQ(errno_of(set_flags(file, 0, user(1))), 0);
  EXPECT_EQ(errno_of(set_flags(file, kImmutableFlag, user(1))), EPERM);
  EXPECT_EQ(errno_of(set_flags(file, kImmutableFlag | 1, kRoot)), EOPNOTSUPP);
  EXPECT_EQ(get_flags(file), 0U);
  EXPECT_EQ(errno_of(set_flags(file, kImmutableFlag, kRoot)), 0);
  EXPECT_EQ(get_flags(file), kImmutableFlag);
  fs.system->set_read_only(true);
  EXPECT_EQ(errno_of(set_flags(file, 0, kRoot)), EROFS);
}

TEST(Superblock, ListsNewestFirstAndGoesOnWhileNamesComeAndGo) {
  const Mounted fs;
  for (const char* name : {"a", "b", "c", "d"}) fs.add(name);
  EXPECT_THAT(fs.list(), testing::ElementsAre("d", "c", "b", "a"));
  const std::uint64_t at_c = fs.names->walk("c")->dentry->sequence();
  EXPECT_EQ(errno_of(fs.unlink("c", kRoot)), 0);
  EXPECT_EQ(errno_of(fs.unlink("b", kRoot)), 0);
  fs.add("e");
  fs.add("c");
  EXPECT_THAT(fs.list(at_c), testing::ElementsAre("a"));
  EXPECT_THAT(fs.list(), testing::ElementsAre("c", "e", "d", "a"));
}

TEST(Superblock, ANameStandsOnceAndGoesOnce) {
  const Mounted fs;
  const Path file = fs.add("a");
  auto other = Ref<TinyFile>::adopt(new TinyFile(*fs.system, 0644, 1, 1));
  EXPECT_EQ(errno_of(fs.system->add(fs.system->root(), "a", std::move(other))), EEXIST);
  EXPECT_TRUE(fs.system->remove(*file.dentry));
  EXPECT_FALSE(fs.system->remove(*file.dentry));
  EXPECT_EQ(errno_of(fs.system->lookup(fs.system->root(), "a")), ENOENT);
  EXPECT_EQ(file.dentry->name(), "a");  // whoever holds it has it
}

TEST(MountNamespace, WalksComponentByComponent) {
  const Mounted fs;
  const Path file = fs.add("a");
  for (const char* path : {"a", "/a", "//./a", "../a", "/../../a"}) {
    const auto found = fs.names->walk(path);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->dentry, file.dentry);
  }
  EXPECT_EQ(fs.names->walk("/")->dentry.get(), &fs.system->root());
  EXPECT_EQ(errno_of(fs.names->walk("b")), ENOENT);
  EXPECT_EQ(errno_of(fs.names->walk("a/b")), ENOTDIR);
  EXPECT_EQ(errno_of(fs.names->walk(std::string(256, 'x'))), ENAMETOOLONG);
}

TEST(MountNamespace, ARemountIsAllOrNothing) {
  const Mounted fs;
  const auto remount = [&](const char* options) {
    return errno_of(fs.names->remount(fs.names->root(), options));
  };
  EXPECT_EQ(remount("ro,,loud"), 0);
  EXPECT_EQ(fs.mount->show_options(), "ro,loud");
  fs.system->can_write = false;
  EXPECT_EQ(remount("rw"), EINVAL);
  EXPECT_EQ(remount("rw,ro"), 0);  // the last one counts
  EXPECT_EQ(fs.mount->show_options(), "ro");
  fs.system->can_write = true;
  EXPECT_EQ(remount("rw,bogus"), EINVAL);
  EXPECT_EQ(fs.mount->show_options(), "ro");
  EXPECT_EQ(remount("rw"), 0);
  EXPECT_EQ(fs.mount->show_options(), "rw");
  EXPECT_THAT(each_option(",a,,b=c,"), testing::ElementsAre("a", "b=c"));
}

TEST(StressSuperblock, NamesAreLookedUpWhileOthersComeAndGo) {
  const Mounted fs;
  const Path kept = fs.add("kept");
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> rounds = 0, wrong = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      for (std::uint64_t i = 0; !stop; ++i) {
        const auto found = fs.names->walk("kept");
        if (!found || found->dentry != kept.dentry) ++wrong;
        const std::string name = std::to_string(i % 8);
        if (const auto passing = fs.names->walk(name);
            passing &&
            (passing->dentry->name() != name || passing->dentry->inode().is_directory())) {
          ++wrong;
        }
        const auto listed = fs.list();
        if (listed.empty() || listed.back() != "kept" || listed.size() > 9) ++wrong;
        ++rounds;
      }
    });
  }
  for (int round = 0; round < 5000 || rounds < 10; ++round) {
    const std::string name = std::to_string(round % 8);
    (void)fs.unlink(name, kRoot);
    fs.add(name);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(fs.list().size(), 9U);
}

}  // namespace
}  // namespace efivarium::vfs
