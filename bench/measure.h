// Measuring two things in turns, and judging their ratio.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace efivarium::bench {

// Runs what is measured once and returns how long it took, in microseconds.
using Sample = std::function<double()>;

double median(std::vector<double> values);
// Calls body() count times; microseconds of one call.
double time_calls(int count, const std::function<void()>& body);

// Runs a program to its end, in the directory; its output goes nowhere. It must end with 0.
void run(const std::vector<std::string>& words, const std::string& directory = ".");
double resident_kib(pid_t pid);

// The second of two: for what is short, beside another side out of whose long sample it would come
// to a CPU gone to sleep and caches gone cold.
Sample warm(Sample sample);

enum class Goal { kAtMost, kAtLeast };

// Told, and not judged.
inline constexpr double kNoLimit = 1e9;

// Both sides in turns, ours and the other's, after one of each that does not count; the median of
// the rounds' ratios is judged. ours/other for kAtMost, other/ours for kAtLeast. Prints a line.
void compare(const std::string& what, const Sample& ours, const std::string& other_name,
             const Sample& other, Goal goal, double limit, int rounds = 11);
// A figure that needs no other side.
void judge(const std::string& what, double value, const std::string& unit, double at_most);
// Told, and not judged.
void note(const std::string& text);
// Writes what the calls above have told since the last save, as JSON.
void save(const std::string& path);

// How many goals were missed so far.
int missed();

// Puts the calling thread, and what it starts, on one CPU; -1 is any.
void pin(int cpu);

// Prints why and ends the program.
[[noreturn]] void die(const std::string& why);

}  // namespace efivarium::bench
