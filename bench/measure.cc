#include "bench/measure.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace efivarium::bench {
namespace {

int goals_missed = 0;
nlohmann::ordered_json told = nlohmann::ordered_json::array();

const char* verdict(bool reached) {
  if (!reached) ++goals_missed;
  return reached ? "reached" : "MISSED";
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double time_calls(int count, const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) body();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / count;
}

Sample warm(Sample sample) {
  return [sample = std::move(sample)] { return sample(), sample(); };
}

void run(const std::vector<std::string>& words, const std::string& directory) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t child = 0;
  int status = 0;
  if (::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) != 0 ||
      ::waitpid(child, &status, 0) != child || status != 0) {
    die("cannot run " + words[0]);
  }
  ::posix_spawn_file_actions_destroy(&actions);
}

double resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6));
  }
  die("cannot read the memory of process " + std::to_string(pid));
}

void compare(const std::string& what, const Sample& ours, const std::string& other_name,
             const Sample& other, Goal goal, double limit, int rounds) {
  std::vector<double> our_times;
  std::vector<double> other_times;
  std::vector<double> ratios;
  ours();
  other();
  for (int round = 0; round < rounds; ++round) {
    our_times.push_back(ours());
    other_times.push_back(other());
    const double ratio = our_times.back() / other_times.back();
    ratios.push_back(goal == Goal::kAtMost ? ratio : 1 / ratio);
  }
  const double ratio = median(ratios);
  told.push_back({{"what", what},
                  {"us", median(our_times)},
                  {"other", other_name},
                  {"other_us", median(other_times)},
                  {"ratio", ratio}});
  if (limit == kNoLimit) {
    std::printf("%-44s %10.2f us | %-38s %10.2f us | %7.2fx\n", what.c_str(), median(our_times),
                other_name.c_str(), median(other_times), ratio);
    std::fflush(stdout);
    return;
  }
  const bool reached = goal == Goal::kAtMost ? ratio <= limit : ratio >= limit;
  told.back()[goal == Goal::kAtMost ? "at_most" : "at_least"] = limit;
  told.back()["reached"] = reached;
  std::printf("%-44s %10.2f us | %-38s %10.2f us | %7.2fx %s %.1fx  %s\n", what.c_str(),
              median(our_times), other_name.c_str(), median(other_times), ratio,
              goal == Goal::kAtMost ? "<=" : ">=", limit, verdict(reached));
  std::fflush(stdout);
}

void judge(const std::string& what, double value, const std::string& unit, double at_most) {
  told.push_back({{"what", what},
                  {"value", value},
                  {"unit", unit},
                  {"at_most", at_most},
                  {"reached", value <= at_most}});
  std::printf("%-44s %10.2f %s <= %.1f  %s\n", what.c_str(), value, unit.c_str(), at_most,
              verdict(value <= at_most));
  std::fflush(stdout);
}

void note(const std::string& text) {
  told.push_back({{"note", text}});
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void save(const std::string& path) {
  std::ofstream(path) << std::exchange(told, nlohmann::ordered_json::array()).dump(1) << "\n";
}

int missed() { return goals_missed; }

void pin(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const int count = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  for (int i = 0; i < count; ++i) {
    if (cpu < 0 || i == cpu) CPU_SET(i, &cpus);
  }
  ::sched_setaffinity(0, sizeof cpus, &cpus);
}

void die(const std::string& why) {
  std::fprintf(stderr, "efivarium_bench: %s\n", why.c_str());
  std::exit(2);
}

}  // namespace efivarium::bench
