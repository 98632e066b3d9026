#include "runtime/variable_services.h"

#include <algorithm>

#include "base/byte_writer.h"
#include "runtime/authentication.h"
#include "runtime/mode_variables.h"
#include "runtime/variable_check.h"
#include "runtime/well_known.h"

namespace efivarium::runtime {

using rcu::ReadSection;

VariableServices::VariableServices(std::unique_ptr<store::VariableStore> store,
                                   ServiceOptions&& options)
    : store_(std::move(store)),
      phase_(options.phase),
      space_policy_(options.space),
      model_(options.model),
      limits_(store_->limits()),
      storage_(store_->space().storage) {}

Result<std::unique_ptr<VariableServices>> VariableServices::start(
    std::unique_ptr<store::VariableStore> store, ServiceOptions options) {
  EFIVARIUM_TRY(std::vector<Variable> variables, store->load());
  const ModeVariables modes = options.modes;
  std::vector<Variable> preset = std::move(options.preset);
  std::unique_ptr<VariableServices> services(
      new VariableServices(std::move(store), std::move(options)));
  for (Variable& variable : variables) services->table_.publish(std::move(variable));
  for (Variable& variable : mode_variables(services->table_, modes)) {
    services->table_.publish(std::move(variable));
  }
  for (Variable& variable : preset) {
    if (variable.attributes.has(kNonVolatile)) {
      return fail(Code::kInvalidParameter, "a preset variable is not volatile");
    }
    services->table_.publish(std::move(variable));
  }
  services->note_space();
  // edk2 ReclaimForOS(): at each start, when the largest variable would not fit any more.
  const std::uint64_t needed =
      std::max(services->limits_.max_variable, services->limits_.max_authenticated) +
      services->limits_.record_overhead;
  const store::Space space = services->store_->space();
  if (services->writable() && space.storage - space.live - space.unreclaimed < needed) {
    EFIVARIUM_TRY(services->compact());
  }
  return services;
}

bool VariableServices::is_visible(const Variable& variable) const {
  return phase_ == Phase::kBootTime || variable.attributes.has(kRuntimeAccess);
}

const TableEntry* VariableServices::find_visible(const ReadSection& section,
                                                 const VariableKey& key) const {
  const TableEntry* entry = table_.find(section, key);
  return entry != nullptr && is_visible(entry->variable) ? entry : nullptr;
}

Result<VariableValue> VariableServices::get_variable(const VariableKey& key) const {
  model_.spend(Service::kGet);
  const ReadSection section;
  const TableEntry* entry = find_visible(section, key);
  if (entry == nullptr) return fail(Code::kNotFound, "no such variable");
  return VariableValue{entry->variable.attributes, entry->variable.data};
}

Result<std::size_t> VariableServices::variable_size(const VariableKey& key) const {
  model_.spend(Service::kGet);
  const ReadSection section;
  const TableEntry* entry = find_visible(section, key);
  if (entry == nullptr) return fail(Code::kNotFound, "no such variable");
  return entry->variable.data.size();
}

Result<void> VariableServices::append_variable(const VariableKey& key, Bytes& out) const {
  model_.spend(Service::kGet);
  const ReadSection section;
  const TableEntry* entry = find_visible(section, key);
  if (entry == nullptr) return fail(Code::kNotFound, "no such variable");
  const Bytes& data = entry->variable.data;
  out.reserve(out.size() + sizeof(std::uint32_t) + data.size());
  for (std::uint32_t raw = entry->variable.attributes.raw(), i = 0; i < 4; ++i, raw >>= 8) {
    out.push_back(static_cast<std::uint8_t>(raw));
  }
  out.insert(out.end(), data.begin(), data.end());
  return {};
}

Result<VariableKey> VariableServices::next_variable_name(
    const std::optional<VariableKey>& previous) const {
  model_.spend(Service::kNext);
  const ReadSection section;
  const TableEntry* entry = nullptr;
  if (previous) {
    const TableEntry* found = find_visible(section, *previous);
    if (found == nullptr) return fail(Code::kInvalidParameter, "no such variable to go on from");
    entry = table_.after(section, *found);
  } else {
    entry = table_.first(section);
  }
  while (entry != nullptr && !is_visible(entry->variable)) entry = table_.after(section, *entry);
  if (entry == nullptr) return fail(Code::kNotFound, "no more variables");
  return entry->variable.key;
}

std::uint64_t VariableServices::largest(Attributes attributes) const {
  if (attributes.has_any(kAuthenticatedWriteAccess | kTimeBasedAuthenticatedWriteAccess)) {
    return limits_.max_authenticated;
  }
  return attributes.has(kNonVolatile) ? limits_.max_variable : limits_.max_volatile;
}

Result<VariableInfo> VariableServices::query_variable_info(Attributes attributes) const {
  model_.spend(Service::kQuery);
  constexpr Attributes kKnown = Attributes::from_raw(0x7F);
  if (attributes.empty()) return fail(Code::kInvalidParameter, "no attributes asked for");
  if (attributes.has(kAuthenticatedWriteAccess) || !attributes.has_any(kKnown)) {
    return fail(Code::kUnsupported, "no variables of these attributes");
  }
  const bool only_non_volatile =
      !attributes.has_any(kBootserviceAccess | kRuntimeAccess | kHardwareErrorRecord);
  if (only_non_volatile ||
      (attributes.has(kRuntimeAccess) && !attributes.has(kBootserviceAccess)) ||
      (attributes.has(kHardwareErrorRecord) && !attributes.has(kNonVolatile)) ||
      (phase_ == Phase::kRunTime && !attributes.has(kRuntimeAccess))) {
    return fail(Code::kInvalidParameter, "attributes that no variable can have");
  }
  if (attributes.has(kHardwareErrorRecord)) {
    return fail(Code::kUnsupported, "no storage for hardware error records");
  }
  VariableInfo info;
  if (attributes.has(kNonVolatile)) {
    info = capacity();
  } else {
    info.maximum_storage = info.remaining_storage = limits_.volatile_storage;
  }
  const std::uint64_t room =
      info.remaining_storage - std::min(info.remaining_storage, limits_.record_overhead);
  info.maximum_size = std::min(largest(attributes), room);
  return info;
}

VariableInfo VariableServices::capacity() const {
  const std::uint64_t remaining = remaining_.load(std::memory_order_acquire);
  const std::uint64_t room = remaining - std::min(remaining, limits_.record_overhead);
  return {storage_, remaining, std::min(limits_.max_variable, room)};
}

void VariableServices::note_space() {
  const store::Space space = store_->space();
  std::uint64_t used = space.live;
  if (space_policy_ == SpacePolicy::kAsFirmware && phase_ == Phase::kRunTime) {
    used += space.unreclaimed;
  }
  remaining_.store(space.storage - std::min(space.storage, used), std::memory_order_release);
}

Result<void> VariableServices::compact() {
  const Result<void> done = store_->compact();
  note_space();
  return done;
}

std::optional<Variable> VariableServices::current(const VariableKey& key) const {
  const ReadSection section;
  const TableEntry* entry = table_.find(section, key);
  return entry == nullptr ? std::nullopt : std::optional(entry->variable);
}

// edk2 VariableServiceSetVariable(): the attribute combinations.
Result<void> VariableServices::check_attributes(Attributes attributes) const {
  constexpr Attributes kKnown = Attributes::from_raw(0x7F);
  if (!attributes.without(kKnown).empty()) {
    return fail(Code::kInvalidParameter, "unknown attributes");
  }
  const bool runtime_alone = attributes.has(kRuntimeAccess) && !attributes.has(kBootserviceAccess);
  const bool non_volatile_alone =
      attributes.without(kAuthenticatedWriteAccess | kAppendWrite) == kNonVolatile &&
      !attributes.has(kAppendWrite);
  if (runtime_alone || non_volatile_alone) {
    return fail(
        attributes.has(kAuthenticatedWriteAccess) ? Code::kUnsupported : Code::kInvalidParameter,
        "a combination of attributes that no variable can have");
  }
  if (attributes.has(kAuthenticatedWriteAccess)) {
    return fail(Code::kUnsupported, "counter-based authentication is gone");
  }
  // With time-based authentication edk2 does not get to look for the storage.
  if (attributes.has(kHardwareErrorRecord) && !attributes.has(kTimeBasedAuthenticatedWriteAccess)) {
    return fail(Code::kInvalidParameter, "no storage for hardware error records");
  }
  return {};
}

Result<void> VariableServices::check_existing(const Variable& existing,
                                              Attributes attributes) const {
  if (!is_visible(existing)) {
    return fail(Code::kWriteProtected, "the variable is for boot time alone");
  }
  if (!attributes.empty() && attributes.without(kAppendWrite) != existing.attributes) {
    return fail(Code::kInvalidParameter, "the variable has other attributes");
  }
  return {};
}

Result<void> VariableServices::set_variable(const VariableKey& key, Attributes attributes,
                                            ByteView data) {
  model_.spend(Service::kSet);
  if (!writable()) return fail(Code::kWriteProtected, "the store is open for reading only");
  EFIVARIUM_TRY(check_attributes(attributes));
  EFIVARIUM_TRY(const ByteView payload, split_descriptor(attributes, data));
  const std::uint64_t size = key.name.stored_size_bytes() + payload.size();
  if (size > largest(attributes)) {
    return fail(Code::kInvalidParameter, "name and data are larger than one variable may be");
  }
  EFIVARIUM_TRY(check_variable(key, attributes, payload));
  const std::optional<Variable> existing = current(key);
  if (existing) EFIVARIUM_TRY(check_existing(*existing, attributes));
  EFIVARIUM_TRY(authenticate(existing, key, attributes));
  const Result<void> applied = apply(existing, key, attributes, payload);
  note_space();
  return applied;
}

// edk2 UpdateVariable().
Result<void> VariableServices::apply(const std::optional<Variable>& existing,
                                     const VariableKey& key, Attributes attributes, ByteView data) {
  const bool at_run_time = phase_ == Phase::kRunTime;
  const bool append = attributes.has(kAppendWrite);
  if (existing) {
    if (at_run_time && !existing->attributes.has(kNonVolatile)) {
      return fail(Code::kWriteProtected, "a volatile variable cannot be written at run time");
    }
    if (is_deletion(attributes, data.size())) return erase(*existing);
    if (append && data.empty()) return {};
    Variable changed = *existing;
    if (!append) changed.data.clear();
    changed.data.insert(changed.data.end(), data.begin(), data.end());
    if (key.name.stored_size_bytes() + changed.data.size() > largest(attributes)) {
      return fail(Code::kInvalidParameter, "the variable would become too large");
    }
    return changed == *existing ? Result<void>() : keep(changed);
  }
  if (append && data.empty()) return {};
  if (is_deletion(attributes, data.size())) return fail(Code::kNotFound, "no such variable");
  if (at_run_time && !attributes.has(kNonVolatile | kRuntimeAccess)) {
    return fail(Code::kInvalidParameter, "at run time a new variable is non-volatile and run-time");
  }
  return keep(Variable{key, attributes.without(kAppendWrite), {}, Bytes(data.begin(), data.end())});
}

Result<void> VariableServices::keep(const Variable& variable) {
  if (variable.attributes.has(kNonVolatile)) {
    const bool as_firmware = space_policy_ == SpacePolicy::kAsFirmware && phase_ == Phase::kRunTime;
    EFIVARIUM_TRY(
        store_->put(variable, as_firmware ? store::Reclaim::kForbidden : store::Reclaim::kAllowed));
  }
  table_.publish(variable);
  return {};
}

Result<void> VariableServices::erase(const Variable& variable) {
  if (variable.attributes.has(kNonVolatile)) EFIVARIUM_TRY(store_->remove(variable.key));
  table_.remove(variable.key);
  return {};
}

}  // namespace efivarium::runtime
