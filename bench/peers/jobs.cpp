#include "jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace bench {

namespace {

enum { SPENT = 4, DECLINED = 5 };  // exit states of a job

int answer = -1;           // in a job: the pipe to the parent
double budget = INFINITY;  // in a job: seconds of processor time
double begun = 0;          // in a job: processor time at its start
double elsewhere = 0;      // in a job: what its engine spent in another process

void say(const std::string& line) {
  if (write(answer, line.data(), line.size()) != (ssize_t)line.size()) _exit(3);
}

[[noreturn]] void leave(int state) {
  say("T\t" + std::to_string(processor_seconds() - begun + elsewhere) + "\n");
  _exit(state);
}

}  // namespace

void Sink::put(const std::string& metric, double value, double reference) const {
  char line[512];
  snprintf(line, sizeof line, "M\t%s\t%.17g\t%.17g\n", metric.c_str(), value, reference);
  say(line);
}

void Sink::work(double h, double error, double cost) const {
  char line[256];
  snprintf(line, sizeof line, "W\t%.17g\t%.17g\t%.17g\n", h, error, cost);
  say(line);
}

void decline(const std::string& reason) {
  if (answer >= 0) say("R\t" + reason + "\n");
  _exit(DECLINED);
}

void check_budget(double spent_elsewhere) {
  elsewhere += spent_elsewhere;
  if (processor_seconds() + elsewhere < budget) return;
  char text[64];
  snprintf(text, sizeof text, "R\tcut when its %g s were spent\n", budget - begun);
  say(text);
  leave(SPENT);
}

void narrow_budget(double seconds) { budget = std::min(budget, begun + seconds); }

double budget_left() { return budget - processor_seconds() - elsewhere; }

namespace {

struct Job {
  pid_t pid;
  int file;
  const EngineKind* kind;
  std::string text;
};

Job start(const Case& c, const EngineKind& kind, const std::string& messages) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    int log = open(messages.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(log, 1);  // what a peer prints is not the table
    dup2(log, 2);
    answer = ends[1];
    begun = processor_seconds();
    budget = begun + c.seconds;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm((unsigned)(5 * c.seconds + 60));  // for an engine that waits for ever
    c.run(kind, {});
    leave(0);
  }
  close(ends[1]);
  return {pid, ends[0], &kind, ""};
}

// A row that only this engine has stands behind the row it gave before.
void take_metric(Table& table, const std::string& engine, const std::vector<std::string>& field,
                 std::string& previous) {
  const std::string& m = field[1];
  auto place = std::find(table.metric.begin(), table.metric.end(), m);
  if (place == table.metric.end()) {
    auto behind = std::find(table.metric.begin(), table.metric.end(), previous);
    place = behind == table.metric.end() ? behind : behind + 1;
    table.metric.insert(place, m);
  }
  previous = m;
  table.reference[m] = atof(field[3].c_str());
  table.value[engine][m] = atof(field[2].c_str());
}

std::string why_ended(int status) {
  if (WIFSIGNALED(status)) {
    int s = WTERMSIG(status);
    if (s == SIGXCPU) return "stopped: a single step did not end";
    if (s == SIGALRM) return "stopped: it did not answer";
    return strsignal(s);
  }
  return WEXITSTATUS(status) ? "failed" : "";
}

void take(Table& table, const Case& c, const Job& job, int status) {
  std::istringstream lines(job.text);
  std::string line, previous, reason;
  while (std::getline(lines, line)) {
    std::vector<std::string> field;
    std::istringstream fields(line);
    std::string f;
    while (std::getline(fields, f, '\t')) field.push_back(f);
    if (field.size() == 2 && field[0] == "R") reason = field[1];
    if (field.size() == 2 && field[0] == "T") table.cost[job.kind->name] = atof(field[1].c_str());
    if (field.size() != 4) continue;
    if (field[0] == "W")
      table.work.push_back(std::string(1, c.letter) + "," + job.kind->name + "," + field[1] + "," +
                           field[2] + "," + field[3]);
    else
      take_metric(table, job.kind->name, field, previous);
  }
  if (reason.empty()) reason = why_ended(status);
  if (!reason.empty()) table.ended[job.kind->name] = reason;
}

// Ends jobs whose single step does not come back. (Not by RLIMIT_CPU: with such a limit the kernel
// tells a process its time in ticks only, and the steps' times are lost.)
void end_stuck(const std::vector<Job>& jobs, double seconds) {
  for (const Job& j : jobs) {
    FILE* f = fopen(("/proc/" + std::to_string(j.pid) + "/stat").c_str(), "r");
    long user = 0, system = 0;
    if (f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
                    &system) != 2)
      user = system = 0;
    if (f) fclose(f);
    if ((double)(user + system) / (double)sysconf(_SC_CLK_TCK) > seconds) kill(-j.pid, SIGXCPU);
  }
}

}  // namespace

Table run_case(const Case& c, const std::vector<EngineKind>& kinds, const std::string& messages,
               Progress& progress) {
  const size_t width = c.timed ? 1 : 2;  // jobs at a time
  Table table;
  std::vector<Job> jobs;
  size_t next = 0;
  progress.begin(c, kinds.size());
  while (next < kinds.size() || !jobs.empty()) {
    while (next < kinds.size() && jobs.size() < width) {
      progress.show(kinds[next].name);
      jobs.push_back(start(c, kinds[next++], messages));
    }
    std::vector<pollfd> fds;
    for (const Job& j : jobs) fds.push_back({j.file, POLLIN, 0});
    if (poll(fds.data(), fds.size(), 1000) == 0) {
      progress.show(jobs[0].kind->name);
      end_stuck(jobs, c.seconds + 10);
    }
    for (size_t i = fds.size(); i-- > 0;) {
      if (!fds[i].revents) continue;
      char buffer[4096];
      ssize_t n = read(jobs[i].file, buffer, sizeof buffer);
      if (n > 0) {
        jobs[i].text.append(buffer, (size_t)n);
        continue;
      }
      int status;
      waitpid(jobs[i].pid, &status, 0);
      close(jobs[i].file);
      take(table, c, jobs[i], status);
      jobs.erase(jobs.begin() + (long)i);
      progress.job_done();
    }
  }
  progress.end();
  return table;
}

void Progress::begin(const Case& c, size_t count) {
  letter = c.letter, expect = c.expect, jobs = count, done = 0;
  if (!isatty(2)) fprintf(stderr, "bench: %5.0f s  case %c\n", wall_seconds() - begun, letter);
}

void Progress::show(const std::string& engine) {
  if (!isatty(2)) return;
  double share = (before + expect * (double)done / (double)jobs) / total;
  double elapsed = wall_seconds() - begun;
  // at first by what was expected, then by what was needed
  double left = (1 - share) * (share > 0.05 ? elapsed / share : total);
  const int width = 30, full = (int)(width * share);
  auto minutes = [](double s) { return (int)s / 60; };
  auto seconds = [](double s) { return (int)s % 60; };
  fprintf(stderr, "\r[%.*s%.*s] %3.0f %%  %d:%02d, about %d:%02d left  %c %-24s", full,
          "##############################", width - full, "..............................",
          100 * share, minutes(elapsed), seconds(elapsed), minutes(left), seconds(left), letter,
          engine.c_str());
}

void Progress::end() {
  before += expect;
  if (isatty(2)) fprintf(stderr, "\r%78s\r", "");
}

}  // namespace bench
