#include "store/image_lock.h"

#include <fcntl.h>

#include <cerrno>

namespace efivarium::store {
namespace {

// A permission's locks stand at a base and its number.
constexpr off_t kInUse = 100;
constexpr off_t kNotShared = 200;
constexpr off_t kConsistentRead = 0, kWrite = 1;

struct flock byte_lock(off_t offset, off_t count, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = count;
  return lock;
}

// count: of bytes side by side.
Result<void> take(int fd, off_t offset, off_t count = 1) {
  struct flock lock = byte_lock(offset, count, F_RDLCK);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return {};
  if (errno == EAGAIN || errno == EACCES) return fail(Code::kLocked, "in use by another process");
  return std::unexpected(Error::system(errno, "cannot lock"));
}

// Asks for what a lock of the other kind there would be in the way of.
Result<void> check(int fd, off_t offset, off_t count = 1) {
  struct flock lock = byte_lock(offset, count, F_WRLCK);
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) {
    return std::unexpected(Error::system(errno, "cannot look at the locks"));
  }
  if (lock.l_type == F_UNLCK) return {};
  return fail(Code::kLocked,
              "in use by another process, probably a running virtual machine or a mount");
}

}  // namespace

// Ours first, so that of two that come at once at least one sees the other. Few calls: a folder of
// thousands of stores makes them for each.
Result<void> lock_image(int fd, base::Access access) {
  if (access == base::Access::kReadOnly) {
    EFIVARIUM_TRY(take(fd, kInUse + kConsistentRead));
    return check(fd, kNotShared + kConsistentRead);
  }
  EFIVARIUM_TRY(take(fd, kInUse + kConsistentRead, 2));  // and kWrite
  EFIVARIUM_TRY(take(fd, kNotShared + kWrite, 3));       // and kWriteUnchanged, kResize
  // Whatever use but reading, and whoever shares neither reading nor writing.
  const off_t first = kInUse + kWrite;
  return check(fd, first, kNotShared + kWrite + 1 - first);
}

}  // namespace efivarium::store
