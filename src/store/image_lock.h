// The locks by which QEMU and we keep out of each other's way.
#pragma once

#include "base/device.h"

namespace efivarium::store {

// Takes the byte locks that QEMU takes on an image it uses (block/file-posix.c): at 100 + n for
// each permission in use, at 200 + n for each that is not shared; n is 0 for consistent reads, 1
// for writes, 2 for writes of what is there already, 3 for resizing. They belong to the open file
// and go with its last descriptor. A writer shares no kind of writing, a reader shares everything.
// kLocked if somebody else's use does not allow ours.
Result<void> lock_image(int fd, base::Access access);

}  // namespace efivarium::store
