#include "efivarfs/options.h"

#include <charconv>

#include "base/try.h"

namespace efivarium::efivarfs {
namespace {

Result<std::uint32_t> parse_id(std::string_view text) {
  std::uint32_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  // All ones is "no user" everywhere in Linux.
  if (error != std::errc{} || stop != end || id == ~std::uint32_t{0}) {
    return fail(Code::kInvalidParameter, "uid and gid take a number");
  }
  return id;
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
  if (name == "statfs" || name == "nostatfs") {
    if (has_value) return fail(Code::kInvalidParameter, "statfs and nostatfs take no value");
    report_space = name == "statfs";
    return true;
  }
  return false;
}

}  // namespace efivarium::efivarfs
