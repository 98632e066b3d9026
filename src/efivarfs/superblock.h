// Efivarfs: the variables of one firmware as files, with Linux's semantics.
#pragma once

#include <functional>
#include <memory>

#include "efivarfs/options.h"
#include "efivarfs/rate_limit.h"
#include "runtime/firmware.h"
#include "vfs/superblock.h"

namespace efivarium::efivarfs {

// Behaviour is that of Linux 7.3 (fs/efivarfs) with the statfs option; see docs/differences.md.
class Efivarfs final : public vfs::Superblock {
 public:
  using Clock = RateLimit::Clock;
  using Now = std::function<Clock::time_point()>;

  // Starts a firmware's services, on the first use of what is in the file system.
  using Start = std::move_only_function<Result<std::unique_ptr<runtime::VariableServices>>(
      std::string& note)>;

  // Lists the firmware's variables. Read-only if the firmware cannot write. limits: one for all
  // mounts of a system; they count only with Profile::kKernel.
  static Result<vfs::Ref<Efivarfs>> mount(std::shared_ptr<runtime::Firmware> firmware,
                                          const Options& options, std::shared_ptr<Limits> limits,
                                          Now now = Clock::now);
  // The same when somebody first wants to see a variable. Where it then fails: as mount_broken().
  // What start says in note is a problem to tell of, no failure.
  static Result<vfs::Ref<Efivarfs>> mount_later(Start start, const Options& options,
                                                std::shared_ptr<Limits> limits);
  // Empty, read-only, and with a problem.
  static vfs::Ref<Efivarfs> mount_broken(std::string problem, const Options& options,
                                         std::shared_ptr<Limits> limits);
  ~Efivarfs() override;

  std::string_view type() const override { return "efivarfs"; }
  std::string show_options() const override;
  // Takes every option of a mount, as Linux does, but changes only statfs and nostatfs,
  // and where the firmware's queue runs.
  Result<void> reconfigure(std::string_view options) override;
  Result<void> check_writable() override;
  void status(vfs::Reply<vfs::FileSystemStatus> reply) override;
  void shut_down() override {
    firmware_.reset();
    start_ = {};
  }
  std::string problem() const override;

  const Options& options() const { return options_; }
  // Of a file system that shows variables.
  runtime::Firmware& firmware() { return *firmware_; }
  Limits& limits() { return *limits_; }
  bool is_limited() const { return options_.profile == Profile::kKernel; }
  Clock::time_point now() const { return now_(); }

 private:
  struct Space {
    std::uint64_t total = 0, free = 0;
  };

  Efivarfs(std::shared_ptr<runtime::Firmware> firmware, const Options& options,
           std::shared_ptr<Limits> limits, Now now);
  Result<void> place_queue(const base::Placement& placement);
  base::Placement placement() const;
  runtime::Firmware& make_firmware();
  // nullptr where they have not started, or could not.
  const runtime::VariableServices* services() const;
  void fill() override;
  Result<void> enumerate();
  void give_up(std::string problem);
  void query_space(vfs::Reply<vfs::FileSystemStatus> reply);
  std::uint64_t hash_name(std::string_view name) const override;
  bool same_name(std::string_view a, std::string_view b) const override;

  // None before the start, nor after one that failed, unless its queue has been placed.
  std::shared_ptr<runtime::Firmware> firmware_;
  Start start_;
  std::string problem_;    // set before it is loaded
  const Options options_;  // as mounted; what can change is below
  const std::shared_ptr<Limits> limits_;
  const Now now_;
  // A remount stores it while statfs reads it; nothing else hangs on the value.
  std::atomic<bool> report_space_;
  mutable std::mutex mutex_;
  Space last_space_;  // what a limited statfs repeats
};

}  // namespace efivarium::efivarfs
