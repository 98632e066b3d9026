// The efivarium command; under the names mount.efivarium and mount.fuse.efivarium mount(8)'s
// helper.

#include <string_view>

#include "tools/arguments.h"
#include "tools/output.h"
#include "tools/version.h"

namespace {

int run(int argc, char** argv) {
  using namespace efivarium::tools;
  const std::string_view path = argc > 0 ? argv[0] : "efivarium";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("mount.")) return run_mount_helper(argc, argv);

  CLI::App app("UEFI variables as files: mounts, reads and changes variable stores", "efivarium");
  app.set_version_flag("--version", std::string("efivarium ") + kVersion);
  app.require_subcommand(1);
  Job job;
  add_mount_verbs(app, job);
  add_variable_verbs(app, job);
  add_store_verbs(app, job);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain_usage(error.what());
  }
  return job();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return efivarium::tools::complain("internal error", std::string(error.what()));
  }
}
