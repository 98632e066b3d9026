// efivarium_bench EFIVARIUM [GROUP...]: groups are command, file_system, mounts, served, store;
// without any, all. Writes build/bench/GROUP.json. Ends with 1 where a goal was missed.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/bench.h"
#include "bench/measure.h"

using namespace efivarium::bench;

int main(int argc, char** argv) {
  if (argc < 2) die("usage: efivarium_bench EFIVARIUM [GROUP...]");
  std::string disk = "/var/tmp/efivarium-bench-XXXXXX";
  std::string memory = "/dev/shm/efivarium-bench-XXXXXX";
  if (::mkdtemp(disk.data()) == nullptr || ::mkdtemp(memory.data()) == nullptr) {
    die("cannot make a folder");
  }
  const Surroundings around{argv[1], disk, memory, "build/bench"};
  std::filesystem::create_directories(around.results);
  const auto run = [&](const std::string& group, void (*measure)(const Surroundings&)) {
    if (argc > 2 && std::find(argv + 2, argv + argc, group) == argv + argc) return;
    measure(around);
    save(around.results + "/" + group + ".json");
  };
  run("command", measure_command);
  run("store", measure_store);
  run("mounts", measure_mounts);
  run("served", measure_served);
  run("file_system", measure_file_system);
  std::filesystem::remove_all(disk);
  std::filesystem::remove_all(memory);
  if (missed() > 0) std::printf("%d goals missed\n", missed());
  return missed() == 0 ? 0 : 1;
}
