#include "runtime/firmware_model.h"

#include <charconv>
#include <limits>

namespace efivarium::runtime {
namespace {

constexpr std::array<std::string_view, 4> kServiceNames = {"get", "next", "set", "query"};

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array kUnits = {Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000},
                               Unit{"s", 1'000'000'000}};

}  // namespace

Result<void> FirmwareModel::parse(std::string_view text) {
  const auto bad = [] {
    return fail(Code::kInvalidParameter,
                "a latency is SERVICE=TIME, as in query=70ms; services are get, next, set, query");
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return bad();
  std::uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [unit_text, error] = std::from_chars(text.data() + equals + 1, end, count);
  if (error != std::errc{}) return bad();
  for (std::size_t service = 0; service < kServiceNames.size(); ++service) {
    if (text.substr(0, equals) != kServiceNames[service]) continue;
    for (const Unit& unit : kUnits) {
      if (std::string_view(unit_text, end) != unit.name) continue;
      constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      if (count > kMost / unit.nanoseconds) return bad();
      delays_[service] = Duration(count * unit.nanoseconds);
      return {};
    }
  }
  return bad();
}

void FirmwareModel::spend(Service service) const {
  if (!is_slow(service)) return;
  const auto end = std::chrono::steady_clock::now() + delays_[index(service)];
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace efivarium::runtime
