// Device: where a store's bytes are kept - a file, a block device, or a test's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/byte_reader.h"
#include "base/unique_fd.h"

namespace efivarium::base {

// A fixed number of bytes at offsets. Neither reads nor writes move its size: what does not fit
// fails with kInvalidParameter before a byte is touched. Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::uint64_t size() const = 0;
  // Fills out from offset on.
  virtual Result<void> read(std::uint64_t offset, std::span<std::uint8_t> out) = 0;
  // May be on the medium in any part, and in any order against other writes, until sync().
  virtual Result<void> write(std::uint64_t offset, ByteView bytes) = 0;
  // A durability barrier: everything written before is on the medium when it returns.
  virtual Result<void> sync() = 0;

  Result<Bytes> read_bytes(std::uint64_t offset, std::uint64_t size);
};

enum class Access : std::uint8_t { kReadOnly, kReadWrite };

// A regular file or a block device.
class FileDevice final : public Device {
 public:
  // kSystem with the errno of open(2) or access(2); kUnsupported for what is neither file nor block
  // device. It is opened for writing by its first write: the end of one that was only read is no
  // event for whoever watches the folder for what was written (inotify(7), IN_CLOSE_WRITE).
  static Result<std::unique_ptr<FileDevice>> open(const std::string& path, Access access);
  // Makes a file that must not exist yet, of this size.
  static Result<std::unique_ptr<FileDevice>> create(const std::string& path, std::uint64_t size);

  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::uint8_t> out) override;
  Result<void> write(std::uint64_t offset, ByteView bytes) override;
  Result<void> sync() override;
  // Open from beginning to end: locks may be tied to it.
  int fd() const { return fd_.get(); }

 private:
  FileDevice(UniqueFd fd, UniqueFd writer, Access access, std::uint64_t size)
      : fd_(std::move(fd)), writer_(std::move(writer)), access_(access), size_(size) {}
  Result<void> open_writer();

  UniqueFd fd_;
  UniqueFd writer_;  // none before the first write
  Access access_;
  std::uint64_t size_;
};

// Whether size bytes at offset lie inside a device of device_size bytes.
constexpr bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t device_size) {
  return offset <= device_size && size <= device_size - offset;
}

// A whole small file (a preset, a key, a value): kInvalidParameter where it is longer than limit.
Result<Bytes> read_file(const std::string& path, std::size_t limit_bytes);

}  // namespace efivarium::base
