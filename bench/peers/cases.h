// The cases of the side-by-side benchmark. A case is a function that runs one engine and hands its
// numbers to a Sink; the program runs it in a process of its own, so that an engine that crashes
// or never returns costs one column and not the table.
#ifndef ABUT_BENCH_CASES_H
#define ABUT_BENCH_CASES_H

#include <cmath>

#include "engine.h"

namespace bench {

const double gravity = 9.8;
const double pi = 3.14159265358979323846;

// What a job tells its parent.
struct Sink {
  // A number of the table. `reference`: what it should be (the closed form), NAN where there is
  // none: then smaller is better.
  void put(const std::string& metric, double value, double reference = NAN) const;
  // A point of the work-precision picture: relative error and seconds per simulated second.
  void work(double h, double error, double cost) const;
};

// Whether the clock of processor time is finer than 0.1 ms; some systems count ticks of 10 ms.
bool processor_clock_is_fine();

// Time spent, by two clocks: processor time, which other programs disturb least, and wall time for
// what is too short for a coarse clock.
struct Spent {
  double processor = 0, wall = 0;
  double seconds() const { return processor > 0.2 || processor_clock_is_fine() ? processor : wall; }
  Spent operator-(const Spent& o) const { return {processor - o.processor, wall - o.wall}; }
};

// An engine on a scene, with a stopwatch around every step and a limit on what a run may cost.
class Run {
 public:
  Run(const EngineKind& kind, const Scene& scene, double seconds = INFINITY);
  // false: over the limit, or the state is not finite
  bool step();
  bool advance(double time);
  double cost() const;  // seconds per simulated second
  double seconds() const { return spent.seconds(); }
  Spent stopwatch() const { return spent; }
  abPose pose(int b) { return engine->pose(b); }
  abTwist twist(int b) { return engine->twist(b); }
  double speed(int b);   // |v| + |w| r, r the body's radius of gyration
  double max_speed();    // over all bodies
  double floor_force();  // of the last step, upwards, by the balance of momentum over all bodies
  double energy();       // kinetic and potential
  double penetration();  // deepest overlap of any two bodies, and of any body with the floor z = 0
  double yaw(int b);
  Scene scene;
  std::unique_ptr<Engine> engine;
  double time = 0;
  long nstep = 0;
  bool failed = false;  // a step said no
  double valid(double x) const { return failed ? NAN : x; }

 private:
  double limit;
  Spent spent;
  double momentum = 0, momentum_before = 0;
  double vertical_momentum();
};

double processor_seconds();
double wall_seconds();

// In a job: ends the process if its budget is spent. `elsewhere`: seconds an engine has just used
// in another process.
void check_budget(double elsewhere);
double budget_left();
void narrow_budget(double seconds);

// Mean and spread of a series, and whether it ever fell to nothing.
struct Series {
  double n = 0, average = 0, square = 0, low = INFINITY, high = -INFINITY;
  void add(double x);
  double mean() const { return average; }
  double deviation() const;
};

struct Case {
  char letter;
  const char* title;
  const char* note;  // how it is measured, what the reference is
  void (*run)(const EngineKind& kind, const Sink& sink);
  double seconds;  // budget of processor time of one engine
  bool timed;      // runs alone, not beside another case
  double expect;   // wall seconds for all engines on two idle cores, for the progress bar
};

extern const std::vector<Case> slide_cases, rest_cases, pile_cases;

// The pile of case E: n boxes, either as they start to fall, or at rest. The latter must have been
// prepared with an engine that is fast.
extern const std::vector<int> pile_sizes;
Scene pile_falling(int n);
Scene pile_settled(int n);
void pile_prepare(const EngineKind& fast, const EngineKind& still, int n);

}  // namespace bench

#endif
