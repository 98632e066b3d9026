// mount, umount, remount, mounts, and mount(8)'s helper.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/unique_fd.h"
#include "tools/arguments.h"
#include "tools/json.h"
#include "tools/mount_table.h"
#include "tools/output.h"
#include "tools/serve.h"
#include "tools/store_mount.h"
#include "vfs/options.h"

namespace efivarium::tools {
namespace {

struct FlagOption {
  std::string_view name;
  unsigned long flag;
};
// What a remount of the kernel's side may change.
constexpr std::array kFlagOptions = {
    FlagOption{"nosuid", MS_NOSUID},          FlagOption{"nodev", MS_NODEV},
    FlagOption{"noexec", MS_NOEXEC},          FlagOption{"sync", MS_SYNCHRONOUS},
    FlagOption{"dirsync", MS_DIRSYNC},        FlagOption{"noatime", MS_NOATIME},
    FlagOption{"nodiratime", MS_NODIRATIME},  FlagOption{"relatime", MS_RELATIME},
    FlagOption{"strictatime", MS_STRICTATIME}};

bool has_word(std::string_view options, std::string_view word) {
  const std::vector<std::string_view> words = vfs::each_option(options);
  return std::ranges::find(words, word) != words.end();
}

// The server first, as it may refuse; then the kernel, which keeps ro by itself.
int remount(const std::string& directory, const std::string& options) {
  MountOptions parsed = MountOptions::defaults();
  std::string bad;
  if (const auto done = parsed.parse(options, bad); !done)
    return complain("-o " + bad, done.error());
  const bool names_mode = has_word(options, "ro") || has_word(options, "rw");
  std::string own = parsed.of_file_system;
  const auto add = [&own](const std::string& words) {
    if (!words.empty()) own += (own.empty() ? "" : ",") + words;
  };
  add(parsed.of_server);
  if (names_mode) add(parsed.read_only ? "ro" : "rw");
  if (const auto done = request_remount(directory, own); !done)
    return complain(directory, done.error());
  const Result<MountMap> map = MountMap::read();
  const std::optional<Place> place = map ? map->find(directory) : std::nullopt;
  const bool is_inside = place && !place->is_root();
  if (is_inside || (!names_mode && parsed.kernel.empty())) return kDone;
  const auto status = server_status(directory);
  const bool read_only = status && has_word(status->options, "ro");
  unsigned long flags = MS_REMOUNT | MS_NOSUID | MS_NODEV;
  if (read_only) flags |= MS_RDONLY;
  for (const FlagOption& option : kFlagOptions) {
    if (has_word(options, option.name)) flags |= option.flag;
  }
  // Nobody but the superuser can; for others the server's own ro holds all the same.
  if (::mount(nullptr, directory.c_str(), nullptr, flags, nullptr) != 0 && errno != EPERM) {
    return complain(directory, Error::system(errno, "the kernel refused the remount"));
  }
  return kDone;
}

enum class Unmount : std::uint8_t { kPlain, kLazy };

// Calls `done` until it says so: whoever lists the mounts has each one's folder open for that
// moment.
template <typename Done>
bool keep_trying(const Done& done) {
  using namespace std::chrono_literals;
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

// Whether it went; options: fusermount3's.
bool run_fusermount(const std::string& options, const std::string& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("fusermount3", "fusermount3", options.c_str(), directory.c_str(), nullptr);
    ::_exit(127);
  }
  int result = 0;
  return child > 0 && ::waitpid(child, &result, 0) > 0 && WIFEXITED(result) &&
         WEXITSTATUS(result) == 0;
}

// fusermount3 says why not.
int unmount_as_user(const std::string& directory, Unmount how) {
  const std::string options = how == Unmount::kLazy ? "-uz" : "-u";
  if (keep_trying([&] { return run_fusermount(options + "q", directory); })) return kDone;
  return run_fusermount(options, directory) ? kDone : kFailed;
}

// Where it is busy, who has files open is told.
int complain_unmount(const std::string& directory, int code) {
  const Error error = Error::system(code, "cannot unmount");
  const auto holders = code == EBUSY ? request_control(directory, {"holders"}) : fuse::Fields();
  if (!holders || holders->empty()) return complain(directory, error);
  return complain(directory, error.message() + ": files are open in process " + holders->front());
}

// When the call is over the store is free: the server is waited for, but not for ever.
int unmount(const std::string& directory, Unmount how) {
  constexpr int kPatienceMs = 10000;
  const auto status = server_status(directory);
  // Gone, or going while it was asked.
  const bool dead = !status && (status.error().to_errno() == ENOTCONN ||
                                status.error().to_errno() == ECONNABORTED);
  if (!status && !dead) return complain(directory, status.error());
  const base::UniqueFd server(status ? static_cast<int>(::syscall(SYS_pidfd_open, status->pid, 0))
                                     : -1);
  const int flags = UMOUNT_NOFOLLOW | (how == Unmount::kLazy ? MNT_DETACH : 0);
  int why_not = 0;
  (void)keep_trying([&] {
    why_not = ::umount2(directory.c_str(), flags) == 0 ? 0 : errno;
    return why_not != EBUSY;
  });
  if (why_not == EPERM) {
    if (const int code = unmount_as_user(directory, how); code != kDone) return code;
  } else if (why_not != 0) {
    return complain_unmount(directory, why_not);
  }
  if (how == Unmount::kPlain && server) {
    pollfd ended{server.get(), POLLIN, 0};
    (void)::poll(&ended, 1, kPatienceMs);
  }
  return kDone;
}

int unmount_kernel_mounts(const std::string& directory, Unmount how, bool with_those_below) {
  if (!with_those_below) return unmount(directory, how);
  const auto mounts = list_mounts();
  if (!mounts) return complain(directory, mounts.error());
  int code = kDone;
  for (auto entry = mounts->rbegin(); entry != mounts->rend(); ++entry) {
    if (entry->directory == directory || entry->directory.starts_with(directory + "/")) {
      code = std::max(code, unmount(entry->directory, how));
    }
  }
  return code;
}

// All places in one served folder at once.
int unmount_inside(const std::string& mount_point, fuse::Fields request) {
  const Result<fuse::Fields> left = request_control(mount_point, request);
  if (!left) return complain(mount_point, left.error());
  for (std::size_t i = 0; i + 1 < left->size(); i += 2) {
    complain(mount_point + (*left)[i], (*left)[i + 1]);
  }
  return left->empty() ? kDone : kFailed;
}

int unmount_all(const std::vector<std::string>& directories, Unmount how, bool with_those_below) {
  const Result<MountMap> map = MountMap::read();
  if (!map) return complain("umount", map.error());
  const std::string flags =
      std::string(how == Unmount::kLazy ? "l" : "") + (with_those_below ? "R" : "");
  int code = kDone;
  std::vector<std::string> roots;
  std::map<std::string, fuse::Fields> inside;  // by mount point
  for (const std::string& directory : directories) {
    const std::optional<Place> place = map->find(directory);
    if (!place || place->is_root()) {
      roots.push_back(place ? place->mount_point : directory);
      continue;
    }
    fuse::Fields& request = inside[place->mount_point];
    if (request.empty()) request = {"umount", flags};
    request.push_back(place->path);
  }
  for (auto& [mount_point, request] : inside) {
    code = std::max(code, unmount_inside(mount_point, std::move(request)));
  }
  for (const std::string& root : roots) {
    code = std::max(code, unmount_kernel_mounts(root, how, with_those_below));
  }
  return code;
}

// One line, or object, of the list.
struct Shown {
  std::string source;
  std::string directory;
  std::string options;  // or why they cannot be told
  int pid = 0;          // 0: nobody answers
  std::string error;    // of the store, or of who should answer
};

std::vector<Shown> mounts_of(const MountEntry& entry) {
  const auto status = server_status(entry.directory);
  if (!status) {
    const std::string why = status.error().message();
    return {{entry.source, entry.directory, why, 0, why}};
  }
  std::vector<Shown> all = {{entry.source, entry.directory, status->options, status->pid, ""}};
  const Result<fuse::Fields> inner = request_control(entry.directory, {"mounts"});
  if (!inner) return all;
  for (std::size_t i = 0; i + 3 < inner->size(); i += 4) {
    const auto field = [&](std::size_t k) -> const std::string& { return (*inner)[i + k]; };
    if (field(0) == "/") {
      all.front().error = field(3);
    } else {
      all.push_back({field(1), entry.directory + field(0), field(2), status->pid, field(3)});
    }
  }
  return all;
}

int show_mounts(bool json) {
  const auto mounts = list_mounts();
  if (!mounts) return complain("mounts", mounts.error());
  Json array = Json::array();
  for (const MountEntry& entry : *mounts) {
    for (const Shown& shown : mounts_of(entry)) {
      if (!json) {
        const bool has_problem = shown.pid != 0 && !shown.error.empty();
        fmt::print("{} on {} ({}){}\n", printable(shown.source), printable(shown.directory),
                   shown.options, has_problem ? ": " + printable(shown.error) : "");
        continue;
      }
      Json object = {{"source", json_text(shown.source)},
                     {"directory", json_text(shown.directory)}};
      object["options"] = shown.pid != 0 ? Json(json_text(shown.options)) : Json();
      object["pid"] = shown.pid != 0 ? Json(shown.pid) : Json();
      object["error"] = shown.error.empty() ? Json() : Json(json_text(shown.error));
      array.push_back(object);
    }
  }
  if (json) std::fputs(dump(array).c_str(), stdout);
  return kDone;
}

// In a served folder the server does it, elsewhere one of our own.
int mount(const MountRequest& request) {
  const Result<MountMap> map = MountMap::read();
  if (!map) return complain("mount", map.error());
  const std::optional<Place> place = map->find(request.directory);
  if (!place || place->is_root()) return mount_and_serve(request);
  if (request.foreground || !request.latencies.empty() || !request.preset.empty()) {
    return complain(request.directory,
                    "inside a served folder -f, --latency and --preset cannot be had");
  }
  const auto failed = request_control(
      place->mount_point, {"mount", place->path, absolute(request.store), request.option_text});
  if (!failed) return complain(request.directory, failed.error());
  return failed->size() < 2 ? kDone : complain((*failed)[0], (*failed)[1]);
}

// The options of the command line, with commas, into the request.
int take_options(MountRequest& request, const std::vector<std::string>& options) {
  for (const std::string& some : options) {
    std::string bad;
    if (const auto done = request.options.parse(some, bad); !done) {
      return complain("-o " + bad, done.error());
    }
    request.option_text += (request.option_text.empty() ? "" : ",") + some;
  }
  return kDone;
}

void add_serve(CLI::App& app, Job& job) {
  struct Words {
    MountRequest request;
    std::vector<std::string> options;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* sub = app.add_subcommand(
      "serve", "show every store of a folder as a folder of files, all in one mount");
  sub->add_option("STORES", words->request.store, "the folder with the stores")->required();
  sub->add_option("DIR", words->request.directory, "where to mount")->required();
  sub->add_flag("-f,--foreground", words->request.foreground, "stay in the foreground");
  sub->add_option("-o,--options", words->options,
                  "as for mount, for every store; umount=expedited|normal|deferred, rcu_normal=0|1")
      ->allow_extra_args(false);
  sub->callback([&job, words] {
    job = [words] {
      const int code = take_options(words->request, words->options);
      return code != kDone ? code : serve_folder(words->request);
    };
  });
}

void add_mount(CLI::App& app, Job& job) {
  struct Words {
    MountRequest request;
    std::vector<std::string> options;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* sub = app.add_subcommand("mount", "show a store's variables as files in a directory");
  sub->add_option("STORE", words->request.store, "the store's file or block device")->required();
  sub->add_option("DIR", words->request.directory, "where to mount")->required();
  sub->add_flag("-f,--foreground", words->request.foreground, "stay in the foreground");
  sub->add_option("-o,--options", words->options,
                  "mount options, with commas: statfs, nostatfs, uid=, gid=, flags=, profile=, "
                  "cpus=, sched=, ro, and mount(8)'s")
      ->allow_extra_args(false);
  sub->add_option("--latency", words->request.latencies,
                  "SERVICE=TIME: let get, next, set or query take as long as slow firmware does")
      ->allow_extra_args(false);
  sub->add_option("--preset", words->request.preset,
                  "a folder in efivarfs form with volatile variables to show");
  sub->callback([&job, words] {
    job = [words] {
      const int code = take_options(words->request, words->options);
      return code != kDone ? code : mount(words->request);
    };
  });
}

}  // namespace

void add_mount_verbs(CLI::App& app, Job& job) {
  add_mount(app, job);
  add_serve(app, job);
  struct Words {
    std::vector<std::string> directories;
    std::string options;
    bool lazy = false, recursive = false, json = false;
  };
  const auto words = std::make_shared<Words>();
  const auto verb = [&](const char* name, const char* text, auto run) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->callback([&job, words, run] { job = [words, run] { return run(*words); }; });
    return sub;
  };
  CLI::App* umount_verb = verb("umount", "end mounts", [](const Words& w) {
    return unmount_all(w.directories, w.lazy ? Unmount::kLazy : Unmount::kPlain, w.recursive);
  });
  umount_verb->add_flag("-l,--lazy", words->lazy, "now, even if files are open");
  umount_verb->add_flag("-R,--recursive", words->recursive, "with all mounts below");
  umount_verb->add_option("DIR", words->directories, "where they are mounted")->required();
  CLI::App* remount_verb = verb("remount", "change the options of a mount", [](const Words& w) {
    return remount(w.directories.front(), w.options);
  });
  remount_verb->add_option("-o,--options", words->options, "statfs, nostatfs, ro, rw")->required();
  remount_verb->add_option("DIR", words->directories, "where it is mounted")
      ->required()
      ->expected(1);
  CLI::App* mounts_verb =
      verb("mounts", "list the mounts", [](const Words& w) { return show_mounts(w.json); });
  mounts_verb->add_flag("--json", words->json, "print JSON");
}

int run_mount_helper(int argc, char** argv) {
  CLI::App app("mount(8)'s helper for efivarium; see efivarium mount", "mount.efivarium");
  MountRequest request;
  std::vector<std::string> options;
  std::string ignored;
  bool fake = false, sloppy = false, no_table = false, verbose = false;
  app.add_option("SOURCE", request.store)->required();
  app.add_option("DIR", request.directory)->required();
  app.add_option("-o", options)->allow_extra_args(false);
  app.add_option("-t", ignored);
  app.add_option("-N", ignored);
  app.add_flag("-f", fake);
  app.add_flag("-s", sloppy);
  app.add_flag("-n", no_table);
  app.add_flag("-v", verbose);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain_usage(error.what());
  }
  if (const int code = take_options(request, options); code != kDone) return code;
  if (fake) return kDone;
  return request.options.remount ? remount(request.directory, request.option_text) : mount(request);
}

}  // namespace efivarium::tools
