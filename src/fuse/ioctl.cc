#include "fuse/ioctl.h"

#include <linux/fs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "fuse/call.h"
#include "fuse/control.h"
#include "fuse/directory.h"

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

bool may_steer(const Call& call) {
  const uid_t who = call.credentials().uid;
  return who == 0 || who == ::geteuid();
}

void remount(Call& call, const Path& path, ByteView in) {
  if (!may_steer(call)) return call.fail(EPERM);
  const std::string text(in.begin(), std::find(in.begin(), in.end(), 0));
  const Result<void> done = call.session().mount_namespace().remount(path, text);
  if (!done) return call.fail(done.error());
  call.answer(::fuse_reply_ioctl, 0, nullptr, std::size_t{0});
}

// The next piece of the answer.
void answer_piece(Call& call, OpenFolder& folder) {
  auto message = std::make_unique<ControlMessage>();
  message->version = kControlVersion;
  {
    const std::lock_guard lock(folder.mutex);
    const ByteView left = ByteView(folder.answer).subspan(folder.taken);
    const ByteView piece = left.first(std::min(left.size(), sizeof message->bytes));
    std::ranges::copy(piece, message->bytes);
    message->size = static_cast<std::uint32_t>(piece.size());
    folder.taken += piece.size();
    if (piece.size() < left.size()) {
      message->flags = ControlMessage::kMore;
    } else {
      folder.answer.clear();
      folder.taken = 0;
    }
  }
  call.answer(::fuse_reply_ioctl, 0, message.get(), sizeof *message);
}

// The last piece of a request is here.
void run_control(Call& call, OpenFolder& folder, Bytes bytes) {
  Server::Session& session = call.session();
  session.notifier().post([call = std::move(call), &session, &folder,
                           bytes = std::move(bytes)]() mutable {
    guarded(std::move(call), [&](Call& running) {
      const Result<Fields> request = unpack(bytes);
      if (!request) return running.fail(EINVAL);
      Result<Controller::Answer> done =
          session.controller()->control(running.credentials(), *request);
      if (!done) return running.fail(done.error());
      session.drop_names(done->changed);
      {
        const std::lock_guard lock(folder.mutex);
        folder.answer = pack(done->fields);
        folder.taken = 0;
      }
      answer_piece(running, folder);
    });
  });
}

void control(Call& call, OpenFolder& folder, ByteView in) {
  if (call.session().controller() == nullptr) return call.fail(ENOTTY);
  base::ByteReader reader(in);
  const auto version = reader.u32(), flags = reader.u32(), size = reader.u32();
  if (!size || *version != kControlVersion) return call.fail(EINVAL);
  if ((*flags & ControlMessage::kFetch) != 0) return answer_piece(call, folder);
  const Result<ByteView> piece = reader.take(*size);
  const bool more = (*flags & ControlMessage::kMore) != 0;
  if (!piece) return call.fail(EINVAL);
  if (more && !may_steer(call)) return call.fail(EPERM);
  Bytes request;
  {
    const std::lock_guard lock(folder.mutex);
    if (folder.request.size() + piece->size() > kLargestControlRequest) return call.fail(E2BIG);
    folder.request.insert(folder.request.end(), piece->begin(), piece->end());
    if (!more) request = std::exchange(folder.request, {});
  }
  if (!more) return run_control(call, folder, std::move(request));
  const ControlMessage empty{kControlVersion, 0, 0, {}};
  call.answer(::fuse_reply_ioctl, 0, &empty, sizeof empty);
}

}  // namespace

void ioctl(fuse_req_t request, fuse_ino_t id, unsigned command, void*, fuse_file_info* info,
           unsigned, const void* in, std::size_t in_size, std::size_t) noexcept {
  guarded_at(request, id, [&](Call& call, const Path& path) {
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
      case kControlRequest:
        if (!path.dentry->inode().is_directory()) return call.fail(ENOTTY);
        return control(call, folder_of(info), input);
      default:
        return call.fail(ENOTTY);
    }
  });
}

}  // namespace efivarium::fuse
