// What changes of a store cost, and opening a large one.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/memory_device.h"
#include "bench/bench.h"
#include "bench/measure.h"
#include "efivarfs/superblock.h"
#include "store/edk2_image.h"
#include "store/edk2_store.h"
#include "store/open_store.h"

namespace efivarium::bench {
namespace {

using store::Reclaim;

constexpr std::size_t kRecordSize = 60 + 14 + 100;

// Two writes, each made durable: the least that an update which a power cut cannot break costs.
Sample two_barriers(int fd) {
  return [fd] {
    const Bytes record(kRecordSize, 1);
    off_t at = 0;
    return time_calls(20, [&] {
      at = (at + 512) % 200000;
      if (::pwrite(fd, record.data(), record.size(), at) < 0 || ::fdatasync(fd) != 0 ||
          ::pwrite(fd, record.data(), 1, at + 2) < 0 || ::fdatasync(fd) != 0) {
        die("cannot write");
      }
    });
  };
}

// The whole file anew, as tools do that cannot write in place.
Sample rewrite(const std::string& folder) {
  return [folder] {
    const Bytes image(540672, 0xFF);
    const std::string path = folder + "/rewritten";
    const std::string temporary = path + ".new";
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    const double took = time_calls(10, [&] {
      const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (::write(fd, image.data(), image.size()) < 0 || ::fsync(fd) != 0) die("cannot write");
      ::close(fd);
      if (::rename(temporary.c_str(), path.c_str()) != 0 || ::fsync(directory) != 0)
        die("cannot rename");
    });
    ::close(directory);
    return took;
  };
}

void measure_set(const Surroundings& around) {
  const std::string path = around.folder + "/set.fd";
  if (!store::create_store(path, *store::layout_by_name("ovmf-4m"))) die("cannot create " + path);
  auto opened = store::open_store(path, base::Access::kReadWrite);
  if (!opened) die("cannot open " + path);
  auto services = runtime::VariableServices::start(*std::move(opened), {});
  if (!services) die("cannot start");
  runtime::Firmware firmware(*std::move(services));
  // Updates of two variables in turn. One of the same variable again, with nothing in between,
  // waits for a third barrier; that is told below.
  std::uint8_t fill = 0;
  const auto update = [&](int variables) {
    return time_calls(20, [&] {
      ++fill;
      const char16_t* const name = fill % variables == 0 ? u"Target" : u"Other!";
      const Variable variable = store::make_variable(name, 100, fill);
      firmware.queue.run([&] {
        if (!firmware.services->set_variable(variable.key, variable.attributes, variable.data)) {
          die("cannot set");
        }
      });
    });
  };
  const Sample set = [&] { return update(2); };
  const Sample set_again = [&] { return update(1); };
  const std::string floor = around.folder + "/floor";
  const int fd = ::open(floor.c_str(), O_RDWR | O_CREAT, 0600);
  const Bytes image(540672, 0xFF);
  if (fd < 0 || ::write(fd, image.data(), image.size()) < 0 || ::fsync(fd) != 0)
    die("cannot write");
  compare("durable set, update of 100 bytes", set, "two pwrite + fdatasync", two_barriers(fd),
          Goal::kAtMost, 1.3);
  compare("the same variable again and again", set_again, "two pwrite + fdatasync",
          two_barriers(fd), Goal::kAtMost, kNoLimit);
  compare("durable set, update of 100 bytes", set, "synced rewrite of the file",
          rewrite(around.folder), Goal::kAtLeast, 2.5);
  ::close(fd);
}

// Larger than any platform has, so that ten thousand variables fit.
constexpr std::array kLargeLayouts = {
    store::Edk2Layout{"large", 0x300000, 0xFF, 0x300000, 0x1000, 0x13FFB8, 0x140000, 0x1000,
                      0x1C0000, 0x140000, 0x8400, 0x8400, 0x8400, 0x40000},
};

Bytes large_image(int variables) {
  store::Edk2Image image(store::StoreKind::kAuthenticated, kLargeLayouts.front());
  for (int i = 0; i < variables; ++i) {
    const std::string digits = std::to_string(i);
    const std::u16string name = u"V" + std::u16string(digits.begin(), digits.end());
    image.add(store::make_variable(name.c_str(), 32, 1), store::kStateAdded);
  }
  return image.bytes();
}

// Opened, served and listed.
Sample open_all(const Bytes& image) {
  return [&image] {
    return time_calls(1, [&] {
      auto opened = store::Edk2Store::open(std::make_unique<base::MemoryDevice>(image),
                                           base::Access::kReadWrite, kLargeLayouts);
      if (!opened) die("cannot open the large store");
      auto services = runtime::VariableServices::start(*std::move(opened), {});
      auto firmware = std::make_shared<runtime::Firmware>(*std::move(services));
      if (!efivarfs::Efivarfs::mount(std::move(firmware), {},
                                     std::make_shared<efivarfs::Limits>())) {
        die("cannot mount the large store");
      }
    });
  };
}

}  // namespace

void measure_store(const Surroundings& around) {
  measure_set(around);
  const Bytes small = large_image(1000);
  const Bytes large = large_image(10000);
  // Ten times the variables in at most thirteen times the time: linear.
  compare("open, 10000 variables", open_all(large), "1000 variables", open_all(small),
          Goal::kAtMost, 13);
}

}  // namespace efivarium::bench
