// Fault-tolerant write: how a whole region is rewritten so that a cut at any point loses nothing.
//
// The new blocks go to the spare area first; a queue entry in the working area tells, bit by bit,
// how far the write has come. edk2 (FaultTolerantWriteDxe) continues what was begun here, and the
// other way round: the steps, their order and every flag are the same.
#pragma once

#include "base/device.h"
#include "store/edk2_format.h"

namespace efivarium::store {

struct Edk2Volume;

// The header of a working area of this size, with the flags of an idle one.
Bytes serialize_working_header(std::uint64_t working_size);

// Whether the spare area holds the only sure copy of the variable region: it was written whole, and
// copying it back was not finished. False where the working area cannot be read.
bool restore_is_pending(base::Device& device, std::uint64_t base, const Edk2Layout& layout);

enum class WorkingState : std::uint8_t {
  kIdle,
  kUnused,      // never used; the first write sets it up
  kUnfinished,  // an entry was begun and given up; nothing is lost
  kPending,     // restore_is_pending()
  kCrowded,     // bytes behind the last entry, or a replaced header: to be set up anew
  kLost,        // restore_is_pending(), but what the spare area holds is no store
  kInvalid,     // neither header nor copy of it
};
Result<WorkingState> working_state(base::Device& device, const Edk2Volume& volume);

// Finishes or gives up what was begun, and leaves a working area that can take an entry. The
// volume's source is its base afterwards. kCorrupt, with nothing written, for kLost.
Result<void> recover_working_area(base::Device& device, Edk2Volume& volume);

// Forgets everything that the working area says.
Result<void> set_up_working_area(base::Device& device, const Edk2Volume& volume);

// Replaces the variable store, store_size bytes with its header. The working area has been
// recovered.
Result<void> write_fault_tolerant(base::Device& device, const Edk2Volume& volume, ByteView store);

}  // namespace efivarium::store
