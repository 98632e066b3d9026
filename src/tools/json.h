// JSON with text that need not be UTF-8 or well-formed UTF-16.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace efivarium::tools {

using Json = nlohmann::ordered_json;

// UCS-2 as a JSON string. Surrogates, which need not come in pairs, are set aside as characters of
// a private plane, and dump() writes them as the escapes that they are.
std::string json_text(std::u16string_view units);
// Bytes that should be UTF-8, such as a path; what is not becomes the replacement character.
std::string json_text(std::string_view bytes);

// Pure ASCII, and a newline.
std::string dump(const Json& json);

}  // namespace efivarium::tools
