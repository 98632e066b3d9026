// What calls on a mount cost, with client and server on one CPU and on two.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "bench/bench.h"
#include "bench/measure.h"
#include "store/edk2_create.h"

namespace efivarium::bench {
namespace {

constexpr int kFiles = 100;
constexpr int kContentSize = 104;  // attributes and 100 bytes of data

std::string file_name(int i) {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "V%04d-20230501-1234-5678-9abc-def012345678", i);
  return name.data();
}

void make_files(const std::string& folder) {
  std::array<char, kContentSize> content{7};
  for (int i = 0; i < kFiles; ++i) {
    const int fd = ::open((folder + "/" + file_name(i)).c_str(), O_WRONLY | O_CREAT, 0644);
    if (fd < 0 || ::write(fd, content.data(), content.size()) != kContentSize)
      die("cannot write " + folder);
    ::close(fd);
  }
}

// A process that serves a mount, ended with it.
class Server {
 public:
  template <typename Serve>
  Server(std::string directory, int cpu, const Serve& serve) : directory_(std::move(directory)) {
    ::mkdir(directory_.c_str(), 0755);
    child_ = ::fork();
    if (child_ == 0) {
      pin(cpu);
      ::_exit(serve(directory_));
    }
    struct stat inside {
    }, outside{};
    for (int i = 0; i < 5000; ++i) {
      if (::stat(directory_.c_str(), &inside) == 0 &&
          ::stat((directory_ + "/..").c_str(), &outside) == 0 && inside.st_dev != outside.st_dev) {
        return;
      }
      ::usleep(1000);
    }
    die("the server of " + directory_ + " did not start");
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::umount2(directory_.c_str(), MNT_DETACH);
    ::waitpid(child_, nullptr, 0);
  }
  const std::string& directory() const { return directory_; }
  pid_t pid() const { return child_; }

 private:
  const std::string directory_;
  pid_t child_ = 0;
};

Sample open_read_close(const std::string& folder) {
  return [folder] {
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    std::array<char, 4096> buffer{};
    const double took = time_calls(20, [&] {
      for (int i = 0; i < kFiles; ++i) {
        const int fd = ::openat(directory, file_name(i).c_str(), O_RDONLY);
        if (::read(fd, buffer.data(), buffer.size()) != kContentSize) die("cannot read " + folder);
        ::close(fd);
      }
    });
    ::close(directory);
    return took / kFiles;
  };
}

Sample statfs_calls(const std::string& folder) {
  return [folder] {
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    struct statfs status {};
    const double took = time_calls(2000, [&] { ::fstatfs(directory, &status); });
    ::close(directory);
    return took;
  };
}

void measure_placed(const Surroundings& around, int server_cpu, const std::string& placement,
                    bool judged) {
  const std::string store = around.folder + "/mounted" + std::to_string(server_cpu) + ".fd";
  if (!store::create_store(store, *store::layout_by_name("ovmf-4m"))) die("cannot create " + store);
  const Server ours(around.folder + "/ours", server_cpu, [&](const std::string& directory) {
    return ::execl(around.efivarium.c_str(), "efivarium", "mount", "-f", store.c_str(),
                   directory.c_str(), nullptr);
  });
  const Server plain(around.folder + "/plain", server_cpu, [](const std::string& directory) {
    return serve_plain_fuse(directory.c_str(), [] {});
  });
  pin(0);
  if (judged) judge("memory of a mount, idle", resident_kib(ours.pid()) / 1024, "MiB", 8);
  make_files(ours.directory());
  compare("open+read+close, warm, " + placement, open_read_close(ours.directory()), "tmpfs",
          open_read_close(around.memory), Goal::kAtMost, judged ? 7 : kNoLimit);
  compare("statfs, " + placement, statfs_calls(ours.directory()), "plainest libfuse3 file system",
          statfs_calls(plain.directory()), Goal::kAtMost, judged ? 1.3 : kNoLimit);
  pin(-1);
}

}  // namespace

void measure_file_system(const Surroundings& around) {
  if (::access("/dev/fuse", R_OK | W_OK) != 0)
    return note("no /dev/fuse to open: no mounts measured");
  make_files(around.memory);
  measure_placed(around, 0, "one CPU", true);
  if (::sysconf(_SC_NPROCESSORS_ONLN) > 1) measure_placed(around, 1, "two CPUs", false);
}

}  // namespace efivarium::bench
