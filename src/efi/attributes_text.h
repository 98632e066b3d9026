// The short text form of attributes, read.
#pragma once

#include <string_view>

#include "efivarium/attributes.h"
#include "efivarium/result.h"

namespace efivarium::efi {

// The inverse of Attributes::to_text() for the bits that have names: "nv,bs,rt".
// kInvalidParameter for any other word, and for no word at all.
Result<Attributes> parse_attributes(std::string_view text);

}  // namespace efivarium::efi
