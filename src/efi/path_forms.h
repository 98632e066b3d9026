// The forms that device path nodes have as text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "efivarium/device_path.h"

namespace efivarium::efi {

enum NodeType : std::uint8_t { kHardware = 1, kAcpi = 2, kMessaging = 3, kMedia = 4, kBios = 5 };

// What stands between the parentheses, to be read one after the other. What is missing is empty.
class Parameters {
 public:
  explicit Parameters(std::string_view text) : text_(text), is_over_(text.empty()) {}
  std::string_view next() {
    const std::size_t end = text_.find(',');
    const std::string_view word = text_.substr(0, end);
    is_over_ = end == std::string_view::npos;
    text_.remove_prefix(is_over_ ? text_.size() : end + 1);
    return word;
  }
  // All that is left, with its commas.
  std::string_view rest() {
    is_over_ = true;
    return std::exchange(text_, {});
  }
  bool is_over() const { return is_over_; }

 private:
  std::string_view text_;
  bool is_over_;
};

// A form with rules of its own.
struct NodeForm {
  NodeType type;
  std::uint8_t sub_type;
  std::string_view names;  // parted by |
  // Nothing where the data is not as the form wants it, or is another form's.
  std::optional<std::string> (*print)(ByteView data, PathStyle style);
  // Nothing where the parameters are not as the form wants them. name: one of its names, in any
  // case.
  std::optional<DevicePathNode> (*parse)(std::string_view name, Parameters& parameters);
};
std::span<const NodeForm> acpi_forms();
std::span<const NodeForm> message_forms();
std::span<const NodeForm> network_forms();
std::span<const NodeForm> media_forms();

// Forms that are a name and fields in fixed places.
std::optional<std::string> print_regular_form(const DevicePathNode& node, PathStyle style);
bool is_regular_form(std::string_view name);
std::optional<DevicePathNode> parse_regular_form(std::string_view name, Parameters& parameters);

}  // namespace efivarium::efi
