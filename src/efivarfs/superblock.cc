#include "efivarfs/superblock.h"

#include <sys/stat.h>

#include "efivarfs/inode.h"
#include "efivarfs/name.h"
#include "efivarfs/space.h"
#include "vfs/options.h"

namespace efivarium::efivarfs {
namespace {

vfs::FileSystemStatus to_status(std::uint64_t total, std::uint64_t free) {
  vfs::FileSystemStatus status;
  status.blocks = total;
  status.blocks_free = free;
  status.blocks_available = free > kReservedSpace ? free - kReservedSpace : 0;
  return status;
}

}  // namespace

Efivarfs::Efivarfs(std::shared_ptr<runtime::Firmware> firmware, const Options& options,
                   std::shared_ptr<Limits> limits, Now now)
    : firmware_(std::move(firmware)),
      options_(options),
      limits_(std::move(limits)),
      now_(std::move(now)),
      report_space_(options.report_space) {
  set_root(vfs::Ref<RootInode>::adopt(new RootInode(*this)));
}

Efivarfs::~Efivarfs() { drop_tree(); }

Result<vfs::Ref<Efivarfs>> Efivarfs::mount(std::shared_ptr<runtime::Firmware> firmware,
                                           const Options& options, std::shared_ptr<Limits> limits,
                                           Now now) {
  auto efivarfs = vfs::Ref<Efivarfs>::adopt(
      new Efivarfs(std::move(firmware), options, std::move(limits), std::move(now)));
  EFIVARIUM_TRY(efivarfs->place_queue(options.placement));
  efivarfs->set_read_only(!efivarfs->firmware_->services->writable());
  EFIVARIUM_TRY(efivarfs->enumerate());
  return efivarfs;
}

Result<vfs::Ref<Efivarfs>> Efivarfs::mount_later(Start start, const Options& options,
                                                 std::shared_ptr<Limits> limits) {
  auto efivarfs =
      vfs::Ref<Efivarfs>::adopt(new Efivarfs(nullptr, options, std::move(limits), Clock::now));
  EFIVARIUM_TRY(efivarfs->place_queue(options.placement));
  efivarfs->start_ = std::move(start);
  efivarfs->leave_unloaded();
  return efivarfs;
}

vfs::Ref<Efivarfs> Efivarfs::mount_broken(std::string problem, const Options& options,
                                          std::shared_ptr<Limits> limits) {
  auto efivarfs =
      vfs::Ref<Efivarfs>::adopt(new Efivarfs(nullptr, options, std::move(limits), Clock::now));
  efivarfs->give_up(std::move(problem));
  return efivarfs;
}

void Efivarfs::give_up(std::string problem) {
  problem_ = std::move(problem);
  set_read_only(true);
}

void Efivarfs::fill() {
  Result<std::unique_ptr<runtime::VariableServices>> services = std::exchange(start_, {})(problem_);
  if (!services) return give_up(services.error().message());
  make_firmware().services = *std::move(services);
  if (!firmware_->services->writable()) set_read_only(true);
  if (const auto done = enumerate(); !done) give_up(done.error().message());
}

std::string Efivarfs::problem() const { return is_loaded() ? problem_ : ""; }

runtime::Firmware& Efivarfs::make_firmware() {
  const std::lock_guard lock(mutex_);
  if (!firmware_) firmware_ = std::make_shared<runtime::Firmware>();
  return *firmware_;
}

const runtime::VariableServices* Efivarfs::services() const {
  const std::lock_guard lock(mutex_);
  return firmware_ ? firmware_->services.get() : nullptr;
}

base::Placement Efivarfs::placement() const {
  const std::lock_guard lock(mutex_);
  return firmware_ ? firmware_->queue.placement() : base::Placement();
}

// Where it is already, it stays: a trial would cost a thread.
Result<void> Efivarfs::place_queue(const base::Placement& placement) {
  if (to_text(placement) == to_text(this->placement())) return {};
  return make_firmware().queue.place(placement);
}

// fs/efivarfs/super.c, efivar_init(): the firmware gets a buffer of 512 bytes and no more, and a
// name that is there already ends the listing. Only the kernel profile is that strict.
Result<void> Efivarfs::enumerate() {
  constexpr std::size_t kLongestEnumerated = 512;
  const runtime::VariableServices& services = *firmware_->services;
  Result<VariableKey> key = services.next_variable_name(std::nullopt);
  for (; key; key = services.next_variable_name(*key)) {
    if (is_limited() && key->name.stored_size_bytes() > kLongestEnumerated) break;
    if (is_hidden(key->vendor)) continue;
    auto inode = vfs::Ref<VariableInode>::adopt(new VariableInode(*this, *key, 0644));
    inode->note_size();
    if (!add(root(), file_name_of(*key), std::move(inode)) && is_limited()) break;
  }
  return {};
}

std::string Efivarfs::show_options() const {
  std::string text;
  if (options_.uid != 0) text += ",uid=" + std::to_string(options_.uid);
  if (options_.gid != 0) text += ",gid=" + std::to_string(options_.gid);
  if (is_limited()) text += ",profile=kernel";
  if (!options_.inode_flags) text += ",flags=off";
  text += to_text(placement());
  if (!report_space_.load(std::memory_order_relaxed)) text += ",nostatfs";
  return text;
}

Result<void> Efivarfs::reconfigure(std::string_view options) {
  Options asked = options_;
  asked.report_space = report_space_.load(std::memory_order_relaxed);
  asked.placement = placement();
  for (const std::string_view option : vfs::each_option(options)) {
    EFIVARIUM_TRY(const bool known, asked.take(option));
    if (!known) return fail(Code::kInvalidParameter, "unknown mount option");
  }
  if (asked.profile != options_.profile || asked.inode_flags != options_.inode_flags) {
    return fail(Code::kInvalidParameter, "profile and flags are chosen at mount");
  }
  EFIVARIUM_TRY(place_queue(asked.placement));
  report_space_.store(asked.report_space, std::memory_order_relaxed);
  return {};
}

Result<void> Efivarfs::check_writable() {
  load();
  if (const auto* const started = services(); started != nullptr && started->writable()) return {};
  return fail(Code::kInvalidParameter, "the store is open for reading only");
}

void Efivarfs::status(vfs::Reply<vfs::FileSystemStatus> reply) {
  load();
  const auto* const started = report_space_.load(std::memory_order_relaxed) ? services() : nullptr;
  if (started == nullptr) return reply(vfs::FileSystemStatus());
  if (is_limited()) return query_space(std::move(reply));
  const runtime::VariableInfo info = started->capacity();
  reply(to_status(info.maximum_storage, info.remaining_storage));
}

// fs/efivarfs/super.c, efivarfs_statfs(): a limited call repeats the last answer, a failed query
// answers with zeros, which are remembered too.
void Efivarfs::query_space(vfs::Reply<vfs::FileSystemStatus> reply) {
  if (!limits_->take_statfs(now())) {
    const std::lock_guard lock(mutex_);
    return reply(to_status(last_space_.total, last_space_.free));
  }
  firmware_->queue.post([this, reply = std::move(reply)]() mutable {
    const auto info = firmware_->services->query_variable_info(kUsualAttributes)
                          .value_or(runtime::VariableInfo());
    {
      const std::lock_guard lock(mutex_);
      last_space_ = {info.maximum_storage, info.remaining_storage};
    }
    reply(to_status(info.maximum_storage, info.remaining_storage));
  });
}

std::uint64_t Efivarfs::hash_name(std::string_view name) const { return hash_file_name(name); }

bool Efivarfs::same_name(std::string_view a, std::string_view b) const {
  return same_file_name(a, b);
}

}  // namespace efivarium::efivarfs
