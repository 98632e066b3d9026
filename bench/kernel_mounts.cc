#include "bench/kernel_mounts.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace efivarium::bench {
namespace {

const std::string kBase = "/tmp";  // of the namespace

void must(int result, const char* what) {
  if (result != 0) die(std::string(what) + ": " + ::strerror(errno));
}

void mount_tmpfs(const std::string& where) {
  must(::mount("efivarium-bench", where.c_str(), "tmpfs", 0, nullptr), "mount");
}

// 0, or the errno of what is not permitted.
int enter_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return errno;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  return ::mount("efivarium-bench", kBase.c_str(), "tmpfs", 0, nullptr) == 0 ? 0 : errno;
}

// A thread has its mount namespace for itself, and takes it along when it ends.
double in_namespace(const std::function<double()>& measure) {
  double took = 0;
  std::thread([&] {
    if (const int error = enter_namespace()) die(std::string("unshare: ") + ::strerror(error));
    took = measure();
  }).join();
  ::usleep(50000);  // what the kernel frees only now is not to disturb the next sample
  return took;
}

std::string folder(int i) { return kBase + "/all/m" + std::to_string(i); }

}  // namespace

std::string kernel_mounts_missing() {
  int error = 0;
  std::thread([&] { error = enter_namespace(); }).join();
  return error == 0 ? "" : std::string("no mounts of the kernel's: ") + ::strerror(error);
}

Sample kernel_access(int components) {
  return [components] {
    return in_namespace([&] {
      std::string path = kBase;
      for (int i = 0; i < components; ++i) {
        path += std::string("/") + static_cast<char>('a' + i);
        must(::mkdir(path.c_str(), 0755), "mkdir");
        mount_tmpfs(path);
      }
      must(::chdir(kBase.c_str()), "chdir");
      const std::string relative = path.substr(kBase.size() + 1);
      return time_calls(20000, [&] { must(::access(relative.c_str(), F_OK), "access"); });
    });
  };
}

Sample kernel_mount(int mounts) {
  return [mounts] {
    return in_namespace([&] {
      must(::mkdir((kBase + "/all").c_str(), 0755), "mkdir");
      for (int i = 0; i < mounts; ++i) must(::mkdir(folder(i).c_str(), 0755), "mkdir");
      return time_calls(1, [&] {
        for (int i = 0; i < mounts; ++i) mount_tmpfs(folder(i));
      });
    });
  };
}

Sample kernel_umount(int mounts, KernelUmount how) {
  return [mounts, how] {
    return in_namespace([&] {
      must(::mkdir((kBase + "/all").c_str(), 0755), "mkdir");
      mount_tmpfs(kBase + "/all");
      std::vector<std::string> command = {"umount"};
      for (int i = 0; i < mounts; ++i) {
        must(::mkdir(folder(i).c_str(), 0755), "mkdir");
        mount_tmpfs(folder(i));
        command.push_back("m" + std::to_string(i));
      }
      // The folders stay, as on the other side.
      must(::mkdir((kBase + "/again").c_str(), 0755), "mkdir");
      must(::mount((kBase + "/all").c_str(), (kBase + "/again").c_str(), nullptr, MS_BIND, nullptr),
           "bind");
      return time_calls(1, [&] {
        switch (how) {
          case KernelUmount::kEach:
            for (int i = 0; i < mounts; ++i) must(::umount2(folder(i).c_str(), 0), "umount2");
            break;
          case KernelUmount::kCommand:
            run(command, kBase + "/all");
            break;
          case KernelUmount::kTogether:
            must(::umount2((kBase + "/all").c_str(), MNT_DETACH), "umount2");
            break;
        }
      });
    });
  };
}

}  // namespace efivarium::bench
