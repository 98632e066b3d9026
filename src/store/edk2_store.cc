#include "store/edk2_store.h"

#include <algorithm>

#include "store/edk2_ftw.h"

namespace efivarium::store {
namespace {

constexpr std::uint8_t without(std::uint8_t state, std::uint8_t mask) {
  return static_cast<std::uint8_t>(state & mask);
}

}  // namespace

Result<std::unique_ptr<Edk2Store>> Edk2Store::open(std::unique_ptr<base::Device> device,
                                                   base::Access access, Edk2Layouts layouts) {
  EFIVARIUM_TRY(const Edk2Volume volume, find_volume(*device, layouts));
  return open(std::move(device), access, volume);
}

Result<std::unique_ptr<Edk2Store>> Edk2Store::open(std::unique_ptr<base::Device> device,
                                                   base::Access access, const Edk2Volume& volume) {
  std::unique_ptr<Edk2Store> store(new Edk2Store(std::move(device), access, volume));
  EFIVARIUM_TRY(Bytes bytes, store->read_store());
  Edk2Walk walk = walk_records(bytes, volume.source + kVolumeHeaderSize, volume.kind);
  if (store->writable()) {
    // Damage is told before a byte is written.
    if (walk.damage) return std::unexpected(*walk.damage);
    EFIVARIUM_TRY(recover_working_area(*store->device_, store->volume_));
    if (!walk.tail_is_erased) EFIVARIUM_TRY(store->clean_tail(bytes, walk.end));
    EFIVARIUM_TRY(store->drop_hidden(walk));
    // What a former writer left in the system's memory comes before all that builds on it.
    EFIVARIUM_TRY(store->device_->sync());
  }
  EFIVARIUM_TRY(store->index(walk));
  return store;
}

Result<Bytes> Edk2Store::read_store() {
  return device_->read_bytes(volume_.source + kVolumeHeaderSize, volume_.layout->store_size);
}

// What a cut writer left behind the last record. The list ends at its header, whose state is
// erased, or whose start is not written; so it stays, whichever bytes of this a further cut leaves.
Result<void> Edk2Store::clean_tail(ByteView store, std::uint32_t from) {
  const auto last =
      std::find_if(store.rbegin(), store.rend(), [](std::uint8_t byte) { return byte != kErased; });
  const auto end = static_cast<std::size_t>(store.rend() - last);
  return device_->write(volume_.store_offset() + from, Bytes(end - from, kErased));
}

// Copies that readers do not see, and would see, or firmware would keep, in the course of later
// changes: those of updates that were cut, and second live ones, which edk2 never leaves. Without
// them each variable has one record that may be live.
Result<void> Edk2Store::drop_hidden(const Edk2Walk& walk) {
  const Edk2View view = view_of(walk);
  if (view.stale.empty() && view.duplicates.empty()) return {};
  for (const std::vector<std::size_t>* hidden : {&view.stale, &view.duplicates}) {
    for (const std::size_t i : *hidden) {
      Slot slot{walk.records[i].offset, walk.records[i].size(), walk.records[i].state};
      EFIVARIUM_TRY(write_state(slot, without(slot.state, kDeletedMask)));
    }
  }
  return {};
}

Result<void> Edk2Store::index(const Edk2Walk& walk) {
  const Edk2View view = view_of(walk);
  const auto slot_of = [](const Edk2Record& record) {
    return Slot{record.offset, record.size(), record.state};
  };
  slots_.clear();
  loaded_.clear();
  loaded_.reserve(view.visible.size());
  live_ = 0;
  for (const std::size_t i : view.visible) {
    const Edk2Record& record = walk.records[i];
    EFIVARIUM_TRY(Variable variable, to_variable(record));
    slots_.emplace(variable.key, slot_of(record));
    live_ += record.size();
    loaded_.push_back(std::move(variable));
  }
  end_ = walk.end;
  damage_ = walk.damage;
  return {};
}

Result<std::vector<Variable>> Edk2Store::load() {
  if (loaded_.size() == slots_.size()) return std::exchange(loaded_, {});
  EFIVARIUM_TRY(const Bytes bytes, read_store());
  EFIVARIUM_TRY(index(walk_records(bytes, volume_.source + kVolumeHeaderSize, volume_.kind)));
  return std::exchange(loaded_, {});
}

std::vector<std::string> Edk2Store::problems() const {
  if (!damage_) return {};
  return {"damaged, the rest cannot be read with certainty: " + damage_->message()};
}

// Records but for the last end at a header's alignment.
std::uint64_t Edk2Store::stored_size(std::uint64_t record_size) const {
  return (record_size + kHeaderAlignment - 1) & ~std::uint64_t{kHeaderAlignment - 1};
}

Space Edk2Store::space() const {
  return {volume_.layout->store_size - kStoreHeaderSize, live_, end_ - kStoreHeaderSize - live_};
}

Limits Edk2Store::limits() const {
  const Edk2Layout& layout = *volume_.layout;
  const std::uint32_t header = volume_.header_size();
  return {header, layout.max_variable - header, layout.max_authenticated - header,
          layout.max_volatile - header, layout.volatile_store - kStoreHeaderSize};
}

Result<void> Edk2Store::barrier() {
  EFIVARIUM_TRY(device_->sync());
  unsettled_ = 0;
  return {};
}

// After a failed write nobody knows what the medium holds; open() finds out.
Result<void> Edk2Store::guard(Result<void> done) {
  if (!done) broken_ = true;
  return done;
}

Result<void> Edk2Store::write_state(Slot& slot, std::uint8_t state) {
  EFIVARIUM_TRY(
      device_->write(volume_.store_offset() + slot.offset + kStateOffset, ByteView(&state, 1)));
  slot.state = state;
  return {};
}

Result<void> Edk2Store::put(const Variable& variable, Reclaim reclaim) {
  if (!writable()) return fail(Code::kWriteProtected, "the store is open for reading only");
  if (broken_) return fail(Code::kDeviceError, "an earlier write failed: open the store again");
  const Bytes record = serialize_record(variable, kStateUnset, volume_.kind);
  const std::uint64_t size = volume_.layout->store_size;
  loaded_.clear();
  if (record.size() <= size - end_) return guard(append(variable, record));
  const auto old = slots_.find(variable.key);
  const std::uint64_t kept = live_ - (old == slots_.end() ? 0 : old->second.size);
  if (reclaim == Reclaim::kForbidden || kStoreHeaderSize + kept + record.size() > size) {
    return fail(Code::kOutOfResources, "the store is full");
  }
  return guard(rewrite(&variable));
}

// edk2 UpdateVariable(). Until the new state byte readers see the old value, from then on the new
// one: with the record durable before it, and it durable before the caller hears of it, two
// barriers are enough. The flip of the replaced copy may come late, as a copy that is still 0x3E is
// not seen beside the new one; but not so late that the new one is 0x3E as well, since of two such
// copies firmware's reclaim keeps the older.
Result<void> Edk2Store::append(const Variable& variable, ByteView record) {
  const auto old = slots_.find(variable.key);
  if (old != slots_.end() && old->second.state == kStateAdded) {
    if (old->second.offset == unsettled_) EFIVARIUM_TRY(barrier());
    EFIVARIUM_TRY(write_state(old->second, without(kStateAdded, kTransitionMask)));
  }
  Slot added{end_, 0, kStateUnset};
  const std::uint64_t place = volume_.store_offset() + added.offset;
  // Data that could pass for a record must not be there without the header that it belongs to.
  if (holds_start_of_record(record)) {
    EFIVARIUM_TRY(device_->write(place, record.first(volume_.header_size())));
    EFIVARIUM_TRY(barrier());
  }
  EFIVARIUM_TRY(device_->write(place, record));
  EFIVARIUM_TRY(barrier());
  EFIVARIUM_TRY(write_state(added, kStateAdded));
  EFIVARIUM_TRY(barrier());

  end_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(end_ + stored_size(record.size()), volume_.layout->store_size));
  added.size = end_ - added.offset;
  live_ += added.size;
  if (old == slots_.end()) {
    slots_.emplace(variable.key, added);
    return {};
  }
  EFIVARIUM_TRY(write_state(old->second, without(old->second.state, kDeletedMask)));
  unsettled_ = added.offset;
  live_ -= old->second.size;
  old->second = added;
  return {};
}

// The live copy goes last, and only when no older one can be seen in its place.
Result<void> Edk2Store::remove(const VariableKey& key) {
  if (!writable()) return fail(Code::kWriteProtected, "the store is open for reading only");
  if (broken_) return fail(Code::kDeviceError, "an earlier write failed: open the store again");
  const auto live = slots_.find(key);
  if (live == slots_.end()) return fail(Code::kNotFound, "no such variable");
  loaded_.clear();
  const auto steps = [&]() -> Result<void> {
    if (live->second.offset == unsettled_) EFIVARIUM_TRY(barrier());
    EFIVARIUM_TRY(write_state(live->second, without(live->second.state, kDeletedMask)));
    return barrier();
  };
  EFIVARIUM_TRY(guard(steps()));
  live_ -= live->second.size;
  slots_.erase(live);
  return {};
}

Result<void> Edk2Store::compact() {
  if (!writable()) return fail(Code::kWriteProtected, "the store is open for reading only");
  if (broken_) return fail(Code::kDeviceError, "an earlier write failed: open the store again");
  if (space().unreclaimed == 0) return {};
  return guard(rewrite(nullptr));
}

// edk2 Reclaim(): what is live, then orphans of an update as live ones, then the new variable.
Result<void> Edk2Store::rewrite(const Variable* added) {
  EFIVARIUM_TRY(const Bytes old, read_store());
  const Edk2Walk walk = walk_records(old, volume_.store_offset(), volume_.kind);
  const Edk2View view = view_of(walk);
  Bytes image(old.begin(), old.begin() + kStoreHeaderSize);
  for (const std::uint8_t state : {kStateAdded, kStateInTransition}) {
    for (const std::size_t i : view.visible) {
      const Edk2Record& record = walk.records[i];
      EFIVARIUM_TRY(const VariableKey key, key_of(record));
      if (record.state != state || (added != nullptr && key == added->key)) continue;
      image.resize(stored_size(image.size()), kErased);
      const std::size_t start = image.size();
      image.insert(image.end(), record.raw.begin(), record.raw.end());
      image[start + kStateOffset] = kStateAdded;
    }
  }
  if (added != nullptr) {
    image.resize(stored_size(image.size()), kErased);
    const Bytes record = serialize_record(*added, kStateAdded, volume_.kind);
    image.insert(image.end(), record.begin(), record.end());
  }
  if (image.size() > old.size()) return fail(Code::kOutOfResources, "the store is full");
  image.resize(old.size(), kErased);
  EFIVARIUM_TRY(write_fault_tolerant(*device_, volume_, image));
  unsettled_ = 0;
  EFIVARIUM_TRY(index(walk_records(image, volume_.store_offset(), volume_.kind)));
  loaded_.clear();
  return {};
}

}  // namespace efivarium::store
