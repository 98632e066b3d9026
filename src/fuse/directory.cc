#include "fuse/directory.h"

#include <sys/stat.h>

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

void list(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
          Listing listing) noexcept {
  guarded(request, [&](Call& call) {
    Server::Session& session = call.session();
    const Node& folder = call.node(id);
    DirectoryBuffer buffer(request, size, listing);
    fuse_entry_param dots{};
    dots.attr.st_mode = S_IFDIR;
    dots.attr.st_ino = folder.path.dentry->inode().attributes().number;
    if (offset == 0 && buffer.add(".", dots, kSelf)) offset = kSelf;
    if (offset == kSelf && buffer.add("..", dots, kParent)) offset = kParent;
    const vfs::Superblock& superblock = folder.path.mount->superblock();
    superblock.list(*folder.path.dentry, static_cast<std::uint64_t>(offset),
                    [&](const vfs::Ref<vfs::Dentry>& name) {
                      const auto next = static_cast<off_t>(name->sequence());
                      if (listing == Listing::kNames) {
                        fuse_entry_param entry{};
                        const vfs::InodeAttributes attributes = name->inode().attributes();
                        entry.attr.st_mode = attributes.mode;
                        entry.attr.st_ino = attributes.number;
                        return buffer.add(name->name().c_str(), entry, next);
                      }
                      const Node& node = session.nodes().remember({folder.path.mount, name});
                      const bool fits =
                          buffer.add(name->name().c_str(), session.entry(node, name->name()), next);
                      if (!fits) session.nodes().forget(session.nodes().id_of(node), 1);
                      return fits;
                    });
    call.answer(::fuse_reply_buf, buffer.data(), buffer.size());
  });
}

}  // namespace

void readdir(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
             fuse_file_info*) noexcept {
  list(request, id, size, offset, Listing::kNames);
}

void readdirplus(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
                 fuse_file_info*) noexcept {
  list(request, id, size, offset, Listing::kNamesAndAttributes);
}

}  // namespace efivarium::fuse
