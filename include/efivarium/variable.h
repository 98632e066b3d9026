// A variable: its identity, attributes, time stamp and data.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "efivarium/attributes.h"
#include "efivarium/guid.h"
#include "efivarium/result.h"

namespace efivarium {

using Bytes = std::vector<std::uint8_t>;

// A name in UCS-2: never empty, no NUL inside. Each 16-bit unit stands for itself; surrogates,
// paired or not, are kept as they are.
class VariableName {
 public:
  // text: UTF-8, where a surrogate may stand as three bytes of its own. kInvalidParameter if
  // empty, malformed, holding NUL, or outside the BMP (UEFI 2.10, GetVariable()).
  static Result<VariableName> from_utf8(std::string_view text);
  // units: without terminator. kInvalidParameter if empty or holding NUL.
  static Result<VariableName> from_units(std::u16string units);

  // One to three bytes a unit, as Linux's ucs2_as_utf8() does.
  std::string to_utf8() const;
  const std::u16string& units() const { return units_; }
  // Bytes in a store, with the terminator.
  std::size_t stored_size_bytes() const { return (units_.size() + 1) * 2; }

  friend auto operator<=>(const VariableName&, const VariableName&) = default;

 private:
  explicit VariableName(std::u16string units) : units_(std::move(units)) {}
  std::u16string units_;
};

struct VariableKey {
  Guid vendor;
  VariableName name;

  // NAME-GUID, as a file of efivarfs is called.
  std::string to_text() const;
  // kInvalidParameter if the last 37 bytes are not a dash and a GUID, or the name is none.
  static Result<VariableKey> parse(std::string_view text);

  friend auto operator<=>(const VariableKey&, const VariableKey&) = default;
};

// EFI_TIME as time stamps of variables use it: no fraction, no time zone (UEFI 2.10, GetTime()).
struct EfiTime {
  std::uint16_t year = 0;
  std::uint8_t month = 0, day = 0, hour = 0, minute = 0, second = 0;

  bool empty() const { return *this == EfiTime{}; }
  // ISO 8601, UTC.
  std::string to_text() const;
  friend auto operator<=>(const EfiTime&, const EfiTime&) = default;
};

struct Variable {
  VariableKey key;
  Attributes attributes;  // never holds kAppendWrite
  EfiTime time;           // empty unless an authenticated write gave one
  Bytes data;

  friend bool operator==(const Variable&, const Variable&) = default;
};

}  // namespace efivarium

template <>
struct std::hash<efivarium::VariableKey> {
  std::size_t operator()(const efivarium::VariableKey& key) const noexcept;
};
