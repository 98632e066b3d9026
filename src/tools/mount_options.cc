#include "tools/mount_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/device.h"
#include "vfs/options.h"

namespace efivarium::tools {
namespace {

// For mount(8) and fstab(5) alone.
constexpr std::array<std::string_view, 14> kIgnored = {
    "defaults", "auto",    "noauto", "user", "nouser", "users",    "owner",
    "group",    "_netdev", "nofail", "rw",   "fd",     "rootmode", "blksize"};
// What the kernel shows of a FUSE mount, and hands back on remount.
constexpr std::array<std::string_view, 5> kShownByKernel = {"user_id", "group_id", "max_read",
                                                            "subtype", "fsname"};
constexpr std::array<std::string_view, 20> kKernel = {
    "suid",    "nosuid",   "dev",         "nodev",    "exec",       "noexec",      "atime",
    "noatime", "diratime", "nodiratime",  "relatime", "norelatime", "strictatime", "sync",
    "async",   "dirsync",  "allow_other", "lazytime", "nolazytime", "nosymfollow"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

MountOptions MountOptions::defaults(const std::string& realtime_flag) {
  MountOptions options;
  const Result<Bytes> flag = base::read_file(realtime_flag, 16);
  options.file_system.uid = ::geteuid();
  options.file_system.gid = ::getegid();
  options.file_system.report_space = !flag || flag->empty() || flag->front() != '1';
  return options;
}

Result<void> MountOptions::parse(std::string_view options, std::string& bad) {
  for (const std::string_view option : vfs::each_option(options)) {
    bad = option;
    const std::string_view name = option.substr(0, option.find('='));
    EFIVARIUM_TRY(const bool taken, file_system.take(option));
    if (taken) {
      of_file_system += of_file_system.empty() ? "" : ",";
      of_file_system += option;
    } else if (name == "umount" || name == "rcu_normal") {
      of_server += of_server.empty() ? "" : ",";
      of_server += option;
    } else if (option == "ro") {
      read_only = true;
    } else if (option == "remount") {
      remount = true;
    } else if (is_one_of(kKernel, option)) {
      kernel.emplace_back(option);
    } else if (!is_one_of(kIgnored, name) && !is_one_of(kShownByKernel, name) &&
               !option.starts_with("x-") && !option.starts_with("comment=")) {
      return fail(Code::kInvalidParameter, "unknown mount option");
    } else if (option == "rw") {
      read_only = false;
    }
  }
  return {};
}

}  // namespace efivarium::tools
