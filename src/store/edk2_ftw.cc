#include "store/edk2_ftw.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "base/byte_writer.h"
#include "store/edk2_volume.h"

namespace efivarium::store {
namespace {

// What the queue of a working area says.
struct Queue {
  std::uint64_t next = kWorkingHeaderSize;  // offset in the area of the first entry not complete
  std::uint8_t header_flags = kErased;      // of that entry; erased if there is none yet
  std::uint8_t record_flags = kErased;
  bool tail_is_erased = true;  // behind the last complete entry
};

constexpr bool is_set(std::uint8_t flags, std::uint8_t bit) { return (flags & bit) == 0; }
constexpr std::uint8_t set(std::uint8_t flags, std::uint8_t bit) {
  return static_cast<std::uint8_t>(flags & ~bit);
}

bool has_valid_header(ByteView area, const Edk2Layout& layout) {
  const Bytes expected = serialize_working_header(layout.working_size);
  return std::ranges::equal(expected, area.first(kWorkingHeaderSize));
}

// Sizes of a torn entry can be anything: an entry that does not end inside the area was never
// completed, and its target never touched.
Queue parse_queue(ByteView area) {
  Queue queue;
  while (queue.next < area.size()) {
    base::ByteReader reader(area.subspan(queue.next));
    const auto flags = reader.u8();
    if (!flags) break;
    queue.header_flags = *flags;
    (void)reader.skip(23);
    const auto writes = reader.u64();
    const auto private_size = reader.u64();
    const bool one_write = writes && *writes == 1 && private_size && *private_size == 0;
    const auto record_flags = reader.u8();
    queue.record_flags = one_write && record_flags ? *record_flags : kErased;
    if (!is_set(*flags, kComplete)) break;
    if (!writes || !private_size || *private_size > area.size() || *writes > area.size()) break;
    const std::uint64_t size = kWriteHeaderSize + *writes * (kWriteRecordSize + *private_size);
    if (size > area.size() - queue.next) break;
    queue.next += size;
    queue.header_flags = queue.record_flags = kErased;
  }
  queue.tail_is_erased =
      is_filled_with(area.subspan(std::min<std::uint64_t>(queue.next, area.size())), kErased);
  return queue;
}

bool is_pending(const Queue& queue) {
  return is_set(queue.header_flags, kHeaderAllocated) &&
         is_set(queue.header_flags, kWritesAllocated) && !is_set(queue.header_flags, kComplete) &&
         is_set(queue.record_flags, kSpareComplete) &&
         !is_set(queue.record_flags, kDestinationComplete);
}

Result<void> write_step(base::Device& device, std::uint64_t offset, ByteView bytes) {
  EFIVARIUM_TRY(device.write(offset, bytes));
  return device.sync();
}

Result<void> write_flags(base::Device& device, std::uint64_t offset, std::uint8_t flags) {
  return write_step(device, offset, ByteView(&flags, 1));
}

// Every byte behind the working header erased: the queue is empty. Entries that are complete tell
// nothing any more, so that it does not matter which of them a cut leaves.
Result<void> empty_queue(base::Device& device, const Edk2Volume& volume) {
  const Bytes erased(volume.layout->working_size - kWorkingHeaderSize, kErased);
  return write_step(device, volume.working_offset() + kWorkingHeaderSize, erased);
}

// Steps 7 to 9 of a write: the target from the spare area, then the flags that say so.
Result<void> finish_restore(base::Device& device, const Edk2Volume& volume, std::uint64_t entry,
                            std::uint8_t record_flags, std::uint8_t header_flags) {
  EFIVARIUM_TRY(const Bytes blocks,
                device.read_bytes(volume.spare_offset(), volume.layout->rewritten_size()));
  EFIVARIUM_TRY(write_step(device, volume.base, blocks));
  EFIVARIUM_TRY(
      write_flags(device, entry + kWriteHeaderSize, set(record_flags, kDestinationComplete)));
  return write_flags(device, entry, set(header_flags, kComplete));
}

Bytes serialize_write_header() {
  base::ByteWriter header;
  header.u8(set(kErased, kHeaderAllocated)).fill(3, kErased).guid(kFtwCallerGuid).fill(4, kErased);
  header.u64(1).u64(0);
  return std::move(header).take();
}

Bytes serialize_write_record(const Edk2Layout& layout) {
  base::ByteWriter record;
  record.u8(kErased).fill(7, kErased).u64(0).u64(kVolumeHeaderSize).u64(layout.store_size);
  record.u64(-layout.spare_offset);  // signed: from the spare area back to the target
  return std::move(record).take();
}

Result<Bytes> read_working_area(base::Device& device, std::uint64_t base,
                                const Edk2Layout& layout) {
  return device.read_bytes(base + layout.working_offset, layout.working_size);
}

}  // namespace

Bytes serialize_working_header(std::uint64_t working_size) {
  const auto build = [&](std::uint32_t crc, std::uint8_t flags) {
    base::ByteWriter header;
    header.guid(kWorkingBlockGuid).u32(crc).u8(flags).fill(3, kErased);
    header.u64(working_size - kWorkingHeaderSize);
    return std::move(header).take();
  };
  const Bytes blank = build(0xFFFFFFFF, kErased);
  const auto crc =
      static_cast<std::uint32_t>(::crc32(0, blank.data(), static_cast<unsigned>(blank.size())));
  return build(crc, kWorkingValid);
}

bool restore_is_pending(base::Device& device, std::uint64_t base, const Edk2Layout& layout) {
  // Most often the queue is empty: nothing stands behind the header.
  const Result<Bytes> start =
      device.read_bytes(base + layout.working_offset, kWorkingHeaderSize + 1);
  if (!start || start->back() == kErased || !has_valid_header(*start, layout)) return false;
  const Result<Bytes> area = read_working_area(device, base, layout);
  return area && is_pending(parse_queue(*area));
}

Result<WorkingState> working_state(base::Device& device, const Edk2Volume& volume) {
  EFIVARIUM_TRY(const Bytes area, read_working_area(device, volume.base, *volume.layout));
  if (is_filled_with(area, kErased)) return WorkingState::kUnused;
  if (!has_valid_header(area, *volume.layout)) {
    EFIVARIUM_TRY(const Bytes copy,
                  device.read_bytes(volume.spare_offset(), volume.layout->working_size));
    return has_valid_header(copy, *volume.layout) ? WorkingState::kCrowded : WorkingState::kInvalid;
  }
  const Queue queue = parse_queue(area);
  if (is_pending(queue)) {
    // find_volume() has looked at the spare area.
    return volume.source == volume.base ? WorkingState::kLost : WorkingState::kPending;
  }
  if (queue.tail_is_erased) return WorkingState::kIdle;
  return is_set(queue.header_flags, kHeaderAllocated) && !is_set(queue.header_flags, kComplete)
             ? WorkingState::kUnfinished
             : WorkingState::kCrowded;
}

Result<void> set_up_working_area(base::Device& device, const Edk2Volume& volume) {
  EFIVARIUM_TRY(empty_queue(device, volume));
  return write_step(device, volume.working_offset(),
                    serialize_working_header(volume.layout->working_size));
}

Result<void> recover_working_area(base::Device& device, Edk2Volume& volume) {
  EFIVARIUM_TRY(const WorkingState state, working_state(device, volume));
  if (state == WorkingState::kLost) {
    return fail_at(Code::kCorrupt, "a rewrite is to be finished from a copy that is no store",
                   volume.working_offset());
  }
  if (state == WorkingState::kPending) {
    EFIVARIUM_TRY(const Bytes area, read_working_area(device, volume.base, *volume.layout));
    const Queue queue = parse_queue(area);
    EFIVARIUM_TRY(finish_restore(device, volume, volume.working_offset() + queue.next,
                                 queue.record_flags, queue.header_flags));
    volume.source = volume.base;
  } else if (state == WorkingState::kUnfinished || state == WorkingState::kCrowded ||
             state == WorkingState::kInvalid) {
    // Nothing in the queue is needed any more.
    return set_up_working_area(device, volume);
  }
  return {};
}

Result<void> write_fault_tolerant(base::Device& device, const Edk2Volume& volume, ByteView store) {
  const Edk2Layout& layout = *volume.layout;
  EFIVARIUM_TRY(const Bytes area, read_working_area(device, volume.base, layout));
  Queue queue;
  if (!has_valid_header(area, layout)) {
    EFIVARIUM_TRY(set_up_working_area(device, volume));
  } else {
    queue = parse_queue(area);
    if (!queue.tail_is_erased || area.size() - queue.next < kWriteEntrySize) {
      EFIVARIUM_TRY(empty_queue(device, volume));
      queue = Queue();
    }
  }
  const std::uint64_t entry = volume.working_offset() + queue.next;
  const std::uint64_t record = entry + kWriteHeaderSize;
  constexpr std::uint8_t kAllocated = set(set(kErased, kHeaderAllocated), kWritesAllocated);
  constexpr std::uint8_t kInSpare = set(kErased, kSpareComplete);

  EFIVARIUM_TRY(Bytes blocks, device.read_bytes(volume.base, layout.rewritten_size()));
  std::ranges::copy(store, blocks.begin() + kVolumeHeaderSize);
  EFIVARIUM_TRY(const Bytes spare, device.read_bytes(volume.spare_offset(), blocks.size()));

  EFIVARIUM_TRY(write_step(device, entry, serialize_write_header()));
  EFIVARIUM_TRY(write_flags(device, entry, kAllocated));
  EFIVARIUM_TRY(write_step(device, record, serialize_write_record(layout)));
  EFIVARIUM_TRY(write_step(device, volume.spare_offset(), blocks));
  EFIVARIUM_TRY(write_flags(device, record, kInSpare));
  EFIVARIUM_TRY(finish_restore(device, volume, entry, kInSpare, kAllocated));
  return write_step(device, volume.spare_offset(), spare);
}

}  // namespace efivarium::store
