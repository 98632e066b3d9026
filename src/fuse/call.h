// Call: a request of the kernel's on its way to an answer.
#pragma once

#include <cerrno>
#include <new>
#include <utility>

#include "fuse/session.h"

namespace efivarium::fuse {

// A request that is answered exactly once: by answer(), or with an error when it goes.
class Call {
 public:
  explicit Call(fuse_req_t request)
      : request_(request), session_(*static_cast<Server::Session*>(::fuse_req_userdata(request))) {
    session_.begin_call();
  }
  Call(Call&& other) noexcept
      : request_(std::exchange(other.request_, nullptr)), session_(other.session_) {}
  Call& operator=(Call&&) = delete;
  ~Call() {
    if (request_ == nullptr) return;
    ::fuse_reply_err(request_, EIO);
    session_.end_call();
  }

  Server::Session& session() const { return session_; }
  Node& node(fuse_ino_t id) const { return session_.nodes().by_id(id); }
  // ESTALE.
  Result<vfs::Path> path(fuse_ino_t id) const { return node(id).path(); }

  vfs::Credentials credentials() const {
    const fuse_ctx* context = ::fuse_req_ctx(request_);
    const fuse_req_t request = request_;
    return {context->uid, context->gid, [request] {
              std::vector<gid_t> groups(64);
              while (true) {
                const int count =
                    ::fuse_req_getgroups(request, static_cast<int>(groups.size()), groups.data());
                if (count < 0) return std::vector<gid_t>();
                const bool whole = static_cast<std::size_t>(count) <= groups.size();
                groups.resize(static_cast<std::size_t>(count));
                if (whole) return groups;
              }
            },
            context->pid};
  }

  // reply: one of fuse_reply_*, with what follows the request.
  template <typename Reply, typename... Arguments>
  void answer(Reply reply, Arguments... arguments) {
    reply(std::exchange(request_, nullptr), arguments...);
    session_.end_call();
  }
  void fail(const Error& error) { answer(::fuse_reply_err, error.to_errno()); }
  void fail(int error) { answer(::fuse_reply_err, error); }
  void finish(const Result<void>& result) {
    answer(::fuse_reply_err, result ? 0 : result.error().to_errno());
  }

 private:
  fuse_req_t request_;
  Server::Session& session_;
};

// Runs body(Call&); what escapes it is an I/O error for the caller.
template <typename Body>
void guarded(Call call, Body&& body) noexcept {
  try {
    body(call);
  } catch (const std::bad_alloc&) {
    call.fail(ENOMEM);
  } catch (...) {
    call.fail(EIO);
  }
}
// The same for body(Call&, const Path&) with the node's place.
template <typename Body>
void guarded_at(fuse_req_t request, fuse_ino_t id, Body&& body) noexcept {
  guarded(Call(request), [&](Call& call) {
    const Result<vfs::Path> path = call.path(id);
    if (!path) return call.fail(path.error());
    body(call, *path);
  });
}
// And for one that looks at names: once the file system is loaded.
template <typename Body>
void guarded_in(fuse_req_t request, fuse_ino_t id, Body body) noexcept {
  guarded_at(request, id, [&](Call& call, const vfs::Path& path) {
    if (path.mount->superblock().is_loaded()) return body(call, path);
    base::WorkQueue& loader = call.session().loader();
    loader.post([call = std::move(call), path, body = std::move(body)]() mutable {
      guarded(std::move(call), [&](Call& waited) {
        path.mount->superblock().load();
        body(waited, path);
      });
    });
  });
}

}  // namespace efivarium::fuse
