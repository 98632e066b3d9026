#include <algorithm>
#include <array>
#include <cctype>

#include "efi/path_forms.h"
#include "efi/path_values.h"

namespace efivarium::efi {
namespace {

using Text = std::optional<std::string>;
using Node = std::optional<DevicePathNode>;

constexpr std::uint32_t kPnp = 0x41D0;  // an EISA id's vendor
constexpr std::uint32_t pnp(std::uint32_t product) { return product << 16 | kPnp; }

struct AcpiName {
  std::uint32_t hid;
  std::string_view name;
  bool is_old;  // libefivar has it too
};
constexpr std::array kAcpiNames = {
    AcpiName{pnp(0x0A03), "PciRoot", true}, AcpiName{pnp(0x0A08), "PcieRoot", true},
    AcpiName{pnp(0x0604), "Floppy", true},  AcpiName{pnp(0x0301), "Keyboard", true},
    AcpiName{pnp(0x0501), "Serial", true},  AcpiName{pnp(0x0401), "ParallelPort", false},
};

std::string eisa_text(std::uint32_t id, PathStyle style) {
  if (id == 0) return "0";
  std::string text;
  for (const int shift : {10, 5, 0}) text += static_cast<char>('@' + (id >> shift & 0x1F));
  const bool is_id =
      (id & 0x8000) == 0 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_id ? text + hex(id >> 16, style, 4) : prefixed(id, style, 8);
}

std::optional<std::uint64_t> parse_eisa(std::string_view text) {
  if (text.size() != 7 || text.starts_with("0x")) return parse_number(text, 4);
  const auto product = parse_digits(text.substr(3), 16);
  std::uint64_t vendor = 0;
  for (const char c : text.substr(0, 3)) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) return parse_number(text, 4);
    vendor = vendor << 5 | static_cast<std::uint64_t>(std::toupper(c) - '@');
  }
  if (!product) return std::nullopt;
  return *product << 16 | vendor;
}

Text print_acpi(ByteView data, PathStyle style) {
  if (data.size() != 8) return std::nullopt;
  const auto hid = static_cast<std::uint32_t>(number_at(data, 0, 4));
  const std::string uid = prefixed(number_at(data, 4, 4), style);
  const bool is_old = style != PathStyle::kEdk2;
  const auto* const known = std::ranges::find(kAcpiNames, hid, &AcpiName::hid);
  if (known != kAcpiNames.end() && (!is_old || known->is_old)) {
    return std::string(known->name) + "(" + uid + ")";
  }
  const bool is_pnp = (hid & 0xFFFF) == kPnp && !is_old;
  return "Acpi(" + (is_pnp ? eisa_text(hid, style) : prefixed(hid, style, 8)) + "," + uid + ")";
}

Node parse_acpi(std::string_view name, Parameters& parameters) {
  const auto* const known = std::ranges::find_if(
      kAcpiNames, [&](const AcpiName& acpi) { return same_word(acpi.name, name); });
  const auto hid = known != kAcpiNames.end() ? known->hid : parse_eisa(parameters.next());
  const auto uid = parse_number(parameters.next(), 4);
  if (!hid || !uid || !parameters.is_over()) return std::nullopt;
  DevicePathNode node{kAcpi, 1, Bytes(8)};
  put_number(node.data, 0, 4, *hid);
  put_number(node.data, 4, 4, *uid);
  return node;
}

// The strings stand in the node as HID, UID, CID, and in the text as HID, CID, UID.
Text print_acpi_ex(ByteView data, PathStyle style) {
  constexpr std::size_t kNumbers = 12;
  if (data.size() < kNumbers) return std::nullopt;
  std::array<std::string, 3> strings;
  ByteView rest = data.subspan(kNumbers);
  for (std::string& text : strings) {
    const auto end = std::ranges::find(rest, 0);
    if (end == rest.end()) return std::nullopt;
    const auto length = static_cast<std::size_t>(end - rest.begin());
    text = text_of(rest.first(length));
    rest = rest.subspan(length + 1);
  }
  if (!rest.empty()) return std::nullopt;
  const auto& [hid_text, uid_text, cid_text] = strings;
  if (style != PathStyle::kEdk2)
    return "AcpiEx(" + hid_text + "," + cid_text + "," + uid_text + ")";
  const auto id = [&](std::size_t offset) {
    return eisa_text(static_cast<std::uint32_t>(number_at(data, offset, 4)), style);
  };
  return "AcpiEx(" + id(0) + "," + id(8) + "," + prefixed(number_at(data, 4, 4), style) + "," +
         hid_text + "," + cid_text + "," + uid_text + ")";
}

Node parse_acpi_ex(std::string_view name, Parameters& parameters) {
  DevicePathNode node{kAcpi, 2, Bytes(12)};
  std::string_view hid_text, cid_text, uid_text;
  // A number, or in the short forms a string in its place.
  const auto take = [&](std::size_t offset, std::string_view& text) {
    const std::string_view word = parameters.next();
    const auto number = offset == 4 ? parse_number(word, 4) : parse_eisa(word);
    if (number) put_number(node.data, offset, 4, *number);
    if (!number) text = word;
  };
  take(0, hid_text);
  take(8, cid_text);
  if (same_word(name, "AcpiExp")) {
    uid_text = parameters.next();
  } else {
    take(4, uid_text);
    if (!parameters.is_over()) {
      hid_text = parameters.next();
      cid_text = parameters.next();
      uid_text = parameters.next();
    }
  }
  if (!parameters.is_over()) return std::nullopt;
  for (const std::string_view text : {hid_text, uid_text, cid_text}) {
    node.data.insert(node.data.end(), text.begin(), text.end());
    node.data.push_back(0);
  }
  return node;
}

Text print_adr(ByteView data, PathStyle style) {
  if (data.empty() || data.size() % 4 != 0) return std::nullopt;
  std::string text;
  for (std::size_t at = 0; at < data.size(); at += 4) {
    (text += at == 0 ? "" : ",") += prefixed(number_at(data, at, 4), style);
  }
  return "AcpiAdr(" + text + ")";
}

Node parse_adr(std::string_view, Parameters& parameters) {
  DevicePathNode node{kAcpi, 3, {}};
  do {
    const auto number = parse_number(parameters.next(), 4);
    if (!number) return std::nullopt;
    node.data.resize(node.data.size() + 4);
    put_number(node.data, node.data.size() - 4, 4, *number);
  } while (!parameters.is_over());
  return node;
}

constexpr Guid kEdd10 = Guid::of("cf31fac5-c24e-11d2-85f3-00a0c93ec93b");

Text print_edd10(ByteView data, PathStyle style) {
  if (style == PathStyle::kEdk2 || data.size() != 20 || guid_at(data, 0) != kEdd10) {
    return std::nullopt;
  }
  return "EDD10(" + prefixed(number_at(data, 16, 4), style) + ")";
}

Node parse_edd10(std::string_view, Parameters& parameters) {
  const auto device = parse_number(parameters.next(), 4);
  if (!device) return std::nullopt;
  DevicePathNode node{kHardware, 4, {kEdd10.bytes().begin(), kEdd10.bytes().end()}};
  node.data.resize(20);
  put_number(node.data, 16, 4, *device);
  return node;
}

constexpr std::array kForms = {
    NodeForm{kAcpi, 1, "Acpi|PciRoot|PcieRoot|Floppy|Keyboard|Serial|ParallelPort", print_acpi,
             parse_acpi},
    NodeForm{kAcpi, 2, "AcpiEx|AcpiExp", print_acpi_ex, parse_acpi_ex},
    NodeForm{kAcpi, 3, "AcpiAdr", print_adr, parse_adr},
    NodeForm{kHardware, 4, "EDD10", print_edd10, parse_edd10},
};

}  // namespace

std::span<const NodeForm> acpi_forms() { return kForms; }

}  // namespace efivarium::efi
