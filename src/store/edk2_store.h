// Edk2Store: the variables of a virtual machine's flash image, read and written in place.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/edk2_record.h"
#include "store/variable_store.h"

namespace efivarium::store {

// Changes follow edk2's order of byte writes, with a durability barrier wherever it matters, so
// that a cut at any point leaves something that edk2, and open(), go on from. Only the variable
// region and the fault-tolerant-write areas are ever written.
class Edk2Store final : public VariableStore {
 public:
  // kReadWrite first finishes what a cut left. A damaged store cannot be opened for writing:
  // kCorrupt with the offset; for reading it shows what stands before the damage, and problems().
  static Result<std::unique_ptr<Edk2Store>> open(std::unique_ptr<base::Device> device,
                                                 base::Access access,
                                                 Edk2Layouts layouts = kEdk2Layouts);
  // The same where find_volume() has been called.
  static Result<std::unique_ptr<Edk2Store>> open(std::unique_ptr<base::Device> device,
                                                 base::Access access, const Edk2Volume& volume);

  Result<std::vector<Variable>> load() override;
  Result<void> put(const Variable& variable, Reclaim reclaim) override;
  Result<void> remove(const VariableKey& key) override;
  Result<void> compact() override;
  Space space() const override;
  Limits limits() const override;
  bool writable() const override { return access_ == base::Access::kReadWrite; }
  std::vector<std::string> problems() const override;

  const Edk2Volume& volume() const { return volume_; }

 private:
  struct Slot {
    std::uint32_t offset;
    std::uint32_t size;
    std::uint8_t state;
  };

  Edk2Store(std::unique_ptr<base::Device> device, base::Access access, Edk2Volume volume)
      : device_(std::move(device)), access_(access), volume_(volume) {}

  Result<Bytes> read_store();
  Result<void> recover();
  Result<void> clean_tail(ByteView store, std::uint32_t from);
  Result<void> index(const Edk2Walk& walk);

  Result<void> append(const Variable& variable, ByteView record);
  Result<void> rewrite(const Variable* added);
  Result<void> drop_hidden(const Edk2Walk& walk);
  Result<void> write_state(Slot& slot, std::uint8_t state);
  Result<void> barrier();
  Result<void> guard(Result<void> done);
  std::uint64_t stored_size(std::uint64_t record_size) const;

  const std::unique_ptr<base::Device> device_;
  const base::Access access_;
  Edk2Volume volume_;
  std::unordered_map<VariableKey, Slot> slots_;
  std::vector<Variable> loaded_;          // what open() read, until load() takes it
  std::uint32_t end_ = kStoreHeaderSize;  // where the next record goes
  std::uint64_t live_ = 0;
  std::optional<Error> damage_;
  // The record whose predecessor was marked as replaced with no barrier since; 0 if there is none.
  std::uint32_t unsettled_ = 0;
  bool broken_ = false;  // a write failed: what is on the medium is not sure any more
};

}  // namespace efivarium::store
