// Values of device path nodes, in bytes and as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "efivarium/device_path.h"

namespace efivarium::efi {

// Hex digits are capitals in edk2's style, and small in libefivar's.
std::string hex(std::uint64_t value, PathStyle style, int digits = 1);
std::string prefixed(std::uint64_t value, PathStyle style, int digits = 1);  // with 0x
std::string hex_bytes(ByteView bytes, PathStyle style);
std::string guid_text(const Guid& guid, PathStyle style);

bool same_word(std::string_view a, std::string_view b);  // in any case
// Digits of that base and nothing else.
std::optional<std::uint64_t> parse_digits(std::string_view text, int base);
// In decimal, or in hex after 0x, and not larger than so many bytes hold; what is missing is 0.
std::optional<std::uint64_t> parse_number(std::string_view text, int bytes = 8);
// Pairs of hex digits, with or without 0x.
std::optional<Bytes> parse_bytes(std::string_view text);
// Words parted by |, by number and back.
std::optional<std::size_t> index_of(std::string_view choices, std::string_view word);
std::optional<std::string_view> choice_at(std::string_view choices, std::uint64_t index);
// A missing word is the first.
std::optional<std::size_t> parse_choice(std::string_view choices, std::string_view word);

// Little endian. What they look at is inside.
std::uint64_t number_at(ByteView data, std::size_t offset, std::size_t size);
void put_number(Bytes& data, std::size_t offset, std::size_t size, std::uint64_t value);
Guid guid_at(ByteView data, std::size_t offset);
std::u16string units_of(ByteView data);
void put_units(Bytes& data, std::u16string_view units);
std::string text_of(ByteView data);

}  // namespace efivarium::efi
