#include "tools/mount_table.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/unique_fd.h"
#include "tools/store_mount.h"

namespace efivarium::tools {
namespace {

std::unexpected<Error> system_error(const char* text) {
  return std::unexpected(Error::system(errno, text));
}

template <std::size_t Size>
std::string text_of(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

// Calls visit(const mntent&, whether it is ours) for each mount.
template <typename Visit>
Result<void> for_each_mount(const Visit& visit) {
  const std::unique_ptr<FILE, int (*)(FILE*)> table(::setmntent("/proc/self/mounts", "re"),
                                                    ::endmntent);
  if (!table) return system_error("cannot read /proc/self/mounts");
  while (const mntent* entry = ::getmntent(table.get())) {
    visit(*entry, std::strcmp(entry->mnt_type, "fuse.efivarium") == 0);
  }
  return {};
}

Result<base::UniqueFd> open_directory(const std::string& directory) {
  base::UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("cannot open the directory");
  return fd;
}

// Without what names nothing of its own: "." and more slashes than one.
std::string tidy(std::string_view path) {
  std::string tidied;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (!name.empty() && name != ".") (tidied += '/') += name;
  }
  return tidied.empty() ? "/" : tidied;
}

}  // namespace

Result<std::vector<MountEntry>> list_mounts() {
  std::vector<MountEntry> mounts;
  EFIVARIUM_TRY(for_each_mount([&](const mntent& entry, bool is_ours) {
    if (is_ours) mounts.push_back({entry.mnt_fsname, entry.mnt_dir, entry.mnt_opts});
  }));
  return mounts;
}

Result<MountMap> MountMap::read() {
  MountMap map;
  map.working_directory_ = absolute(".");
  EFIVARIUM_TRY(for_each_mount(
      [&](const mntent& entry, bool is_ours) { map.is_ours_[entry.mnt_dir] = is_ours; }));
  return map;
}

std::optional<Place> MountMap::find_absolute(const std::string& path) const {
  std::string at = path;
  while (true) {
    if (const auto found = is_ours_.find(at); found != is_ours_.end()) {
      if (!found->second) return std::nullopt;
      const std::string rest = at == "/" ? path : path.substr(at.size());
      return Place{at, rest.empty() ? "/" : rest};
    }
    if (at.size() <= 1) return std::nullopt;
    at.resize(std::max<std::size_t>(at.rfind('/'), 1));
  }
}

std::optional<Place> MountMap::find(const std::string& directory) const {
  if (!directory.contains("..")) {
    const bool is_whole = directory.starts_with('/');
    if (auto place =
            find_absolute(tidy(is_whole ? directory : working_directory_ + "/" + directory))) {
      return place;
    }
  }
  const std::string real = absolute(directory);
  return real.starts_with('/') ? find_absolute(real) : std::nullopt;
}

Result<ServerStatus> server_status(const std::string& directory) {
  EFIVARIUM_TRY(const base::UniqueFd fd, open_directory(directory));
  auto status = std::make_unique<fuse::MountStatus>();
  if (::ioctl(fd.get(), fuse::kStatusRequest, status.get()) != 0) {
    return system_error("not a mount of efivarium");
  }
  return ServerStatus{status->pid, text_of(status->source), text_of(status->options)};
}

Result<fuse::Fields> request_control(const std::string& directory, const fuse::Fields& request) {
  EFIVARIUM_TRY(const base::UniqueFd fd, open_directory(directory));
  const Bytes packed = fuse::pack(request);
  auto message = std::make_unique<fuse::ControlMessage>();
  const auto exchange = [&](std::uint32_t flags, ByteView piece) -> Result<void> {
    message->version = fuse::kControlVersion;
    message->flags = flags;
    message->size = static_cast<std::uint32_t>(piece.size());
    std::ranges::copy(piece, message->bytes);
    if (::ioctl(fd.get(), fuse::kControlRequest, message.get()) == 0) return {};
    return system_error("the server refused");
  };
  for (ByteView left = packed;;) {
    const ByteView piece = left.first(std::min(left.size(), sizeof message->bytes));
    left = left.subspan(piece.size());
    EFIVARIUM_TRY(exchange(left.empty() ? 0 : fuse::ControlMessage::kMore, piece));
    if (left.empty()) break;
  }
  Bytes answer;
  while (true) {
    const std::size_t size = std::min<std::size_t>(message->size, sizeof message->bytes);
    answer.insert(answer.end(), message->bytes, message->bytes + size);
    if ((message->flags & fuse::ControlMessage::kMore) == 0) break;
    EFIVARIUM_TRY(exchange(fuse::ControlMessage::kFetch, {}));
  }
  return fuse::unpack(answer);
}

Result<void> request_remount(const std::string& directory, const std::string& options) {
  EFIVARIUM_TRY(const base::UniqueFd fd, open_directory(directory));
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
