#include <algorithm>
#include <vector>

#include "efi/path_forms.h"
#include "efi/path_values.h"
#include "efi/utf16.h"

namespace efivarium::efi {
namespace {

enum class Kind : std::uint8_t {
  kHex,       // 0x1F
  kDecimal,   // 31
  kHexOrOld,  // hex, and decimal in libefivar's styles
  kBareOld,   // hex, and without 0x in libefivar's styles
  kWide,      // the number with all its digits, without 0x
  kBytes,     // the bytes in their order, with 0x
  kBare,      // the same without
  kGuid,
  // To the end of the node, and there only.
  kRestHex,  // left out where there is nothing
  kRestAscii,
  kRestWide,  // UTF-16, in quotes
};

struct Field {
  std::uint8_t offset;
  std::uint8_t size;
  Kind kind;
};
struct Form {
  std::uint8_t type, sub_type;
  std::string_view name;
  std::string_view old_name;  // libefivar's; empty where it is the same
  std::size_t size;           // of the data before what goes to the end
  std::vector<Field> fields;
};

const std::vector<Form>& regular_forms() {
  using enum Kind;
  static const std::vector<Form> forms = {
      {kHardware, 1, "Pci", "", 2, {{1, 1, kHex}, {0, 1, kHex}}},
      {kHardware, 2, "PcCard", "", 1, {{0, 1, kHex}}},
      {kHardware, 3, "MemoryMapped", "", 20, {{0, 4, kHexOrOld}, {4, 8, kHex}, {12, 8, kHex}}},
      {kHardware, 5, "Ctrl", "", 4, {{0, 4, kHex}}},
      {kHardware, 6, "BMC", "", 9, {{0, 1, kHexOrOld}, {1, 8, kHex}}},
      {kMessaging, 2, "Scsi", "SCSI", 4, {{0, 2, kHexOrOld}, {2, 2, kHexOrOld}}},
      {kMessaging, 3, "Fibre", "", 20, {{4, 8, kBareOld}, {12, 8, kBareOld}}},
      {kMessaging, 4, "I1394", "", 12, {{4, 8, kWide}}},
      {kMessaging, 5, "USB", "", 2, {{0, 1, kHexOrOld}, {1, 1, kHexOrOld}}},
      {kMessaging, 6, "I2O", "", 4, {{0, 4, kHexOrOld}}},
      {kMessaging,
       9,
       "Infiniband",
       "",
       44,
       {{0, 4, kHex}, {4, 16, kGuid}, {20, 8, kHex}, {28, 8, kHex}, {36, 8, kHex}}},
      {kMessaging,
       16,
       "UsbWwid",
       "",
       6,
       {{2, 2, kHex}, {4, 2, kHex}, {0, 2, kHex}, {6, 0, kRestWide}}},
      {kMessaging, 17, "Unit", "", 1, {{0, 1, kHexOrOld}}},
      {kMessaging, 18, "Sata", "", 6, {{0, 2, kHexOrOld}, {2, 2, kHexOrOld}, {4, 2, kHexOrOld}}},
      {kMessaging, 20, "Vlan", "", 2, {{0, 2, kDecimal}}},
      {kMessaging, 21, "FibreEx", "Fibre", 20, {{4, 8, kBytes}, {12, 8, kBytes}}},
      {kMessaging, 24, "Uri", "", 0, {{0, 0, kRestAscii}}},
      {kMessaging, 25, "UFS", "", 2, {{0, 1, kHexOrOld}, {1, 1, kHex}}},
      {kMessaging, 26, "SD", "", 1, {{0, 1, kHexOrOld}}},
      {kMessaging, 27, "Bluetooth", "", 6, {{0, 6, kBare}}},
      {kMessaging, 29, "eMMC", "", 1, {{0, 1, kHexOrOld}}},
      {kMessaging, 30, "BluetoothLE", "", 7, {{0, 6, kBare}, {6, 1, kHex}}},
      {kMessaging, 32, "NVDIMM", "", 16, {{0, 16, kGuid}}},
      {kMedia, 2, "CDROM", "", 20, {{0, 4, kHexOrOld}, {4, 8, kHex}, {12, 8, kHex}}},
      {kMedia, 5, "Media", "", 16, {{0, 16, kGuid}}},
      {kMedia, 6, "FvFile", "", 16, {{0, 16, kGuid}}},
      {kMedia, 7, "Fv", "FvVol", 16, {{0, 16, kGuid}}},
      {kMedia, 8, "Offset", "", 20, {{4, 8, kHex}, {12, 8, kHex}}},
      {kHardware, 4, "VenHw", "", 16, {{0, 16, kGuid}, {16, 0, kRestHex}}},
      {kMessaging, 10, "VenMsg", "", 16, {{0, 16, kGuid}, {16, 0, kRestHex}}},
      {kMedia, 3, "VenMedia", "", 16, {{0, 16, kGuid}, {16, 0, kRestHex}}},
  };
  return forms;
}

bool goes_to_the_end(Kind kind) { return kind >= Kind::kRestHex; }

std::optional<std::string> print_field(const Field& field, ByteView data, PathStyle style) {
  const bool is_old = style != PathStyle::kEdk2;
  const ByteView bytes = data.subspan(field.offset, field.size);
  const auto number = [&] { return number_at(data, field.offset, field.size); };
  switch (field.kind) {
    case Kind::kHexOrOld:
      return is_old ? std::to_string(number()) : prefixed(number(), style);
    case Kind::kBareOld:
      return is_old ? hex(number(), style) : prefixed(number(), style);
    case Kind::kHex:
      return prefixed(number(), style);
    case Kind::kDecimal:
      return std::to_string(number());
    case Kind::kWide:
      return is_old ? prefixed(number(), style) : hex(number(), style, 2 * field.size);
    case Kind::kBytes:
      return "0x" + hex_bytes(bytes, style);
    case Kind::kBare:
      return hex_bytes(bytes, style);
    case Kind::kGuid:
      return guid_text(guid_at(data, field.offset), style);
    case Kind::kRestHex:
      return hex_bytes(data.subspan(field.offset), style);
    case Kind::kRestAscii:
      return text_of(data.subspan(field.offset));
    case Kind::kRestWide:
      return '"' + to_wtf8(units_of(data.subspan(field.offset))) + '"';
  }
  return std::nullopt;
}

std::optional<std::string> print_regular(const Form& form, const DevicePathNode& node,
                                         PathStyle style) {
  const bool is_open = goes_to_the_end(form.fields.back().kind);
  if (node.data.size() < form.size || (!is_open && node.data.size() > form.size)) {
    return std::nullopt;
  }
  std::string text;
  for (const Field& field : form.fields) {
    const auto value = print_field(field, node.data, style);
    if (!value) return std::nullopt;
    if (field.kind == Kind::kRestHex && value->empty()) continue;
    (text += text.empty() ? "" : ",") += *value;
  }
  const bool is_old = style != PathStyle::kEdk2 && !form.old_name.empty();
  return std::string(is_old ? form.old_name : form.name) + "(" + text + ")";
}

bool parse_field(const Field& field, std::string_view text, Bytes& data) {
  const auto put_bytes = [&](const std::optional<Bytes>& bytes, std::size_t size) {
    if (!bytes || bytes->size() != size) return false;
    std::ranges::copy(*bytes, data.begin() + field.offset);
    return true;
  };
  switch (field.kind) {
    case Kind::kBytes:
    case Kind::kBare:
      return text.empty() || put_bytes(parse_bytes(text), field.size);
    case Kind::kGuid: {
      const Result<Guid> guid = Guid::parse(text);
      if (!guid) return false;
      std::ranges::copy(guid->bytes(), data.begin() + field.offset);
      return true;
    }
    case Kind::kRestHex: {
      const auto bytes = parse_bytes(text);
      if (bytes) data.insert(data.end(), bytes->begin(), bytes->end());
      return bytes.has_value();
    }
    case Kind::kRestAscii:
      data.insert(data.end(), text.begin(), text.end());
      return true;
    case Kind::kRestWide: {
      if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        text = text.substr(1, text.size() - 2);
      }
      const auto units = from_wtf8(text);
      if (units) put_units(data, *units);
      return units.has_value();
    }
    case Kind::kWide: {
      const bool is_prefixed = text.starts_with("0x") || text.starts_with("0X");
      const auto number = text.empty() ? 0 : parse_digits(text.substr(is_prefixed ? 2 : 0), 16);
      if (number) put_number(data, field.offset, field.size, *number);
      return number.has_value();
    }
    default: {
      const auto number = parse_number(text, field.size);
      if (number) put_number(data, field.offset, field.size, *number);
      return number.has_value();
    }
  }
}

std::optional<DevicePathNode> parse_regular(const Form& form, Parameters& parameters) {
  DevicePathNode node{form.type, form.sub_type, Bytes(form.size)};
  for (const Field& field : form.fields) {
    const std::string_view text =
        goes_to_the_end(field.kind) ? parameters.rest() : parameters.next();
    if (!parse_field(field, text, node.data)) return std::nullopt;
  }
  return node;
}

bool has_name(const Form& form, std::string_view name) {
  return same_word(form.name, name) || (!form.old_name.empty() && same_word(form.old_name, name));
}

const Form* find(std::string_view name) {
  for (const Form& form : regular_forms()) {
    if (has_name(form, name)) return &form;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> print_regular_form(const DevicePathNode& node, PathStyle style) {
  for (const Form& form : regular_forms()) {
    if (form.type == node.type && form.sub_type == node.sub_type) {
      return print_regular(form, node, style);
    }
  }
  return std::nullopt;
}

bool is_regular_form(std::string_view name) { return find(name) != nullptr; }

std::optional<DevicePathNode> parse_regular_form(std::string_view name, Parameters& parameters) {
  return parse_regular(*find(name), parameters);
}

}  // namespace efivarium::efi
