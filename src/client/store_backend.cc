#include "client/store_backend.h"

#include <algorithm>

#include "runtime/variable_services.h"

namespace efivarium::client {

Result<std::unique_ptr<StoreBackend>> StoreBackend::open(const std::string& path,
                                                         base::Access access) {
  EFIVARIUM_TRY(auto store, store::open_store(path, access));
  return std::unique_ptr<StoreBackend>(new StoreBackend(std::move(store)));
}

Result<Listing> StoreBackend::list() {
  EFIVARIUM_TRY(std::vector<Variable> variables, store_->load());
  return Listing{std::move(variables), store_->problems()};
}

Result<Variable> StoreBackend::read(const VariableKey& key) {
  EFIVARIUM_TRY(std::vector<Variable> variables, store_->load());
  const auto found = std::ranges::find(variables, key, &Variable::key);
  if (found == variables.end()) return fail(Code::kNotFound, "no such variable");
  return std::move(*found);
}

// One-shot: the services take the store over for the one call.
Result<void> StoreBackend::set(const VariableKey& key, Attributes attributes, ByteView data) {
  if (store_ == nullptr) return fail(Code::kInvalidParameter, "one change for each opening");
  runtime::ServiceOptions options;
  options.phase = runtime::Phase::kBootTime;
  EFIVARIUM_TRY(const auto services,
                runtime::VariableServices::start(std::move(store_), std::move(options)));
  return services->set_variable(key, attributes, data);
}

Result<void> StoreBackend::write(const VariableKey& key, Attributes attributes, ByteView data,
                                 WriteMode mode) {
  if (!attributes.has(kNonVolatile)) {
    return fail(Code::kInvalidParameter, "a store keeps non-volatile variables alone: add nv");
  }
  if (mode == WriteMode::kAppend) attributes = attributes | kAppendWrite;
  return set(key, attributes, data);
}

Result<void> StoreBackend::remove(const VariableKey& key) { return set(key, Attributes(), {}); }

Result<Capacity> StoreBackend::capacity() {
  const store::Space space = store_->space();
  return Capacity{space.storage, space.live, space.unreclaimed, space.storage - space.live};
}

}  // namespace efivarium::client
