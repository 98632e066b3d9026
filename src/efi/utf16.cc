#include "efi/utf16.h"

#include <array>

#include "base/try.h"

namespace efivarium::efi {
namespace {

constexpr bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
constexpr bool is_high(char16_t unit) { return (unit & 0xFC00) == 0xD800; }
constexpr bool is_low(char16_t unit) { return (unit & 0xFC00) == 0xDC00; }

}  // namespace

void append_utf8(std::string& text, char32_t value) {
  const auto put = [&text](char32_t bits) { text += static_cast<char>(bits); };
  if (value < 0x80) return put(value);
  if (value < 0x800) {
    put(0xC0 | (value >> 6));
  } else {
    if (value < 0x10000) {
      put(0xE0 | (value >> 12));
    } else {
      put(0xF0 | (value >> 18));
      put(0x80 | ((value >> 12) & 0x3F));
    }
    put(0x80 | ((value >> 6) & 0x3F));
  }
  put(0x80 | (value & 0x3F));
}

Result<char32_t> take_code_point(std::string_view& text) {
  constexpr const char* kMalformed = "not UTF-8";
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80             ? 1
                             : (first & 0xE0) == 0xC0 ? 2
                             : (first & 0xF0) == 0xE0 ? 3
                             : (first & 0xF8) == 0xF0 ? 4
                                                      : 0;
  if (length == 0 || text.size() < length) return fail(Code::kInvalidParameter, kMalformed);
  constexpr std::array<unsigned, 5> kFirstMask = {0, 0x7F, 0x1F, 0x0F, 0x07};
  constexpr std::array<unsigned, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  char32_t value = first & kFirstMask[length];
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return fail(Code::kInvalidParameter, kMalformed);
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  if (value < kSmallest[length] || value > 0x10FFFF) {
    return fail(Code::kInvalidParameter, kMalformed);
  }
  text.remove_prefix(length);
  return value;
}

std::string to_wtf8(std::u16string_view units) {
  std::string text;
  text.reserve(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    char32_t value = units[i];
    if (is_high(units[i]) && i + 1 < units.size() && is_low(units[i + 1])) {
      value = 0x10000 + ((value & 0x3FF) << 10) + (units[++i] & 0x3FFU);
    }
    append_utf8(text, value);
  }
  return text;
}

Result<std::u16string> from_wtf8(std::string_view text) {
  std::u16string units;
  units.reserve(text.size());
  const std::size_t size = text.size();
  while (!text.empty()) {
    const auto value = take_code_point(text);
    if (!value) {
      return fail_at(Code::kInvalidParameter, value.error().text(), size - text.size());
    }
    if (*value >= 0x10000) {
      units += static_cast<char16_t>(0xD800 + ((*value - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + (*value & 0x3FF));
    } else {
      units += static_cast<char16_t>(*value);
    }
  }
  return units;
}

}  // namespace efivarium::efi
