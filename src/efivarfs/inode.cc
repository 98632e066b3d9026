#include "efivarfs/inode.h"

#include <sys/stat.h>

#include <algorithm>

#include "efivarfs/name.h"
#include "efivarfs/space.h"
#include "efivarfs/superblock.h"
#include "efivarfs/validate.h"
#include "vfs/file.h"

namespace efivarium::efivarfs {

using vfs::File;
using vfs::Ref;
using vfs::Reply;

namespace {

constexpr std::size_t kAttributesSize = sizeof(std::uint32_t);
constexpr Attributes kWritableAttributes = Attributes::from_raw(0x7F);
constexpr std::size_t kLargestWrite = std::size_t{4} << 20;  // what Linux's allocator gives
constexpr auto kLimitedWait = std::chrono::milliseconds(50);

}  // namespace

RootInode::RootInode(Efivarfs& efivarfs)
    : Inode(efivarfs, S_IFDIR | 0755, efivarfs.options().uid, efivarfs.options().gid),
      efivarfs_(efivarfs) {}

// fs/efivarfs/inode.c, efivarfs_create(). The firmware hears of it with the first write.
Result<Ref<vfs::Dentry>> RootInode::create(vfs::Dentry& folder, std::string_view name, mode_t mode,
                                           const vfs::Credentials&) {
  EFIVARIUM_TRY(VariableKey key, key_of_new_file(name));
  auto inode = Ref<VariableInode>::adopt(new VariableInode(efivarfs_, std::move(key), mode));
  return efivarfs_.add(folder, std::string(name), std::move(inode));
}

// fs/efivarfs/inode.c, efivarfs_unlink(): any failure is EINVAL.
void RootInode::unlink(Ref<vfs::Dentry> victim, Reply<void> reply) {
  efivarfs_.firmware().queue.post(
      [this, victim = std::move(victim), reply = std::move(reply)]() mutable {
        auto& file = static_cast<VariableInode&>(victim->inode());
        const Result<void> deleted =
            efivarfs_.firmware().services->set_variable(file.key(), Attributes(), {});
        if (!deleted && deleted.error().code() != Code::kNotFound) {
          return reply(fail(Code::kInvalidParameter, deleted.error().text()));
        }
        efivarfs_.remove(*victim);
        const timespec now = vfs::current_time();
        file.update([&](vfs::InodeAttributes& attributes) {
          attributes.links = 0;
          attributes.changed = now;
        });
        update([&](vfs::InodeAttributes& attributes) {
          attributes.modified = attributes.changed = now;
        });
        reply({});
      });
}

VariableInode::VariableInode(Efivarfs& efivarfs, VariableKey key, mode_t permissions)
    : Inode(efivarfs, S_IFREG | (permissions & 07777), efivarfs.options().uid,
            efivarfs.options().gid),
      efivarfs_(efivarfs),
      key_(std::move(key)) {
  if (efivarfs.options().inode_flags && !is_removable(key_)) set_flags(vfs::kImmutableFlag);
}

void VariableInode::note_size() {
  const Result<std::size_t> size = efivarfs_.firmware().services->variable_size(key_);
  update([&](vfs::InodeAttributes& attributes) {
    attributes.size_bytes = size ? kAttributesSize + *size : 0;
  });
}

Result<void> VariableInode::open(File& file) {
  const std::lock_guard lock(open_mutex_);
  if (removed_) return fail(Code::kNotFound, "no such file");
  ++opens_;
  file.cacheable = !file.is_writable() && !efivarfs_.is_limited() &&
                   !efivarfs_.firmware().services->is_slow(runtime::Service::kGet);
  file.seekable = file.cacheable;
  return {};
}

void VariableInode::release(File& file) {
  {
    const std::lock_guard lock(open_mutex_);
    if (--opens_ > 0 || attributes().size_bytes != 0) return;
    removed_ = true;
  }
  if (!efivarfs_.remove(*file.path().dentry)) return;
  update([](vfs::InodeAttributes& attributes) { attributes.links = 0; });
}

Bytes VariableInode::read_now(std::uint64_t offset, std::size_t size_bytes) {
  const runtime::VariableServices& services = *efivarfs_.firmware().services;
  Bytes content;
  // Linux asks for the size first. The variable may be gone since: that reads as an empty file.
  if (services.is_slow(runtime::Service::kGet)) (void)services.variable_size(key_);
  if (!services.append_variable(key_, content) || offset >= content.size()) return {};
  content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(offset));
  content.resize(std::min(content.size(), size_bytes));
  return content;
}

// fs/efivarfs/file.c, efivarfs_file_read(). Who is over the limit waits without holding up others.
void VariableInode::read(Ref<File> file, std::uint64_t offset, std::size_t size_bytes,
                         Reply<Bytes> reply) {
  if (efivarfs_.is_limited() &&
      !efivarfs_.limits().take_read(file->opener().uid, efivarfs_.now())) {
    return efivarfs_.limits().timers().post_at(
        Efivarfs::Clock::now() + kLimitedWait,
        [this, file = std::move(file), offset, size_bytes, reply = std::move(reply)]() mutable {
          read(std::move(file), offset, size_bytes, std::move(reply));
        });
  }
  if (!efivarfs_.firmware().services->is_slow(runtime::Service::kGet)) {
    return reply(read_now(offset, size_bytes));
  }
  efivarfs_.firmware().queue.post(
      [this, file = std::move(file), offset, size_bytes, reply = std::move(reply)]() mutable {
        reply(read_now(offset, size_bytes));
      });
}

// fs/efivarfs/file.c, efivarfs_file_write(): one write is one SetVariable(), wherever it is.
void VariableInode::write(Ref<File> file, std::uint64_t, Bytes bytes, Reply<void> reply) {
  if (bytes.size() < kAttributesSize) {
    return reply(fail(Code::kInvalidParameter, "a write begins with four bytes of attributes"));
  }
  if (bytes.size() > kLargestWrite + kAttributesSize) {
    return reply(fail(Code::kOutOfMemory, "the write is too large"));
  }
  {
    const std::lock_guard lock(open_mutex_);
    ++opens_;
  }
  efivarfs_.firmware().queue.post(
      [this, file = std::move(file), bytes = std::move(bytes), reply = std::move(reply)]() mutable {
        const Result<void> written = set(bytes);
        release(*file);
        reply(written);
      });
}

Result<void> VariableInode::set(const Bytes& bytes) {
  runtime::VariableServices& services = *efivarfs_.firmware().services;
  base::ByteReader reader(bytes);
  EFIVARIUM_TRY(const std::uint32_t raw, reader.u32());
  const Attributes attributes = Attributes::from_raw(raw);
  const ByteView data = reader.rest();
  if (!attributes.without(kWritableAttributes).empty()) {
    return fail(Code::kInvalidParameter, "unknown attributes");
  }
  EFIVARIUM_TRY(validate(key_, data));
  if (!data.empty()) {
    EFIVARIUM_TRY(check_space(services, attributes, data.size() + key_.name.units().size() * 2));
  }
  if (const auto done = services.set_variable(key_, attributes, data); !done) {
    const bool missing = done.error().code() == Code::kNotFound;
    return missing ? fail(Code::kDeviceError, "no such variable") : std::unexpected(done.error());
  }
  note_size();
  update([now = vfs::current_time()](vfs::InodeAttributes& inode) {
    if (inode.size_bytes != 0) inode.modified = inode.changed = now;
  });
  return {};
}

Result<void> VariableInode::check_flags() const {
  if (efivarfs_.options().inode_flags) return {};
  return fail(Code::kNotTerminal, "mounted with flags=off");
}

}  // namespace efivarium::efivarfs
