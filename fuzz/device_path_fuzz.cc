// Device paths, as bytes and as text: whatever is understood comes back as it was.
#include <cstdlib>
#include <string_view>

#include "efivarium/device_path.h"

using namespace efivarium;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto path = DevicePath::parse({data, size})) {
    (void)to_text(*path, PathStyle::kLibefivar37);
    (void)to_text(*path, PathStyle::kLibefivar39);
    if (parse_path_text(to_text(*path)) != *path) std::abort();
    if (DevicePath::parse(path->serialize()) != *path) std::abort();
  }
  if (const auto path = parse_path_text({reinterpret_cast<const char*>(data), size})) {
    if (parse_path_text(to_text(*path)) != *path) std::abort();
  }
  return 0;
}
