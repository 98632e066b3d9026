// Variable attributes (UEFI 2.10, GetVariable()).
#pragma once

#include <cstdint>
#include <string>

namespace efivarium {

class Attributes {
 public:
  constexpr Attributes() = default;
  static constexpr Attributes from_raw(std::uint32_t raw) { return Attributes(raw); }  // keeps all
  constexpr std::uint32_t raw() const { return raw_; }
  constexpr bool has(Attributes all) const { return (raw_ & all.raw_) == all.raw_; }
  constexpr bool has_any(Attributes any) const { return (raw_ & any.raw_) != 0; }
  constexpr bool empty() const { return raw_ == 0; }
  constexpr Attributes without(Attributes gone) const { return Attributes(raw_ & ~gone.raw_); }
  // Short names with commas, "nv,bs,rt"; bits without a name in hex.
  std::string to_text() const;

  friend constexpr Attributes operator|(Attributes a, Attributes b) {
    return Attributes(a.raw_ | b.raw_);
  }
  friend constexpr Attributes operator&(Attributes a, Attributes b) {
    return Attributes(a.raw_ & b.raw_);
  }
  friend constexpr bool operator==(Attributes, Attributes) = default;

 private:
  explicit constexpr Attributes(std::uint32_t raw) : raw_(raw) {}
  std::uint32_t raw_ = 0;
};

inline constexpr Attributes kNonVolatile = Attributes::from_raw(0x01);
inline constexpr Attributes kBootserviceAccess = Attributes::from_raw(0x02);
inline constexpr Attributes kRuntimeAccess = Attributes::from_raw(0x04);
inline constexpr Attributes kHardwareErrorRecord = Attributes::from_raw(0x08);
inline constexpr Attributes kAuthenticatedWriteAccess = Attributes::from_raw(0x10);
inline constexpr Attributes kTimeBasedAuthenticatedWriteAccess = Attributes::from_raw(0x20);
inline constexpr Attributes kAppendWrite = Attributes::from_raw(0x40);
inline constexpr Attributes kEnhancedAuthenticatedAccess = Attributes::from_raw(0x80);

// What an ordinary variable of the system carries.
inline constexpr Attributes kUsualAttributes = kNonVolatile | kBootserviceAccess | kRuntimeAccess;

}  // namespace efivarium
