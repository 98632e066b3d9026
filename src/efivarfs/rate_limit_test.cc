#include "efivarfs/rate_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "efivarfs/superblock.h"
#include "store/memory_store.h"
#include "vfs/calls.h"

namespace efivarium::efivarfs {
namespace {

using namespace std::chrono_literals;
using Clock = RateLimit::Clock;

constexpr Clock::time_point kStart{1h};
constexpr Clock::duration kTick{1};

// Linux, lib/ratelimit.c, ___ratelimit().
TEST(RateLimit, TheWindowBeginsWithTheFirstCall) {
  RateLimit limit(2s, 2);
  EXPECT_TRUE(limit.take(kStart));
  EXPECT_TRUE(limit.take(kStart + 1s));
  EXPECT_FALSE(limit.take(kStart + 1s));
  EXPECT_FALSE(limit.take(kStart + 2s));  // its end is still inside
  EXPECT_TRUE(limit.take(kStart + 2s + kTick));
  EXPECT_TRUE(limit.take(kStart + 4s));
  EXPECT_FALSE(limit.take(kStart + 4s + kTick));  // the second window began at 2 s and a tick
  EXPECT_TRUE(limit.take(kStart + 4s + 2 * kTick));
}

TEST(RateLimit, NothingIsCarriedOver) {
  RateLimit limit(1s, 3);
  EXPECT_TRUE(limit.take(kStart));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(kStart + 10s));
  EXPECT_FALSE(limit.take(kStart + 10s));
}

TEST(Limits, StatfsIsCalledFiveTimesInTwoSeconds) {
  Limits limits;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(limits.take_statfs(kStart));
  EXPECT_FALSE(limits.take_statfs(kStart));
  EXPECT_FALSE(limits.take_statfs(kStart + 2s));
  EXPECT_TRUE(limits.take_statfs(kStart + 2s + kTick));
}

TEST(Limits, EachUserReadsAHundredTimesASecondAndTheSuperuserAlways) {
  Limits limits;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(limits.take_read(1000, kStart));
  EXPECT_FALSE(limits.take_read(1000, kStart + 1s));
  EXPECT_TRUE(limits.take_read(1001, kStart));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limits.take_read(0, kStart));
  EXPECT_TRUE(limits.take_read(1000, kStart + 1s + kTick));
  EXPECT_TRUE(limits.take_statfs(kStart));  // a limit of its own
}

// A clock that stands until it is told to go on. Thread-safe.
struct FakeClock {
  std::atomic<Clock::duration> elapsed{0s};
  Efivarfs::Now now() {
    return [this] { return kStart + elapsed.load(); };
  }
};

const VariableKey kKey{Guid::of("210be57c-9849-4fc7-a635-e6382d1aec27"),
                       *VariableName::from_units(u"A")};
const std::string kName = kKey.to_text();

// One firmware, one clock and one set of limits, mounted as often as is asked.
class LimitedTest : public testing::Test {
 protected:
  LimitedTest() {
    auto memory = std::make_unique<store::MemoryStore>(
        100'000, std::vector{Variable{kKey, kUsualAttributes, {}, {1, 2}}});
    firmware_ = std::make_shared<runtime::Firmware>(
        *runtime::VariableServices::start(std::move(memory), runtime::ServiceOptions()));
  }
  ~LimitedTest() override { rcu::barrier(); }

  std::shared_ptr<vfs::MountNamespace> mount(Profile profile = Profile::kKernel) {
    Options options;
    options.profile = profile;
    return vfs::MountNamespace::create(*Efivarfs::mount(firmware_, options, limits_, clock_.now()),
                                       "test");
  }
  std::uint64_t remaining() const { return firmware_->services->capacity().remaining_storage; }
  void grow() const {  // so that what remains is not what it was
    ASSERT_TRUE(
        firmware_->services->set_variable(kKey, kUsualAttributes | kAppendWrite, Bytes(100, 1)));
  }

  static vfs::FileSystemStatus status(const vfs::MountNamespace& names) {
    std::promise<vfs::FileSystemStatus> done;
    names.root().mount->superblock().status([&](auto answer) { done.set_value(answer.value()); });
    return done.get_future().get();
  }
  static vfs::Ref<vfs::File> open(const std::shared_ptr<vfs::MountNamespace>& names, uid_t uid) {
    return *vfs::open_file(*names->walk(kName), O_RDONLY, {uid, uid, {}});
  }
  static std::future<Bytes> read(const vfs::Ref<vfs::File>& file, std::uint64_t offset = 0) {
    std::promise<Bytes> done;
    std::future<Bytes> bytes = done.get_future();
    vfs::read_file(file, offset, 100, [done = std::move(done)](Result<Bytes> got) mutable {
      done.set_value(got.value());
    });
    return bytes;
  }
  static bool is_ready(const std::future<Bytes>& bytes) {
    return bytes.wait_for(0s) == std::future_status::ready;
  }

  FakeClock clock_;
  std::shared_ptr<Limits> limits_ = std::make_shared<Limits>();
  std::shared_ptr<runtime::Firmware> firmware_;
};

TEST_F(LimitedTest, TheSixthStatfsRepeatsTheLastAnswer) {
  const auto mounted = mount();
  const std::uint64_t before = remaining();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status(*mounted).blocks_free, before);
  grow();
  ASSERT_NE(remaining(), before);
  EXPECT_EQ(status(*mounted).blocks_free, before);
  clock_.elapsed = 2s;
  EXPECT_EQ(status(*mounted).blocks_free, before);
  clock_.elapsed = 2s + kTick;
  EXPECT_EQ(status(*mounted).blocks_free, remaining());
}

TEST_F(LimitedTest, AllMountsShareTheStatfsLimit) {
  const auto first = mount();
  const auto second = mount();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status(*first).blocks, 100'000U);
  const vfs::FileSystemStatus answer = status(*second);  // it has no answer to repeat yet
  EXPECT_EQ(answer.blocks, 0U);
  EXPECT_EQ(answer.blocks_free, 0U);
  clock_.elapsed = 3s;
  EXPECT_EQ(status(*second).blocks, 100'000U);
}

TEST_F(LimitedTest, NostatfsUsesNoneOfTheLimit) {
  const auto mounted = mount();
  const vfs::Path root = mounted->root();
  ASSERT_TRUE(mounted->remount(root, "nostatfs"));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status(*mounted).blocks, 0U);
  ASSERT_TRUE(mounted->remount(root, "statfs"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status(*mounted).blocks_free, remaining());
    grow();
  }
  EXPECT_NE(status(*mounted).blocks_free, remaining());
}

TEST_F(LimitedTest, TheDefaultProfileHasNoLimits) {
  const auto mounted = mount(Profile::kDefault);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(status(*mounted).blocks_free, remaining());
    grow();
  }
  const auto file = open(mounted, 1000);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(is_ready(read(file)));
  vfs::release_file(file);
}

TEST_F(LimitedTest, TheHundredAndFirstReadOfAUserIsDeferred) {
  const auto mounted = mount();
  const auto file = open(mounted, 1000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(is_ready(read(file)));
  std::future<Bytes> deferred = read(file);
  EXPECT_FALSE(is_ready(deferred));
  clock_.elapsed = 1s;
  std::future<Bytes> second = read(file);
  EXPECT_FALSE(is_ready(deferred));
  EXPECT_FALSE(is_ready(second));
  clock_.elapsed = 1s + kTick;
  EXPECT_EQ(deferred.get(), Bytes({7, 0, 0, 0, 1, 2}));
  EXPECT_EQ(second.get(), Bytes({7, 0, 0, 0, 1, 2}));
  vfs::release_file(file);
}

TEST_F(LimitedTest, TheSuperuserIsNeverDeferred) {
  const auto mounted = mount();
  const auto file = open(mounted, 0);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(is_ready(read(file)));
  vfs::release_file(file);
}

TEST_F(LimitedTest, EmptyReadsCountAndOpensDoNot) {
  const auto mounted = mount();
  for (int i = 0; i < 200; ++i) vfs::release_file(open(mounted, 1000));
  const auto file = open(mounted, 1000);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(is_ready(read(file)));
    ASSERT_TRUE(is_ready(read(file, 6)));  // the end of the file
  }
  std::future<Bytes> deferred = read(file);
  EXPECT_FALSE(is_ready(deferred));
  clock_.elapsed = 2s;
  EXPECT_EQ(deferred.get().size(), 6U);
  vfs::release_file(file);
}

TEST_F(LimitedTest, UsersAndMountsShareNothingButTheUser) {
  const auto first = mount();
  const auto second = mount();
  const auto mine = open(first, 1000);
  const auto mine_there = open(second, 1000);
  const auto others = open(first, 1001);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(is_ready(read(mine)));
    ASSERT_TRUE(is_ready(read(mine_there)));
  }
  std::future<Bytes> deferred = read(mine_there);
  EXPECT_FALSE(is_ready(deferred));
  EXPECT_TRUE(is_ready(read(others)));
  clock_.elapsed = 2s;
  EXPECT_EQ(deferred.get().size(), 6U);
  for (const auto& file : {mine, mine_there, others}) vfs::release_file(file);
}

TEST_F(LimitedTest, StatfsWaitsForAStalledFirmwareUnlessNostatfs) {
  const auto mounted = mount();
  std::latch stalled(1);
  firmware_->queue.post([&] { stalled.wait(); });
  std::promise<std::uint64_t> blocks;
  auto answer = blocks.get_future();
  mounted->root().mount->superblock().status(
      [&](auto status) { blocks.set_value(status->blocks); });
  ASSERT_TRUE(mounted->remount(mounted->root(), "nostatfs"));
  EXPECT_EQ(status(*mounted).blocks, 0U);  // while the firmware still stalls
  EXPECT_NE(answer.wait_for(0s), std::future_status::ready);
  stalled.count_down();
  EXPECT_EQ(answer.get(), 100'000U);
}

cpu_set_t cpus_of_this_thread() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  return cpus;
}

TEST_F(LimitedTest, TheFirmwareAnswersStatfsWhereItsQueueIsPlaced) {
  const auto mounted = mount();
  const cpu_set_t mine = cpus_of_this_thread();
  base::Placement pinned;
  int cpu = 0;
  while (!CPU_ISSET(cpu, &mine)) ++cpu;
  CPU_SET(cpu, &pinned.cpus);
  EXPECT_EQ(status(*mounted).blocks, 100'000U);  // the thread runs
  ASSERT_TRUE(firmware_->queue.place(pinned));
  const base::Placement placed = firmware_->queue.placement();
  EXPECT_TRUE(CPU_EQUAL(&placed.cpus, &pinned.cpus));
  std::promise<cpu_set_t> seen;
  mounted->root().mount->superblock().status([&](auto) { seen.set_value(cpus_of_this_thread()); });
  const cpu_set_t of_firmware = seen.get_future().get();
  EXPECT_TRUE(CPU_EQUAL(&of_firmware, &pinned.cpus));
  const cpu_set_t still = cpus_of_this_thread();
  EXPECT_TRUE(CPU_EQUAL(&still, &mine));
}

}  // namespace
}  // namespace efivarium::efivarfs
