// File names of efivarfs: NAME-GUID.
#pragma once

#include <string>
#include <string_view>

#include "efivarium/variable.h"

namespace efivarium::efivarfs {

// The variable that a file of that name would be. Each byte of NAME is one UCS-2 unit: no UTF-8 is
// decoded (Linux 7.3, fs/efivarfs/inode.c, efivarfs_create()). kInvalidParameter for what is no
// such name, kNotPermitted for the random seed's, which Linux hides.
Result<VariableKey> key_of_new_file(std::string_view file_name);

// How an existing variable is listed: UTF-8, a slash as an exclamation mark, the GUID in lower
// case (fs/efivarfs/super.c, efivarfs_callback()).
std::string file_name_of(const VariableKey& key);
bool is_hidden(const Guid& vendor);

// Names are the same if NAME is, byte for byte, and the GUIDs are but for case
// (fs/efivarfs/super.c, efivarfs_d_compare(), efivarfs_d_hash()).
bool same_file_name(std::string_view a, std::string_view b);
std::uint64_t hash_file_name(std::string_view name);

}  // namespace efivarium::efivarfs
