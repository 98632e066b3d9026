#include "tools/serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <thread>

#include "client/folder_backend.h"
#include "efivarfs/superblock.h"
#include "fuse/server.h"
#include "store/open_store.h"
#include "tools/output.h"

namespace efivarium::tools {
namespace {

// Where an error happened, so that it can be told with a name.
struct Failure {
  std::string what;
  Error error;
};
template <typename T>
using Outcome = std::expected<T, Failure>;

std::string absolute(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? real.get() : path;
}

// A server whose mount is just gone lets go of its store within moments.
Result<std::unique_ptr<store::VariableStore>> open_store_patiently(const std::string& path,
                                                                   base::Access access) {
  constexpr auto kStep = std::chrono::milliseconds(10);
  constexpr int kSteps = 100;
  for (int step = 0;; ++step) {
    auto opened = store::open_store(path, access);
    if (opened || opened.error().code() != Code::kLocked || step == kSteps) return opened;
    std::this_thread::sleep_for(kStep);
  }
}

Outcome<runtime::ServiceOptions> service_options(const MountRequest& request) {
  runtime::ServiceOptions options;
  if (request.options.file_system.profile == efivarfs::Profile::kKernel) {
    options.space = runtime::SpacePolicy::kAsFirmware;
    options.modes = runtime::ModeVariables::kEdk2;
  }
  for (const std::string& latency : request.latencies) {
    if (const auto parsed = options.model.parse(latency); !parsed) {
      return std::unexpected(Failure{"--latency " + latency, parsed.error()});
    }
  }
  if (request.preset.empty()) return options;
  const auto folder = client::FolderBackend::open(request.preset);
  if (!folder) return std::unexpected(Failure{request.preset, folder.error()});
  Result<client::Listing> listing = (*folder)->list();
  if (!listing) return std::unexpected(Failure{request.preset, listing.error()});
  options.preset = std::move(listing->variables);
  return options;
}

Outcome<std::shared_ptr<vfs::MountNamespace>> open_namespace(const MountRequest& request) {
  auto options = service_options(request);
  if (!options) return std::unexpected(std::move(options.error()));
  const std::string source = absolute(request.store);
  const auto failed = [&](const Error& error) {
    return std::unexpected(Failure{request.store, error});
  };
  auto store = open_store_patiently(
      source, request.options.read_only ? base::Access::kReadOnly : base::Access::kReadWrite);
  if (!store && store.error().code() == Code::kCorrupt && !request.options.read_only) {
    complain(request.store, store.error().message() + "; mounted read-only, repair may mend it");
    store = open_store_patiently(source, base::Access::kReadOnly);
  }
  if (!store) return failed(store.error());
  for (const std::string& problem : (*store)->problems()) complain(request.store, problem);
  auto services = runtime::VariableServices::start(*std::move(store), *std::move(options));
  if (!services) return failed(services.error());
  auto firmware = std::make_shared<runtime::Firmware>(*std::move(services));
  auto efivarfs = efivarfs::Efivarfs::mount(std::move(firmware), request.options.file_system,
                                            std::make_shared<efivarfs::Limits>());
  if (!efivarfs) return failed(efivarfs.error());
  return vfs::MountNamespace::create(*std::move(efivarfs), source);
}

fuse::ServerOptions server_options(const MountRequest& request, const std::string& source) {
  fuse::ServerOptions options{absolute(request.directory), source, request.options.kernel};
  if (request.options.read_only) options.kernel_options.emplace_back("ro");
  // Files have owners and modes, which the server checks; so everybody may come.
  if (::geteuid() == 0) options.kernel_options.emplace_back("allow_other");
  return options;
}

// Mounts, calls ready(), and serves until the end.
template <typename Ready>
int serve(const MountRequest& request, const Ready& ready) {
  const auto names = open_namespace(request);
  if (!names) return complain(names.error().what, names.error().error);
  const auto server =
      fuse::Server::mount(**names, server_options(request, absolute(request.store)));
  if (!server) return complain(request.directory, server.error());
  ready();
  const Result<void> ended = (*server)->serve();
  return ended ? kDone : complain(request.directory, ended.error());
}

// A mount point's name is the session's; what is standard is not.
void detach() {
  ::setsid();
  (void)::chdir("/");
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::close(null);
}

}  // namespace

int mount_and_serve(const MountRequest& request) {
  struct stat status {};
  if (::stat(request.directory.c_str(), &status) != 0) {
    return complain(request.directory, Error::system(errno, "cannot mount there"));
  }
  if (!S_ISDIR(status.st_mode)) {
    return complain(request.directory, Error::system(ENOTDIR, "cannot mount there"));
  }
  if (request.foreground) return serve(request, [] {});

  // All threads are the daemon's: nothing starts one before the fork.
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return complain("pipe", Error::system(errno, "cannot start"));
  const pid_t daemon = ::fork();
  if (daemon < 0) return complain("fork", Error::system(errno, "cannot start"));
  if (daemon == 0) {
    ::close(ready[0]);
    const int code = serve(request, [&] {
      detach();
      const char done = kDone;
      (void)!::write(ready[1], &done, 1);
      ::close(ready[1]);
    });
    ::_exit(code);
  }
  ::close(ready[1]);
  char code = kFailed;
  const bool serves = ::read(ready[0], &code, 1) == 1;
  ::close(ready[0]);
  if (serves) return code;
  int result = 0;
  ::waitpid(daemon, &result, 0);
  return WIFEXITED(result) && WEXITSTATUS(result) != 0 ? WEXITSTATUS(result) : kFailed;
}

}  // namespace efivarium::tools
