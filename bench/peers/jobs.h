// Runs a case with every engine, each in a process of its own, and collects what they say. A job
// has a budget of processor time; what it had not said by then is missing from the table, and the
// table says so.
#ifndef ABUT_BENCH_JOBS_H
#define ABUT_BENCH_JOBS_H

#include <map>

#include "cases.h"

namespace bench {

struct Table {
  std::vector<std::string> metric;  // in the order they came
  std::map<std::string, double> reference;
  std::map<std::string, std::map<std::string, double>> value;  // engine, metric
  std::map<std::string, std::string> ended;                    // engine: why early
  std::map<std::string, double> cost;                          // engine: seconds
  std::vector<std::string> work;                               // CSV lines
};

// A bar on the terminal in terms of wall time: each case counts what it takes on two idle cores,
// and what is left is judged by what was needed so far. Without a terminal: a line per case.
class Progress {
 public:
  explicit Progress(double expected) : total(expected) {}
  void begin(const Case& c, size_t jobs);
  void show(const std::string& engine);
  void job_done() { done++; }
  void end();

 private:
  double total, before = 0, begun = wall_seconds();
  double expect = 0;
  char letter = ' ';
  size_t jobs = 1, done = 0;
};

// `messages`: the file to which the peers' own messages are added.
Table run_case(const Case& c, const std::vector<EngineKind>& kinds, const std::string& messages,
               Progress& progress);

}  // namespace bench

#endif
