#include "fuse/ioctl.h"

#include <linux/fs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "fuse/call.h"
#include "fuse/control.h"

namespace efivarium::fuse {
namespace {

using vfs::Path;

void answer_status(Call& call, const Path& path) {
  auto status = std::make_unique<MountStatus>();
  status->version = kStatusVersion;
  status->pid = ::getpid();
  path.mount->source().copy(status->source, sizeof status->source - 1);
  path.mount->show_options().copy(status->options, sizeof status->options - 1);
  call.answer(::fuse_reply_ioctl, 0, status.get(), sizeof *status);
}

void remount(Call& call, const Path& path, ByteView in) {
  const uid_t who = call.credentials().uid;
  if (who != 0 && who != ::geteuid()) return call.fail(EPERM);
  const std::string text(in.begin(), std::find(in.begin(), in.end(), 0));
  const Result<void> done = call.session().mount_namespace().remount(path, text);
  if (!done) return call.fail(done.error());
  call.answer(::fuse_reply_ioctl, 0, nullptr, std::size_t{0});
}

}  // namespace

void ioctl(fuse_req_t request, fuse_ino_t id, unsigned command, void*, fuse_file_info*, unsigned,
           const void* in, std::size_t in_size, std::size_t) noexcept {
  guarded(request, [&](Call& call) {
    const Path& path = call.node(id).path;
    const ByteView input(static_cast<const std::uint8_t*>(in), in_size);
    switch (command) {
      case FS_IOC_GETFLAGS:
      case FS_IOC_FSGETXATTR: {
        const Result<std::uint32_t> flags = vfs::get_flags(path);
        if (!flags) return call.fail(flags.error());
        if (command == FS_IOC_GETFLAGS)
          return call.answer(::fuse_reply_ioctl, 0, &*flags, sizeof *flags);
        fsxattr extended{};
        if ((*flags & vfs::kImmutableFlag) != 0) extended.fsx_xflags = FS_XFLAG_IMMUTABLE;
        return call.answer(::fuse_reply_ioctl, 0, &extended, sizeof extended);
      }
      case FS_IOC_SETFLAGS: {
        base::ByteReader reader(input);
        const Result<std::uint32_t> flags = reader.u32();
        if (!flags) return call.fail(EINVAL);
        const Result<void> set = vfs::set_flags(path, *flags, call.credentials());
        if (!set) return call.fail(set.error());
        return call.answer(::fuse_reply_ioctl, 0, nullptr, std::size_t{0});
      }
      case FS_IOC_FSSETXATTR:
        return call.fail(EOPNOTSUPP);
      case kStatusRequest:
        return answer_status(call, path);
      case kRemountRequest:
        return remount(call, path, input);
      default:
        return call.fail(ENOTTY);
    }
  });
}

}  // namespace efivarium::fuse
