#include "efivarfs/options.h"

#include <array>
#include <charconv>

#include "base/try.h"

namespace efivarium::efivarfs {
namespace {

struct Policy {
  std::string_view name;
  int number;
  bool has_priority;
};
constexpr std::array kPolicies = {Policy{"other", SCHED_OTHER, false},
                                  Policy{"batch", SCHED_BATCH, false},
                                  Policy{"idle", SCHED_IDLE, false},
                                  Policy{"fifo", SCHED_FIFO, true}, Policy{"rr", SCHED_RR, true}};

Result<std::uint32_t> parse_id(std::string_view text) {
  std::uint32_t id = 0;
  const char* const end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(std::to_address(text.begin()), end, id);
  // All ones is "no user" everywhere in Linux.
  if (error != std::errc{} || stop != end || id == ~std::uint32_t{0}) {
    return fail(Code::kInvalidParameter, "uid and gid take a number");
  }
  return id;
}

// "fifo:10": a policy of sched_setscheduler(2), with a priority where it has one.
Result<void> parse_scheduling(std::string_view text, base::Placement& placement) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  int priority = 0;
  if (colon != std::string_view::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, priority);
    if (error != std::errc{} || stop != end) priority = -1;
  }
  for (const Policy& policy : kPolicies) {
    const bool fits = policy.has_priority ? priority >= 1 && priority <= 99 : priority == 0;
    if (policy.name != name || !fits) continue;
    placement.policy = policy.number;
    placement.priority = priority;
    return {};
  }
  return fail(Code::kInvalidParameter, "sched is other, batch, idle, fifo:1-99 or rr:1-99");
}

}  // namespace

Result<bool> Options::take(std::string_view option) {
  const std::size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  const bool has_value = equals != std::string_view::npos;
  const std::string_view value = has_value ? option.substr(equals + 1) : std::string_view();
  if (name == "uid" || name == "gid") {
    EFIVARIUM_TRY((name == "uid" ? uid : gid), parse_id(value));
    return true;
  }
  if (name == "profile") {
    if (value != "kernel" && value != "default") {
      return fail(Code::kInvalidParameter, "profile is kernel or default");
    }
    profile = value == "kernel" ? Profile::kKernel : Profile::kDefault;
    return true;
  }
  if (name == "flags") {
    if (value != "on" && value != "off") {
      return fail(Code::kInvalidParameter, "flags is on or off");
    }
    inode_flags = value == "on";
    return true;
  }
  if (name == "cpus") {
    EFIVARIUM_TRY(placement.cpus, base::Placement::parse_cpus(value));
    return true;
  }
  if (name == "sched") {
    EFIVARIUM_TRY(parse_scheduling(value, placement));
    return true;
  }
  if (name == "statfs" || name == "nostatfs") {
    if (has_value) return fail(Code::kInvalidParameter, "statfs and nostatfs take no value");
    report_space = name == "statfs";
    return true;
  }
  return false;
}

std::string to_text(const base::Placement& placement) {
  std::string text;
  if (CPU_COUNT(&placement.cpus) > 0) text += ",cpus=" + base::Placement::to_text(placement.cpus);
  for (const Policy& policy : kPolicies) {
    if (policy.number != placement.policy || policy.number == SCHED_OTHER) continue;
    text += ",sched=" + std::string(policy.name);
    if (policy.has_priority) text += ":" + std::to_string(placement.priority);
  }
  return text;
}

}  // namespace efivarium::efivarfs
