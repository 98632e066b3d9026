#include <algorithm>
#include <array>

#include "efi/path_forms.h"
#include "efi/path_values.h"

namespace efivarium::efi {
namespace {

using Text = std::optional<std::string>;
using Node = std::optional<DevicePathNode>;

constexpr std::string_view kAtaChannels = "Primary|Secondary", kAtaUnits = "Master|Slave";

Text print_ata(ByteView data, PathStyle style) {
  if (data.size() != 4) return std::nullopt;
  const auto channel = choice_at(kAtaChannels, data[0]), unit = choice_at(kAtaUnits, data[1]);
  const std::uint64_t lun = number_at(data, 2, 2);
  if (style != PathStyle::kEdk2) {
    return "Ata(" + std::to_string(data[0]) + "," + std::to_string(data[1]) + "," +
           std::to_string(lun) + ")";
  }
  if (!channel || !unit) return std::nullopt;
  return "Ata(" + std::string(*channel) + "," + std::string(*unit) + "," + prefixed(lun, style) +
         ")";
}

// A lone parameter is the LUN.
Node parse_ata(std::string_view, Parameters& parameters) {
  const std::string_view first = parameters.next();
  const bool is_short = parameters.is_over() && !first.empty();
  const auto word_or_number = [](std::string_view choices, std::string_view text) {
    const auto word = parse_choice(choices, text);
    return word ? std::optional<std::uint64_t>(*word) : parse_number(text, 1);
  };
  const auto channel = word_or_number(kAtaChannels, is_short ? "" : first);
  const auto unit = word_or_number(kAtaUnits, is_short ? "" : parameters.next());
  const auto lun = parse_number(is_short ? first : parameters.next(), 2);
  if (!channel || !unit || !lun) return std::nullopt;
  DevicePathNode node{kMessaging, 1, Bytes(4)};
  node.data[0] = static_cast<std::uint8_t>(*channel);
  node.data[1] = static_cast<std::uint8_t>(*unit);
  put_number(node.data, 2, 2, *lun);
  return node;
}

// Vendor nodes whose GUID says what they are.
struct VendorName {
  std::string_view name;
  Guid guid;
};
const std::array kVendorNames = {
    VendorName{"VenPcAnsi", Guid::of("e0c14753-f9be-11d2-9a0c-0090273fc14d")},
    VendorName{"VenVt100", Guid::of("dfa66065-b419-11d3-9a2d-0090273fc14d")},
    VendorName{"VenVt100Plus", Guid::of("7baec70b-57e0-4c76-8e87-2f9e28088343")},
    VendorName{"VenUtf8", Guid::of("ad15a0d6-8bec-4acf-a073-d01de77e2d88")},
    VendorName{"DebugPort", Guid::of("eba4e8d2-3858-41ec-a281-2647ba9660d0")},
};
constexpr Guid kFlowControl = Guid::of("37499a9d-542f-4c89-a026-35da142094e4");
constexpr Guid kSas = Guid::of("d487ddb4-008b-11d9-afdc-001083ffca4d");
constexpr std::string_view kFlowControls = "None|Hardware|XonXoff";

// As SasEx and SAS have it: what is at the other end.
std::optional<std::string> print_topology(std::uint16_t topology, PathStyle style) {
  const int known = topology & 0x0F;
  if ((topology & 0x80) != 0 || known > 2) return std::nullopt;
  if (known == 0) return topology == 0 ? Text("NoTopology,0,0,0") : std::nullopt;
  std::string text = (topology & 0x10) != 0 ? "SATA" : "SAS";
  text += (topology & 0x20) != 0 ? ",External" : ",Internal";
  text += (topology & 0x40) != 0 ? ",Expanded" : ",Direct";
  if (known == 1) return text + ",0";
  return text + "," + prefixed(static_cast<std::uint64_t>(topology >> 8) + 1, style);
}

std::optional<std::uint16_t> parse_topology(Parameters& parameters) {
  const std::string_view kind = parameters.next();
  const std::string_view place = parameters.next(), way = parameters.next();
  const auto bay = parse_number(parameters.next(), 2);
  if (kind.empty() || same_word(kind, "NoTopology")) return 0;
  const auto sata = index_of("SAS|SATA", kind), outside = index_of("Internal|External", place),
             expanded = index_of("Direct|Expanded", way);
  if (!sata || !outside || !expanded || !bay || *bay > 256) return std::nullopt;
  const std::size_t known = *bay == 0 ? 1 : 2 | (*bay - 1) << 8;
  return static_cast<std::uint16_t>(known | *sata << 4 | *outside << 5 | *expanded << 6);
}

Text print_vendor_message(ByteView data, PathStyle style) {
  if (data.size() < 16) return std::nullopt;
  const Guid guid = guid_at(data, 0);
  const bool is_old = style != PathStyle::kEdk2;
  const auto* const known = std::ranges::find(kVendorNames, guid, &VendorName::guid);
  if (known != kVendorNames.end() && data.size() == 16) return std::string(known->name) + "()";
  if (guid == kFlowControl && data.size() == 20) {
    const auto word = choice_at(kFlowControls, number_at(data, 16, 4));
    if (!word) return std::nullopt;
    return (is_old ? "UartFlowControl(" : "UartFlowCtrl(") + std::string(*word) + ")";
  }
  if (guid != kSas || data.size() != 40) return std::nullopt;
  const auto topology = print_topology(static_cast<std::uint16_t>(number_at(data, 36, 2)), style);
  if (!topology) return std::nullopt;
  const auto number = [&](std::size_t offset, std::size_t size) {
    return is_old ? hex(number_at(data, offset, size), style)
                  : prefixed(number_at(data, offset, size), style);
  };
  return "SAS(" + number(20, 8) + "," + number(28, 8) + "," + number(38, 2) + "," + *topology +
         "," + number(16, 4) + ")";
}

Node parse_vendor_message(std::string_view name, Parameters& parameters) {
  DevicePathNode node{kMessaging, 10, {}};
  const auto put_guid = [&](const Guid& guid) {
    node.data.assign(guid.bytes().begin(), guid.bytes().end());
  };
  for (const VendorName& known : kVendorNames) {
    if (!same_word(known.name, name)) continue;
    put_guid(known.guid);
    return node;
  }
  if (!same_word(name, "SAS")) {
    const std::string_view word = parameters.next();
    const auto control =
        word.empty() ? std::optional<std::size_t>(0) : index_of(kFlowControls, word);
    if (!control) return std::nullopt;
    put_guid(kFlowControl);
    node.data.resize(20);
    put_number(node.data, 16, 4, *control);
    return node;
  }
  put_guid(kSas);
  node.data.resize(40);
  const auto address = parse_number(parameters.next()), lun = parse_number(parameters.next()),
             port = parse_number(parameters.next(), 2);
  const auto topology = parse_topology(parameters);
  const auto reserved = parse_number(parameters.next(), 4);
  if (!address || !lun || !port || !topology || !reserved) return std::nullopt;
  put_number(node.data, 16, 4, *reserved);
  put_number(node.data, 20, 8, *address);
  put_number(node.data, 28, 8, *lun);
  put_number(node.data, 36, 2, *topology);
  put_number(node.data, 38, 2, *port);
  return node;
}

constexpr std::string_view kParities = "D|N|E|O|M|S";
constexpr std::string_view kStopBits = "D|1|1.5|2";

Text print_uart(ByteView data, PathStyle) {
  if (data.size() != 15 || number_at(data, 0, 4) != 0) return std::nullopt;
  const auto number = [&](std::size_t offset, std::size_t size) {
    const std::uint64_t value = number_at(data, offset, size);
    return value == 0 ? "DEFAULT" : std::to_string(value);
  };
  const auto parity = choice_at(kParities, data[13]), stop_bits = choice_at(kStopBits, data[14]);
  if (!parity || !stop_bits) return std::nullopt;
  return "Uart(" + number(4, 8) + "," + number(12, 1) + "," + std::string(*parity) + "," +
         std::string(*stop_bits) + ")";
}

Node parse_uart(std::string_view, Parameters& parameters) {
  const auto number = [&](int size) -> std::optional<std::uint64_t> {
    const std::string_view text = parameters.next();
    return same_word(text, "DEFAULT") ? 0 : parse_number(text, size);
  };
  const auto choice = [&](std::string_view choices) {
    const std::string_view text = parameters.next();
    return text.empty() ? std::optional<std::size_t>(0) : index_of(choices, text);
  };
  const auto baud = number(8), bits = number(1);
  const auto parity = choice(kParities), stop_bits = choice(kStopBits);
  if (!baud || !bits || !parity || !stop_bits) return std::nullopt;
  DevicePathNode node{kMessaging, 14, Bytes(15)};
  put_number(node.data, 4, 8, *baud);
  node.data[12] = static_cast<std::uint8_t>(*bits);
  node.data[13] = static_cast<std::uint8_t>(*parity);
  node.data[14] = static_cast<std::uint8_t>(*stop_bits);
  return node;
}

struct UsbClassName {
  std::string_view name;
  std::uint8_t device_class;
  std::uint8_t sub_class = 0;  // 0: a parameter
};
constexpr std::array kUsbClasses = {
    UsbClassName{"UsbAudio", 0x01},
    UsbClassName{"UsbCDCControl", 0x02},
    UsbClassName{"UsbHID", 0x03},
    UsbClassName{"UsbImage", 0x06},
    UsbClassName{"UsbPrinter", 0x07},
    UsbClassName{"UsbMassStorage", 0x08},
    UsbClassName{"UsbHub", 0x09},
    UsbClassName{"UsbCDCData", 0x0A},
    UsbClassName{"UsbSmartCard", 0x0B},
    UsbClassName{"UsbVideo", 0x0E},
    UsbClassName{"UsbDiagnostic", 0xDC},
    UsbClassName{"UsbWireless", 0xE0},
    UsbClassName{"UsbDeviceFirmwareUpdate", 0xFE, 1},
    UsbClassName{"UsbIrdaBridge", 0xFE, 2},
    UsbClassName{"UsbTestAndMeasurement", 0xFE, 3},
};

Text print_usb_class(ByteView data, PathStyle style) {
  if (data.size() != 7) return std::nullopt;
  const auto* const known = std::ranges::find_if(kUsbClasses, [&](const UsbClassName& usb) {
    return usb.device_class == data[4] && (usb.sub_class == 0 || usb.sub_class == data[5]);
  });
  const bool has_name = known != kUsbClasses.end();
  std::string text = has_name ? std::string(known->name) : "UsbClass";
  text +=
      "(" + prefixed(number_at(data, 0, 2), style) + "," + prefixed(number_at(data, 2, 2), style);
  if (!has_name) text += "," + prefixed(data[4], style);
  if (!has_name || known->sub_class == 0) text += "," + prefixed(data[5], style);
  return text + "," + prefixed(data[6], style) + ")";
}

Node parse_usb_class(std::string_view name, Parameters& parameters) {
  const auto* const known = std::ranges::find_if(
      kUsbClasses, [&](const UsbClassName& usb) { return same_word(usb.name, name); });
  const auto vendor = parse_number(parameters.next(), 2),
             product = parse_number(parameters.next(), 2);
  const bool has_name = known != kUsbClasses.end();
  const auto device_class = has_name ? known->device_class : parse_number(parameters.next(), 1);
  const auto sub_class =
      has_name && known->sub_class != 0 ? known->sub_class : parse_number(parameters.next(), 1);
  const auto protocol = parse_number(parameters.next(), 1);
  if (!vendor || !product || !device_class || !sub_class || !protocol) return std::nullopt;
  DevicePathNode node{kMessaging, 15, Bytes(7)};
  put_number(node.data, 0, 2, *vendor);
  put_number(node.data, 2, 2, *product);
  node.data[4] = static_cast<std::uint8_t>(*device_class);
  node.data[5] = static_cast<std::uint8_t>(*sub_class);
  node.data[6] = static_cast<std::uint8_t>(*protocol);
  return node;
}

Text print_sas_ex(ByteView data, PathStyle style) {
  if (data.size() != 20) return std::nullopt;
  const auto topology = print_topology(static_cast<std::uint16_t>(number_at(data, 16, 2)), style);
  if (!topology) return std::nullopt;
  return "SasEx(0x" + hex_bytes(data.first(8), style) + ",0x" +
         hex_bytes(data.subspan(8, 8), style) + "," + prefixed(number_at(data, 18, 2), style) +
         "," + *topology + ")";
}

Node parse_sas_ex(std::string_view, Parameters& parameters) {
  const auto address = parse_bytes(parameters.next()), lun = parse_bytes(parameters.next());
  const auto port = parse_number(parameters.next(), 2);
  const auto topology = parse_topology(parameters);
  if (!address || address->size() > 8 || !lun || lun->size() > 8 || !port || !topology) {
    return std::nullopt;
  }
  DevicePathNode node{kMessaging, 22, Bytes(20)};
  std::ranges::copy(*address, node.data.begin());
  std::ranges::copy(*lun, node.data.begin() + 8);
  put_number(node.data, 16, 2, *topology);
  put_number(node.data, 18, 2, *port);
  return node;
}

Text print_nvme(ByteView data, PathStyle style) {
  if (data.size() != 12) return std::nullopt;
  std::string id;
  for (std::size_t i = 0; i < 8; ++i) {
    // libefivar prints capitals, and the bytes as they stand.
    const bool is_edk2 = style == PathStyle::kEdk2;
    (id += i == 0 ? "" : "-") += hex(data[is_edk2 ? 11 - i : 4 + i], PathStyle::kEdk2, 2);
  }
  return "NVMe(" + prefixed(number_at(data, 0, 4), style) + "," + id + ")";
}

Node parse_nvme(std::string_view, Parameters& parameters) {
  const auto name_space = parse_number(parameters.next(), 4);
  std::string digits(parameters.next());
  std::erase(digits, '-');
  const auto id = digits.empty() ? Bytes(8) : parse_bytes(digits);
  if (!name_space || !id || id->size() != 8) return std::nullopt;
  DevicePathNode node{kMessaging, 23, Bytes(12)};
  put_number(node.data, 0, 4, *name_space);
  std::ranges::reverse_copy(*id, node.data.begin() + 4);
  return node;
}

constexpr std::array kForms = {
    NodeForm{kMessaging, 1, "Ata", print_ata, parse_ata},
    NodeForm{kMessaging, 10,
             "VenPcAnsi|VenVt100|VenVt100Plus|VenUtf8|DebugPort|UartFlowCtrl|UartFlowControl|SAS",
             print_vendor_message, parse_vendor_message},
    NodeForm{kMessaging, 14, "Uart", print_uart, parse_uart},
    NodeForm{kMessaging, 15,
             "UsbClass|UsbAudio|UsbCDCControl|UsbHID|UsbImage|UsbPrinter|UsbMassStorage|UsbHub|"
             "UsbCDCData|UsbSmartCard|UsbVideo|UsbDiagnostic|UsbWireless|UsbDeviceFirmwareUpdate|"
             "UsbIrdaBridge|UsbTestAndMeasurement",
             print_usb_class, parse_usb_class},
    NodeForm{kMessaging, 22, "SasEx", print_sas_ex, parse_sas_ex},
    NodeForm{kMessaging, 23, "NVMe", print_nvme, parse_nvme},
};

}  // namespace

std::span<const NodeForm> message_forms() { return kForms; }

}  // namespace efivarium::efi
