#include "store/edk2_record.h"

#include <algorithm>
#include <unordered_map>

#include "base/byte_writer.h"
#include "efi/efi_time.h"

namespace efivarium::store {
namespace {

constexpr std::uint32_t header_size(StoreKind kind) {
  return kind == StoreKind::kAuthenticated ? kAuthenticatedHeaderSize : kPlainHeaderSize;
}

constexpr std::uint64_t align(std::uint64_t offset) {
  return (offset + kHeaderAlignment - 1) & ~std::uint64_t{kHeaderAlignment - 1};
}

struct Sizes {
  std::uint32_t name = 0, data = 0;
};

bool is_started(ByteView store, std::uint32_t offset) {
  base::ByteReader reader(store.subspan(std::min<std::size_t>(offset, store.size())));
  return reader.u16() == kStartId;
}

// VARIABLE_HEADER or AUTHENTICATED_VARIABLE_HEADER, and where what it announces stands, if that
// fits; nothing is judged.
Result<Edk2Record> read_record(ByteView store, std::uint32_t offset, StoreKind kind) {
  if (offset > store.size()) return fail(Code::kCorrupt, "outside the store");
  base::ByteReader reader(store.subspan(offset), offset);
  Edk2Record record;
  record.offset = offset;
  EFIVARIUM_TRY(reader.skip(kStateOffset));
  EFIVARIUM_TRY(record.state, reader.u8());
  EFIVARIUM_TRY(reader.skip(1));
  EFIVARIUM_TRY(const std::uint32_t attributes, reader.u32());
  record.attributes = Attributes::from_raw(attributes);
  if (kind == StoreKind::kAuthenticated) {
    EFIVARIUM_TRY(reader.skip(8));  // MonotonicCount
    EFIVARIUM_TRY(record.time, efi::parse_time(reader));
    EFIVARIUM_TRY(reader.skip(4));  // PubKeyIndex
  }
  EFIVARIUM_TRY(const std::uint32_t name_size, reader.u32());
  EFIVARIUM_TRY(const std::uint32_t data_size, reader.u32());
  EFIVARIUM_TRY(record.vendor, reader.guid());
  EFIVARIUM_TRY(record.name, reader.take(name_size));
  EFIVARIUM_TRY(record.data, reader.take(data_size));
  record.end =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(align(reader.offset()), store.size()));
  record.raw = store.subspan(offset, record.size());
  return record;
}

// edk2 VirtNorFlash ValidateVariableStoreHeader(): a name that fails this makes firmware wipe all.
const char* name_fault(ByteView name) {
  if (name.size() < 4 || name.size() % 2 != 0) return "a variable's name has an impossible size";
  for (std::size_t i = 0; i < name.size(); i += 2) {
    const bool is_nul = name[i] == 0 && name[i + 1] == 0;
    const bool is_last = i + 2 == name.size();
    if (is_nul != is_last) return "a variable's name is not terminated where it should be";
  }
  return nullptr;
}

constexpr bool is_known(std::uint8_t state) {
  return state == kStateHeaderValid || (state >= kStateReplaced && state <= kStateAdded);
}

}  // namespace

Result<Edk2Record> parse_record(ByteView store, std::uint32_t offset, std::uint64_t origin,
                                StoreKind kind) {
  const auto corrupt = [&](const char* text) {
    return fail_at(Code::kCorrupt, text, origin + offset);
  };
  if (!is_started(store, offset)) return fail(Code::kNotFound, "no variable header");
  Result<Edk2Record> record = read_record(store, offset, kind);
  if (!record) return corrupt("a variable does not fit into the store");
  if (!is_known(record->state)) return corrupt("a variable has an unknown state");
  // Firmware takes the sizes of such a one for zero.
  if (record->attributes.raw() == kErasedAttributes) {
    return corrupt("a variable's attributes are erased");
  }
  if (record->state == kStateHeaderValid) {
    record->name = {};  // an old writer was cut before it wrote name and data
    return record;
  }
  if (const char* fault = name_fault(record->name)) return corrupt(fault);
  if (record->may_be_live() && record->data.empty()) return corrupt("a variable has no data");
  return record;
}

namespace {

// The first offset from `from` on where a record stands that is live or dead by a full state.
std::optional<std::uint32_t> find_plausible_record(ByteView store, std::uint32_t from,
                                                   StoreKind kind) {
  for (std::uint64_t at = align(from); at + header_size(kind) <= store.size();
       at += kHeaderAlignment) {
    const auto offset = static_cast<std::uint32_t>(at);
    const Result<Edk2Record> record = parse_record(store, offset, 0, kind);
    if (record && record->state != kStateHeaderValid) return offset;
  }
  return std::nullopt;
}

}  // namespace

Edk2Walk walk_records(ByteView store, std::uint64_t origin, StoreKind kind) {
  Edk2Walk walk;
  walk.end = kStoreHeaderSize;
  std::optional<std::uint32_t> behind_torn;
  while (walk.end + header_size(kind) <= store.size()) {
    Result<Edk2Record> record = parse_record(store, walk.end, origin, kind);
    if (!record) {
      const bool started = record.error().code() != Code::kNotFound;
      const bool interrupted = started && store[walk.end + kStateOffset] == kStateUnset;
      if (started && !interrupted) walk.damage = record.error();
      if (interrupted) {
        const auto torn = read_record(store, walk.end, kind);
        behind_torn = torn ? torn->end : static_cast<std::uint32_t>(store.size());
      }
      break;
    }
    walk.records.push_back(*record);
    walk.end = record->end;
  }
  walk.tail_is_erased = is_filled_with(store.subspan(walk.end), kErased);
  if (!walk.damage && !walk.tail_is_erased) {
    // What a cut writer leaves is no record, whatever its data looks like; records behind a break
    // would be lost with it.
    if (find_plausible_record(store, behind_torn.value_or(walk.end), kind)) {
      walk.damage = Error(Code::kCorrupt, "the chain of variables is broken: more stand behind it")
                        .at(origin + walk.end);
    }
  }
  return walk;
}

std::optional<std::uint32_t> find_behind_break(ByteView store, std::uint32_t broken,
                                               StoreKind kind) {
  const auto record = read_record(store, broken, kind);
  if (record) {
    if (parse_record(store, record->end, 0, kind)) return record->end;
    const bool is_last = is_filled_with(store.subspan(record->end), kErased);
    if (is_last && name_fault(record->name) == nullptr) return std::nullopt;
  }
  return find_plausible_record(store, broken + kHeaderAlignment, kind);
}

bool holds_start_of_record(ByteView record) {
  for (std::size_t at = kHeaderAlignment; at + 2 <= record.size(); at += kHeaderAlignment) {
    if (is_started(record, static_cast<std::uint32_t>(at))) return true;
  }
  return false;
}

Result<VariableKey> key_of(const Edk2Record& record) {
  base::ByteReader reader(record.name);
  std::u16string units;
  while (reader.remaining() > 2) {
    EFIVARIUM_TRY(const std::uint16_t unit, reader.u16());
    units.push_back(static_cast<char16_t>(unit));
  }
  EFIVARIUM_TRY(VariableName name, VariableName::from_units(std::move(units)));
  return VariableKey{record.vendor, std::move(name)};
}

Result<Variable> to_variable(const Edk2Record& record) {
  EFIVARIUM_TRY(VariableKey key, key_of(record));
  return Variable{std::move(key), record.attributes, record.time,
                  Bytes(record.data.begin(), record.data.end())};
}

Bytes serialize_record(const Variable& variable, std::uint8_t state, StoreKind kind) {
  base::ByteWriter out;
  out.u16(kStartId).u8(state).u8(0).u32(variable.attributes.raw());
  if (kind == StoreKind::kAuthenticated) {
    out.u64(0);
    efi::serialize_time(variable.time, out);
    out.u32(0);
  }
  out.u32(static_cast<std::uint32_t>(variable.key.name.stored_size_bytes()));
  out.u32(static_cast<std::uint32_t>(variable.data.size()));
  out.guid(variable.key.vendor).name(variable.key.name).bytes(variable.data);
  return std::move(out).take();
}

// edk2 VariableParsing.c, FindVariableEx().
Edk2View view_of(const Edk2Walk& walk) {
  struct Copies {
    std::optional<std::size_t> added, last_in_transition;
  };
  std::unordered_map<VariableKey, Copies> copies;
  const auto key_at = [&](std::size_t i) { return key_of(walk.records[i]); };
  Edk2View view;
  for (std::size_t i = 0; i < walk.records.size(); ++i) {
    if (!walk.records[i].may_be_live()) continue;
    const Result<VariableKey> key = key_at(i);
    if (!key) continue;
    Copies& of_key = copies[*key];
    if (walk.records[i].state == kStateInTransition) {
      of_key.last_in_transition = i;
    } else if (!of_key.added) {
      of_key.added = i;
    } else {
      view.duplicates.push_back(i);
    }
  }
  for (std::size_t i = 0; i < walk.records.size(); ++i) {
    if (!walk.records[i].may_be_live()) continue;
    const Result<VariableKey> key = key_at(i);
    if (!key) continue;
    const Copies& of_key = copies[*key];
    const bool seen = of_key.added ? of_key.added == i : of_key.last_in_transition == i;
    if (seen) {
      view.visible.push_back(i);
    } else if (walk.records[i].state == kStateInTransition) {
      view.stale.push_back(i);
    }
  }
  return view;
}

}  // namespace efivarium::store
