// MemoryStore: a store for tests of what stands above stores.
#pragma once

#include <algorithm>

#include "store/variable_store.h"

namespace efivarium::store {

// Counts space as an authenticated edk2 store of that many bytes does.
class MemoryStore final : public VariableStore {
 public:
  explicit MemoryStore(std::uint64_t storage, std::vector<Variable> variables = {})
      : storage_(storage), variables_(std::move(variables)) {
    for (const Variable& variable : variables_) live_ += record_size(variable);
  }

  // The n-th put or remove from now fails with kDeviceError; 1 is the next.
  void fail_change(int n) { failing_change_ = n; }
  void make_read_only() { writable_ = false; }

  Result<std::vector<Variable>> load() override { return variables_; }

  Result<void> put(const Variable& variable, Reclaim reclaim) override {
    if (fails()) return fail(Code::kDeviceError, "the test wants this to fail");
    const auto old = find(variable.key);
    const std::uint64_t kept = live_ - (old == variables_.end() ? 0 : record_size(*old));
    const std::uint64_t size = record_size(variable);
    if (live_ + dead_ + size > storage_) {
      if (reclaim == Reclaim::kForbidden || kept + size > storage_) {
        return fail(Code::kOutOfResources, "the store is full");
      }
      dead_ = 0;
    } else {
      dead_ += live_ - kept;
    }
    if (old != variables_.end()) variables_.erase(old);
    variables_.push_back(variable);
    live_ = kept + size;
    return {};
  }

  Result<void> remove(const VariableKey& key) override {
    if (fails()) return fail(Code::kDeviceError, "the test wants this to fail");
    const auto found = find(key);
    if (found == variables_.end()) return fail(Code::kNotFound, "no such variable");
    live_ -= record_size(*found);
    dead_ += record_size(*found);
    variables_.erase(found);
    return {};
  }

  Result<void> compact() override {
    dead_ = 0;
    return {};
  }
  Space space() const override { return {storage_, live_, dead_}; }
  Limits limits() const override { return {60, 0x8400 - 60, 0x8400 - 60, 0x8400 - 60, 262116}; }
  bool writable() const override { return writable_; }

 private:
  static std::uint64_t record_size(const Variable& variable) {
    const std::uint64_t size = 60 + variable.key.name.stored_size_bytes() + variable.data.size();
    return (size + 3) / 4 * 4;
  }
  std::vector<Variable>::iterator find(const VariableKey& key) {
    return std::ranges::find(variables_, key, &Variable::key);
  }
  bool fails() { return failing_change_ > 0 && --failing_change_ == 0; }

  const std::uint64_t storage_;
  std::vector<Variable> variables_;
  std::uint64_t live_ = 0, dead_ = 0;
  int failing_change_ = 0;
  bool writable_ = true;
};

}  // namespace efivarium::store
