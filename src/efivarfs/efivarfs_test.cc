#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <future>
#include <latch>
#include <thread>

#include "efivarfs/space.h"
#include "efivarfs/superblock.h"
#include "store/memory_store.h"
#include "vfs/calls.h"

namespace efivarium::efivarfs {
namespace {

using vfs::File;
using vfs::Ref;

const std::string kVendor = "-210be57c-9849-4fc7-a635-e6382d1aec27";
const std::string kGlobal = "-8be4df61-93ca-11d2-aa0d-00e098032b8c";
const vfs::Credentials kRoot{};

Variable variable(const std::string& file_name, Bytes data = {1}) {
  return {*VariableKey::parse(file_name), kUsualAttributes, {}, std::move(data)};
}
// Attributes, data: what is written to a file.
Bytes content(std::uint8_t attributes, const Bytes& data = {}) {
  Bytes bytes = {attributes, 0, 0, 0};
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

template <typename T>
int errno_of(const Result<T>& result) {
  return result ? 0 : result.error().to_errno();
}
template <typename T, typename Call>
Result<T> wait_for(const Call& call) {
  std::promise<Result<T>> done;
  call([&done](Result<T> result) { done.set_value(std::move(result)); });
  return done.get_future().get();
}

struct Setup {
  std::uint64_t storage = 100'000;
  bool read_only = false;
  std::string options{};
};

struct Mounted {
  explicit Mounted(std::vector<Variable> variables = {}, const Setup& setup = {}) {
    auto memory = std::make_unique<store::MemoryStore>(setup.storage, std::move(variables));
    store = memory.get();
    if (setup.read_only) store->make_read_only();
    firmware = std::make_shared<runtime::Firmware>(
        *runtime::VariableServices::start(std::move(memory), runtime::ServiceOptions()));
    Options options;
    if (!setup.options.empty()) {
      EXPECT_EQ(options.take(setup.options), true);
    }
    names = vfs::MountNamespace::create(
        *Efivarfs::mount(firmware, options, std::make_shared<Limits>()), "test");
  }
  ~Mounted() {
    names.reset();
    rcu::barrier();
  }

  vfs::Path root() const { return names->root(); }
  Result<vfs::Path> walk(std::string_view name) const { return names->walk(name); }
  bool exists(std::string_view name) const { return walk(name).has_value(); }
  vfs::InodeAttributes stat(std::string_view name) const {
    return walk(name)->dentry->inode().attributes();
  }
  Result<Ref<File>> open(std::string_view name, int flags = O_RDWR) const {
    const Result<vfs::Path> path = walk(name);
    if (!path) return std::unexpected(path.error());
    return vfs::open_file(*path, flags, kRoot);
  }
  Result<Ref<File>> create(std::string_view name, mode_t mode = 0644) const {
    return vfs::create_file(root(), name, O_RDWR | O_CREAT, mode, kRoot);
  }
  static int write(const Ref<File>& file, const Bytes& bytes) {
    return errno_of(
        wait_for<void>([&](auto reply) { vfs::write_file(file, 0, bytes, std::move(reply)); }));
  }
  static Bytes read(const Ref<File>& file, std::uint64_t offset = 0, std::size_t size = 4096) {
    return *wait_for<Bytes>(
        [&](auto reply) { vfs::read_file(file, offset, size, std::move(reply)); });
  }
  // Creates or opens, writes and closes.
  int put(std::string_view name, const Bytes& bytes) const {
    const Ref<File> file = *create(name);
    const int answer = write(file, bytes);
    vfs::release_file(file);
    return answer;
  }
  int unlink(std::string_view name) const {
    return errno_of(wait_for<void>(
        [&](auto reply) { vfs::unlink_file(root(), name, kRoot, std::move(reply)); }));
  }
  vfs::FileSystemStatus status() const {
    return *wait_for<vfs::FileSystemStatus>(
        [&](auto reply) { root().mount->superblock().status(std::move(reply)); });
  }
  int remount(std::string_view options) const { return errno_of(names->remount(root(), options)); }

  store::MemoryStore* store;
  std::shared_ptr<runtime::Firmware> firmware;
  std::shared_ptr<vfs::MountNamespace> names;
};

TEST(Efivarfs, ShowsWhatTheFirmwareHas) {
  const Mounted fs({variable("A" + kVendor, {1, 2}), variable("b/c" + kVendor),
                    variable("Seed-1ce1e5bc-7ceb-42f2-81e5-8aadf180f57b")});
  EXPECT_EQ(fs.stat("A" + kVendor).mode, mode_t{S_IFREG | 0644});
  EXPECT_EQ(fs.stat("A" + kVendor).size_bytes, 6U);
  EXPECT_EQ(fs.stat("A" + kVendor).links, 1U);
  EXPECT_EQ(fs.stat("/").mode, mode_t{S_IFDIR | 0755});
  EXPECT_EQ(fs.stat("/").links, 2U);
  EXPECT_TRUE(fs.exists("b!c" + kVendor));
  EXPECT_TRUE(fs.exists("SetupMode" + kGlobal));
  EXPECT_FALSE(fs.exists("Seed-1ce1e5bc-7ceb-42f2-81e5-8aadf180f57b"));
  EXPECT_TRUE(fs.exists("A-210BE57C-9849-4FC7-A635-E6382D1AEC27"));
  EXPECT_EQ(errno_of(fs.walk("a" + kVendor)), ENOENT);
  EXPECT_EQ(errno_of(fs.walk("no name at all")), ENOENT);
}

TEST(Efivarfs, OnlyTheKernelProfileEndsTheListAtALongNameOrADuplicate) {
  for (const auto& bad : {std::string(256, 'x'), std::string("a/b")}) {
    const std::vector<Variable> variables = {variable("a!b" + kVendor), variable(bad + kVendor),
                                             variable("Z" + kVendor)};
    EXPECT_TRUE(Mounted(variables).exists("Z" + kVendor));
    const Mounted limited(variables, {.options = "profile=kernel"});
    EXPECT_TRUE(limited.exists("a!b" + kVendor));
    EXPECT_FALSE(limited.exists("Z" + kVendor));
  }
  const Mounted fits({variable(std::string(255, 'x') + kVendor), variable("Z" + kVendor)},
                     {.options = "profile=kernel"});
  EXPECT_TRUE(fits.exists("Z" + kVendor));
}

TEST(Efivarfs, AFileLivesFromItsFirstWriteToItsDeletion) {
  const Mounted fs;
  const Ref<File> file = *fs.create("A" + kVendor, 0600);
  EXPECT_EQ(fs.stat("A" + kVendor).size_bytes, 0U);
  EXPECT_EQ(fs.stat("A" + kVendor).mode, mode_t{S_IFREG | 0600});
  EXPECT_EQ(Mounted::read(file), Bytes());
  EXPECT_TRUE(fs.store->load()->empty());
  EXPECT_EQ(Mounted::write(file, content(7, {1, 2})), 0);
  EXPECT_EQ(fs.stat("A" + kVendor).size_bytes, 6U);
  EXPECT_EQ(Mounted::read(file), content(7, {1, 2}));
  EXPECT_EQ(Mounted::read(file, 3, 2), Bytes({0, 1}));
  EXPECT_EQ(Mounted::read(file, 6), Bytes());
  EXPECT_EQ(Mounted::write(file, content(0x47, {3})), 0);
  EXPECT_EQ(Mounted::read(file), content(7, {1, 2, 3}));
  EXPECT_EQ(fs.stat("A" + kVendor).size_bytes, 7U);
  EXPECT_EQ(Mounted::write(file, content(7)), 0);
  EXPECT_EQ(fs.stat("A" + kVendor).size_bytes, 0U);
  EXPECT_EQ(Mounted::read(file), Bytes());
  EXPECT_TRUE(fs.store->load()->empty());
  vfs::release_file(file);
  EXPECT_FALSE(fs.exists("A" + kVendor));
}

TEST(Efivarfs, AFileNeverWrittenGoesWithItsLastClose) {
  const Mounted fs;
  const Ref<File> first = *fs.create("A" + kVendor);
  const Ref<File> second = *fs.open("A" + kVendor, O_RDONLY);
  vfs::release_file(first);
  EXPECT_TRUE(fs.exists("A" + kVendor));
  const vfs::Path path = *fs.walk("A" + kVendor);
  vfs::release_file(second);
  EXPECT_FALSE(fs.exists("A" + kVendor));
  EXPECT_EQ(path.dentry->inode().attributes().links, 0U);
  EXPECT_EQ(errno_of(vfs::open_file(path, O_RDONLY, kRoot)), ENOENT);
  EXPECT_EQ(fs.put("A" + kVendor, content(7, {1})), 0);  // the name is free again
  EXPECT_TRUE(fs.exists("A" + kVendor));
}

TEST(Efivarfs, AWriteUnderWayKeepsTheName) {
  const Mounted fs;
  std::latch stalled(1);
  fs.firmware->queue.post([&] { stalled.wait(); });
  const Ref<File> file = *fs.create("A" + kVendor);
  std::promise<bool> written;
  vfs::write_file(file, 0, content(7, {1}),
                  [&](auto done) { written.set_value(done.has_value()); });
  vfs::release_file(file);
  EXPECT_TRUE(fs.exists("A" + kVendor));
  stalled.count_down();
  EXPECT_TRUE(written.get_future().get());
  EXPECT_TRUE(fs.exists("A" + kVendor));
  EXPECT_EQ(fs.store->load()->size(), 1U);
}

TEST(Efivarfs, WritesAreRefusedWithTheErrorsOfLinux) {
  const Mounted fs({variable("A" + kVendor)});
  const auto put = [&](const std::string& name, const Bytes& bytes) { return fs.put(name, bytes); };
  EXPECT_EQ(put("B" + kVendor, {7, 0, 0}), EINVAL);
  EXPECT_EQ(put("B" + kVendor, {7, 0, 0, 0x80, 1}), EINVAL);
  EXPECT_EQ(put("B" + kVendor, content(0x87, {1})), EINVAL);
  EXPECT_EQ(put("B" + kVendor, Bytes((4U << 20) + 5)), ENOMEM);
  EXPECT_EQ(put("B" + kVendor, content(7)), EIO);  // NOT_FOUND
  EXPECT_EQ(put("B" + kVendor, content(6, {1})), EINVAL);
  EXPECT_EQ(put("B" + kVendor, content(0x27, {1})), EACCES);
  EXPECT_EQ(put("Boot0000" + kGlobal, content(7, {1})), EINVAL);
  EXPECT_EQ(put("SecureBoot2" + kGlobal, content(7, {1})), EINVAL);
  fs.store->fail_change(1);
  EXPECT_EQ(put("B" + kVendor, content(7, {1})), EIO);
  EXPECT_FALSE(fs.exists("B" + kVendor));
  EXPECT_EQ(errno_of(fs.create("B")), EINVAL);
  EXPECT_EQ(errno_of(fs.create("B-1ce1e5bc-7ceb-42f2-81e5-8aadf180f57b")), EPERM);
}

TEST(Efivarfs, TruncationIsTakenWithoutEffect) {
  const Mounted fs;
  const Ref<File> file = *fs.create("A" + kVendor);
  ASSERT_EQ(Mounted::write(file, content(7, {1, 2})), 0);
  EXPECT_TRUE(vfs::resize_file(*file, 0));
  EXPECT_EQ(fs.stat("A" + kVendor).size_bytes, 6U);
  vfs::release_file(file);
}

TEST(Efivarfs, UnlinkDeletesTheVariableAndOpenFilesReadAsEmpty) {
  const Mounted fs({variable("Boot0000" + kGlobal), variable("Lang" + kGlobal)});
  const Ref<File> file = *fs.open("Boot0000" + kGlobal);
  EXPECT_EQ(fs.unlink("Boot0000" + kGlobal), 0);
  EXPECT_FALSE(fs.exists("Boot0000" + kGlobal));
  EXPECT_EQ(fs.store->load()->size(), 1U);
  EXPECT_EQ(Mounted::read(file), Bytes());
  EXPECT_EQ(file->inode().attributes().links, 0U);
  EXPECT_EQ(fs.unlink("Boot0000" + kGlobal), ENOENT);
  vfs::release_file(file);
  // Gone behind its back: that is success too.
  ASSERT_TRUE(fs.firmware->services->set_variable(variable("Lang" + kGlobal).key, {}, {}));
  EXPECT_EQ(fs.unlink("Lang" + kGlobal), 0);
  EXPECT_FALSE(fs.exists("Lang" + kGlobal));
}

TEST(Efivarfs, AnyFailureToUnlinkIsEinvalAndKeepsTheName) {
  const Mounted fs({variable("Boot0000" + kGlobal)});
  fs.store->fail_change(1);
  EXPECT_EQ(fs.unlink("Boot0000" + kGlobal), EINVAL);
  EXPECT_TRUE(fs.exists("Boot0000" + kGlobal));
  EXPECT_EQ(fs.store->load()->size(), 1U);
}

TEST(Efivarfs, FilesAreImmutableUnlessLinuxKnowsThem) {
  const Mounted fs({variable("A" + kVendor), variable("Timeout" + kGlobal)});
  EXPECT_EQ(vfs::get_flags(*fs.walk("A" + kVendor)), vfs::kImmutableFlag);
  EXPECT_EQ(vfs::get_flags(*fs.walk("Timeout" + kGlobal)), 0U);
  EXPECT_EQ(errno_of(vfs::get_flags(fs.root())), ENOTTY);
  EXPECT_EQ(errno_of(fs.open("A" + kVendor)), EPERM);
  EXPECT_EQ(fs.unlink("A" + kVendor), EPERM);
  ASSERT_TRUE(vfs::set_flags(*fs.walk("A" + kVendor), 0, kRoot));
  EXPECT_EQ(fs.put("A" + kVendor, content(7, {2})), 0);
  EXPECT_EQ(fs.put("B" + kVendor, content(7, {2})), 0);  // its maker may
  EXPECT_EQ(errno_of(fs.open("B" + kVendor)), EPERM);

  const Mounted without({variable("A" + kVendor)}, {.options = "flags=off"});
  EXPECT_EQ(without.unlink("A" + kVendor), 0);
  EXPECT_EQ(errno_of(vfs::get_flags(*without.walk("SetupMode" + kGlobal))), ENOTTY);
}

TEST(Efivarfs, WritesLeaveTheReserveAlone) {
  if (kReservedSpace == 0) GTEST_SKIP() << "no reserve on this machine";
  const Mounted fs({}, {.storage = 10'000});
  const std::size_t most = 10'000 - kReservedSpace - 2;  // data and name of one unit
  EXPECT_EQ(fs.put("A" + kVendor, content(7, Bytes(most + 1, 1))), ENOSPC);
  EXPECT_EQ(fs.put("B" + kVendor, content(7, Bytes(10'001, 1))), ENOSPC);  // the firmware's word
  EXPECT_EQ(fs.put("A" + kVendor, content(7, Bytes(most, 1))), 0);
  EXPECT_EQ(fs.put("B" + kVendor, content(7, {1})), ENOSPC);
  EXPECT_EQ(fs.store->load()->size(), 1U);
}

TEST(EfivarfsStatus, ReportsStorageWithoutTheReserve) {
  for (const std::uint64_t free : {std::uint64_t{0}, kReservedSpace, kReservedSpace + 1}) {
    const vfs::FileSystemStatus status = Mounted({}, {.storage = free}).status();
    EXPECT_EQ(status.block_size_bytes, 1U);
    EXPECT_EQ(status.blocks, free);
    EXPECT_EQ(status.blocks_free, free);
    EXPECT_EQ(status.blocks_available, free > kReservedSpace ? 1U : 0U);
    EXPECT_EQ(status.files, 0U);
    EXPECT_EQ(status.files_free, 0U);
    EXPECT_EQ(status.longest_name_bytes, 255U);
  }
  EXPECT_EQ(Mounted({variable("A" + kVendor)}).status().blocks_free, 100'000U - 68);
}

TEST(EfivarfsStatus, IsReportedUnlessNostatfsWasLast) {
  const Mounted fs;
  EXPECT_EQ(fs.root().mount->show_options(), "rw");
  EXPECT_EQ(fs.status().blocks, 100'000U);
  const auto open_file = *fs.create("A" + kVendor);
  EXPECT_EQ(fs.remount("nostatfs"), 0);
  EXPECT_EQ(fs.root().mount->show_options(), "rw,nostatfs");
  const vfs::FileSystemStatus off = fs.status();
  EXPECT_EQ(off.blocks + off.blocks_free + off.blocks_available, 0U);
  EXPECT_EQ(off.block_size_bytes, 1U);
  EXPECT_EQ(off.longest_name_bytes, 255U);
  EXPECT_EQ(fs.remount("nostatfs,statfs"), 0);
  EXPECT_EQ(fs.status().blocks, 100'000U);
  EXPECT_EQ(fs.root().mount->show_options(), "rw");
  EXPECT_EQ(Mounted::write(open_file, content(7, {1})), 0);  // open files survive
  vfs::release_file(open_file);
}

TEST(EfivarfsStatus, OtherRemountsKeepWhatIsSet) {
  const Mounted fs({}, {.options = "nostatfs"});
  EXPECT_EQ(fs.status().blocks, 0U);
  EXPECT_EQ(fs.remount("ro"), 0);
  EXPECT_EQ(fs.root().mount->show_options(), "ro,nostatfs");
  EXPECT_EQ(fs.remount("rw,statfs"), 0);
  EXPECT_EQ(fs.remount("rw"), 0);
  EXPECT_EQ(fs.status().blocks, 100'000U);
}

TEST(EfivarfsRemount, ChangesNothingButTheReport) {
  const Mounted fs({variable("A" + kVendor)}, {.options = "uid=5"});
  EXPECT_EQ(fs.remount("uid=7,gid=8,nostatfs"), 0);
  EXPECT_EQ(fs.root().mount->show_options(), "rw,uid=5,nostatfs");
  EXPECT_EQ(fs.stat("A" + kVendor).uid, 5U);
  EXPECT_EQ(fs.stat("/").gid, 0U);
  EXPECT_EQ(fs.put("B" + kVendor, content(7, {1})), 0);
  EXPECT_EQ(fs.stat("B" + kVendor).uid, 5U);
}

TEST(EfivarfsRemount, IsAllOrNothing) {
  const Mounted fs({}, {.read_only = true});
  EXPECT_EQ(fs.root().mount->show_options(), "ro");
  EXPECT_EQ(errno_of(fs.create("A" + kVendor)), EROFS);
  EXPECT_EQ(fs.remount("rw,nostatfs"), EINVAL);
  for (const char* bad :
       {"nostatfs=1", "statfs=", "bogus", "uid=x", "profile=kernel", "flags=off"}) {
    EXPECT_EQ(fs.remount("nostatfs," + std::string(bad)), EINVAL) << bad;
    EXPECT_EQ(fs.root().mount->show_options(), "ro") << bad;
  }
  EXPECT_EQ(fs.status().blocks, 100'000U);
}

TEST(EfivarfsOptions, TakeWhatEfivarfsHasAndLeaveTheRest) {
  Options options;
  EXPECT_TRUE(options.report_space);
  EXPECT_EQ(options.take("nostatfs"), true);
  EXPECT_FALSE(options.report_space);
  EXPECT_EQ(options.take("statfs"), true);
  EXPECT_TRUE(options.report_space);
  EXPECT_EQ(options.take("gid=4294967294"), true);
  EXPECT_EQ(options.gid, 4294967294U);
  EXPECT_EQ(options.take("mode=755"), false);
  for (const char* bad : {"nostatfs=1", "uid=", "uid=-1", "uid=4294967295", "gid=1x", "uid",
                          "profile=fast", "flags", "flags=yes"}) {
    EXPECT_EQ(errno_of(options.take(bad)), EINVAL) << bad;
  }
}

// Under the thread sanitizer this shows that the flag is free of races.
TEST(StressEfivarfs, StatusAndRemountRunAtOnce) {
  const Mounted fs;
  std::atomic<bool> stop = false;
  std::atomic<int> reported = 0, silent = 0, wrong = 0;
  std::thread reader([&] {
    while (!stop) {
      const std::uint64_t blocks = fs.status().blocks;
      ++(blocks == 0 ? silent : blocks == 100'000 ? reported : wrong);
    }
  });
  for (int round = 0; round < 2000 || reported == 0 || silent == 0; ++round) {
    EXPECT_EQ(fs.remount(round % 2 == 0 ? "nostatfs" : "statfs"), 0);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

// Nothing of the store is looked at before somebody wants to see it.
TEST(LaterTest, ServicesStartOnFirstUse) {
  int starts = 0;
  auto start = [&](std::string& note) {
    ++starts;
    note = "damaged";
    auto memory = std::make_unique<store::MemoryStore>(
        100'000, std::vector{variable("Var" + kVendor)});
    memory->make_read_only();
    return runtime::VariableServices::start(std::move(memory), runtime::ServiceOptions());
  };
  auto later = *Efivarfs::mount_later(start, Options(), std::make_shared<Limits>());
  const Efivarfs& seen = *later;
  const auto names = vfs::MountNamespace::create(std::move(later), "test");
  EXPECT_EQ(seen.show_options(), "");
  EXPECT_EQ(seen.problem(), "");
  EXPECT_FALSE(seen.is_read_only());
  EXPECT_EQ(starts, 0);
  EXPECT_TRUE(names->walk("Var" + kVendor));
  EXPECT_TRUE(names->walk("Var" + kVendor));
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(seen.problem(), "damaged");
  EXPECT_TRUE(seen.is_read_only());
  EXPECT_EQ(errno_of(names->remount(names->root(), "rw")), EINVAL);
}

TEST(LaterTest, WhatCannotStartIsEmptyAndSaysWhy) {
  auto start = [](std::string&) -> Result<std::unique_ptr<runtime::VariableServices>> {
    return fail_at(Code::kCorrupt, "damaged", 0x48);
  };
  for (const bool at_once : {false, true}) {
    auto made = at_once ? Efivarfs::mount_broken("damaged at offset 0x48", Options(),
                                                 std::make_shared<Limits>())
                        : *Efivarfs::mount_later(start, Options(), std::make_shared<Limits>());
    Efivarfs& seen = *made;
    const auto names = vfs::MountNamespace::create(std::move(made), "test");
    EXPECT_EQ(errno_of(names->walk("Var" + kVendor)), ENOENT);
    EXPECT_EQ(seen.problem(), "damaged at offset 0x48");
    EXPECT_EQ(errno_of(vfs::create_file(names->root(), "Var" + kVendor, O_RDWR | O_CREAT, 0644,
                                        kRoot)),
              EROFS);
    const auto status = wait_for<vfs::FileSystemStatus>(
        [&](auto reply) { seen.status(std::move(reply)); });
    EXPECT_EQ(status->blocks, 0U);
    EXPECT_EQ(errno_of(names->remount(names->root(), "rw")), EINVAL);
    EXPECT_EQ(errno_of(names->remount(names->root(), "nostatfs")), 0);
  }
}

}  // namespace
}  // namespace efivarium::efivarfs
