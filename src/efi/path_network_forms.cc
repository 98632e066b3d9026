#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/byte_writer.h"
#include "efi/path_forms.h"
#include "efi/path_values.h"

namespace efivarium::efi {
namespace {

using Text = std::optional<std::string>;
using Node = std::optional<DevicePathNode>;

Text print_mac(ByteView data, PathStyle style) {
  if (data.size() != 33) return std::nullopt;
  const std::uint8_t type = data[32];
  const std::string address = hex_bytes(data.first(type <= 1 ? 6 : 32), style);
  return "MAC(" + address + "," +
         (style == PathStyle::kEdk2 ? prefixed(type, style) : std::to_string(type)) + ")";
}

Node parse_mac(std::string_view, Parameters& parameters) {
  const auto address = parse_bytes(parameters.next());
  const auto type = parse_number(parameters.next(), 1);
  if (!address || address->size() > 32 || !type) return std::nullopt;
  DevicePathNode node{kMessaging, 11, *address};
  node.data.resize(33);
  node.data[32] = static_cast<std::uint8_t>(*type);
  return node;
}

std::string protocol_text(std::uint64_t protocol, PathStyle style) {
  if (style != PathStyle::kEdk2) return std::to_string(protocol);
  return protocol == 6 ? "TCP" : protocol == 17 ? "UDP" : prefixed(protocol, style);
}

std::optional<std::uint64_t> parse_protocol(std::string_view text) {
  if (same_word(text, "TCP")) return 6;
  if (same_word(text, "UDP")) return 17;
  return parse_number(text, 2);
}

std::string ipv4_text(ByteView address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, address.data(), text.data(), text.size());
  return text.data();
}

std::string ipv6_text(ByteView address, PathStyle style) {
  std::string text;
  for (std::size_t i = 0; i < 16; i += 2) {
    (text += i == 0 ? "" : ":") += hex_bytes(address.subspan(i, 2), style);
  }
  return text;
}

// Into the data; missing is all zeros.
bool parse_address(std::string_view text, int family, Bytes& data, std::size_t offset) {
  if (text.empty()) return true;
  return ::inet_pton(family, std::string(text).c_str(), &data[offset]) == 1;
}

constexpr std::size_t kIpv4Data = 23, kIpv6Data = 56;

// local, remote, ports, protocol, origin, gateway, mask
Text print_ipv4(ByteView data, PathStyle style) {
  if (data.size() != kIpv4Data || data[14] > 1) return std::nullopt;
  return "IPv4(" + ipv4_text(data.subspan(4)) + "," + protocol_text(number_at(data, 12, 2), style) +
         "," + (data[14] != 0 ? "Static" : "DHCP") + "," + ipv4_text(data) + "," +
         ipv4_text(data.subspan(15)) + "," + ipv4_text(data.subspan(19)) + ")";
}

Node parse_ipv4(std::string_view, Parameters& parameters) {
  DevicePathNode node{kMessaging, 12, Bytes(kIpv4Data)};
  if (!parse_address(parameters.next(), AF_INET, node.data, 4)) return std::nullopt;
  const auto protocol = parse_protocol(parameters.next());
  const std::string_view origin = parameters.next();
  const auto is_static = origin.empty() ? 0 : index_of("DHCP|Static", origin);
  if (!protocol || !is_static) return std::nullopt;
  put_number(node.data, 12, 2, *protocol);
  node.data[14] = static_cast<std::uint8_t>(*is_static);
  for (const std::size_t offset : {0U, 15U, 19U}) {
    if (!parse_address(parameters.next(), AF_INET, node.data, offset)) return std::nullopt;
  }
  return node;
}

constexpr std::string_view kIpv6Origins = "Static|StatelessAutoConfigure|StatefulAutoConfigure";

// local, remote, ports, protocol, origin, prefix length, gateway
Text print_ipv6(ByteView data, PathStyle style) {
  if (data.size() != kIpv6Data) return std::nullopt;
  const auto origin = choice_at(kIpv6Origins, data[38]);
  if (!origin) return std::nullopt;
  return "IPv6(" + ipv6_text(data.subspan(16), style) + "," +
         protocol_text(number_at(data, 36, 2), style) + "," + std::string(*origin) + "," +
         ipv6_text(data, style) + "," + prefixed(data[39], style) + "," +
         ipv6_text(data.subspan(40), style) + ")";
}

Node parse_ipv6(std::string_view, Parameters& parameters) {
  DevicePathNode node{kMessaging, 13, Bytes(kIpv6Data)};
  if (!parse_address(parameters.next(), AF_INET6, node.data, 16)) return std::nullopt;
  const auto protocol = parse_protocol(parameters.next());
  const std::string_view origin_text = parameters.next();
  const auto origin = origin_text.empty() ? 0 : index_of(kIpv6Origins, origin_text);
  if (!parse_address(parameters.next(), AF_INET6, node.data, 0)) return std::nullopt;
  const auto prefix = parse_number(parameters.next(), 1);
  if (!protocol || !origin || !prefix) return std::nullopt;
  if (!parse_address(parameters.next(), AF_INET6, node.data, 40)) return std::nullopt;
  put_number(node.data, 36, 2, *protocol);
  node.data[38] = static_cast<std::uint8_t>(*origin);
  node.data[39] = static_cast<std::uint8_t>(*prefix);
  return node;
}

// protocol, options, LUN, target portal group, name
constexpr std::uint16_t kHeaderDigest = 0x0002, kDataDigest = 0x0008;
constexpr std::uint16_t kNoAuthentication = 0x0800, kOneWayChap = 0x1000;

Text print_iscsi(ByteView data, PathStyle style) {
  if (data.size() < 14 || number_at(data, 0, 2) != 0) return std::nullopt;
  const bool is_old = style != PathStyle::kEdk2;
  const auto options = static_cast<std::uint16_t>(number_at(data, 2, 2));
  const auto digest = [&](std::uint16_t bit) {
    return (options & bit) == 0 ? "None," : is_old ? "CRC32," : "CRC32C,";
  };
  const char* const authentication = (options & kNoAuthentication) != 0 ? "None"
                                     : (options & kOneWayChap) != 0     ? "CHAP_UNI"
                                                                        : "CHAP_BI";
  return "iSCSI(" + text_of(data.subspan(14)) + "," +
         (is_old ? std::to_string(number_at(data, 12, 2))
                 : prefixed(number_at(data, 12, 2), style)) +
         ",0x" + hex_bytes(data.subspan(4, 8), style) + "," + digest(kHeaderDigest) +
         digest(kDataDigest) + authentication + ",TCP)";
}

Node parse_iscsi(std::string_view, Parameters& parameters) {
  const std::string_view target = parameters.next();
  const auto group = parse_number(parameters.next(), 2);
  const std::string_view lun_text = parameters.next();
  const auto lun = lun_text.empty() ? Bytes(8) : parse_bytes(lun_text);
  const auto digest = [&]() -> std::optional<bool> {
    const std::string_view text = parameters.next();
    if (text.empty() || same_word(text, "None")) return false;
    if (same_word(text, "CRC32C") || same_word(text, "CRC32")) return true;
    return std::nullopt;
  };
  const auto header = digest(), data = digest();
  const std::string_view word = parameters.next();
  const auto authentication =
      word.empty() ? std::optional<std::size_t>(0) : index_of("None|CHAP_UNI|CHAP_BI", word);
  const std::string_view protocol = parameters.next();
  if (!group || !lun || lun->size() != 8 || !header || !data || !authentication ||
      (!protocol.empty() && !same_word(protocol, "TCP"))) {
    return std::nullopt;
  }
  constexpr std::array<std::uint16_t, 3> kAuthentication = {kNoAuthentication, kOneWayChap, 0};
  base::ByteWriter writer;
  writer.u16(0);
  writer.u16(static_cast<std::uint16_t>((*header ? kHeaderDigest : 0) | (*data ? kDataDigest : 0) |
                                        kAuthentication[*authentication]));
  writer.bytes(*lun).u16(static_cast<std::uint16_t>(*group));
  Bytes bytes = std::move(writer).take();
  bytes.insert(bytes.end(), target.begin(), target.end());
  return DevicePathNode{kMessaging, 19, std::move(bytes)};
}

Text print_wifi(ByteView data, PathStyle) {
  if (data.size() != 32) return std::nullopt;
  const auto end = std::ranges::find(data, 0);
  return "Wi-Fi(" + text_of(data.first(static_cast<std::size_t>(end - data.begin()))) + ")";
}

Node parse_wifi(std::string_view, Parameters& parameters) {
  const std::string_view name = parameters.rest();
  if (name.size() > 32) return std::nullopt;
  DevicePathNode node{kMessaging, 28, {name.begin(), name.end()}};
  node.data.resize(32);
  return node;
}

Text print_dns(ByteView data, PathStyle style) {
  if (data.size() < 17 || (data.size() - 1) % 16 != 0 || data[0] > 1) return std::nullopt;
  std::string text;
  for (std::size_t at = 1; at < data.size(); at += 16) {
    const ByteView address = data.subspan(at, 16);
    (text += at == 1 ? "" : ",") += data[0] != 0 ? ipv6_text(address, style) : ipv4_text(address);
  }
  return "Dns(" + text + ")";
}

Node parse_dns(std::string_view, Parameters& parameters) {
  DevicePathNode node{kMessaging, 31, Bytes(1)};
  do {
    const std::string_view text = parameters.next();
    const bool is_v6 = text.contains(':');
    const std::size_t at = node.data.size();
    if (at > 1 && is_v6 != (node.data[0] != 0)) return std::nullopt;
    node.data[0] = is_v6 ? 1 : 0;
    node.data.resize(at + 16);
    if (!parse_address(text, is_v6 ? AF_INET6 : AF_INET, node.data, at)) return std::nullopt;
  } while (!parameters.is_over());
  return node;
}

constexpr std::array kForms = {
    NodeForm{kMessaging, 11, "MAC|MacAddr", print_mac, parse_mac},
    NodeForm{kMessaging, 12, "IPv4", print_ipv4, parse_ipv4},
    NodeForm{kMessaging, 13, "IPv6", print_ipv6, parse_ipv6},
    NodeForm{kMessaging, 19, "iSCSI", print_iscsi, parse_iscsi},
    NodeForm{kMessaging, 28, "Wi-Fi", print_wifi, parse_wifi},
    NodeForm{kMessaging, 31, "Dns", print_dns, parse_dns},
};

}  // namespace

std::span<const NodeForm> network_forms() { return kForms; }

}  // namespace efivarium::efi
