#include "client/folder_backend.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/byte_writer.h"

namespace efivarium::client {

using base::UniqueFd;

namespace {

constexpr unsigned kEfivarfsMagic = 0xde5e81e4;
constexpr unsigned kFuseMagic = 0x65735546;
constexpr std::size_t kFirstRead = std::size_t{64} << 10;

std::unexpected<Error> system_error(const char* text) {
  if (errno == ENOENT) return fail(Code::kNotFound, "no such variable");
  return std::unexpected(Error::system(errno, text));
}

// As listed by efivarfs: a slash in a name shows as an exclamation mark.
std::string file_name_of(const VariableKey& key) {
  std::string name = key.to_text();
  std::ranges::replace(name, '/', '!');
  return name;
}

std::optional<int> inode_flags(int fd) {
  int flags = 0;
  if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return std::nullopt;
  return flags;
}

// The file's immutable flag, lifted as long as this lives.
class LiftedFlag {
 public:
  LiftedFlag(int folder, const std::string& name)
      : fd_(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC)) {
    const std::optional<int> flags = fd_ ? inode_flags(fd_.get()) : std::nullopt;
    if (!flags || (*flags & FS_IMMUTABLE_FL) == 0) return;
    const int lifted = *flags & ~FS_IMMUTABLE_FL;
    if (::ioctl(fd_.get(), FS_IOC_SETFLAGS, &lifted) == 0) flags_ = flags;
  }
  LiftedFlag(const LiftedFlag&) = delete;
  LiftedFlag& operator=(const LiftedFlag&) = delete;
  ~LiftedFlag() {
    if (flags_) ::ioctl(fd_.get(), FS_IOC_SETFLAGS, &*flags_);
  }
  void forget() { flags_.reset(); }

 private:
  const UniqueFd fd_;
  std::optional<int> flags_;
};

Result<void> write_once(int fd, ByteView content) {
  const ssize_t put = ::write(fd, content.data(), content.size());
  if (put < 0) return system_error("cannot write the variable");
  if (static_cast<std::size_t>(put) != content.size()) {
    return fail(Code::kDeviceError, "the variable was written in part");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<FolderBackend>> FolderBackend::open(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct statfs status {};
  if (!folder || ::fstatfs(folder.get(), &status) != 0) {
    return std::unexpected(Error::system(errno, "cannot open the folder"));
  }
  const auto magic = static_cast<unsigned>(status.f_type);
  const bool is_efivarfs = magic == kEfivarfsMagic || magic == kFuseMagic;
  return std::unique_ptr<FolderBackend>(new FolderBackend(std::move(folder), is_efivarfs));
}

Result<Listing> FolderBackend::list() {
  const int copy = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) return std::unexpected(Error::system(errno, "cannot list the folder"));
  Listing listing;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = static_cast<const char*>(entry->d_name);
    Result<VariableKey> key = VariableKey::parse(name);
    if (!key) continue;
    Result<Variable> variable = read_file(name, *std::move(key));
    if (variable) {
      listing.variables.push_back(*std::move(variable));
    } else if (variable.error().code() != Code::kNotFound) {
      listing.problems.push_back(name + ": " + variable.error().message());
    }
  }
  ::closedir(stream);
  return listing;
}

Result<Bytes> FolderBackend::read_content(const std::string& name) {
  const UniqueFd fd(::openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("cannot open the variable");
  Bytes content(kFirstRead);
  std::size_t used = 0;
  while (true) {
    const ssize_t got = ::read(fd.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read the variable");
    used += static_cast<std::size_t>(got);
    if (used < content.size()) break;  // a short read is the whole
    content.resize(content.size() * 2);
  }
  content.resize(used);
  return content;
}

Result<Variable> FolderBackend::read_file(const std::string& name, VariableKey key) {
  EFIVARIUM_TRY(const Bytes content, read_content(name));
  base::ByteReader reader(content);
  const Result<std::uint32_t> attributes = reader.u32();
  if (!attributes) {
    // Created and not yet written, or just deleted.
    if (content.empty()) return fail(Code::kNotFound, "no such variable");
    return fail(Code::kCorrupt, "the file is shorter than its attributes");
  }
  const ByteView data = reader.rest();
  return Variable{
      std::move(key), Attributes::from_raw(*attributes), {}, Bytes(data.begin(), data.end())};
}

Result<Variable> FolderBackend::read(const VariableKey& key) {
  return read_file(file_name_of(key), key);
}

Result<void> FolderBackend::write(const VariableKey& key, Attributes attributes, ByteView data,
                                  WriteMode mode) {
  const std::string name = file_name_of(key);
  base::ByteWriter content;
  if (is_efivarfs_) {
    if (mode == WriteMode::kAppend) attributes = attributes | kAppendWrite;
    content.u32(attributes.raw()).bytes(data);
    return write_through(name, content.view());
  }
  content.u32(attributes.raw());
  if (mode == WriteMode::kAppend) {
    const Result<Variable> old = read(key);
    if (!old && old.error().code() != Code::kNotFound) return std::unexpected(old.error());
    if (old) content.bytes(old->data);
  }
  content.bytes(data);
  return replace(name, content.view());
}

Result<void> FolderBackend::write_through(const std::string& name, ByteView content) {
  const LiftedFlag lifted(folder_.get(), name);
  const UniqueFd fd(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return std::unexpected(Error::system(errno, "cannot open the variable"));
  return write_once(fd.get(), content);
}

Result<void> FolderBackend::replace(const std::string& name, ByteView content) {
  const std::string temporary = "." + std::to_string(::getpid()) + ".tmp";
  const UniqueFd fd(
      ::openat(folder_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return std::unexpected(Error::system(errno, "cannot create the file"));
  Result<void> done = write_once(fd.get(), content);
  if (done && (::fsync(fd.get()) != 0 ||
               ::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) != 0 ||
               ::fsync(folder_.get()) != 0)) {
    done = std::unexpected(Error::system(errno, "cannot replace the file"));
  }
  if (!done) ::unlinkat(folder_.get(), temporary.c_str(), 0);
  return done;
}

Result<void> FolderBackend::remove(const VariableKey& key) {
  const std::string name = file_name_of(key);
  LiftedFlag lifted(folder_.get(), name);
  if (::unlinkat(folder_.get(), name.c_str(), 0) != 0) {
    return system_error("cannot remove the variable");
  }
  lifted.forget();
  return {};
}

Result<Capacity> FolderBackend::capacity() {
  struct statfs status {};
  if (::fstatfs(folder_.get(), &status) != 0) {
    return std::unexpected(Error::system(errno, "cannot ask for the space"));
  }
  const auto unit = static_cast<std::uint64_t>(status.f_bsize);
  Capacity capacity;
  capacity.total = status.f_blocks * unit;
  capacity.free = status.f_bfree * unit;
  capacity.used = capacity.total - std::min(capacity.total, capacity.free);
  return capacity;
}

}  // namespace efivarium::client
