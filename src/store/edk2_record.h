// Edk2Record: one variable as it stands in the store, and the walk over all of them.
#pragma once

#include <optional>
#include <vector>

#include "store/edk2_volume.h"

namespace efivarium::store {

// Offsets are from the start of the variable store's header. The views lead into the store's bytes.
struct Edk2Record {
  std::uint32_t offset = 0;
  std::uint32_t end = 0;  // of header, name and data, aligned: where the next header stands
  std::uint8_t state = 0;
  Attributes attributes;
  EfiTime time;
  Guid vendor;
  ByteView name;  // UCS-2 with the terminator; empty for kStateHeaderValid
  ByteView data;
  ByteView raw;  // all of it, padding included

  std::uint32_t size() const { return end - offset; }
  bool may_be_live() const { return state == kStateAdded || state == kStateInTransition; }
};

// The records of a store, in its order, as far as the chain from one to the next holds.
struct Edk2Walk {
  std::vector<Edk2Record> records;
  std::uint32_t end = 0;        // where the chain ends: the next record goes here
  bool tail_is_erased = true;   // from there on
  std::optional<Error> damage;  // why the chain ends early, with the offset in the file
};

// store: store_size bytes with the header; origin: their offset in the file.
Edk2Walk walk_records(ByteView store, std::uint64_t origin, StoreKind kind);

// The record at offset, checked in every field. kCorrupt with the offset in the file.
Result<Edk2Record> parse_record(ByteView store, std::uint32_t offset, std::uint64_t origin,
                                StoreKind kind);
// Where the walk goes on behind a break: where the broken record itself ends, if that can be
// believed, else at the next bytes that are a record in every field.
std::optional<std::uint32_t> find_behind_break(ByteView store, std::uint32_t broken,
                                               StoreKind kind);

// Whether a part of the record, without what is before it, could be taken for a record.
bool holds_start_of_record(ByteView record);

// kCorrupt if the name is none, which a checked record's never is.
Result<VariableKey> key_of(const Edk2Record& record);
Result<Variable> to_variable(const Edk2Record& record);

// Header with the given state, name and data; not padded.
Bytes serialize_record(const Variable& variable, std::uint8_t state, StoreKind kind);

// Positions in a walk's records of what readers see, in the store's order: the first 0x3F of each
// variable, else its last 0x3E.
struct Edk2View {
  std::vector<std::size_t> visible;
  std::vector<std::size_t> stale;       // 0x3E copies that are not seen
  std::vector<std::size_t> duplicates;  // second and later 0x3F, which edk2 never leaves
};
Edk2View view_of(const Edk2Walk& walk);

}  // namespace efivarium::store
