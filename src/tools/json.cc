#include "tools/json.h"

namespace efivarium::tools {
namespace {

// U+10F800 + i stands for the surrogate U+D800 + i. In a dump it reads \udbfe\udcxx for the first
// 1024 of them and \udbff\udcxx... for the rest.
constexpr unsigned kFirstSurrogate = 0xD800;
constexpr unsigned kLastSurrogate = 0xDFFF;
constexpr unsigned kStandIn = 0x10F800;

void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

constexpr bool is_surrogate(unsigned unit) {
  return unit >= kFirstSurrogate && unit <= kLastSurrogate;
}

// Turns each stand-in, \uXXXX\uYYYY, into the one escape of its surrogate.
std::string restore_surrogates(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view here = std::string_view(json).substr(i);
    if (here.starts_with("\\\\")) {
      text += here.substr(0, 2);
      ++i;
      continue;
    }
    const bool candidate =
        here.size() >= 12 && (here.starts_with("\\udbfe\\u") || here.starts_with("\\udbff\\u"));
    if (!candidate) {
      text += json[i];
      continue;
    }
    const auto unit = [&](std::size_t at) {
      return static_cast<unsigned>(std::stoul(std::string(here.substr(at, 4)), nullptr, 16));
    };
    const unsigned code = 0x10000 + ((unit(2) - 0xD800) << 10) + (unit(8) - 0xDC00);
    constexpr std::string_view kDigits = "0123456789abcdef";
    const unsigned surrogate = code - kStandIn + kFirstSurrogate;
    text += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[(surrogate >> shift) & 0xF];
    i += 11;
  }
  return text;
}

}  // namespace

std::string json_text(std::u16string_view units) {
  std::string text;
  for (const char16_t unit : units) {
    append_utf8(text, is_surrogate(unit) ? kStandIn + (unit - kFirstSurrogate) : unit);
  }
  return text;
}

// Only what dump() would take for a stand-in needs care: such a character is written as the two
// surrogates that it is made of.
std::string json_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::string_view here = bytes.substr(i);
    const bool private_plane = here.size() >= 4 && here[0] == '\xF4' && here[1] == '\x8F' &&
                               static_cast<unsigned char>(here[2]) >= 0xA0;
    if (!private_plane) {
      text += bytes[i];
      continue;
    }
    const unsigned code = 0x100000 | ((static_cast<unsigned>(here[1]) & 0x3F) << 12) |
                          ((static_cast<unsigned>(here[2]) & 0x3F) << 6) |
                          (static_cast<unsigned>(here[3]) & 0x3F);
    const unsigned high = 0xD800 + ((code - 0x10000) >> 10);
    const unsigned low = 0xDC00 + ((code - 0x10000) & 0x3FF);
    append_utf8(text, kStandIn + (high - kFirstSurrogate));
    append_utf8(text, kStandIn + (low - kFirstSurrogate));
    i += 3;
  }
  return text;
}

std::string dump(const Json& json) {
  return restore_surrogates(json.dump(2, ' ', true, Json::error_handler_t::replace)) + "\n";
}

}  // namespace efivarium::tools
