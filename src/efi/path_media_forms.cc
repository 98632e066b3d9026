#include <algorithm>
#include <array>

#include "efi/path_forms.h"
#include "efi/path_values.h"
#include "efi/utf16.h"

namespace efivarium::efi {
namespace {

using Text = std::optional<std::string>;
using Node = std::optional<DevicePathNode>;

// partition, start, size, signature, format, kind of signature
enum Signature : std::uint8_t { kNoSignature, kMbrSignature, kGuidSignature };

Text print_hd(ByteView data, PathStyle style) {
  if (data.size() != 38) return std::nullopt;
  const std::uint8_t signature = data[37];
  std::string id;
  switch (signature) {
    case kMbrSignature:
      id = "MBR,";
      id += prefixed(number_at(data, 20, 4), style, style == PathStyle::kEdk2 ? 8 : 1);
      break;
    case kGuidSignature:
      id = "GPT,";
      id += guid_text(guid_at(data, 20), style);
      break;
    default:
      id = std::to_string(signature);
      id += ",";
      id += style == PathStyle::kEdk2 ? "0" : hex_bytes(data.subspan(20, 16), style);
  }
  return "HD(" + std::to_string(number_at(data, 0, 4)) + "," + id + "," +
         prefixed(number_at(data, 4, 8), style) + "," + prefixed(number_at(data, 12, 8), style) +
         ")";
}

Node parse_hd(std::string_view, Parameters& parameters) {
  DevicePathNode node{kMedia, 1, Bytes(38)};
  const auto partition = parse_number(parameters.next(), 4);
  const std::string_view kind = parameters.next(), id = parameters.next();
  if (same_word(kind, "MBR")) {
    const auto signature = parse_number(id, 4);
    if (!signature) return std::nullopt;
    put_number(node.data, 20, 4, *signature);
    node.data[36] = 1;
    node.data[37] = kMbrSignature;
  } else if (same_word(kind, "GPT")) {
    const Result<Guid> guid = Guid::parse(id);
    if (!guid) return std::nullopt;
    std::ranges::copy(guid->bytes(), node.data.begin() + 20);
    node.data[36] = 2;
    node.data[37] = kGuidSignature;
  } else {
    const auto number = parse_number(kind, 1);
    if (!number) return std::nullopt;
    node.data[37] = static_cast<std::uint8_t>(*number);
  }
  const auto start = parse_number(parameters.next()), size = parse_number(parameters.next());
  if (!partition || !start || !size || !parameters.is_over()) return std::nullopt;
  put_number(node.data, 0, 4, *partition);
  put_number(node.data, 4, 8, *start);
  put_number(node.data, 12, 8, *size);
  return node;
}

Text print_file(ByteView data, PathStyle style) {
  const std::u16string units = units_of(data);
  if (data.size() % 2 != 0 || units.empty() || units.find(u'\0') != units.size() - 1) {
    return std::nullopt;
  }
  const std::string path = to_wtf8(std::u16string_view(units).substr(0, units.size() - 1));
  return style == PathStyle::kLibefivar37 ? "File(" + path + ")" : path;
}

Node parse_file(std::string_view, Parameters& parameters) {
  const auto units = from_wtf8(parameters.rest());
  if (!units || units->find(u'\0') != std::u16string::npos) return std::nullopt;
  DevicePathNode node{kMedia, 4, {}};
  put_units(node.data, *units + u'\0');
  return node;
}

struct DiskName {
  std::string_view name;
  Guid guid;
};
const std::array kRamDisks = {
    DiskName{"VirtualDisk", Guid::of("77ab535a-45fc-624b-5560-f7b281d1f96e")},
    DiskName{"VirtualCD", Guid::of("3d5abd30-4175-87ce-6d64-d2ade523c4bb")},
    DiskName{"PersistentVirtualDisk", Guid::of("5cea02c9-4d07-69d3-269f-4496fbe096f9")},
    DiskName{"PersistentVirtualCD", Guid::of("08018188-42cd-bb48-100f-5387d53ded3d")},
};

// start, end, kind, instance
Text print_ram_disk(ByteView data, PathStyle style) {
  if (data.size() != 34) return std::nullopt;
  const Guid kind = guid_at(data, 16);
  const auto* const known = std::ranges::find(kRamDisks, kind, &DiskName::guid);
  const bool has_name = known != kRamDisks.end();
  std::string text = has_name                    ? std::string(known->name)
                     : style == PathStyle::kEdk2 ? "RamDisk"
                                                 : "Ramdisk";
  text += "(" + prefixed(number_at(data, 0, 8), style) + "," +
          prefixed(number_at(data, 8, 8), style) + "," + std::to_string(number_at(data, 32, 2));
  if (!has_name) text += "," + guid_text(kind, style);
  return text + ")";
}

Node parse_ram_disk(std::string_view name, Parameters& parameters) {
  const auto start = parse_number(parameters.next()), end = parse_number(parameters.next()),
             instance = parse_number(parameters.next(), 2);
  const auto* const known = std::ranges::find_if(
      kRamDisks, [&](const DiskName& disk) { return same_word(disk.name, name); });
  const Result<Guid> kind =
      known != kRamDisks.end() ? Result<Guid>(known->guid) : Guid::parse(parameters.next());
  if (!start || !end || !instance || !kind) return std::nullopt;
  DevicePathNode node{kMedia, 9, Bytes(34)};
  put_number(node.data, 0, 8, *start);
  put_number(node.data, 8, 8, *end);
  std::ranges::copy(kind->bytes(), node.data.begin() + 16);
  put_number(node.data, 32, 2, *instance);
  return node;
}

constexpr std::string_view kBbsTypes = "|Floppy|HD|CDROM|PCMCIA|USB|Network";

Text print_bbs(ByteView data, PathStyle style) {
  if (data.size() < 5 || data.back() != 0) return std::nullopt;
  const std::uint64_t type = number_at(data, 0, 2);
  const auto known = choice_at(kBbsTypes, type);
  const std::string other =
      style == PathStyle::kEdk2 ? prefixed(type, style) : std::to_string(type);
  const std::string name = known && !known->empty() ? std::string(*known) : other;
  return "BBS(" + name + "," + text_of(data.subspan(4, data.size() - 5)) + "," +
         prefixed(number_at(data, 2, 2), style) + ")";
}

Node parse_bbs(std::string_view, Parameters& parameters) {
  const std::string_view kind = parameters.next(), text = parameters.next();
  const auto known = kind.empty() ? std::nullopt : index_of(kBbsTypes, kind);
  const auto type = known ? known : parse_number(kind, 2);
  const auto status = parse_number(parameters.next(), 2);
  if (!type || !status || !parameters.is_over()) return std::nullopt;
  DevicePathNode node{kBios, 1, Bytes(4)};
  put_number(node.data, 0, 2, *type);
  put_number(node.data, 2, 2, *status);
  node.data.insert(node.data.end(), text.begin(), text.end());
  node.data.push_back(0);
  return node;
}

constexpr std::array kForms = {
    NodeForm{kMedia, 1, "HD", print_hd, parse_hd},
    NodeForm{kMedia, 4, "File", print_file, parse_file},
    NodeForm{kMedia, 9, "RamDisk|VirtualDisk|VirtualCD|PersistentVirtualDisk|PersistentVirtualCD",
             print_ram_disk, parse_ram_disk},
    NodeForm{kBios, 1, "BBS", print_bbs, parse_bbs},
};

}  // namespace

std::span<const NodeForm> media_forms() { return kForms; }

}  // namespace efivarium::efi
