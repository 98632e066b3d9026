// The groups of benchmarks.
#pragma once

#include <string>

namespace efivarium::bench {

// A folder that goes, with what is mounted in it, when the program ends as it should.
struct Surroundings {
  std::string efivarium;  // the program
  std::string folder;     // on a disk
  std::string memory;     // on tmpfs
  std::string results;    // stays: JSON and plots
};

void measure_command(const Surroundings& around);
void measure_file_system(const Surroundings& around);
void measure_mounts(const Surroundings& around);
void measure_served(const Surroundings& around);
void measure_store(const Surroundings& around);

// The plainest libfuse3 low-level file system: one folder of files, all answers from memory. Serves
// the directory in this process until it is unmounted; calls ready() when it is mounted.
int serve_plain_fuse(const char* directory, void (*ready)());

}  // namespace efivarium::bench
