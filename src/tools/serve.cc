#include "tools/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "client/folder_backend.h"
#include "tools/output.h"
#include "tools/served_folder.h"

namespace efivarium::tools {
namespace {

// Where an error happened, so that it can be told with a name.
struct Failure {
  std::string what;
  Error error;
};
template <typename T>
using Outcome = std::expected<T, Failure>;

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

Outcome<runtime::ServiceOptions> all_service_options(const MountRequest& request) {
  runtime::ServiceOptions options = service_options(request.options.file_system.profile);
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

Outcome<std::shared_ptr<vfs::MountNamespace>> open_namespace(
    const MountRequest& request, const std::shared_ptr<efivarfs::Limits>& limits) {
  auto options = all_service_options(request);
  if (!options) return std::unexpected(std::move(options.error()));
  const std::string source = absolute(request.store);
  const auto failed = [&](const Error& error) {
    return std::unexpected(Failure{request.store, error});
  };
  auto store = open_store_patiently(source, request.options.access());
  if (!store && store.error().code() == Code::kCorrupt && !request.options.read_only) {
    complain(request.store, store.error().message() + "; mounted read-only, repair may mend it");
    store = open_store_patiently(source, base::Access::kReadOnly);
  }
  if (!store) return failed(store.error());
  for (const std::string& problem : (*store)->problems()) complain(request.store, problem);
  auto services = runtime::VariableServices::start(*std::move(store), *std::move(options));
  if (!services) return failed(services.error());
  auto firmware = std::make_shared<runtime::Firmware>(*std::move(services));
  auto efivarfs = Efivarfs::mount(std::move(firmware), request.options.file_system, limits);
  if (!efivarfs) return failed(efivarfs.error());
  return vfs::MountNamespace::create(*std::move(efivarfs), source);
}

// Told once the server is mounted. The thread ends before the server does.
using Ready = std::function<std::jthread(fuse::Server&)>;

// Mounts, calls ready, and serves until the end.
int serve(const MountRequest& request, NamespaceControl& control, const Ready& ready) {
  fuse::ServerOptions options{absolute(request.directory), absolute(request.store),
                              request.options.kernel, &control};
  if (request.options.read_only) options.kernel_options.emplace_back("ro");
  // Files have owners and modes, which the server checks; so everybody may come.
  if (::geteuid() == 0) options.kernel_options.emplace_back("allow_other");
  const auto server = fuse::Server::mount(control.names(), options);
  if (!server) return complain(request.directory, server.error());
  const std::jthread beside = ready(**server);
  const Result<void> ended = (*server)->serve();
  return ended ? kDone : complain(request.directory, ended.error());
}

int serve_store(const MountRequest& request, const Ready& ready) {
  const auto limits = std::make_shared<efivarfs::Limits>();
  const auto names = open_namespace(request, limits);
  if (!names) return complain(names.error().what, names.error().error);
  NamespaceControl control(*names, request.options, limits);
  return serve(request, control, ready);
}

// A bar on a terminal, for what takes longer than a second.
class ProgressBar {
 public:
  void show(std::size_t done, std::size_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_terminal_ || now < next_) return;
    constexpr std::size_t kWidth = 40;
    const std::size_t full = kWidth * done / all;
    next_ = now + std::chrono::milliseconds(100);
    fmt::print(stderr, "\r[{:#>{}}{: >{}}] {} of {} stores", "", full, "", kWidth - full, done,
               all);
    is_shown_ = true;
  }
  ~ProgressBar() {
    if (is_shown_) std::fputs("\r\x1b[K", stderr);
  }

 private:
  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

int serve_stores(const MountRequest& request, const Ready& ready) {
  Result<std::unique_ptr<ServedFolder>> folder = [&] {
    ProgressBar bar;
    return ServedFolder::open(request.store, request.options,
                              [&](std::size_t done, std::size_t all) { bar.show(done, all); });
  }();
  if (!folder) return complain(request.store, folder.error());
  return serve(request, (*folder)->control(), [&](fuse::Server& server) {
    (void)ready(server);
    return (*folder)->follow(server);
  });
}

// A mount point's name is the session's; what is standard is not.
void detach() {
  ::setsid();
  (void)::chdir("/");
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::close(null);
}

int run(const MountRequest& request, int (*body)(const MountRequest&, const Ready&)) {
  struct stat status {};
  if (::stat(request.directory.c_str(), &status) != 0) {
    return complain(request.directory, Error::system(errno, "cannot mount there"));
  }
  if (!S_ISDIR(status.st_mode)) {
    return complain(request.directory, Error::system(ENOTDIR, "cannot mount there"));
  }
  if (request.foreground) return body(request, [](fuse::Server&) { return std::jthread(); });

  // All threads are the daemon's: nothing starts one before the fork.
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return complain("pipe", Error::system(errno, "cannot start"));
  const pid_t daemon = ::fork();
  if (daemon < 0) return complain("fork", Error::system(errno, "cannot start"));
  if (daemon == 0) {
    ::close(ready[0]);
    const int code = body(request, [&](fuse::Server&) {
      detach();
      const char done = kDone;
      (void)!::write(ready[1], &done, 1);
      ::close(ready[1]);
      return std::jthread();
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

}  // namespace

int mount_and_serve(const MountRequest& request) {
  if (!request.options.of_server.empty()) {
    return complain("-o " + request.options.of_server, "an option of serve alone");
  }
  return run(request, serve_store);
}

int serve_folder(const MountRequest& request) { return run(request, serve_stores); }

}  // namespace efivarium::tools
