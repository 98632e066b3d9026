#include "store/edk2_create.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "store/edk2_ftw.h"

namespace efivarium::store {

const Edk2Layout* layout_by_name(std::string_view name) {
  const auto* const found = std::ranges::find(kEdk2Layouts, name, &Edk2Layout::name);
  return found == kEdk2Layouts.end() ? nullptr : found;
}

Result<void> format_store(base::Device& device, const Edk2Layout& layout, StoreKind kind) {
  Bytes volume(layout.volume_length, kErased);
  const auto place = [&](std::uint64_t offset, const Bytes& bytes) {
    std::ranges::copy(bytes, volume.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  place(0, serialize_volume_header(layout));
  place(kVolumeHeaderSize, serialize_store_header(layout, kind));
  place(layout.working_offset, serialize_working_header(layout.working_size));
  EFIVARIUM_TRY(device.write(0, volume));
  if (layout.padding != 0) {
    const Bytes padding(std::size_t{1} << 20, layout.padding);
    for (std::uint64_t at = layout.volume_length; at < device.size(); at += padding.size()) {
      const std::uint64_t left = std::min<std::uint64_t>(padding.size(), device.size() - at);
      EFIVARIUM_TRY(device.write(at, ByteView(padding).first(left)));
    }
  }
  return device.sync();
}

Result<void> create_store(const std::string& path, const Edk2Layout& layout) {
  // Made beside it and given its name when whole, without replacing what has it by then.
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  if (::access(path.c_str(), F_OK) == 0) {
    return std::unexpected(Error::system(EEXIST, "cannot create"));
  }
  EFIVARIUM_TRY(auto device, base::FileDevice::create(temporary, layout.file_size));
  Result<void> done = format_store(*device, layout, StoreKind::kAuthenticated);
  if (done &&
      ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    // A file system that has no such rename has links.
    const int error = errno;
    if (error != EINVAL || ::link(temporary.c_str(), path.c_str()) != 0) {
      done = std::unexpected(Error::system(error == EINVAL ? errno : error, "cannot create"));
    }
  }
  ::unlink(temporary.c_str());
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const base::UniqueFd parent(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (done && ::fsync(parent.get()) != 0) {
    done = std::unexpected(Error::system(errno, "cannot write to the medium"));
  }
  return done;
}

}  // namespace efivarium::store
