// New, blank stores.
#pragma once

#include <string>

#include "store/edk2_volume.h"

namespace efivarium::store {

// The layout of that name, or nullptr.
const Edk2Layout* layout_by_name(std::string_view name);

// Makes a file with a blank authenticated store, byte for byte what the platform's build makes. The
// file must not exist: kSystem with EEXIST. It is whole and durable, or not there.
Result<void> create_store(const std::string& path, const Edk2Layout& layout);

// Writes the same into a device of the layout's size.
Result<void> format_store(base::Device& device, const Edk2Layout& layout, StoreKind kind);

}  // namespace efivarium::store
