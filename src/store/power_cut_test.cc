// Power cuts, all of them: a change is made on a device that keeps a log, and every state that a
// cut could have left is opened again. Between two barriers any of the writes may have reached the
// medium, and one of them in part: up to any byte, or from any byte on, as later pages may go
// first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "store/edk2_check.h"
#include "store/edk2_image.h"
#include "store/edk2_store.h"

namespace efivarium::store {
namespace {

using Step = base::MemoryDevice::Step;
using Contents = std::map<VariableKey, Variable>;
using Allowed = std::vector<Contents>;

void apply(Bytes& medium, const Step& step, std::size_t size) {
  std::copy_n(step.bytes.begin(), size, medium.begin() + static_cast<std::ptrdiff_t>(step.offset));
}
void apply(Bytes& medium, const Step& step) { apply(medium, step, step.bytes.size()); }

Contents contents_of(Edk2Store& store) {
  Contents contents;
  const auto variables = store.load();
  EXPECT_TRUE(variables);
  for (const Variable& variable : *variables) contents.emplace(variable.key, variable);
  return contents;
}

// Writes stay inside the variable region and the two areas for rewriting it.
void expect_permitted(const std::vector<Step>& log, const Edk2Layout& layout) {
  for (const Step& step : log) {
    if (step.is_barrier()) continue;
    const bool in_region = base::inside(step.offset, step.bytes.size(), layout.rewritten_size());
    const bool in_areas = step.offset >= layout.working_offset &&
                          base::inside(step.offset, step.bytes.size(), layout.volume_length);
    EXPECT_TRUE(in_region || in_areas) << step.offset << " + " << step.bytes.size();
  }
}

// What firmware would keep, if it were the one to find this: edk2 Reclaim() takes every 0x3F and,
// of a variable without one, the first 0x3E, where a reader takes the last.
Contents kept_by_firmware(const Bytes& medium) {
  Contents kept;
  base::MemoryDevice device(medium);
  const auto volume = find_volume(device, kTinyLayouts);
  if (!volume) return kept;
  const auto bytes =
      device.read_bytes(volume->source + kVolumeHeaderSize, volume->layout->store_size);
  const Edk2Walk walk = walk_records(*bytes, 0, volume->kind);
  for (const std::uint8_t state : {kStateAdded, kStateInTransition}) {
    for (const Edk2Record& record : walk.records) {
      if (record.state != state) continue;
      const auto variable = to_variable(record);
      if (variable) kept.emplace(variable->key, *variable);
    }
  }
  return kept;
}

// Opened after the cut, for reading and for writing, the store shows one of what is allowed; opened
// for writing it is sound afterwards.
bool survives(const Bytes& medium, const Allowed& allowed, bool with_firmware = true) {
  if (with_firmware && std::ranges::find(allowed, kept_by_firmware(medium)) == allowed.end()) {
    return false;
  }
  auto reader = Edk2Store::open(std::make_unique<base::MemoryDevice>(medium),
                                base::Access::kReadOnly, kTinyLayouts);
  if (!reader || std::ranges::find(allowed, contents_of(**reader)) == allowed.end()) return false;
  auto device = std::make_unique<base::MemoryDevice>(medium);
  base::MemoryDevice* const seen = device.get();
  auto writer = Edk2Store::open(std::move(device), base::Access::kReadWrite, kTinyLayouts);
  if (!writer || std::ranges::find(allowed, contents_of(**writer)) == allowed.end()) return false;
  base::MemoryDevice after(seen->bytes());
  const auto report = check_store(after, kTinyLayouts);
  if (!report) return false;
  return report->sound();
}

// Everything that a cut among these writes, which no barrier parts, can leave on the medium.
template <typename Visit>
void for_each_subset(const Bytes& medium, std::span<const Step> writes, const Visit& visit) {
  ASSERT_LE(writes.size(), 10U);
  for (std::size_t subset = 0; subset < std::size_t{1} << writes.size(); ++subset) {
    Bytes cut = medium;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if ((subset >> i & 1) != 0) apply(cut, writes[i]);
    }
    visit(cut);
  }
}

// Cuts one of these writes at every byte, with all and with none of the others.
template <typename Visit>
void for_each_tear(const Bytes& medium, std::span<const Step> writes, const Visit& visit) {
  for (const Step& torn : writes) {
    for (const bool with_others : {true, false}) {
      Bytes cut = medium;
      for (const Step& other : writes) {
        if (with_others && &other != &torn) apply(cut, other);
      }
      Bytes late = cut;
      for (std::size_t size = 0; size < torn.bytes.size(); ++size) {
        visit(cut);
        cut[torn.offset + size] = torn.bytes[size];
      }
      for (std::size_t size = torn.bytes.size(); size-- > 0;) {
        late[torn.offset + size] = torn.bytes[size];
        visit(late);
      }
    }
  }
}

template <typename Visit>
void for_each_cut(const Bytes& start, std::span<const Step> log, const Visit& visit) {
  Bytes medium = start;
  std::size_t barrier = 0;  // where the writes begin that may be missing
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].is_barrier()) {
      for (std::size_t done = barrier; done < i; ++done) apply(medium, log[done]);
      barrier = i + 1;
      continue;
    }
    const std::span<const Step> pending = log.subspan(barrier, i + 1 - barrier);
    for_each_tear(medium, pending, [&](const Bytes& cut) { visit(cut, i); });
    for_each_subset(medium, pending, [&](const Bytes& cut) { visit(cut, i); });
  }
}

// Changes made one after the other to a store, each of which may be cut.
class Story {
 public:
  explicit Story(const Edk2Image& image) : start_(image.bytes()) { open(start_); }

  // A new process goes on, with whatever the system has written of the former one's writes.
  Story& reopen() {
    open(device_->bytes());
    return *this;
  }

  Story& put(const Variable& variable, Reclaim reclaim = Reclaim::kForbidden) {
    EXPECT_TRUE(store_->put(variable, reclaim));
    note();
    return *this;
  }
  Story& remove(const Variable& variable) {
    EXPECT_TRUE(store_->remove(variable.key));
    note();
    return *this;
  }
  Story& compact() {
    EXPECT_TRUE(store_->compact());
    note();
    return *this;
  }

  std::size_t barriers_of_last() const {
    const std::size_t from = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0;
    return static_cast<std::size_t>(
        std::count_if(log_.begin() + static_cast<std::ptrdiff_t>(from), log_.end(),
                      [](const Step& step) { return step.is_barrier(); }));
  }
  Edk2Store& store() { return *store_; }

  // Whatever the cut, the store shows what was before the change in progress or after it; and what
  // was acknowledged stays, also if nothing was written since.
  void expect_to_survive_every_cut() const {
    expect_permitted(log_, kTinyLayouts.front());
    EXPECT_EQ(device_->size(), start_.size());
    std::size_t cuts = 0;
    std::size_t lost = 0;
    for_each_cut(start_, log_, [&](const Bytes& medium, std::size_t at) {
      ++cuts;
      const std::size_t change = change_of(at);
      Allowed allowed = {contents_[change]};
      if (change > 0) allowed.push_back(contents_[change - 1]);
      // What firmware makes of the image as it was found is not our doing.
      if (!survives(medium, allowed, change > 0) && ++lost == 1)
        ADD_FAILURE() << "first lost at step " << at;
    });
    EXPECT_EQ(lost, 0U) << "of " << cuts;
    EXPECT_GT(cuts, 0U);
    expect_acknowledged();
  }

 private:
  void open(const Bytes& bytes) {
    auto device = std::make_unique<base::MemoryDevice>(bytes);
    device->log_to(&log_);
    device_ = device.get();
    auto opened = Edk2Store::open(std::move(device), base::Access::kReadWrite, kTinyLayouts);
    EXPECT_TRUE(opened);
    store_ = *std::move(opened);
    note();
  }
  void note() {
    contents_.push_back(contents_of(*store_));
    ends_.push_back(log_.size());
  }
  std::size_t change_of(std::size_t step) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, step) - ends_.begin());
  }
  // A cut right after each acknowledgement, with any of the writes that no barrier has followed.
  void expect_acknowledged() const {
    for (std::size_t change = 0; change < ends_.size(); ++change) {
      Bytes medium = start_;
      std::size_t barrier = 0;
      for (std::size_t i = 0; i < ends_[change]; ++i) {
        if (!log_[i].is_barrier()) continue;
        for (std::size_t done = barrier; done < i; ++done) apply(medium, log_[done]);
        barrier = i + 1;
      }
      const std::span<const Step> loose(log_.begin() + static_cast<std::ptrdiff_t>(barrier),
                                        log_.begin() + static_cast<std::ptrdiff_t>(ends_[change]));
      for_each_subset(medium, loose, [&](const Bytes& cut) {
        EXPECT_TRUE(survives(cut, {contents_[change]})) << "acknowledged change " << change;
      });
    }
  }

  const Bytes start_;
  std::vector<Step> log_;
  base::MemoryDevice* device_ = nullptr;
  std::unique_ptr<Edk2Store> store_;
  std::vector<Contents> contents_;
  std::vector<std::size_t> ends_;
};

class PowerCut : public testing::TestWithParam<StoreKind> {
 protected:
  Edk2Image two() const {
    return Edk2Image(GetParam()).add(other_, kStateAdded).add(old_, kStateAdded);
  }
  const Variable other_ = make_variable(u"Other", 21, 0x11);
  const Variable old_ = make_variable(u"Name", 30, 0x22);
  const Variable new_ = make_variable(u"Name", 33, 0x44);
  const Variable newer_ = make_variable(u"Name", 5, 0x00);
};

TEST_P(PowerCut, CreateTakesTwoBarriers) {
  Story story(Edk2Image(GetParam()).add(other_, kStateAdded));
  story.put(new_);
  EXPECT_EQ(story.barriers_of_last(), 2U);
  story.expect_to_survive_every_cut();
}

TEST_P(PowerCut, UpdateTakesTwoBarriers) {
  Story story(two());
  story.put(new_);
  EXPECT_EQ(story.barriers_of_last(), 2U);
  story.put(make_variable(u"Other", 22, 0x33));
  EXPECT_EQ(story.barriers_of_last(), 2U);
  story.put(newer_);
  EXPECT_EQ(story.barriers_of_last(), 2U);
  // Once more, with nothing in between: the copy before has to be dead for good first.
  story.put(new_);
  EXPECT_EQ(story.barriers_of_last(), 3U);
  story.expect_to_survive_every_cut();
}

TEST_P(PowerCut, ProcessMayEndBetweenTwoUpdates) {
  Story(two()).put(new_).reopen().put(newer_).reopen().remove(newer_).expect_to_survive_every_cut();
}

// Its later bytes may be there without its header, and are no variables then.
TEST_P(PowerCut, RecordsInTheDataOfACutOneAreNone) {
  Variable holder = make_variable(u"Holder!", 4, 0);
  while ((serialize_record(holder, kStateUnset, GetParam()).size()) % 4 != 0) {
    holder.data.push_back(0);
  }
  const Bytes forged = serialize_record(make_variable(u"Forged", 8, 0x66), kStateAdded, GetParam());
  holder.data.insert(holder.data.end(), forged.begin(), forged.end());
  Story(two()).put(holder).expect_to_survive_every_cut();
  // One that would reach into the erased bytes behind it.
  holder.data.erase(holder.data.end() - 4, holder.data.end());
  Story(two()).put(holder).expect_to_survive_every_cut();
}

TEST_P(PowerCut, DeleteTakesAtMostTwoBarriers) {
  Story story(two());
  story.remove(old_);
  EXPECT_EQ(story.barriers_of_last(), 1U);
  story.put(new_).put(newer_).remove(new_);
  EXPECT_EQ(story.barriers_of_last(), 2U);
  story.expect_to_survive_every_cut();
}

TEST_P(PowerCut, AppendGrowsAVariable) {
  Variable grown = old_;
  grown.data.insert(grown.data.end(), 10, 0x77);
  Story(two()).put(grown).remove(other_).expect_to_survive_every_cut();
}

TEST_P(PowerCut, OrphanOfAnUpdateIsTheValue) {
  Story(Edk2Image(GetParam()).add(old_, kStateInTransition).add(other_, kStateAdded))
      .put(new_)
      .expect_to_survive_every_cut();
  Story(Edk2Image(GetParam()).add(old_, kStateInTransition).add(other_, kStateAdded))
      .remove(old_)
      .expect_to_survive_every_cut();
}

TEST_P(PowerCut, StaleCopyIsNeverSeenAgain) {
  const auto image = [&] {
    return Edk2Image(GetParam())
        .add(old_, kStateInTransition)
        .add(new_, kStateAdded)
        .add(other_, kStateAdded);
  };
  Story(image()).put(newer_).expect_to_survive_every_cut();
  Story(image()).remove(new_).expect_to_survive_every_cut();
  Story(image()).compact().expect_to_survive_every_cut();
}

TEST_P(PowerCut, StaleCopyBehindTheLiveOneIsNeverSeenAgain) {
  const auto image = [&] {
    return Edk2Image(GetParam())
        .add(new_, kStateAdded)
        .add(old_, kStateInTransition)
        .add(other_, kStateAdded);
  };
  Story(image()).put(newer_).expect_to_survive_every_cut();
  Story(image()).remove(new_).expect_to_survive_every_cut();
}

TEST_P(PowerCut, SecondLiveCopyIsNeverSeen) {
  const auto image = [&] {
    return Edk2Image(GetParam())
        .add(old_, kStateAdded)
        .add(new_, kStateAdded)
        .add(other_, kStateAdded);
  };
  Story(image()).put(newer_).expect_to_survive_every_cut();
  Story(image()).remove(new_).expect_to_survive_every_cut();
  Story(image()).compact().expect_to_survive_every_cut();
}

TEST_P(PowerCut, SeveralOrphansLeaveTheLastOne) {
  const auto image = [&] {
    return Edk2Image(GetParam())
        .add(old_, kStateInTransition)
        .add(newer_, kStateInTransition)
        .add(other_, kStateAdded);
  };
  Story(image()).put(new_).expect_to_survive_every_cut();
  Story(image()).remove(old_).expect_to_survive_every_cut();
}

TEST_P(PowerCut, WriteThatDoesNotFitGoesThroughTheSpareArea) {
  Story story(two());
  const Variable big = make_variable(u"Big", 600, 0x55);
  const Variable bigger = make_variable(u"Big", 610, 0x66);
  story.put(big).put(bigger);
  EXPECT_EQ(story.store().put(big, Reclaim::kForbidden).error().code(), Code::kOutOfResources);
  story.put(big, Reclaim::kAllowed).put(new_, Reclaim::kAllowed).expect_to_survive_every_cut();
}

TEST_P(PowerCut, FullWorkingAreaIsEmptied) {
  Story story(two());
  for (std::uint8_t i = 0; i < 3; ++i) {
    story.put(make_variable(u"Name", 20, i)).compact();
  }
  story.expect_to_survive_every_cut();
}

TEST_P(PowerCut, TailOfACutWriterIsCleaned) {
  for (const std::size_t kept : {1U, 3U, 40U, 70U, 90U}) {
    Edk2Image image = two();
    const Bytes torn = serialize_record(new_, kStateUnset, GetParam());
    for (std::size_t i = 0; i < std::min(kept, torn.size()); ++i) {
      image.patch(image.end_offset() + i, torn[i]);
    }
    Story(image).put(new_).expect_to_survive_every_cut();
  }
}

// Whatever a cut left of a reclaim, the one that finishes it may be cut as well.
TEST_P(PowerCut, RecoveryMayBeCutToo) {
  std::vector<Step> log;
  Bytes start;
  Contents before;
  {
    auto device = two().add(newer_, kStateDeleted).device();
    device->log_to(&log);
    start = device->bytes();
    auto store = Edk2Store::open(std::move(device), base::Access::kReadWrite, kTinyLayouts);
    ASSERT_TRUE(store);
    before = contents_of(**store);
    ASSERT_TRUE((*store)->compact());
  }
  Bytes medium = start;
  for (const Step& step : log) {
    if (step.is_barrier()) continue;
    for (const std::size_t size : {step.bytes.size() / 2, step.bytes.size()}) {
      apply(medium, step, size);
      std::vector<Step> recovery;
      auto device = std::make_unique<base::MemoryDevice>(medium);
      device->log_to(&recovery);
      ASSERT_TRUE(Edk2Store::open(std::move(device), base::Access::kReadWrite, kTinyLayouts));
      expect_permitted(recovery, kTinyLayouts.front());
      for_each_cut(medium, recovery,
                   [&](const Bytes& cut, std::size_t) { ASSERT_TRUE(survives(cut, {before})); });
    }
  }
}

TEST_P(PowerCut, RepairMayBeCutAndDoneAgain) {
  const Edk2Image image =
      two().add(newer_, 0x12).add(make_variable(u"Behind", 9, 0x99), kStateAdded);
  const auto repaired = [](const Bytes& medium) {
    base::MemoryDevice device(medium);
    EXPECT_TRUE(repair_store(device, kTinyLayouts));
    auto store = Edk2Store::open(std::make_unique<base::MemoryDevice>(device.bytes()),
                                 base::Access::kReadWrite, kTinyLayouts);
    EXPECT_TRUE(store);
    return store ? contents_of(**store) : Contents();
  };
  const Contents whole = repaired(image.bytes());
  EXPECT_EQ(whole.size(), 3U);
  std::vector<Step> log;
  base::MemoryDevice device(image.bytes());
  device.log_to(&log);
  ASSERT_TRUE(repair_store(device, kTinyLayouts));
  expect_permitted(log, kTinyLayouts.front());
  for_each_cut(image.bytes(), log,
               [&](const Bytes& cut, std::size_t) { ASSERT_EQ(repaired(cut), whole); });
}

INSTANTIATE_TEST_SUITE_P(Kinds, PowerCut,
                         testing::Values(StoreKind::kAuthenticated, StoreKind::kPlain),
                         [](const auto& kind) {
                           return kind.param == StoreKind::kPlain ? "Plain" : "Authenticated";
                         });

}  // namespace
}  // namespace efivarium::store
