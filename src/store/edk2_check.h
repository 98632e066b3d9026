// What is wrong with a store, and mending it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/edk2_volume.h"

namespace efivarium::store {

enum class FindingKind : std::uint8_t {
  kUnreadable,          // no volume, or none that is known; not mended
  kVolumeHeader,        // damaged, while all that it says can be told from the rest
  kStoreHeader,         // the same
  kDamagedRecord,       // the chain of variables breaks here
  kSkippedRecords,      // bytes behind a break in which no variable can be recognised
  kDuplicate,           // a second live copy, which firmware stumbles over
  kInterruptedWrite,    // what a cut writer left behind the last variable
  kInterruptedReclaim,  // a rewrite of the region that was cut short
  kWorkingArea,         // the fault-tolerant-write area is not as firmware leaves it
};
// snake_case, as in JSON.
std::string_view to_text(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::uint64_t offset;  // in the file
  std::string text;
};

// Dead records, orphans of an update and the like are normal and no findings.
struct Report {
  std::string format = "edk2";
  std::string layout;  // empty if it cannot be told
  std::vector<Finding> findings;

  bool sound() const { return findings.empty(); }
};

// Reads alone. Errors are those of the device.
Result<Report> check_store(base::Device& device, Edk2Layouts layouts = kEdk2Layouts);

// Mends what was found and returns what that was. Every variable that is whole is kept, also those
// behind a break. The store is rewritten through its spare area, so that a cut loses nothing.
// kCorrupt or kUnsupported where nothing can be done; the store is then as it was.
Result<Report> repair_store(base::Device& device, Edk2Layouts layouts = kEdk2Layouts);

}  // namespace efivarium::store
