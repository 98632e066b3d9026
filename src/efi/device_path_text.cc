#include <algorithm>
#include <array>

#include "base/try.h"
#include "efi/path_forms.h"
#include "efi/path_values.h"
#include "efivarium/device_path.h"

namespace efivarium {
namespace {

using efi::NodeForm;
using efi::Parameters;

// What a node without a form of its own is called, by its type; of any other type it is a Path.
constexpr std::string_view kTypeNames = "|HardwarePath|AcpiPath|Msg|MediaPath|BbsPath";
constexpr std::string_view kAnyType = "Path";

std::string print_bytes(const DevicePathNode& node) {
  const auto name = efi::choice_at(kTypeNames, node.type);
  std::string text = name && !name->empty()
                         ? std::string(*name) + "("
                         : std::string(kAnyType) + "(" + std::to_string(node.type) + ",";
  text += std::to_string(node.sub_type);
  if (!node.data.empty()) text += "," + efi::hex_bytes(node.data, PathStyle::kLibefivar39);
  return text + ")";
}

// type_name: of kTypeNames, or kAnyType.
std::optional<DevicePathNode> parse_bytes(std::string_view type_name, Parameters& parameters) {
  const auto known = efi::index_of(kTypeNames, type_name);
  const auto type = known ? known : efi::parse_number(parameters.next(), 1);
  const auto sub_type = efi::parse_number(parameters.next(), 1);
  auto data = efi::parse_bytes(parameters.next());
  if (!type || !sub_type || !data) return std::nullopt;
  return DevicePathNode{static_cast<std::uint8_t>(*type), static_cast<std::uint8_t>(*sub_type),
                        *std::move(data)};
}

template <typename Find>
const NodeForm* find_form_if(const Find& is_it) {
  for (const auto forms :
       {efi::acpi_forms(), efi::message_forms(), efi::network_forms(), efi::media_forms()}) {
    for (const NodeForm& form : forms) {
      if (is_it(form)) return &form;
    }
  }
  return nullptr;
}
const NodeForm* find_form(std::string_view name) {
  return find_form_if(
      [&](const NodeForm& form) { return efi::index_of(form.names, name).has_value(); });
}

bool is_generic(std::string_view name) {
  return !name.empty() && (efi::same_word(name, kAnyType) || efi::index_of(kTypeNames, name));
}

// Nothing where the node has no form, or its data is not as the form wants it. What has rules of
// its own goes first: of vendors' nodes it knows a few.
std::optional<std::string> print_form(const DevicePathNode& node, PathStyle style) {
  std::optional<std::string> text;
  find_form_if([&](const NodeForm& form) {
    if (form.type == node.type && form.sub_type == node.sub_type) {
      text = form.print(node.data, style);
    }
    return text.has_value();
  });
  return text ? text : efi::print_regular_form(node, style);
}

// The name before the parentheses that the text ends with, where nodes are called so.
std::string_view name_of_node(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {};
  const std::string_view name = text.substr(0, open);
  const bool is_known =
      is_generic(name) || find_form(name) != nullptr || efi::is_regular_form(name);
  return is_known ? name : std::string_view();
}

// Nothing where it is a node's name with parameters that are not as it wants them.
std::optional<DevicePathNode> parse_node(std::string_view text) {
  const std::string_view name = name_of_node(text);
  Parameters parameters(name.empty() ? text
                                     : text.substr(name.size() + 1, text.size() - name.size() - 2));
  std::optional<DevicePathNode> node;
  if (name.empty()) {
    node = find_form("File")->parse("File", parameters);
  } else if (is_generic(name)) {
    node = parse_bytes(name, parameters);
  } else if (const NodeForm* const form = find_form(name)) {
    node = form->parse(name, parameters);
  } else {
    node = efi::parse_regular_form(name, parameters);
  }
  return parameters.is_over() ? node : std::nullopt;
}

bool parts_instances(const DevicePathNode& node) {
  return node.type == DevicePath::kEndType && node.sub_type == DevicePath::kEndInstance &&
         node.data.empty();
}

// Where a node's text ends: at a slash outside of parentheses, or at a comma that another node
// follows; files' names have commas too.
std::size_t end_of_node(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth > 0) continue;
    if (text[i] == '/') return i;
    if (text[i] != ',') continue;
    const std::string_view behind = text.substr(i + 1);
    const std::size_t close = behind.find(')');
    if (close != std::string_view::npos && !name_of_node(behind.substr(0, close + 1)).empty()) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

std::string to_text(const DevicePathNode& node, PathStyle style) {
  const std::optional<std::string> text = print_form(node, style);
  if (!text || text->empty()) return print_bytes(node);
  // In UEFI's own style all of the node must come back, with others behind it.
  const bool comes_back = end_of_node(*text + "/") == text->size() && parse_node(*text) == node;
  return comes_back || style != PathStyle::kEdk2 ? *text : print_bytes(node);
}

std::string to_text(const DevicePath& path, PathStyle style) {
  std::string text;
  bool begins = true;
  for (const DevicePathNode& node : path.nodes) {
    const bool is_between = parts_instances(node) && !begins && &node != &path.nodes.back();
    if (!is_between && !begins) text += "/";
    text += is_between ? "," : to_text(node, style);
    begins = is_between;
  }
  return text;
}

Result<DevicePath> parse_path_text(std::string_view text) {
  DevicePath path;
  const std::size_t size = text.size();
  while (!text.empty()) {
    const std::size_t end = end_of_node(text);
    const auto node = end != 0 ? parse_node(text.substr(0, end)) : std::nullopt;
    if (!node) {
      return fail_at(Code::kInvalidParameter, "not a device path node", size - text.size());
    }
    path.nodes.push_back(*node);
    if (end == text.size()) break;
    if (text[end] == ',')
      path.nodes.push_back({DevicePath::kEndType, DevicePath::kEndInstance, {}});
    text.remove_prefix(end + 1);
    if (text.empty())
      return fail_at(Code::kInvalidParameter, "a device path node is missing", size);
  }
  return path;
}

}  // namespace efivarium
