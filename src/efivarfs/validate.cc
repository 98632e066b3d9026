#include "efivarfs/validate.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "efi/load_option.h"

namespace efivarium::efivarfs {
namespace {

constexpr Guid kLinuxCrashGuid = Guid::of("cfc8fc79-be2e-4ddc-97f0-9f98bfe298a0");

constexpr std::array<std::u16string_view, 2> kLoadOptionPrefixes = {u"Boot", u"Driver"};
constexpr std::array<std::u16string_view, 9> kRemovable = {
    u"ConIn",     u"ConInDev", u"ConOut",        u"ConOutDev",   u"ErrOut",
    u"ErrOutDev", u"Lang",     u"OsIndications", u"PlatformLang"};

constexpr bool is_hex(char16_t unit) {
  return unit < 0x80 && guid_detail::hex_digit(static_cast<char>(unit)) >= 0;
}

}  // namespace

bool is_removable(const VariableKey& key) {
  if (key.vendor == kLinuxCrashGuid) return true;
  if (key.vendor != kGlobalVariableGuid) return false;
  const std::u16string_view name = key.name.units();
  return name == u"Timeout" || std::ranges::find(kRemovable, name) != kRemovable.end() ||
         std::ranges::any_of(kLoadOptionPrefixes,
                             [&](std::u16string_view prefix) { return name.starts_with(prefix); });
}

Result<void> validate(const VariableKey& key, ByteView data) {
  if (key.vendor != kGlobalVariableGuid) return {};
  const std::u16string_view name = key.name.units();
  for (const std::u16string_view prefix : kLoadOptionPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::u16string_view digits = name.substr(prefix.size());
    if (digits.size() < 4 || !std::ranges::all_of(digits.substr(0, 4), is_hex)) return {};
    if (digits.size() > 4 || !efi::check_load_option(data)) {
      return fail(Code::kInvalidParameter, "not a load option");
    }
  }
  return {};
}

}  // namespace efivarium::efivarfs
