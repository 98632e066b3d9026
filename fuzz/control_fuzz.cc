// What a caller's ioctl carries.
#include <cstdlib>

#include "fuse/control.h"

using namespace efivarium;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, data + size);
  // What is well-formed has one form.
  if (const auto fields = fuse::unpack(bytes)) {
    if (fuse::pack(*fields) != bytes) std::abort();
  }
  return 0;
}
