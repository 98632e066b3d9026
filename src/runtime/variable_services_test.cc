#include "runtime/variable_services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/well_known.h"
#include "store/memory_store.h"

namespace efivarium::runtime {
namespace {

constexpr Attributes kVolatile = kBootserviceAccess | kRuntimeAccess;
constexpr Attributes kBootOnly = kNonVolatile | kBootserviceAccess;
constexpr Attributes kAuthenticated = kUsualAttributes | kTimeBasedAuthenticatedWriteAccess;
constexpr Guid kVendorGuid = Guid::of("210be57c-9849-4fc7-a635-e6382d1aec27");
constexpr std::uint64_t kStorage = 200'000;

VariableKey key_of(const std::string& name, const Guid& vendor = kVendorGuid) {
  return {vendor, *VariableName::from_utf8(name)};
}
Variable variable(const std::string& name, Attributes attributes, Bytes data = {1},
                  const Guid& vendor = kVendorGuid) {
  return {key_of(name, vendor), attributes, {}, std::move(data)};
}

ServiceOptions with(Phase phase) {
  ServiceOptions options;
  options.phase = phase;
  return options;
}
ServiceOptions with(SpacePolicy space) {
  ServiceOptions options;
  options.space = space;
  return options;
}
ServiceOptions with(ModeVariables modes) {
  ServiceOptions options;
  options.modes = modes;
  return options;
}
ServiceOptions with(Variable preset) {
  ServiceOptions options;
  options.preset.push_back(std::move(preset));
  return options;
}

// What the store counts for a variable with a name of one unit.
constexpr std::uint64_t record(std::uint64_t data_size) { return (64 + data_size + 3) / 4 * 4; }

struct Machine {
  explicit Machine(std::vector<Variable> variables = {}, ServiceOptions options = {},
                   std::uint64_t storage = kStorage) {
    auto memory = std::make_unique<store::MemoryStore>(storage, std::move(variables));
    store = memory.get();
    services = *VariableServices::start(std::move(memory), std::move(options));
  }
  explicit Machine(Phase phase) : Machine({}, with(phase)) {}

  // No value: success.
  std::optional<Code> set(const VariableKey& key, Attributes attributes, const Bytes& data) const {
    const Result<void> done = services->set_variable(key, attributes, data);
    return done ? std::nullopt : std::optional(done.error().code());
  }
  std::optional<Code> set(const std::string& name, Attributes attributes, const Bytes& data) const {
    return set(key_of(name), attributes, data);
  }
  Bytes get(const std::string& name) const {
    const auto value = services->get_variable(key_of(name));
    return value ? value->data : Bytes();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    auto key = services->next_variable_name(std::nullopt);
    for (; key; key = services->next_variable_name(*key)) found.push_back(key->name.to_utf8());
    EXPECT_EQ(key.error().code(), Code::kNotFound);
    return found;
  }

  store::MemoryStore* store;
  std::unique_ptr<VariableServices> services;
};

constexpr std::optional<Code> kSuccess = std::nullopt;

TEST(VariableServices, AWrittenVariableIsReadBackAndStored) {
  const Machine machine;
  EXPECT_EQ(machine.set("A", kUsualAttributes, {1, 2, 3}), kSuccess);
  const auto value = machine.services->get_variable(key_of("A"));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->attributes, kUsualAttributes);
  EXPECT_EQ(value->data, Bytes({1, 2, 3}));
  EXPECT_EQ(machine.services->variable_size(key_of("A")), 3U);
  Bytes file = {0xEE};
  EXPECT_TRUE(machine.services->append_variable(key_of("A"), file));
  EXPECT_EQ(file, Bytes({0xEE, 7, 0, 0, 0, 1, 2, 3}));
  EXPECT_THAT(*machine.store->load(),
              testing::ElementsAre(variable("A", kUsualAttributes, {1, 2, 3})));
}

TEST(VariableServices, WhatIsNotThereIsNotFound) {
  const Machine machine;
  Bytes out;
  EXPECT_EQ(machine.services->get_variable(key_of("A")).error().code(), Code::kNotFound);
  EXPECT_EQ(machine.services->variable_size(key_of("A")).error().code(), Code::kNotFound);
  EXPECT_EQ(machine.services->append_variable(key_of("A"), out).error().code(), Code::kNotFound);
  EXPECT_TRUE(out.empty());
}

TEST(VariableServices, NamesAreListedVolatileOnesFirst) {
  const Machine machine({variable("B", kUsualAttributes), variable("A", kUsualAttributes)},
                        with(variable("P", kVolatile)));
  EXPECT_THAT(machine.names(),
              testing::ElementsAre("SetupMode", "SignatureSupport", "SecureBoot", "VendorKeys",
                                   "AuditMode", "DeployedMode", "P", "B", "A"));
  EXPECT_EQ(machine.services->next_variable_name(key_of("gone")).error().code(),
            Code::kInvalidParameter);
}

TEST(VariableServices, BootTimeVariablesAreHiddenAtRunTime) {
  const std::vector<Variable> variables = {
      variable("A", kUsualAttributes), variable("B", kBootOnly), variable("C", kUsualAttributes)};
  const Machine at_run_time(variables, with(Phase::kRunTime));
  EXPECT_THAT(at_run_time.names(), testing::IsSupersetOf({"A", "C"}));
  EXPECT_THAT(at_run_time.names(), testing::Not(testing::Contains("B")));
  EXPECT_EQ(at_run_time.services->variable_size(key_of("B")).error().code(), Code::kNotFound);
  EXPECT_EQ(at_run_time.services->next_variable_name(key_of("B")).error().code(),
            Code::kInvalidParameter);
  EXPECT_EQ(at_run_time.set("B", kBootOnly, {2}), Code::kWriteProtected);
  EXPECT_EQ(at_run_time.set("B", Attributes(), {}), Code::kWriteProtected);

  const Machine at_boot(variables, with(Phase::kBootTime));
  EXPECT_THAT(at_boot.names(), testing::Contains("B"));
  EXPECT_EQ(at_boot.get("B"), Bytes({1}));
  EXPECT_EQ(at_boot.set("B", Attributes(), {}), kSuccess);
}

// edk2, VariableServiceSetVariable().
TEST(VariableServices, CombinationsOfAttributesAreCheckedInOrder) {
  const Machine machine(Phase::kBootTime);
  const auto set = [&](std::uint32_t raw) {
    return machine.set("A", Attributes::from_raw(raw), {1});
  };
  for (const std::uint32_t raw :
       {0x80U, 0x87U, 0x100U, 0x80000007U, 0x04U, 0x05U, 0x44U, 0x01U, 0x0FU}) {
    EXPECT_EQ(set(raw), Code::kInvalidParameter) << raw;
  }
  for (const std::uint32_t raw : {0x11U, 0x14U, 0x15U, 0x17U, 0x37U}) {
    EXPECT_EQ(set(raw), Code::kUnsupported) << raw;
  }
  EXPECT_EQ(set(0x27), Code::kSecurityViolation);
  EXPECT_EQ(set(0x40), Code::kNotFound);
  EXPECT_EQ(set(0x41), Code::kNotFound);
  for (const std::uint32_t raw : {0x02U, 0x06U, 0x03U, 0x07U, 0x47U}) {
    EXPECT_EQ(set(raw), kSuccess) << raw;
    EXPECT_EQ(machine.set("A", Attributes(), {}), kSuccess);
  }
}

TEST(VariableServices, AttributesOfAVariableStay) {
  const Machine machine({variable("A", kUsualAttributes)}, with(Phase::kBootTime));
  EXPECT_EQ(machine.set("A", kVolatile, {2}), Code::kInvalidParameter);
  EXPECT_EQ(machine.set("A", kBootOnly, {2}), Code::kInvalidParameter);
  EXPECT_EQ(machine.set("A", kBootOnly, {}), Code::kInvalidParameter);
  EXPECT_EQ(machine.set("A", kAppendWrite, {2}), Code::kInvalidParameter);
  EXPECT_EQ(machine.get("A"), Bytes({1}));
}

TEST(VariableServices, DeletesBySizeOrByAttributes) {
  const Machine machine({variable("A", kUsualAttributes), variable("B", kUsualAttributes),
                         variable("C", kUsualAttributes)});
  EXPECT_EQ(machine.set("A", kUsualAttributes, {}), kSuccess);
  EXPECT_EQ(machine.set("B", Attributes(), {}), kSuccess);
  EXPECT_EQ(machine.set("C", Attributes(), {1, 2}), kSuccess);
  EXPECT_TRUE(machine.store->load()->empty());
  EXPECT_EQ(machine.set("A", kUsualAttributes, {}), Code::kNotFound);
  EXPECT_EQ(machine.set("A", Attributes(), {}), Code::kNotFound);
  EXPECT_EQ(machine.set("A", Attributes(), {1}), Code::kNotFound);
}

TEST(VariableServices, AppendsAndNeverStoresTheBit) {
  const Machine machine;
  const Attributes append = kUsualAttributes | kAppendWrite;
  EXPECT_EQ(machine.set("A", append, {}), kSuccess);
  EXPECT_EQ(machine.get("A"), Bytes());
  EXPECT_EQ(machine.set("A", append, {1}), kSuccess);
  EXPECT_EQ(machine.set("A", append, {2, 3}), kSuccess);
  EXPECT_EQ(machine.set("A", append, {}), kSuccess);
  EXPECT_THAT(*machine.store->load(),
              testing::ElementsAre(variable("A", kUsualAttributes, {1, 2, 3})));
}

TEST(VariableServices, SizesEndAtTheLargestVariable) {
  const Machine machine;
  const std::size_t most =
      machine.store->limits().max_variable - key_of("A").name.stored_size_bytes();
  EXPECT_EQ(machine.set("A", kUsualAttributes, Bytes(most + 1, 1)), Code::kInvalidParameter);
  EXPECT_EQ(machine.set("A", kUsualAttributes, Bytes(most, 1)), kSuccess);
  EXPECT_EQ(machine.set("A", kUsualAttributes | kAppendWrite, {1}), Code::kInvalidParameter);
  EXPECT_EQ(machine.get("A").size(), most);
}

TEST(VariableServices, TheSameValueIsNotWrittenAgain) {
  const Machine machine({variable("A", kUsualAttributes, {1, 2})});
  machine.store->fail_change(1);
  EXPECT_EQ(machine.set("A", kUsualAttributes, {1, 2}), kSuccess);
  EXPECT_EQ(machine.set("A", kUsualAttributes, {1, 3}), Code::kDeviceError);  // the armed one
}

TEST(VariableServices, AFailedChangeLeavesTheOldValue) {
  const Machine machine({variable("A", kUsualAttributes, {1})});
  const VariableInfo before = machine.services->capacity();
  machine.store->fail_change(1);
  EXPECT_EQ(machine.set("A", kUsualAttributes, {2, 2, 2, 2, 2}), Code::kDeviceError);
  machine.store->fail_change(1);
  EXPECT_EQ(machine.set("A", Attributes(), {}), Code::kDeviceError);
  machine.store->fail_change(1);
  EXPECT_EQ(machine.set("B", kUsualAttributes, {1}), Code::kDeviceError);
  EXPECT_EQ(machine.get("A"), Bytes({1}));
  EXPECT_EQ(machine.get("B"), Bytes());
  EXPECT_EQ(machine.services->capacity(), before);
}

TEST(VariableServices, VolatileVariablesAreForBootTimeToWrite) {
  const Machine at_boot(Phase::kBootTime);
  EXPECT_EQ(at_boot.set("A", kVolatile, {1}), kSuccess);
  EXPECT_EQ(at_boot.set("A", kVolatile, {2}), kSuccess);
  EXPECT_EQ(at_boot.get("A"), Bytes({2}));
  EXPECT_TRUE(at_boot.store->load()->empty());

  const Machine at_run_time({}, with(variable("A", kVolatile)));
  EXPECT_EQ(at_run_time.set("B", kVolatile, {1}), Code::kInvalidParameter);
  EXPECT_EQ(at_run_time.set("B", kBootOnly, {1}), Code::kInvalidParameter);
  EXPECT_EQ(at_run_time.set("A", kVolatile, {1}), Code::kWriteProtected);
  EXPECT_EQ(at_run_time.set("A", Attributes(), {}), Code::kWriteProtected);
  EXPECT_EQ(at_run_time.get("A"), Bytes({1}));
}

TEST(VariableServices, AReadOnlyStoreProtectsEverything) {
  const Machine machine({variable("A", kUsualAttributes)});
  machine.store->make_read_only();
  EXPECT_FALSE(machine.services->writable());
  EXPECT_EQ(machine.set("A", kUsualAttributes, {2}), Code::kWriteProtected);
  EXPECT_EQ(machine.set("A", Attributes(), {}), Code::kWriteProtected);
  EXPECT_EQ(machine.get("A"), Bytes({1}));
}

TEST(VariableServices, SpecifiedVariablesAreCheckedBeforeTheyAreWritten) {
  const Machine machine;
  EXPECT_EQ(machine.set(key_of("Timeout", kGlobalVariableGuid), kUsualAttributes, {1}),
            Code::kInvalidParameter);
  EXPECT_EQ(machine.set(key_of("SetupMode", kGlobalVariableGuid), Attributes(), {}),
            Code::kWriteProtected);
  EXPECT_EQ(machine.set(key_of("Timeout", kGlobalVariableGuid), kUsualAttributes, {1, 0}),
            kSuccess);
}

TEST(VariableServices, AuthenticatedVariablesNeedASignature) {
  const Machine machine(
      {variable("A", kAuthenticated), variable("PK", kAuthenticated, {1}, kGlobalVariableGuid)});
  Bytes descriptor(40);
  descriptor[16] = 24;
  EXPECT_EQ(machine.set("A", kAuthenticated, {}), Code::kSecurityViolation);
  EXPECT_EQ(machine.set("A", kAuthenticated, descriptor), Code::kSecurityViolation);
  descriptor[16] = 25;  // beyond the data
  EXPECT_EQ(machine.set("A", kAuthenticated, descriptor), Code::kSecurityViolation);
  EXPECT_EQ(machine.set("A", kUsualAttributes, {2}), Code::kInvalidParameter);
  EXPECT_EQ(machine.set("A", Attributes(), {}), Code::kWriteProtected);
  const VariableKey platform_key = key_of("PK", kGlobalVariableGuid);
  EXPECT_EQ(machine.set(platform_key, Attributes(), {}), Code::kInvalidParameter);
  EXPECT_EQ(machine.set(platform_key, kUsualAttributes, {2}), Code::kInvalidParameter);
  EXPECT_EQ(machine.store->load()->size(), 2U);
}

TEST(VariableServices, ModeVariablesFollowTheStoredKeys) {
  const auto mode = [](const Machine& machine, const char* name) {
    return machine.services->get_variable(key_of(name, kGlobalVariableGuid))->data;
  };
  const Machine setup;
  EXPECT_EQ(mode(setup, "SetupMode"), Bytes({1}));
  EXPECT_EQ(mode(setup, "SecureBoot"), Bytes({0}));
  EXPECT_EQ(mode(setup, "SignatureSupport").size(), 96U);
  const Variable platform_key = variable("PK", kAuthenticated, {1}, kGlobalVariableGuid);
  const Machine user({platform_key});
  EXPECT_EQ(mode(user, "SetupMode"), Bytes({0}));
  EXPECT_EQ(mode(user, "SecureBoot"), Bytes({1}));
  const Machine off(
      {platform_key, variable("SecureBootEnable", kBootOnly, {0}, kSecureBootEnableGuid)},
      with(ModeVariables::kEdk2));
  EXPECT_EQ(mode(off, "SecureBoot"), Bytes({0}));
  EXPECT_THAT(off.names(), testing::Not(testing::Contains("AuditMode")));
}

TEST(VariableServices, PresetVariablesAreVolatile) {
  const auto started = VariableServices::start(std::make_unique<store::MemoryStore>(kStorage),
                                               with(variable("A", kUsualAttributes)));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::kInvalidParameter);
}

TEST(VariableServices, QueriesOfImpossibleAttributesFail) {
  const Machine machine;
  const auto query = [&](std::uint32_t raw) {
    return machine.services->query_variable_info(Attributes::from_raw(raw)).error().code();
  };
  for (const std::uint32_t raw : {0U, 1U, 4U, 5U, 0x0EU, 2U, 3U}) {
    EXPECT_EQ(query(raw), Code::kInvalidParameter) << raw;
  }
  for (const std::uint32_t raw : {0x10U, 0x17U, 0x80U, 0x100U, 0x0FU}) {
    EXPECT_EQ(query(raw), Code::kUnsupported) << raw;
  }
  EXPECT_TRUE(Machine(Phase::kBootTime).services->query_variable_info(kBootOnly));
}

TEST(VariableServices, QueriesAnswerWhatIsLeft) {
  const Machine machine({variable("A", kUsualAttributes, Bytes(100))});
  const auto limits = machine.store->limits();
  const auto info = machine.services->query_variable_info(kUsualAttributes);
  ASSERT_TRUE(info);
  EXPECT_EQ(*info, (VariableInfo{kStorage, kStorage - record(100), limits.max_variable}));
  EXPECT_EQ(machine.services->capacity(), *info);
  const auto of_volatile = machine.services->query_variable_info(kVolatile);
  ASSERT_TRUE(of_volatile);
  EXPECT_EQ(of_volatile->remaining_storage, limits.volatile_storage);

  const Machine small({variable("A", kUsualAttributes, Bytes(100))}, {}, 1000);
  EXPECT_EQ(small.services->capacity(),
            (VariableInfo{1000, 1000 - record(100), 1000 - record(100) - 60}));
}

TEST(VariableServices, DeadSpaceCountsAsFreeUnlessItIsAsInFirmware) {
  for (const auto space : {SpacePolicy::kReclaimWhenNeeded, SpacePolicy::kAsFirmware}) {
    const bool as_firmware = space == SpacePolicy::kAsFirmware;
    const Machine machine({}, with(space), 1000);
    EXPECT_EQ(machine.set("A", kUsualAttributes, Bytes(400, 1)), kSuccess);
    EXPECT_EQ(machine.set("A", Attributes(), {}), kSuccess);
    EXPECT_EQ(machine.services->capacity().remaining_storage,
              as_firmware ? 1000 - record(400) : 1000);
    EXPECT_EQ(machine.set("B", kUsualAttributes, Bytes(600, 1)),
              as_firmware ? std::optional(Code::kOutOfResources) : kSuccess);
    EXPECT_TRUE(machine.services->compact());
    EXPECT_EQ(machine.set("B", kUsualAttributes, Bytes(600, 2)), kSuccess);
    EXPECT_EQ(machine.services->capacity().remaining_storage, 1000 - record(600));
  }
}

TEST(VariableServices, TheStartReclaimsWhenTheLargestVariableWouldNotFit) {
  for (const bool small : {true, false}) {
    const std::uint64_t storage = small ? 0x8400 : kStorage;
    auto memory = std::make_unique<store::MemoryStore>(storage);
    ASSERT_TRUE(memory->put(variable("A", kUsualAttributes), store::Reclaim::kAllowed));
    ASSERT_TRUE(memory->remove(key_of("A")));
    const auto services =
        VariableServices::start(std::move(memory), with(SpacePolicy::kAsFirmware));
    ASSERT_TRUE(services);
    EXPECT_EQ((*services)->capacity().remaining_storage, small ? storage : storage - record(1));
  }
}

TEST(FirmwareModel, ReadsServiceAndTime) {
  FirmwareModel model;
  ASSERT_TRUE(model.parse("query=1ns"));
  EXPECT_TRUE(model.is_slow(Service::kQuery));
  EXPECT_FALSE(model.is_slow(Service::kGet));
  ASSERT_TRUE(model.parse("query=0s"));
  EXPECT_FALSE(model.is_slow(Service::kQuery));
  for (const char* bad : {"", "query", "query=", "query=1", "query=ms", "erase=1ms", "query=1m",
                          "query=-1ms", "query=1ms ", "query=9223372037s"}) {
    EXPECT_EQ(model.parse(bad).error().code(), Code::kInvalidParameter) << bad;
    EXPECT_FALSE(model.is_slow(Service::kQuery)) << bad;
  }
}

}  // namespace
}  // namespace efivarium::runtime
