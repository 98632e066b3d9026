#include "store/image_lock.h"

#include <fcntl.h>

#include <cerrno>

namespace efivarium::store {
namespace {

constexpr off_t kInUseBase = 100;
constexpr off_t kNotSharedBase = 200;
constexpr unsigned kConsistentRead = 1U << 0, kWrite = 1U << 1, kResize = 1U << 3;
constexpr unsigned kAllPermissions = 0xF;

struct Permissions {
  unsigned in_use = 0;
  unsigned not_shared = 0;
};

constexpr Permissions permissions_of(base::Access access) {
  if (access == base::Access::kReadOnly) return {kConsistentRead, 0};
  return {kConsistentRead | kWrite, kWrite | kResize};
}

struct flock byte_lock(off_t offset, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return lock;
}

template <typename Act>
Result<void> for_each_bit(unsigned bits, off_t base_offset, const Act& act) {
  for (int bit = 0; bit < 4; ++bit) {
    if ((bits & (1U << bit)) != 0) EFIVARIUM_TRY(act(base_offset + bit));
  }
  return {};
}

}  // namespace

Result<void> lock_image(int fd, base::Access access) {
  const Permissions ours = permissions_of(access);
  const auto take = [fd](off_t offset) -> Result<void> {
    struct flock lock = byte_lock(offset, F_RDLCK);
    if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return {};
    if (errno == EAGAIN || errno == EACCES) {
      return fail(Code::kLocked, "in use by another process");
    }
    return std::unexpected(Error::system(errno, "cannot lock"));
  };
  // Asks for what a lock of the other kind there would be in the way of.
  const auto check = [fd](off_t offset) -> Result<void> {
    struct flock lock = byte_lock(offset, F_WRLCK);
    if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) {
      return std::unexpected(Error::system(errno, "cannot look at the locks"));
    }
    if (lock.l_type == F_UNLCK) return {};
    return fail(Code::kLocked,
                "in use by another process, probably a running virtual machine or a mount");
  };
  // Ours first, so that of two that come at once at least one sees the other.
  EFIVARIUM_TRY(for_each_bit(ours.in_use, kInUseBase, take));
  EFIVARIUM_TRY(for_each_bit(ours.not_shared, kNotSharedBase, take));
  EFIVARIUM_TRY(for_each_bit(ours.in_use, kNotSharedBase, check));
  return for_each_bit(ours.not_shared & kAllPermissions, kInUseBase, check);
}

}  // namespace efivarium::store
