#include "runtime/variable_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace efivarium::runtime {
namespace {

constexpr Attributes kVolatile = kBootserviceAccess | kRuntimeAccess;

VariableKey key_of(const std::string& name) {
  return {Guid::of("210be57c-9849-4fc7-a635-e6382d1aec27"), *VariableName::from_utf8(name)};
}

Variable variable(const std::string& name, Attributes attributes, Bytes data = {1}) {
  return {key_of(name), attributes, {}, std::move(data)};
}

std::vector<std::string> names(const VariableTable& table) {
  std::vector<std::string> found;
  const rcu::ReadSection section;
  for (const TableEntry* entry = table.first(section); entry != nullptr;
       entry = table.after(section, *entry)) {
    found.push_back(entry->variable.key.name.to_utf8());
  }
  return found;
}

Bytes data_of(const VariableTable& table, const std::string& name) {
  const rcu::ReadSection section;
  const TableEntry* entry = table.find(section, key_of(name));
  return entry == nullptr ? Bytes() : entry->variable.data;
}

TEST(VariableTable, IsEmptyAtFirst) {
  const VariableTable table;
  EXPECT_EQ(table.count(), 0U);
  EXPECT_TRUE(names(table).empty());
  EXPECT_TRUE(data_of(table, "A").empty());
}

TEST(VariableTable, FindsWhatWasPublishedUntilItIsRemoved) {
  VariableTable table;
  table.publish(variable("A", kUsualAttributes, {1}));
  table.publish(variable("B", kUsualAttributes, {2}));
  EXPECT_EQ(data_of(table, "A"), Bytes({1}));
  EXPECT_EQ(data_of(table, "B"), Bytes({2}));
  table.remove(key_of("A"));
  EXPECT_TRUE(data_of(table, "A").empty());
  EXPECT_EQ(data_of(table, "B"), Bytes({2}));
  EXPECT_EQ(table.count(), 1U);
}

TEST(VariableTable, VendorsHaveNamesOfTheirOwn) {
  VariableTable table;
  table.publish(variable("A", kUsualAttributes, {1}));
  Variable other = variable("A", kUsualAttributes, {2});
  other.key.vendor = kGlobalVariableGuid;
  table.publish(other);
  EXPECT_EQ(table.count(), 2U);
  EXPECT_EQ(data_of(table, "A"), Bytes({1}));
}

TEST(VariableTable, RemovingWhatIsNotThereDoesNothing) {
  VariableTable table;
  table.publish(variable("A", kUsualAttributes));
  table.remove(key_of("B"));
  EXPECT_THAT(names(table), testing::ElementsAre("A"));
}

TEST(VariableTable, VolatileOnesComeFirstAndEachKindInOrderOfCreation) {
  VariableTable table;
  table.publish(variable("N1", kUsualAttributes));
  table.publish(variable("V1", kVolatile));
  table.publish(variable("N2", kUsualAttributes));
  table.publish(variable("V2", kVolatile));
  EXPECT_THAT(names(table), testing::ElementsAre("V1", "V2", "N1", "N2"));
}

TEST(VariableTable, AnUpdateMovesAVariableToTheEnd) {
  VariableTable table;
  for (const char* name : {"A", "B", "C"}) table.publish(variable(name, kUsualAttributes));
  table.publish(variable("A", kUsualAttributes, {7, 8}));
  EXPECT_THAT(names(table), testing::ElementsAre("B", "C", "A"));
  EXPECT_EQ(data_of(table, "A"), Bytes({7, 8}));
  EXPECT_EQ(table.count(), 3U);
}

TEST(VariableTable, AnUpdateMayChangeTheKind) {
  VariableTable table;
  for (const char* name : {"A", "B"}) table.publish(variable(name, kUsualAttributes));
  table.publish(variable("B", kVolatile));
  EXPECT_THAT(names(table), testing::ElementsAre("B", "A"));
  table.publish(variable("B", kUsualAttributes));
  EXPECT_THAT(names(table), testing::ElementsAre("A", "B"));
}

TEST(VariableTable, RemovalKeepsTheOrderOfTheOthers) {
  for (const auto& gone : {"A", "B", "C"}) {
    VariableTable table;
    std::vector<std::string> left = {"A", "B", "C"};
    for (const std::string& name : left) table.publish(variable(name, kUsualAttributes));
    table.remove(key_of(gone));
    std::erase(left, gone);
    EXPECT_EQ(names(table), left);
    table.publish(variable("D", kUsualAttributes));
    left.push_back("D");
    EXPECT_EQ(names(table), left);
  }
}

TEST(VariableTable, AWalkGoesOnFromAnEntryThatWasTakenOut) {
  VariableTable table;
  for (const char* name : {"A", "B", "C"}) table.publish(variable(name, kUsualAttributes));
  const rcu::ReadSection section;
  const TableEntry* entry = table.first(section);
  table.remove(key_of("A"));
  table.remove(key_of("B"));
  EXPECT_EQ(entry->variable.key, key_of("A"));  // still whole
  entry = table.after(section, *entry);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->variable.key, key_of("B"));
  entry = table.after(section, *entry);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->variable.key, key_of("C"));
  EXPECT_EQ(table.after(section, *entry), nullptr);
}

TEST(VariableTable, AReaderKeepsTheOldValueForItsSection) {
  VariableTable table;
  table.publish(variable("A", kUsualAttributes, {1}));
  const rcu::ReadSection section;
  const TableEntry* before = table.find(section, key_of("A"));
  ASSERT_NE(before, nullptr);
  table.publish(variable("A", kUsualAttributes, {2}));
  EXPECT_EQ(before->variable.data, Bytes({1}));
  const TableEntry* after = table.find(section, key_of("A"));
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->variable.data, Bytes({2}));
}

// What the writer does to it: nothing, a new value now and then, or coming and going.
TEST(StressVariableTable, ReadersSeeWholeValuesWhileAWriterPublishesAndRemoves) {
  constexpr std::uint64_t kKeys = 16;
  VariableTable table;
  const auto name_of = [](const char* kind, std::uint64_t i) { return kind + std::to_string(i); };
  const auto put = [&](const std::string& name, std::uint64_t round) {
    const auto fill = static_cast<std::uint8_t>(round);
    table.publish(
        variable(name, round % 3 == 0 ? kVolatile : kUsualAttributes, Bytes(1 + round % 40, fill)));
  };
  table.publish(variable("volatile", kVolatile, {9}));
  table.publish(variable("kept", kUsualAttributes, {9}));
  for (std::uint64_t i = 0; i < kKeys; ++i) put(name_of("changing", i), i);

  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> walks = 0, torn = 0, missing = 0;
  const auto check = [&](const TableEntry& entry) {
    const Bytes& data = entry.variable.data;
    if (data.empty() || std::ranges::count(data, data[0]) != std::ssize(data)) ++torn;
  };
  std::vector<std::thread> readers;
  readers.emplace_back([&] {  // walks
    while (!stop) {
      bool saw_volatile = false, saw_kept = false;
      const rcu::ReadSection section;
      const TableEntry* entry = table.first(section);
      // Updates go to the end, where a walk could follow them for ever.
      for (std::uint64_t steps = 0; entry != nullptr && steps < 10 * kKeys; ++steps) {
        check(*entry);
        saw_volatile |= entry->variable.key == key_of("volatile");
        saw_kept |= entry->variable.key == key_of("kept");
        entry = table.after(section, *entry);
      }
      if (!saw_volatile || (entry == nullptr && !saw_kept)) ++missing;
      ++walks;
    }
  });
  readers.emplace_back([&] {  // looks up
    for (std::uint64_t i = 0; !stop; ++i) {
      const VariableKey key = key_of(name_of(i % 2 == 0 ? "changing" : "passing", i % kKeys));
      const rcu::ReadSection section;
      const TableEntry* entry = table.find(section, key);
      if (entry == nullptr) {
        if (i % 2 == 0) ++missing;
        continue;
      }
      check(*entry);
      if (entry->variable.key != key) ++torn;
    }
  });
  for (std::uint64_t round = 0; round < 10000 || walks == 0; ++round) {
    put(name_of("changing", round % kKeys), round);
    put(name_of("passing", round % kKeys), round);
    table.remove(key_of(name_of("passing", (round + kKeys / 2) % kKeys)));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(missing, 0U);
  EXPECT_GT(walks, 0U);
  EXPECT_LE(table.count(), 2 + 2 * kKeys);
  EXPECT_EQ(table.count(), names(table).size());
}

}  // namespace
}  // namespace efivarium::runtime
