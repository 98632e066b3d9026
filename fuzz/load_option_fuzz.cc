// Load options: whatever is understood comes back as it was.
#include "efi/load_option.h"

#include <cstdlib>

#include "efivarium/load_option.h"

using namespace efivarium;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(data, size);
  (void)efi::check_device_path(bytes);
  const bool is_valid = efi::check_load_option(bytes).has_value();
  if (const auto option = LoadOption::parse(bytes)) {
    if (!is_valid || option->serialize() != Bytes(bytes.begin(), bytes.end())) std::abort();
  }
  return 0;
}
