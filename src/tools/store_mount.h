// A store as a file system that can be mounted in a namespace.
#pragma once

#include <memory>
#include <string>

#include "efivarfs/superblock.h"
#include "runtime/variable_services.h"
#include "store/open_store.h"
#include "tools/mount_options.h"

namespace efivarium::tools {

using efivarfs::Efivarfs;

// The path without symbolic links and dots, or as it is where there is no such file.
std::string absolute(const std::string& path);

// What the profile asks of the runtime services.
runtime::ServiceOptions service_options(efivarfs::Profile profile);

// Opens the store and checks its headers; its variables are read when somebody wants to see them,
// and if they are damaged then, it is read-only and says so. Errors are those of
// UnreadStore::open(), and of a placement that cannot be had.
Result<vfs::Ref<Efivarfs>> mount_store_later(const std::string& path, const MountOptions& options,
                                             std::shared_ptr<efivarfs::Limits> limits);

}  // namespace efivarium::tools
