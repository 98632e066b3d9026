// StoreBackend: a variable store in this process, as firmware sees it before an OS runs.
#pragma once

#include "client/backend.h"
#include "store/open_store.h"

namespace efivarium::client {

// Sees boot-time variables too, and gives dead records' space back when it is needed. Nothing
// volatile is kept, so nothing volatile can be written.
class StoreBackend final : public Backend {
 public:
  static Result<std::unique_ptr<StoreBackend>> open(const std::string& path, base::Access access);

  Result<Listing> list() override;
  Result<Variable> read(const VariableKey& key) override;
  Result<void> write(const VariableKey& key, Attributes attributes, ByteView data,
                     WriteMode mode) override;
  Result<void> remove(const VariableKey& key) override;
  Result<Capacity> capacity() override;

 private:
  explicit StoreBackend(std::unique_ptr<store::VariableStore> store) : store_(std::move(store)) {}
  Result<void> set(const VariableKey& key, Attributes attributes, ByteView data);
  std::unique_ptr<store::VariableStore> store_;
};

}  // namespace efivarium::client
