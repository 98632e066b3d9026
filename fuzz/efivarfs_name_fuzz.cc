// Names of files and variables, as text from outside.
#include <cstdlib>

#include "efivarfs/name.h"
#include "efivarfs/options.h"

using namespace efivarium;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto key = efivarfs::key_of_new_file(text)) {
    // What may be created is listed under a name that is found again.
    const std::string listed = efivarfs::file_name_of(*key);
    if (!efivarfs::same_file_name(listed, listed)) std::abort();
    if (efivarfs::hash_file_name(listed) != efivarfs::hash_file_name(std::string(listed)))
      std::abort();
  }
  if (const auto key = VariableKey::parse(text)) {
    if (VariableKey::parse(key->to_text()) != *key) std::abort();
  }
  // Names that are the same have the same hash.
  const std::string_view half = text.substr(0, size / 2);
  const std::string_view rest = text.substr(size / 2);
  if (efivarfs::same_file_name(half, rest) &&
      efivarfs::hash_file_name(half) != efivarfs::hash_file_name(rest)) {
    std::abort();
  }
  efivarfs::Options options;
  (void)options.take(text);
  return 0;
}
