#include "fuse/directory.h"

#include <linux/fuse.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "fuse/call.h"

namespace efivarium::fuse {
namespace {

// Offsets: the sequence of the last name given, so that listings go on wherever names come and go;
// the two dots stand before all. Names come newest first.
constexpr off_t kSelf = std::numeric_limits<off_t>::max();
constexpr off_t kParent = kSelf - 1;

enum class Listing : std::uint8_t { kNames, kNamesAndAttributes };

class DirectoryBuffer {
 public:
  DirectoryBuffer(fuse_req_t request, std::size_t size, Listing listing)
      : request_(request), bytes_(size), listing_(listing) {}

  // False if it does not fit any more.
  bool add(const char* name, const fuse_entry_param& entry, off_t next) {
    char* const at = bytes_.data() + used_;
    const std::size_t room = bytes_.size() - used_;
    const std::size_t taken =
        listing_ == Listing::kNames
            ? ::fuse_add_direntry(request_, at, room, name, &entry.attr, next)
            : ::fuse_add_direntry_plus(request_, at, room, name, &entry, next);
    if (taken > room) return false;
    used_ += taken;
    return true;
  }
  const char* data() const { return bytes_.data(); }
  std::size_t size() const { return used_; }

 private:
  const fuse_req_t request_;
  std::vector<char> bytes_;
  const Listing listing_;
  std::size_t used_ = 0;
};

class Lister {
 public:
  Lister(Server::Session& session, const vfs::Path& folder, Listing listing, DirectoryBuffer& buffer)
      : session_(session), folder_(folder), listing_(listing), buffer_(buffer) {
    is_public_ = (folder_.dentry->inode().attributes().mode & S_IXOTH) != 0;
  }

  // False if it does not fit any more.
  bool add(const vfs::Ref<vfs::Dentry>& name) {
    const auto next = static_cast<off_t>(name->sequence());
    // What is mounted there is what is seen there.
    const vfs::Path path = name->is_mount_point()
                               ? folder_.mount->table().follow({folder_.mount, name})
                               : vfs::Path{folder_.mount, name};
    if (listing_ == Listing::kNames) {
      return buffer_.add(name->name().c_str(), Server::Session::entry(path, 0, false), next);
    }
    const Node& node = session_.nodes().remember(path);
    const bool fits = buffer_.add(name->name().c_str(),
                                  Server::Session::entry(path, node.id(), is_public_), next);
    if (!fits) session_.nodes().forget(node.id(), 1);
    return fits;
  }

 private:
  Server::Session& session_;
  const vfs::Path& folder_;
  const Listing listing_;
  DirectoryBuffer& buffer_;
  bool is_public_ = false;
};

void list(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
          Listing listing) noexcept {
  guarded_in(request, id, [request, size, offset, listing](Call& call,
                                                           const vfs::Path& folder) mutable {
    DirectoryBuffer buffer(request, size, listing);
    fuse_entry_param dots = Server::Session::entry(folder, 0, false);
    dots.attr.st_mode = S_IFDIR;
    if (offset == 0 && buffer.add(".", dots, kSelf)) offset = kSelf;
    if (offset == kSelf && buffer.add("..", dots, kParent)) offset = kParent;
    // As many as might fit; what is mounted there is looked for without the tree's lock.
    std::vector<vfs::Ref<vfs::Dentry>> names;
    std::size_t least_bytes = 0;
    folder.mount->superblock().list(*folder.dentry, static_cast<std::uint64_t>(offset),
                                    [&](const vfs::Ref<vfs::Dentry>& name) {
                                      names.push_back(name);
                                      least_bytes += sizeof(fuse_dirent) + name->name().size();
                                      return least_bytes < size;
                                    });
    Lister lister(call.session(), folder, listing, buffer);
    (void)std::ranges::all_of(names, [&](const auto& name) { return lister.add(name); });
    call.answer(::fuse_reply_buf, buffer.data(), buffer.size());
  });
}

void close_folder(OpenFolder* folder) {
  vfs::release_file(std::move(folder->file));
  delete folder;
}

}  // namespace

void opendir(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) noexcept {
  guarded_at(request, id, [&](Call& call, const vfs::Path& path) {
    Result<vfs::Ref<vfs::File>> file = vfs::open_file(path, info->flags, call.credentials());
    if (!file) return call.fail(file.error());
    auto* const folder = new OpenFolder{*std::move(file), {}, {}, {}, 0};
    info->fh = reinterpret_cast<std::uintptr_t>(folder);
    call.answer([&](fuse_req_t to) {
      if (::fuse_reply_open(to, info) == -ENOENT) close_folder(folder);
    });
  });
}

void releasedir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) noexcept {
  guarded(Call(request), [&](Call& call) {
    close_folder(&folder_of(info));
    call.fail(0);
  });
}

void readdir(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
             fuse_file_info*) noexcept {
  list(request, id, size, offset, Listing::kNames);
}

void readdirplus(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
                 fuse_file_info*) noexcept {
  list(request, id, size, offset, Listing::kNamesAndAttributes);
}

}  // namespace efivarium::fuse
