// MemoryDevice: a device for tests, which can tell what was done to it.
#pragma once

#include <algorithm>
#include <vector>

#include "base/device.h"

namespace efivarium::base {

class MemoryDevice final : public Device {
 public:
  // A write, or, without bytes, a barrier.
  struct Step {
    std::uint64_t offset = 0;
    Bytes bytes;
    bool is_barrier() const { return bytes.empty(); }
  };

  explicit MemoryDevice(Bytes bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::uint8_t> out) override {
    if (!inside(offset, out.size(), bytes_.size())) {
      return fail_at(Code::kInvalidParameter, "read outside the store", offset);
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }
  Result<void> write(std::uint64_t offset, ByteView bytes) override {
    if (!inside(offset, bytes.size(), bytes_.size())) {
      return fail_at(Code::kInvalidParameter, "write outside the store", offset);
    }
    if (failing_write_ > 0 && --failing_write_ == 0) {
      return std::unexpected(Error::system(5, "the test wants this to fail"));
    }
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    if (log_ != nullptr && !bytes.empty()) {
      log_->push_back({offset, Bytes(bytes.begin(), bytes.end())});
    }
    return {};
  }
  Result<void> sync() override {
    if (log_ != nullptr) log_->emplace_back();
    return {};
  }

  // Every write and barrier from now on is added to the log.
  void log_to(std::vector<Step>* log) { log_ = log; }
  // The n-th write from now fails and changes nothing; 1 is the next.
  void fail_write(int n) { failing_write_ = n; }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::vector<Step>* log_ = nullptr;
  int failing_write_ = 0;
};

}  // namespace efivarium::base
