// Load options: what Boot####, Driver####, SysPrep#### and PlatformRecovery#### hold.
#pragma once

#include <string>
#include <vector>

#include "efivarium/device_path.h"

namespace efivarium {

// EFI_LOAD_OPTION (UEFI 2.10, Load Options).
struct LoadOption {
  static constexpr std::uint32_t kActive = 0x1, kForceReconnect = 0x2, kHidden = 0x8;
  static constexpr std::uint32_t kCategory = 0x1F00, kApplication = 0x100;  // else to boot

  std::uint32_t attributes = kActive;
  std::string description;        // WTF-8, without NUL
  std::vector<DevicePath> paths;  // the first is what is loaded; the rest is its vendor's
  Bytes optional_data;

  // kCorrupt, with the offset, where the description has no end, the paths do not fit, or what is
  // in their place are none.
  static Result<LoadOption> parse(std::span<const std::uint8_t> bytes);
  // The same bytes again. kInvalidParameter for a description that is not WTF-8 or holds NUL, and
  // for paths of more than 65535 bytes.
  Result<Bytes> serialize() const;

  friend bool operator==(const LoadOption&, const LoadOption&) = default;
};

}  // namespace efivarium
