#include "base/device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace efivarium::base {
namespace {

std::unexpected<Error> system_error(const char* text) {
  return std::unexpected(Error::system(errno, text));
}

struct Medium {
  std::uint64_t size_bytes = 0;
  bool is_read_only = false;
};

Result<Medium> medium_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_error("cannot stat the store");
  if (S_ISREG(status.st_mode)) return Medium{static_cast<std::uint64_t>(status.st_size)};
  if (!S_ISBLK(status.st_mode)) {
    return fail(Code::kUnsupported, "neither a file nor a block device");
  }
  Medium device;
  int is_read_only = 0;
  if (::ioctl(fd, BLKGETSIZE64, &device.size_bytes) != 0 ||
      ::ioctl(fd, BLKROGET, &is_read_only) != 0) {
    return system_error("cannot tell the device's size");
  }
  device.is_read_only = is_read_only != 0;
  return device;
}

// As an open for writing would be answered: faccessat2(2), Linux 5.8, of what is open, whatever
// stands under its name now. The C library's faccessat() would judge by the mode alone.
Result<void> check_writable(int fd, const Medium& medium) {
  constexpr const char* kRefused = "cannot open for writing";
  if (::syscall(SYS_faccessat2, fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) != 0) {
    return system_error(kRefused);
  }
  if (medium.is_read_only) return std::unexpected(Error::system(EROFS, kRefused));
  return {};
}

}  // namespace

Result<Bytes> Device::read_bytes(std::uint64_t offset, std::uint64_t size) {
  if (!inside(offset, size, this->size())) {
    return fail_at(Code::kCorrupt, "the file ends too early", this->size());
  }
  Bytes bytes(static_cast<std::size_t>(size));
  EFIVARIUM_TRY(read(offset, bytes));
  return bytes;
}

Result<std::unique_ptr<FileDevice>> FileDevice::open(const std::string& path, Access access) {
  // O_NONBLOCK: a FIFO in the place of a store must not hold us up before medium_of() refuses it.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return system_error("cannot open");
  EFIVARIUM_TRY(const Medium medium, medium_of(fd.get()));
  if (access == Access::kReadWrite) EFIVARIUM_TRY(check_writable(fd.get(), medium));
  return std::unique_ptr<FileDevice>(new FileDevice(std::move(fd), {}, access, medium.size_bytes));
}

Result<std::unique_ptr<FileDevice>> FileDevice::create(const std::string& path,
                                                       std::uint64_t size) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return system_error("cannot create");
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return system_error("cannot resize");
  UniqueFd writer(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!writer) return system_error("cannot open for writing");
  return std::unique_ptr<FileDevice>(
      new FileDevice(std::move(fd), std::move(writer), Access::kReadWrite, size));
}

// By way of what is open, so that it is that file whatever has come in its place.
Result<void> FileDevice::open_writer() {
  if (writer_) return {};
  if (access_ == Access::kReadOnly) return fail(Code::kWriteProtected, "opened for reading only");
  writer_ = UniqueFd(
      ::open(("/proc/self/fd/" + std::to_string(fd_.get())).c_str(), O_WRONLY | O_CLOEXEC));
  if (!writer_) return system_error("cannot open for writing");
  return {};
}

Result<void> FileDevice::read(std::uint64_t offset, std::span<std::uint8_t> out) {
  if (!inside(offset, out.size(), size_)) {
    return fail_at(Code::kInvalidParameter, "read outside the store", offset);
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(Error::system(errno, "cannot read").at(offset));
    if (got == 0) return fail_at(Code::kDeviceError, "the store became shorter", offset);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<void> FileDevice::write(std::uint64_t offset, ByteView bytes) {
  if (!inside(offset, bytes.size(), size_)) {
    return fail_at(Code::kInvalidParameter, "write outside the store", offset);
  }
  EFIVARIUM_TRY(open_writer());
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(writer_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(Error::system(errno, "cannot write").at(offset));
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<void> FileDevice::sync() {
  if (::fdatasync(fd_.get()) != 0) return system_error("cannot write to the medium");
  return {};
}

Result<Bytes> read_file(const std::string& path, std::size_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("cannot open");
  Bytes bytes(limit_bytes + 1);
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read");
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  if (used > limit_bytes) return fail(Code::kInvalidParameter, "the file is too long");
  bytes.resize(used);
  return bytes;
}

}  // namespace efivarium::base
