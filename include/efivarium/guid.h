// Vendor GUIDs.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "efivarium/result.h"

namespace efivarium {

// 16 bytes in memory order: the first three fields little endian (UEFI 2.10, Appendix A).
class Guid {
 public:
  static constexpr std::size_t kTextLength = 36;

  constexpr Guid() = default;
  constexpr explicit Guid(const std::array<std::uint8_t, 16>& bytes) : bytes_(bytes) {}

  // 8-4-4-4-12 hex digits of either case, nothing else. kInvalidParameter.
  static Result<Guid> parse(std::string_view text);
  // The same for a literal; what is no GUID does not compile.
  static consteval Guid of(std::string_view text) {
    Guid guid;
    if (!guid.read_text(text)) throw "not a GUID";
    return guid;
  }

  // Lower case.
  std::string to_text() const;
  constexpr const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }

  friend constexpr auto operator<=>(const Guid&, const Guid&) = default;

 private:
  constexpr bool read_text(std::string_view text);

  std::array<std::uint8_t, 16> bytes_{};
};

namespace guid_detail {
// Where the n-th pair of digits stands in the text, and which byte it is.
inline constexpr std::array<std::uint8_t, 16> kTextOffset = {0,  2,  4,  6,  9,  11, 14, 16,
                                                             19, 21, 24, 26, 28, 30, 32, 34};
inline constexpr std::array<std::uint8_t, 16> kByteIndex = {3, 2, 1,  0,  5,  4,  7,  6,
                                                            8, 9, 10, 11, 12, 13, 14, 15};
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
}  // namespace guid_detail

constexpr bool Guid::read_text(std::string_view text) {
  if (text.size() != kTextLength) return false;
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) {
    if (text[dash] != '-') return false;
  }
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const std::size_t at = guid_detail::kTextOffset[i];
    const int high = guid_detail::hex_digit(text[at]);
    const int low = guid_detail::hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return false;
    bytes_[guid_detail::kByteIndex[i]] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

// UEFI 2.10, Globally Defined Variables (3.3) and Variables Containing the Signature Databases.
inline constexpr Guid kGlobalVariableGuid = Guid::of("8be4df61-93ca-11d2-aa0d-00e098032b8c");
inline constexpr Guid kImageSecurityGuid = Guid::of("d719b2cb-3d3a-4596-a3bc-dad00e67656f");
inline constexpr Guid kHardwareErrorGuid = Guid::of("414e6bdd-e47b-47cc-b244-bb61020cf516");

}  // namespace efivarium
