// FirmwareModel: how long a machine's firmware would take for each service.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "efivarium/result.h"

namespace efivarium::runtime {

enum class Service : std::uint8_t { kGet, kNext, kSet, kQuery };

// The services of real firmware keep their CPU busy, with preemption off; so does the model.
class FirmwareModel {
 public:
  using Duration = std::chrono::nanoseconds;

  // "query=70ms": a service - get, next, set, query - and a time in ns, us, ms or s.
  // kInvalidParameter, with the model unchanged.
  Result<void> parse(std::string_view text);
  void set_delay(Service service, Duration delay) { delays_[index(service)] = delay; }

  // Keeps this CPU busy for the delay of the service.
  void spend(Service service) const;
  bool is_slow(Service service) const { return delays_[index(service)] > Duration::zero(); }

 private:
  static constexpr std::size_t index(Service service) { return static_cast<std::size_t>(service); }
  std::array<Duration, 4> delays_{};
};

}  // namespace efivarium::runtime
