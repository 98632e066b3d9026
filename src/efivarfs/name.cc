#include "efivarfs/name.h"

#include <algorithm>
#include <functional>

#include "base/try.h"

namespace efivarium::efivarfs {
namespace {

constexpr Guid kRandomSeedGuid = Guid::of("1ce1e5bc-7ceb-42f2-81e5-8aadf180f57b");

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view guid_part(std::string_view name) {
  return name.substr(name.size() - Guid::kTextLength);
}
constexpr std::string_view name_part(std::string_view name) {
  return name.substr(0, name.size() - Guid::kTextLength);
}

}  // namespace

Result<VariableKey> key_of_new_file(std::string_view file_name) {
  const auto bad = [] { return fail(Code::kInvalidParameter, "a file is called NAME-GUID here"); };
  if (file_name.size() < Guid::kTextLength + 2) return bad();
  if (name_part(file_name).back() != '-') return bad();
  EFIVARIUM_TRY(const Guid vendor, Guid::parse(guid_part(file_name)));
  if (is_hidden(vendor)) return fail(Code::kNotPermitted, "the random seed is not for files");
  std::u16string units;
  for (const char c : name_part(file_name)) {
    units.push_back(static_cast<unsigned char>(c));
  }
  units.pop_back();  // the dash
  EFIVARIUM_TRY(VariableName name, VariableName::from_units(std::move(units)));
  return VariableKey{vendor, std::move(name)};
}

std::string file_name_of(const VariableKey& key) {
  std::string name = key.to_text();
  std::ranges::replace(name, '/', '!');
  return name;
}

bool is_hidden(const Guid& vendor) { return vendor == kRandomSeedGuid; }

bool same_file_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || b.size() <= Guid::kTextLength) return false;
  return name_part(a) == name_part(b) &&
         std::ranges::equal(guid_part(a), guid_part(b), {}, lower, lower);
}

std::uint64_t hash_file_name(std::string_view name) {
  if (name.size() <= Guid::kTextLength) return 0;
  // The GUID is folded; NAME alone tells nearly all variables apart.
  std::uint64_t guid = 0;
  for (const char c : guid_part(name)) guid = guid * 31 + static_cast<unsigned char>(lower(c));
  return std::hash<std::string_view>{}(name_part(name)) ^ (guid * 0x9E3779B97F4A7C15U);
}

}  // namespace efivarium::efivarfs
