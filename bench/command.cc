// What a use of the command line costs.
#include <fstream>

#include "bench/bench.h"
#include "bench/measure.h"
#include "store/edk2_create.h"
#include "store/edk2_image.h"

namespace efivarium::bench {
namespace {

Sample command(std::vector<std::string> words, int count) {
  return [words = std::move(words), count] { return time_calls(count, [&] { run(words); }); };
}

// As a store of a guest that has been in use: 40 variables of 100 bytes.
std::string make_used_store(const Surroundings& around) {
  const std::string path = around.folder + "/used.fd";
  store::Edk2Image image(store::StoreKind::kAuthenticated, *store::layout_by_name("ovmf-4m"));
  for (int i = 0; i < 40; ++i) {
    const std::u16string name = u"Variable" + std::u16string(1, static_cast<char16_t>(u'A' + i));
    image.add(store::make_variable(name.c_str(), 100, 1), store::kStateAdded);
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(image.bytes().data()),
             static_cast<std::streamsize>(image.bytes().size()));
  return path;
}

}  // namespace

void measure_command(const Surroundings& around) {
  const std::string store = make_used_store(around);
  const Sample list = command({around.efivarium, "ls", store}, 10);
  compare("efivarium ls STORE", list, "/bin/true", command({"/bin/true"}, 10), Goal::kAtMost, 2.5);
  compare("efivarium ls STORE", list, "python3, cryptography imported",
          command({"python3", "-c",
                   "from cryptography import x509; "
                   "from cryptography.hazmat.primitives.serialization import pkcs7"},
                  3),
          Goal::kAtLeast, 20);
}

}  // namespace efivarium::bench
