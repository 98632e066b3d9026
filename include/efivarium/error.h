// The one error type of efivarium, and what it is called in UEFI and in Linux.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace efivarium {

// What went wrong. The first group are EFI statuses (UEFI 2.10, Appendix D); the second are
// conditions that only a file system knows.
enum class Code : std::uint8_t {
  kInvalidParameter,
  kUnsupported,
  kBufferTooSmall,
  kNotReady,
  kDeviceError,
  kWriteProtected,
  kOutOfResources,
  kNotFound,
  kAccessDenied,
  kAborted,
  kSecurityViolation,
  kOutOfMemory,
  kCorrupt,       // a store that cannot be understood
  kNotFormatted,  // a store that was never written: all 0x00 or all 0xFF

  kExists,
  kNotDirectory,
  kIsDirectory,
  kBusy,
  kNotPermitted,
  kNotTerminal,
  kNotSupported,
  kNameTooLong,
  kLoop,
  kNotEmpty,
  kTryAgain,
  kLocked,  // somebody else, most likely a running guest, has the store open
  kSystem,  // a system call failed: see os_errno
};

class Error {
 public:
  // text: what was attempted or found, static storage, no trailing full stop.
  constexpr Error(Code code, const char* text) : text_(text), code_(code) {}

  // The byte offset, from the start of the store's file, that the error is about.
  constexpr Error& at(std::uint64_t offset) {
    offset_ = offset;
    return *this;
  }

  // A failed system call, with the errno that it left.
  static Error system(int os_errno, const char* text);

  constexpr Code code() const { return code_; }
  constexpr const char* text() const { return text_; }
  constexpr std::optional<std::uint64_t> offset() const { return offset_; }

  // The errno that Linux's efivarfs answers for the status (fs/efivarfs, efi_status_to_err()).
  int to_errno() const;
  // The EFI_STATUS, 64 bits wide with the error bit set.
  std::uint64_t to_efi_status() const;
  // One line for a person: text, offset and errno text where there are any.
  std::string message() const;

  // Errors are equal if they mean the same to a caller; the text is for people.
  friend constexpr bool operator==(const Error& a, const Error& b) { return a.code_ == b.code_; }

 private:
  const char* text_;
  std::optional<std::uint64_t> offset_;
  int os_errno_ = 0;
  Code code_;
};

}  // namespace efivarium
