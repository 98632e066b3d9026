// UTF-16 as firmware has it, surrogates paired or not, to UTF-8 and back.
#pragma once

#include <string>
#include <string_view>

#include "efivarium/result.h"

namespace efivarium::efi {

// One to four bytes; a surrogate is three like its neighbours.
void append_utf8(std::string& text, char32_t value);
// From the front of text, which is not empty and becomes shorter. Takes no sequence that is longer
// than it must be; takes surrogates. kInvalidParameter, with nothing taken.
Result<char32_t> take_code_point(std::string_view& text);

// Pairs become four bytes; a surrogate that stands alone becomes three, which is WTF-8.
std::string to_wtf8(std::u16string_view units);
// kInvalidParameter, with the offset.
Result<std::u16string> from_wtf8(std::string_view text);

}  // namespace efivarium::efi
