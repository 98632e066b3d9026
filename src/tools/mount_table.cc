#include "tools/mount_table.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/unique_fd.h"
#include "fuse/control.h"

namespace efivarium::tools {
namespace {

std::unexpected<Error> system_error(const char* text) {
  return std::unexpected(Error::system(errno, text));
}

template <std::size_t Size>
std::string text_of(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

}  // namespace

Result<std::vector<MountEntry>> list_mounts() {
  const std::unique_ptr<FILE, int (*)(FILE*)> table(::setmntent("/proc/self/mounts", "re"),
                                                    ::endmntent);
  if (!table) return system_error("cannot read /proc/self/mounts");
  std::vector<MountEntry> mounts;
  while (const mntent* entry = ::getmntent(table.get())) {
    if (std::strcmp(entry->mnt_type, "fuse.efivarium") != 0) continue;
    mounts.push_back({entry->mnt_fsname, entry->mnt_dir, entry->mnt_opts});
  }
  return mounts;
}

Result<ServerStatus> server_status(const std::string& directory) {
  const base::UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("cannot open the directory");
  auto status = std::make_unique<fuse::MountStatus>();
  if (::ioctl(fd.get(), fuse::kStatusRequest, status.get()) != 0) {
    return system_error("not a mount of efivarium");
  }
  return ServerStatus{status->pid, text_of(status->source), text_of(status->options)};
}

Result<void> request_remount(const std::string& directory, const std::string& options) {
  const base::UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("cannot open the directory");
  auto request = std::make_unique<fuse::RemountRequest>();
  if (options.size() >= sizeof request->options) {
    return fail(Code::kInvalidParameter, "too many options");
  }
  options.copy(request->options, options.size());
  if (::ioctl(fd.get(), fuse::kRemountRequest, request.get()) != 0) {
    return system_error(errno == ENOTTY ? "not a mount of efivarium" : "the remount was refused");
  }
  return {};
}

}  // namespace efivarium::tools
