// Mount options: words with commas between them.
#pragma once

#include <string_view>
#include <vector>

namespace efivarium::vfs {

// The words, without empty ones; views into the text.
inline std::vector<std::string_view> each_option(std::string_view options) {
  std::vector<std::string_view> words;
  while (!options.empty()) {
    const std::size_t comma = options.find(',');
    if (comma != 0) words.push_back(options.substr(0, comma));
    if (comma == std::string_view::npos) break;
    options.remove_prefix(comma + 1);
  }
  return words;
}

}  // namespace efivarium::vfs
