#include "tools/store_mount.h"

#include <stdlib.h>

namespace efivarium::tools {

std::string absolute(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? real.get() : path;
}

runtime::ServiceOptions service_options(efivarfs::Profile profile) {
  runtime::ServiceOptions services;
  if (profile == efivarfs::Profile::kKernel) {
    services.space = runtime::SpacePolicy::kAsFirmware;
    services.modes = runtime::ModeVariables::kEdk2;
  }
  return services;
}

Result<vfs::Ref<Efivarfs>> mount_store_later(const std::string& path, const MountOptions& options,
                                             std::shared_ptr<efivarfs::Limits> limits) {
  EFIVARIUM_TRY(store::UnreadStore unread, store::UnreadStore::open(path, options.access()));
  using Services = std::unique_ptr<runtime::VariableServices>;
  auto start = [unread = std::move(unread), path, access = options.access(),
                profile =
                    options.file_system.profile](std::string& note) mutable -> Result<Services> {
    auto store = std::move(unread).read();
    if (!store && store.error().code() == Code::kCorrupt && access == base::Access::kReadWrite) {
      note = store.error().message() + "; read-only, repair may mend it";
      store = store::open_store(path, base::Access::kReadOnly);
    }
    if (!store) return std::unexpected(store.error());
    for (const std::string& problem : (*store)->problems()) note = problem;
    return runtime::VariableServices::start(*std::move(store), service_options(profile));
  };
  EFIVARIUM_TRY(vfs::Ref<Efivarfs> made,
                Efivarfs::mount_later(std::move(start), options.file_system, std::move(limits)));
  if (options.read_only) made->set_read_only(true);
  return made;
}

}  // namespace efivarium::tools
