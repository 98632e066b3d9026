// What a folder of many stores costs: mounted, idle, and unmounted from the command line.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/kernel_mounts.h"
#include "bench/measure.h"
#include "store/edk2_create.h"
#include "tools/mount_table.h"
#include "tools/served_folder.h"

namespace efivarium::bench {
namespace {

constexpr int kMany = 5001;

std::string store_name(int number) { return "vm" + std::to_string(number) + ".fd"; }

std::string make_stores(const std::string& folder, int count) {
  ::mkdir(folder.c_str(), 0755);
  const std::string first = folder + "/" + store_name(0);
  if (!store::create_store(first, *store::layout_by_name("ovmf-4m"))) die("cannot create " + first);
  std::ifstream file(first, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  for (int i = 1; i < count; ++i) {
    const std::string path = folder + "/" + store_name(i);
    if (!std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes)).flush()) {
      die("cannot write " + path);
    }
  }
  return folder;
}

bool has_room_for_many(const std::string& folder) {
  constexpr std::uint64_t kNeeded = std::uint64_t{kMany} * 600 * 1024;
  struct statvfs status {};
  return ::statvfs(folder.c_str(), &status) == 0 &&
         std::uint64_t{status.f_bavail} * status.f_frsize > kNeeded;
}

// A folder of stores while it is served.
class Served {
 public:
  Served(const std::string& efivarium, const std::string& stores, std::string directory)
      : efivarium_(efivarium), directory_(std::move(directory)) {
    ::mkdir(directory_.c_str(), 0755);
    run({efivarium_, "serve", stores, directory_});
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { run({efivarium_, "umount", directory_}); }

  double memory_kib() const {
    const auto status = tools::server_status(directory_);
    return status ? resident_kib(status->pid) : 0;
  }
  double umount_each(int count) const {
    std::vector<std::string> command = {efivarium_, "umount"};
    for (int i = 0; i < count; ++i) command.push_back(store_name(i));
    return time_calls(1, [&] { run(command, directory_); });
  }

 private:
  const std::string efivarium_, directory_;
};

}  // namespace

void measure_served(const Surroundings& around) {
  if (const std::string why = kernel_mounts_missing(); !why.empty()) return note(why);
  if (!has_room_for_many(around.memory)) return note("too little memory for 5001 stores");
  const std::string stores = make_stores(around.memory + "/many", kMany);
  const std::string few = make_stores(around.memory + "/few", 1);
  compare(
      "mount of 5001 stores",
      [&] {
        std::unique_ptr<tools::ServedFolder> served;
        return time_calls(1, [&] {
          auto opened = tools::ServedFolder::open(stores, tools::MountOptions::defaults(),
                                                  [](std::size_t, std::size_t) {});
          if (!opened) die("cannot serve: " + opened.error().message());
          served = *std::move(opened);
        });
      },
      "mount(2) of 5001 tmpfs", kernel_mount(kMany), Goal::kAtMost, 1);
  if (::access("/dev/fuse", R_OK | W_OK) != 0) return note("no /dev/fuse to open: nothing served");
  const std::string directory = around.folder + "/served";
  const double idle = Served(around.efivarium, few, directory).memory_kib();
  const double loaded = Served(around.efivarium, stores, directory).memory_kib();
  judge("memory of a served store, idle", (loaded - idle) / (kMany - 1), "KiB", 4);
  compare("efivarium umount of 5001 served stores",
          warm([&] { return Served(around.efivarium, stores, directory).umount_each(kMany); }),
          "umount(8) of 5001 kernel tmpfs", kernel_umount(kMany, KernelUmount::kCommand),
          Goal::kAtLeast, 1000, 5);
}

}  // namespace efivarium::bench
