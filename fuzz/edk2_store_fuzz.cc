// The flash image: read, written, checked and repaired, whatever it holds. The input is laid over a
// blank store of a small geometry, at an offset that its first two bytes give.
#include <algorithm>
#include <cstdlib>

#include "store/edk2_check.h"
#include "store/edk2_image.h"
#include "store/edk2_store.h"

using namespace efivarium;
using namespace efivarium::store;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Outside of the variable region and the areas behind it nothing may change.
void require_untouched(const Bytes& before, const Bytes& after) {
  require(before.size() == after.size());
  const auto end = static_cast<std::ptrdiff_t>(kTinyLayouts.front().volume_length);
  require(std::equal(before.begin() + end, before.end(), after.begin() + end));
}

void write_one(const Bytes& image) {
  auto device = std::make_unique<base::MemoryDevice>(image);
  const base::MemoryDevice* const medium = device.get();
  auto opened = Edk2Store::open(std::move(device), base::Access::kReadWrite, kTinyLayouts);
  if (!opened) return;
  Edk2Store& store = **opened;
  auto before = store.load();
  require(before.has_value());
  const Variable variable = make_variable(u"Fuzz", 40, 0x5A);
  std::erase_if(*before, [&](const Variable& v) { return v.key == variable.key; });
  if (store.put(variable, Reclaim::kAllowed)) {
    auto after = store.load();
    require(after.has_value());
    require(std::erase(*after, variable) == 1);
    const auto by_key = [](const Variable& a, const Variable& b) { return a.key < b.key; };
    std::ranges::sort(*before, by_key);
    std::ranges::sort(*after, by_key);
    require(*before == *after);
    require(store.remove(variable.key).has_value());
  }
  require(store.compact().has_value());
  require_untouched(image, medium->bytes());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const ByteView input(data, size);
  Bytes image = Edk2Image().bytes();
  const std::size_t start = (data[0] | static_cast<std::size_t>(data[1]) << 8) % image.size();
  const std::size_t length = std::min(size - 2, image.size() - start);
  std::ranges::copy(input.subspan(2, length), image.begin() + static_cast<std::ptrdiff_t>(start));

  auto reader = Edk2Store::open(std::make_unique<base::MemoryDevice>(image),
                                base::Access::kReadOnly, kTinyLayouts);
  if (reader) require((*reader)->load().has_value());
  write_one(image);

  base::MemoryDevice device(image);
  require(check_store(device, kTinyLayouts).has_value());
  require(device.bytes() == image);
  if (repair_store(device, kTinyLayouts)) {
    const auto report = check_store(device, kTinyLayouts);
    require(report && report->sound());
  }
  require_untouched(image, device.bytes());
  return 0;
}
