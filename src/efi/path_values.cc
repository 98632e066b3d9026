#include "efi/path_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>

namespace efivarium::efi {

std::string hex(std::uint64_t value, PathStyle style, int digits) {
  std::array<char, 24> text{};
  const auto number = static_cast<unsigned long long>(value);
  std::snprintf(text.data(), text.size(), style == PathStyle::kEdk2 ? "%0*llX" : "%0*llx", digits,
                number);
  return text.data();
}

std::string prefixed(std::uint64_t value, PathStyle style, int digits) {
  return "0x" + hex(value, style, digits);
}

std::string hex_bytes(ByteView bytes, PathStyle style) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += hex(byte, style, 2);
  return text;
}

std::string guid_text(const Guid& guid, PathStyle style) {
  std::string text = guid.to_text();
  if (style == PathStyle::kEdk2) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  }
  return text;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<std::uint64_t> parse_digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(std::to_address(text.begin()), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_number(std::string_view text, int bytes) {
  if (text.empty()) return 0;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const auto value = is_hex ? parse_digits(text.substr(2), 16) : parse_digits(text, 10);
  if (!value || (bytes < 8 && (*value >> (8 * bytes)) != 0)) return std::nullopt;
  return value;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes bytes;
  for (; !text.empty(); text.remove_prefix(2)) {
    const int high = guid_detail::hex_digit(text[0]), low = guid_detail::hex_digit(text[1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bytes;
}

std::optional<std::size_t> index_of(std::string_view choices, std::string_view word) {
  for (std::size_t index = 0;; ++index) {
    const std::size_t end = choices.find('|');
    if (same_word(choices.substr(0, end), word)) return index;
    if (end == std::string_view::npos) return std::nullopt;
    choices.remove_prefix(end + 1);
  }
}

std::optional<std::string_view> choice_at(std::string_view choices, std::uint64_t index) {
  for (; index > 0; --index) {
    const std::size_t end = choices.find('|');
    if (end == std::string_view::npos) return std::nullopt;
    choices.remove_prefix(end + 1);
  }
  return choices.substr(0, choices.find('|'));
}

std::optional<std::size_t> parse_choice(std::string_view choices, std::string_view word) {
  return word.empty() ? std::optional<std::size_t>(0) : index_of(choices, word);
}

std::uint64_t number_at(ByteView data, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = (value << 8) | data[offset + i];
  return value;
}

void put_number(Bytes& data, std::size_t offset, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i, value >>= 8) {
    data[offset + i] = static_cast<std::uint8_t>(value);
  }
}

Guid guid_at(ByteView data, std::size_t offset) {
  std::array<std::uint8_t, 16> bytes{};
  std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
  return Guid(bytes);
}

std::string text_of(ByteView data) { return {data.begin(), data.end()}; }

std::u16string units_of(ByteView data) {
  std::u16string units;
  for (std::size_t i = 0; i + 1 < data.size(); i += 2) {
    units += static_cast<char16_t>(data[i] | (data[i + 1] << 8));
  }
  return units;
}

void put_units(Bytes& data, std::u16string_view units) {
  for (const char16_t unit : units) {
    data.push_back(static_cast<std::uint8_t>(unit));
    data.push_back(static_cast<std::uint8_t>(unit >> 8));
  }
}

}  // namespace efivarium::efi
