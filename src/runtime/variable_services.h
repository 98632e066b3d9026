// VariableServices: GetVariable(), GetNextVariableName(), SetVariable() and QueryVariableInfo()
// over a store.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "runtime/firmware_model.h"
#include "runtime/variable_table.h"
#include "store/variable_store.h"

namespace efivarium::runtime {

// Before or after ExitBootServices(), which decides what is visible and what may be written.
enum class Phase : std::uint8_t { kBootTime, kRunTime };

// What becomes of the space of deleted and replaced records.
enum class SpacePolicy : std::uint8_t {
  kReclaimWhenNeeded,  // and it counts as free
  kAsFirmware,         // at run time only the next start brings it back
};

// UEFI 2.5 has AuditMode and DeployedMode, edk2 has not.
enum class ModeVariables : std::uint8_t { kEdk2, kUefi };

struct ServiceOptions {
  Phase phase = Phase::kRunTime;
  SpacePolicy space = SpacePolicy::kReclaimWhenNeeded;
  ModeVariables modes = ModeVariables::kUefi;
  FirmwareModel model;
  std::vector<Variable> preset;  // what firmware shows but does not store; all volatile
};

struct VariableValue {
  Attributes attributes;
  Bytes data;
};

struct VariableInfo {
  std::uint64_t maximum_storage = 0;
  std::uint64_t remaining_storage = 0;
  std::uint64_t maximum_size = 0;  // of one variable, name and data

  friend bool operator==(const VariableInfo&, const VariableInfo&) = default;
};

// Reads may come from any thread at any time, take no lock and never wait for a change. Changes
// come from one thread at a time. Each call takes as long as the firmware model says.
class VariableServices {
 public:
  // Loads the store, adds what firmware supplies, and reclaims where firmware would at its start.
  static Result<std::unique_ptr<VariableServices>> start(
      std::unique_ptr<store::VariableStore> store, ServiceOptions options);

  // kNotFound. UEFI 2.10, GetVariable().
  Result<VariableValue> get_variable(const VariableKey& key) const;
  // Bytes of data: GetVariable() with a size of 0. kNotFound.
  Result<std::size_t> variable_size(const VariableKey& key) const;
  // Appends attributes, 4 bytes little endian, and data to out: one file of efivarfs. kNotFound.
  Result<void> append_variable(const VariableKey& key, Bytes& out) const;

  // The successor of previous, or the first; kNotFound at the end, kInvalidParameter if previous
  // is not visible (any more). UEFI 2.10, GetNextVariableName().
  Result<VariableKey> next_variable_name(const std::optional<VariableKey>& previous) const;

  // data: with the authentication descriptor where the attributes ask for one. Durable when it
  // returns. UEFI 2.10, SetVariable(); the checks and their order are edk2's.
  Result<void> set_variable(const VariableKey& key, Attributes attributes, ByteView data);

  // UEFI 2.10, QueryVariableInfo().
  Result<VariableInfo> query_variable_info(Attributes attributes) const;
  // The figures of non-volatile storage as they are now: what query_variable_info() answers for
  // NV|BS|RT, without the call.
  VariableInfo capacity() const;

  // Gives back the space of dead records.
  Result<void> compact();

  bool writable() const { return store_->writable(); }
  bool is_slow(Service service) const { return model_.is_slow(service); }

 private:
  VariableServices(std::unique_ptr<store::VariableStore> store, ServiceOptions&& options);

  bool is_visible(const Variable& variable) const;
  const TableEntry* find_visible(const rcu::ReadSection& section, const VariableKey& key) const;
  std::optional<Variable> current(const VariableKey& key) const;
  std::uint64_t largest(Attributes attributes) const;
  Result<void> check_attributes(Attributes attributes) const;
  Result<void> check_existing(const Variable& existing, Attributes attributes) const;
  Result<void> apply(const std::optional<Variable>& existing, const VariableKey& key,
                     Attributes attributes, ByteView data);
  Result<void> keep(const Variable& variable);
  Result<void> erase(const Variable& variable);
  void note_space();

  const std::unique_ptr<store::VariableStore> store_;
  const Phase phase_;
  const SpacePolicy space_policy_;
  const FirmwareModel model_;
  const store::Limits limits_;
  const std::uint64_t storage_;
  VariableTable table_;
  std::atomic<std::uint64_t> remaining_ = 0;
};

}  // namespace efivarium::runtime
