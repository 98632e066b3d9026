#include "efivarium/variable.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "base/try.h"

namespace efivarium {
namespace {

constexpr bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// One unit from the front of text, which becomes shorter. Sequences of one to three bytes, each
// the shortest for its value.
Result<char16_t> take_unit(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80             ? 1
                             : (first & 0xE0) == 0xC0 ? 2
                             : (first & 0xF0) == 0xE0 ? 3
                                                      : 0;
  if ((first & 0xF8) == 0xF0) {
    return fail(Code::kInvalidParameter, "a name has no characters outside the BMP");
  }
  if (length == 0 || text.size() < length) {
    return fail(Code::kInvalidParameter, "the name is not UTF-8");
  }
  constexpr std::array<unsigned, 4> kFirstMask = {0, 0x7F, 0x1F, 0x0F};
  constexpr std::array<unsigned, 4> kSmallest = {0, 0, 0x80, 0x800};
  unsigned value = first & kFirstMask[length];
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return fail(Code::kInvalidParameter, "the name is not UTF-8");
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  if (value < kSmallest[length]) return fail(Code::kInvalidParameter, "the name is not UTF-8");
  text.remove_prefix(length);
  return static_cast<char16_t>(value);
}

}  // namespace

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
    EFIVARIUM_TRY(const char16_t unit, take_unit(text));
    units.push_back(unit);
  }
  return from_units(std::move(units));
}

std::string VariableName::to_utf8() const {
  std::string text;
  text.reserve(units_.size());
  for (const char16_t unit : units_) {
    const unsigned value = unit;
    if (value < 0x80) {
      text += static_cast<char>(value);
      continue;
    }
    if (value < 0x800) {
      text += static_cast<char>(0xC0 | (value >> 6));
    } else {
      text += static_cast<char>(0xE0 | (value >> 12));
      text += static_cast<char>(0x80 | ((value >> 6) & 0x3F));
    }
    text += static_cast<char>(0x80 | (value & 0x3F));
  }
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
