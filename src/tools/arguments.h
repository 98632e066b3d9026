// The command line: verbs with their options, read by CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace efivarium::tools {

// Verbs add themselves; the chosen one leaves what it does in *job, which returns the exit code.
using Job = std::function<int()>;
void add_variable_verbs(CLI::App& app, Job& job);  // ls get set rm df
void add_store_verbs(CLI::App& app, Job& job);     // create check repair compact
void add_mount_verbs(CLI::App& app, Job& job);     // mount serve umount remount mounts

// mount(8)'s helper: mount.TYPE SOURCE DIR [-sfnv] [-o OPTIONS] [-t TYPE] [-N NAMESPACE].
int run_mount_helper(int argc, char** argv);

}  // namespace efivarium::tools
