#include "efivarium/variable.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "base/try.h"
#include "efi/utf16.h"

namespace efivarium {
Result<VariableName> VariableName::from_units(std::u16string units) {
  if (units.empty()) return fail(Code::kInvalidParameter, "the name is empty");
  if (units.find(u'\0') != std::u16string::npos) {
    return fail(Code::kInvalidParameter, "the name holds a NUL");
  }
  return VariableName(std::move(units));
}

Result<VariableName> VariableName::from_utf8(std::string_view text) {
  std::u16string units;
  units.reserve(text.size());
  while (!text.empty()) {
    const Result<char32_t> value = efi::take_code_point(text);
    if (!value) return fail(Code::kInvalidParameter, "the name is not UTF-8");
    if (*value > 0xFFFF) {
      return fail(Code::kInvalidParameter, "a name has no characters outside the BMP");
    }
    units.push_back(static_cast<char16_t>(*value));
  }
  return from_units(std::move(units));
}

std::string VariableName::to_utf8() const {
  std::string text;
  text.reserve(units_.size());
  for (const char16_t unit : units_) efi::append_utf8(text, unit);
  return text;
}

std::string VariableKey::to_text() const { return name.to_utf8() + '-' + vendor.to_text(); }

Result<VariableKey> VariableKey::parse(std::string_view text) {
  if (text.size() < Guid::kTextLength + 2 || text[text.size() - Guid::kTextLength - 1] != '-') {
    return fail(Code::kInvalidParameter, "a variable is called NAME-GUID");
  }
  EFIVARIUM_TRY(const Guid vendor, Guid::parse(text.substr(text.size() - Guid::kTextLength)));
  text.remove_suffix(Guid::kTextLength + 1);
  EFIVARIUM_TRY(VariableName name, VariableName::from_utf8(text));
  return VariableKey{vendor, std::move(name)};
}

std::string EfiTime::to_text() const {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04u-%02u-%02uT%02u:%02u:%02uZ", year, month, day, hour,
                minute, second);
  return text.data();
}

}  // namespace efivarium

std::size_t std::hash<efivarium::VariableKey>::operator()(
    const efivarium::VariableKey& key) const noexcept {
  // The name decides nearly always; GUIDs of one vendor differ in their first bytes.
  std::uint64_t vendor = 0;
  std::memcpy(&vendor, key.vendor.bytes().data(), sizeof vendor);
  return std::hash<std::u16string>{}(key.name.units()) ^ (vendor * 0x9E3779B97F4A7C15U);
}
