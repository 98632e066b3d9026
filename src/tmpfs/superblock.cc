#include "tmpfs/superblock.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>

#include "vfs/file.h"
#include "vfs/options.h"

namespace efivarium::tmpfs {
namespace {

using vfs::Credentials;
using vfs::Dentry;
using vfs::File;
using vfs::Inode;
using vfs::InodeAttributes;
using vfs::Ref;
using vfs::Reply;

constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPageSize - 1) / kPageSize; }

void touch(Inode& inode) {
  inode.update([now = vfs::current_time()](InodeAttributes& attributes) {
    attributes.modified = attributes.changed = now;
  });
}

class RegularFile final : public Inode {
 public:
  RegularFile(Tmpfs& tmpfs, mode_t mode, const Credentials& who)
      : Inode(tmpfs, S_IFREG | (mode & 07777), who.uid, who.gid), space_(tmpfs.space()) {}
  ~RegularFile() override { (void)space_->resize(content_.size(), 0); }

  Result<void> open(File& file) override { return file.truncates() ? set_size(0) : Result<void>(); }
  void read(Ref<File>, std::uint64_t offset, std::size_t size_bytes, Reply<Bytes> reply) override {
    const std::unique_lock lock(mutex_);
    const std::size_t begin = std::min<std::uint64_t>(offset, content_.size());
    const std::size_t end = begin + std::min(size_bytes, content_.size() - begin);
    reply(Bytes(content_.data() + begin, content_.data() + end));
  }
  void write(Ref<File> file, std::uint64_t offset, Bytes bytes, Reply<void> reply) override {
    reply(put(file->appends() ? std::nullopt : std::optional(offset), bytes));
  }
  Result<void> sync() override { return {}; }
  Result<void> set_attributes(const vfs::AttributeChange& change) override {
    if (change.size_bytes) EFIVARIUM_TRY(set_size(*change.size_bytes));
    return Inode::set_attributes(change);
  }

 private:
  // offset: none for the end.
  Result<void> put(std::optional<std::uint64_t> offset, const Bytes& bytes) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t at = offset.value_or(content_.size());
    if (at + bytes.size() > content_.size()) EFIVARIUM_TRY(resize(at + bytes.size()));
    std::ranges::copy(bytes, content_.begin() + static_cast<std::ptrdiff_t>(at));
    touch(*this);
    return {};
  }
  Result<void> set_size(std::uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    EFIVARIUM_TRY(resize(size_bytes));
    touch(*this);
    return {};
  }
  Result<void> resize(std::uint64_t size_bytes) {
    EFIVARIUM_TRY(space_->resize(content_.size(), size_bytes));
    content_.resize(size_bytes);
    update([size_bytes](InodeAttributes& attributes) { attributes.size_bytes = size_bytes; });
    return {};
  }

  const std::shared_ptr<Tmpfs::Space> space_;
  std::mutex mutex_;
  Bytes content_;
};

class Folder final : public Inode {
 public:
  Folder(Tmpfs& tmpfs, mode_t mode, const Credentials& who)
      : Inode(tmpfs, S_IFDIR | (mode & 07777), who.uid, who.gid), tmpfs_(tmpfs) {}

  Result<Ref<Dentry>> create(Dentry& folder, std::string_view name, mode_t mode,
                             const Credentials& who) override {
    return add<RegularFile>(folder, name, mode, who);
  }
  Result<Ref<Dentry>> make_folder(Dentry& folder, std::string_view name, mode_t mode,
                                  const Credentials& who) override {
    EFIVARIUM_TRY(Ref<Dentry> made, add<Folder>(folder, name, mode, who));
    update([](InodeAttributes& attributes) { ++attributes.links; });
    return made;
  }
  void unlink(Ref<Dentry> victim, Reply<void> reply) override {
    if (!tmpfs_.remove(*victim)) return reply(fail(Code::kNotFound, "no such file"));
    victim->inode().update([](InodeAttributes& attributes) { --attributes.links; });
    touch(*this);
    reply({});
  }
  Result<void> remove_folder(Dentry& victim) override {
    EFIVARIUM_TRY(tmpfs_.remove_folder(victim));
    victim.inode().update([](InodeAttributes& attributes) { attributes.links = 0; });
    update([](InodeAttributes& attributes) { --attributes.links; });
    touch(*this);
    return {};
  }
  Result<void> sync() override { return {}; }

 private:
  template <typename Made>
  Result<Ref<Dentry>> add(Dentry& folder, std::string_view name, mode_t mode,
                          const Credentials& who) {
    EFIVARIUM_TRY(Ref<Dentry> made, tmpfs_.add(folder, std::string(name),
                                               Ref<Made>::adopt(new Made(tmpfs_, mode, who))));
    touch(*this);
    return made;
  }

  Tmpfs& tmpfs_;
};

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t size = 0;
  const char* const end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(std::to_address(text.begin()), end, size);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit == "k" || unit == "K") shift = 10;
  if (unit == "m" || unit == "M") shift = 20;
  if (unit == "g" || unit == "G") shift = 30;
  if (error != std::errc{} || shift < 0 || size > (~std::uint64_t{0} >> shift)) {
    return fail(Code::kInvalidParameter, "size takes bytes, with k, m or g");
  }
  return size << shift;
}

}  // namespace

Tmpfs::Tmpfs(mode_t root_mode) {
  set_root(Ref<Folder>::adopt(new Folder(*this, root_mode, Credentials())));
}

Tmpfs::~Tmpfs() { drop_tree(); }

Result<Ref<Tmpfs>> Tmpfs::make(std::string_view options) {
  auto made = Ref<Tmpfs>::adopt(new Tmpfs(0755));
  EFIVARIUM_TRY(made->reconfigure(options));
  return made;
}

std::string Tmpfs::show_options() const {
  const std::uint64_t limit = space_->limit_pages;
  return limit == 0 ? "" : ",size=" + std::to_string(limit * kPageSize / 1024) + "k";
}

Result<void> Tmpfs::reconfigure(std::string_view options) {
  std::optional<std::uint64_t> limit;
  for (const std::string_view option : vfs::each_option(options)) {
    if (!option.starts_with("size=")) {
      return fail(Code::kInvalidParameter, "unknown mount option");
    }
    EFIVARIUM_TRY(limit, parse_size(option.substr(5)));
  }
  if (!limit) return {};
  if (*limit != 0 && pages(*limit) < space_->used_pages) {
    return fail(Code::kInvalidParameter, "more than that is in use");
  }
  space_->limit_pages = pages(*limit);
  return {};
}

void Tmpfs::status(Reply<vfs::FileSystemStatus> reply) {
  vfs::FileSystemStatus status;
  const std::uint64_t limit = space_->limit_pages, used = space_->used_pages;
  status.block_size_bytes = kPageSize;
  status.blocks = limit;
  status.blocks_free = status.blocks_available = limit > used ? limit - used : 0;
  reply(status);
}

Result<void> Tmpfs::Space::resize(std::uint64_t from_bytes, std::uint64_t to_bytes) {
  const std::uint64_t from = pages(from_bytes), to = pages(to_bytes);
  if (to <= from) {
    used_pages -= from - to;
    return {};
  }
  if (used_pages.fetch_add(to - from) + (to - from) > limit_pages && limit_pages != 0) {
    used_pages -= to - from;
    return fail(Code::kOutOfResources, "the file system is full");
  }
  return {};
}

}  // namespace efivarium::tmpfs
