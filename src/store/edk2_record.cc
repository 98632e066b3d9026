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

// VARIABLE_HEADER or AUTHENTICATED_VARIABLE_HEADER.
Result<Sizes> parse_header(base::ByteReader& reader, StoreKind kind, Edk2Record& record) {
  EFIVARIUM_TRY(const std::uint16_t start_id, reader.u16());
  if (start_id != kStartId) return fail(Code::kNotFound, "no variable header");
  EFIVARIUM_TRY(record.state, reader.u8());
  EFIVARIUM_TRY(reader.skip(1));
  EFIVARIUM_TRY(const std::uint32_t attributes, reader.u32());
  record.attributes = Attributes::from_raw(attributes);
  if (kind == StoreKind::kAuthenticated) {
    EFIVARIUM_TRY(reader.skip(8));  // MonotonicCount
    EFIVARIUM_TRY(record.time, efi::parse_time(reader));
    EFIVARIUM_TRY(reader.skip(4));  // PubKeyIndex
  }
  Sizes sizes;
  EFIVARIUM_TRY(sizes.name, reader.u32());
  EFIVARIUM_TRY(sizes.data, reader.u32());
  EFIVARIUM_TRY(record.vendor, reader.guid());
  return sizes;
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

// Where a record that is being written is to end, as far as its header tells; the end of the store
// where it does not.
std::uint32_t announced_end(ByteView store, std::uint32_t offset, StoreKind kind) {
  Edk2Record record;
  base::ByteReader reader(store.subspan(offset));
  const auto whole = static_cast<std::uint32_t>(store.size());
  const Result<Sizes> sizes = parse_header(reader, kind, record);
  if (!sizes || !reader.skip(sizes->name) || !reader.skip(sizes->data)) return whole;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(align(offset + reader.offset()), whole));
}

constexpr bool is_known(std::uint8_t state) {
  return state == kStateHeaderValid || (state >= kStateReplaced && state <= kStateAdded);
}

}  // namespace

Result<Edk2Record> parse_record(ByteView store, std::uint32_t offset, std::uint64_t origin,
                                StoreKind kind) {
  const std::uint64_t at = origin + offset;
  Edk2Record record;
  record.offset = offset;
  if (offset > store.size()) return fail_at(Code::kCorrupt, "outside the store", at);
  base::ByteReader reader(store.subspan(offset), at);
  EFIVARIUM_TRY(const Sizes sizes, parse_header(reader, kind, record));
  if (!is_known(record.state)) {
    return fail_at(Code::kCorrupt, "a variable has an unknown state", at);
  }
  const Result<ByteView> name = reader.take(sizes.name);
  const Result<ByteView> data = name ? reader.take(sizes.data) : name;
  if (!data) return fail_at(Code::kCorrupt, "a variable does not fit into the store", at);
  record.name = *name;
  record.data = *data;
  // An old writer was cut before it wrote name and data.
  if (record.state == kStateHeaderValid) record.name = {};
  const char* fault = record.state == kStateHeaderValid ? nullptr : name_fault(record.name);
  if (fault == nullptr && record.may_be_live() && record.data.empty()) {
    fault = "a variable has no data";
  }
  if (fault != nullptr) return fail_at(Code::kCorrupt, fault, at);
  const std::uint64_t end = align(reader.offset() - origin);
  record.end = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, store.size()));
  record.raw = store.subspan(offset, record.size());
  return record;
}

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
      if (interrupted) behind_torn = announced_end(store, walk.end, kind);
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
