// The efivarium command; under the names mount.efivarium and mount.fuse.efivarium mount(8)'s
// helper.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tools/arguments.h"
#include "tools/output.h"
#include "tools/version.h"

namespace {

using namespace efivarium::tools;

struct Group {
  std::string_view verbs;  // each with a space before and behind it
  void (*add)(CLI::App&, Job&);
};
constexpr std::array kGroups = {
    Group{" ls get set rm df ", add_variable_verbs},
    Group{" create check repair compact ", add_store_verbs},
    Group{" mount serve umount remount mounts ", add_mount_verbs},
};

// A command is often over sooner than the options of all verbs are set up; so only those of the
// verb's group are, where the first word is a verb.
void add_verbs(CLI::App& app, Job& job, std::string_view first_word) {
  const std::string wanted = " " + std::string(first_word) + " ";
  const auto* const group = std::ranges::find_if(
      kGroups, [&](const Group& g) { return g.verbs.find(wanted) != std::string_view::npos; });
  if (group != kGroups.end()) return group->add(app, job);
  for (const Group& each : kGroups) each.add(app, job);
}

int run(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "efivarium";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("mount.")) return run_mount_helper(argc, argv);

  CLI::App app("UEFI variables as files: mounts, reads and changes variable stores", "efivarium");
  app.set_version_flag("--version", std::string("efivarium ") + kVersion);
  app.require_subcommand(1);
  Job job;
  add_verbs(app, job, argc > 1 ? argv[1] : "");
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
