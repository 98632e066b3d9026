// FolderBackend: variables as files NAME-GUID, in the kernel's efivarfs, in ours, or in any folder.
#pragma once

#include "base/unique_fd.h"
#include "client/backend.h"

namespace efivarium::client {

// A variable costs one read(2) and, to be written, one write(2). Time stamps are not in the files
// and so always empty.
class FolderBackend final : public Backend {
 public:
  // kSystem with the errno of open(2).
  static Result<std::unique_ptr<FolderBackend>> open(const std::string& path);

  Result<Listing> list() override;
  Result<Variable> read(const VariableKey& key) override;
  // On an efivarfs, lifts the immutable flag for the write and puts it back; in a plain folder
  // replaces the file as a whole.
  Result<void> write(const VariableKey& key, Attributes attributes, ByteView data,
                     WriteMode mode) override;
  Result<void> remove(const VariableKey& key) override;
  Result<Capacity> capacity() override;

 private:
  FolderBackend(base::UniqueFd folder, bool is_efivarfs)
      : folder_(std::move(folder)), is_efivarfs_(is_efivarfs) {}
  Result<Bytes> read_content(const std::string& name);
  Result<Variable> read_file(const std::string& name, VariableKey key);
  Result<void> write_through(const std::string& name, ByteView content);
  Result<void> replace(const std::string& name, ByteView content);

  const base::UniqueFd folder_;
  const bool is_efivarfs_;
};

}  // namespace efivarium::client
