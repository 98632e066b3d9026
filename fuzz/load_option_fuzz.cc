// Device paths and load options.
#include "efi/load_option.h"

using namespace efivarium;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)efi::check_device_path({data, size});
  (void)efi::check_load_option({data, size});
  return 0;
}
