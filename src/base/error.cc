#include "efivarium/error.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace efivarium {
namespace {

constexpr std::uint64_t kErrorBit = std::uint64_t{1} << 63;

struct Row {
  Code code;
  std::uint8_t efi_status;  // UEFI 2.10, Appendix D, without the error bit
  int os_errno;
};

// Statuses that Linux does not know are EINVAL there (efi_status_to_err()).
constexpr std::array kTable = {
    Row{Code::kInvalidParameter, 2, EINVAL},
    Row{Code::kUnsupported, 3, EINVAL},
    Row{Code::kBufferTooSmall, 5, EINVAL},
    Row{Code::kNotReady, 6, EINVAL},
    Row{Code::kDeviceError, 7, EIO},
    Row{Code::kWriteProtected, 8, EROFS},
    Row{Code::kOutOfResources, 9, ENOSPC},
    Row{Code::kNotFound, 14, ENOENT},
    Row{Code::kAccessDenied, 15, EINVAL},
    Row{Code::kAborted, 21, EINTR},
    Row{Code::kSecurityViolation, 26, EACCES},
    Row{Code::kOutOfMemory, 9, ENOMEM},
    Row{Code::kCorrupt, 7, EIO},
    Row{Code::kNotFormatted, 7, EIO},
    Row{Code::kExists, 7, EEXIST},
    Row{Code::kNotDirectory, 7, ENOTDIR},
    Row{Code::kIsDirectory, 7, EISDIR},
    Row{Code::kBusy, 7, EBUSY},
    Row{Code::kNotPermitted, 7, EPERM},
    Row{Code::kNotTerminal, 7, ENOTTY},
    Row{Code::kNotSupported, 7, EOPNOTSUPP},
    Row{Code::kNameTooLong, 7, ENAMETOOLONG},
    Row{Code::kLoop, 7, ELOOP},
    Row{Code::kNotEmpty, 7, ENOTEMPTY},
    Row{Code::kTryAgain, 7, EAGAIN},
    Row{Code::kLocked, 7, EBUSY},
    Row{Code::kSystem, 7, EIO},
};

constexpr const Row& row(Code code) { return kTable[static_cast<std::size_t>(code)]; }

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].code) != i) return false;
  }
  return kTable.size() == static_cast<std::size_t>(Code::kSystem) + 1;
}
static_assert(in_order(), "one row a code, in the order of the enum");

}  // namespace

Error Error::system(int os_errno, const char* text) {
  Error error(os_errno == ENOMEM ? Code::kOutOfMemory : Code::kSystem, text);
  error.os_errno_ = os_errno;
  return error;
}

int Error::to_errno() const { return os_errno_ != 0 ? os_errno_ : row(code_).os_errno; }

std::uint64_t Error::to_efi_status() const { return kErrorBit | row(code_).efi_status; }

std::string Error::message() const {
  std::string line = text_;
  if (offset_) {
    std::array<char, 32> hex{};
    std::snprintf(hex.data(), hex.size(), " at offset 0x%llx",
                  static_cast<unsigned long long>(*offset_));
    line += hex.data();
  }
  if (os_errno_ != 0) {
    line += ": ";
    line += std::strerror(os_errno_);
  }
  return line;
}

}  // namespace efivarium
