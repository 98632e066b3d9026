#include "tools/output.h"

#include <fmt/format.h>
#include <sha256.h>

#include <array>
#include <cstdio>

#include "tools/json.h"

namespace efivarium::tools {
namespace {

std::string to_hex(ByteView bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256(ByteView bytes) {
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA2_CTX context;
  ::SHA256Init(&context);
  ::SHA256Update(&context, bytes.data(), bytes.size());
  ::SHA256Final(digest.data(), &context);
  return to_hex(digest);
}

Json to_object(const Variable& variable, Detail detail) {
  Json object = {
      {"name", json_text(variable.key.name.units())},
      {"vendor", variable.key.vendor.to_text()},
      {"attributes", variable.attributes.raw()},
      {"size", variable.data.size()},
      {"sha256", sha256(variable.data)},
      {"time", variable.time.empty() ? Json() : Json(variable.time.to_text())},
  };
  if (detail == Detail::kWithData) object["data"] = to_hex(variable.data);
  return object;
}

}  // namespace

int complain(const std::string& what, const std::string& why) {
  fmt::print(stderr, "efivarium: {}: {}\n", printable(what), why);
  return kFailed;
}

int complain_usage(const std::string& why) {
  fmt::print(stderr, "efivarium: {} (see efivarium --help)\n", printable(why));
  return kWrongUsage;
}

int complain(const std::string& what, const Error& error) {
  return complain(what, error.message());
}

std::string printable(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string to_line(const Variable& variable) {
  return fmt::format("{:<11} {:>6}  {}\n", variable.attributes.to_text(), variable.data.size(),
                     printable(variable.key.to_text()));
}

std::string hex_dump(ByteView bytes) {
  std::string text;
  for (std::size_t start = 0; start < bytes.size(); start += 16) {
    const ByteView line = bytes.subspan(start, std::min<std::size_t>(16, bytes.size() - start));
    std::string hex;
    std::string ascii;
    for (const std::uint8_t byte : line) {
      hex += fmt::format("{:02x} ", byte);
      ascii += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '.';
    }
    text += fmt::format("{:08x}  {:<48} |{}|\n", start, hex, ascii);
  }
  return text;
}

std::string to_json(const std::vector<Variable>& variables) {
  Json array = Json::array();
  for (const Variable& variable : variables) {
    array.push_back(to_object(variable, Detail::kSummary));
  }
  return dump(array);
}

std::string to_json(const Variable& variable) {
  return dump(to_object(variable, Detail::kWithData));
}

}  // namespace efivarium::tools
