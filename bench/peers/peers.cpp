// bench_peers [CASE...] [--engines NAME,...] [--out DIR] [--list]
//
// Runs the cases with every engine, prints a table per case, writes DIR/case_X.csv and
// DIR/work_precision.csv. NAME may be a prefix: "abut" is every model of abut.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "cases.h"

namespace bench {

void Sink::put(const std::string& metric, double value, double reference) const {
  char line[512];
  int n = snprintf(line, sizeof line, "M\t%s\t%.17g\t%.17g\n", metric.c_str(), value, reference);
  if (write(file, line, (size_t)n) != n) _exit(3);
}

void Sink::work(double h, double error, double cost) const {
  char line[256];
  int n = snprintf(line, sizeof line, "W\t%.17g\t%.17g\t%.17g\n", h, error, cost);
  if (write(file, line, (size_t)n) != n) _exit(3);
}

namespace {

struct Options {
  std::string cases;
  std::vector<std::string> engine;
  std::string out = "out/bench";
};

struct Table {
  std::vector<std::string> metric;  // in the order they came
  std::map<std::string, double> reference;
  std::map<std::string, std::map<std::string, double>> value;  // engine, metric
  std::map<std::string, std::string> ended;                    // engine: why early
  std::vector<std::string> work;                               // CSV lines
};

struct Job {
  pid_t pid;
  int file;
  const EngineKind* kind;
  std::string text;
};

Job start(const Case& c, const EngineKind& kind) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);  // what a peer prints is not the table
    rlimit limit = {(rlim_t)c.seconds, (rlim_t)c.seconds + 2};
    setrlimit(RLIMIT_CPU, &limit);
    c.run(kind, {ends[1]});
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0], &kind, ""};
}

void take(Table& table, char letter, const Job& job, int status) {
  std::istringstream lines(job.text);
  std::string line, previous;
  while (std::getline(lines, line)) {
    std::vector<std::string> field;
    std::istringstream fields(line);
    std::string f;
    while (std::getline(fields, f, '\t')) field.push_back(f);
    if (field.size() != 4) continue;
    if (field[0] == "W") {
      table.work.push_back(std::string(1, letter) + "," + job.kind->name + "," + field[1] + "," +
                           field[2] + "," + field[3]);
      continue;
    }
    const std::string& m = field[1];
    // a row that only this engine has stands behind the row it gave before
    auto place = std::find(table.metric.begin(), table.metric.end(), m);
    if (place == table.metric.end()) {
      auto behind = std::find(table.metric.begin(), table.metric.end(), previous);
      place = behind == table.metric.end() ? behind : behind + 1;
      table.metric.insert(place, m);
    }
    previous = m;
    table.reference[m] = atof(field[3].c_str());
    table.value[job.kind->name][m] = atof(field[2].c_str());
  }
  if (WIFSIGNALED(status))
    table.ended[job.kind->name] = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL
                                      ? "stopped: out of time"
                                      : strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    table.ended[job.kind->name] = "failed";
}

// Runs one case for all engines, `width` of them at a time.
Table run_case(const Case& c, const std::vector<EngineKind>& kinds, size_t width) {
  Table table;
  std::vector<Job> jobs;
  size_t next = 0;
  double begin = wall_seconds();
  while (next < kinds.size() || !jobs.empty()) {
    while (next < kinds.size() && jobs.size() < width) {
      fprintf(stderr, "case %c  %-22s %6.1f s\n", c.letter, kinds[next].name.c_str(),
              wall_seconds() - begin);
      jobs.push_back(start(c, kinds[next++]));
    }
    std::vector<pollfd> fds;
    for (const Job& j : jobs) fds.push_back({j.file, POLLIN, 0});
    poll(fds.data(), fds.size(), -1);
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
      take(table, c.letter, jobs[i], status);
      jobs.erase(jobs.begin() + (long)i);
    }
  }
  return table;
}

int width(const EngineKind& k) { return std::max(11, (int)k.name.size()); }

void print_table(const Case& c, const Table& t, const std::vector<EngineKind>& kinds) {
  printf("\n%c. %s\n%s\n\n%-44s %10s", c.letter, c.title, c.note, "", "reference");
  for (const EngineKind& k : kinds) printf(" %*s", width(k), k.name.c_str());
  printf("\n");
  for (const std::string& m : t.metric) {
    printf("%-44s", m.c_str());
    double reference = t.reference.at(m);
    if (std::isnan(reference))
      printf(" %10s", "");
    else
      printf(" %10.5g", reference);
    for (const EngineKind& k : kinds) {
      auto e = t.value.find(k.name);
      bool has = e != t.value.end() && e->second.count(m) && !std::isnan(e->second.at(m));
      if (has)
        printf(" %*.5g", width(k), e->second.at(m));
      else
        printf(" %*s", width(k), "-");
    }
    printf("\n");
  }
  for (const auto& e : t.ended) printf("  %s: %s\n", e.first.c_str(), e.second.c_str());
  fflush(stdout);
}

void write_csv(const Case& c, const Table& t, const std::vector<EngineKind>& kinds,
               const std::string& out) {
  std::string path = out + "/case_" + c.letter + ".csv";
  FILE* f = fopen(path.c_str(), "w");
  if (!f) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fprintf(f, "# %s\n# %s\nmetric,reference", c.title, c.note);
  for (const EngineKind& k : kinds) fprintf(f, ",%s", k.name.c_str());
  fprintf(f, "\n");
  for (const std::string& m : t.metric) {
    fprintf(f, "\"%s\",%.17g", m.c_str(), t.reference.at(m));
    for (const EngineKind& k : kinds) {
      auto e = t.value.find(k.name);
      bool has = e != t.value.end() && e->second.count(m);
      if (has)
        fprintf(f, ",%.9g", e->second.at(m));
      else
        fprintf(f, ",nan");
    }
    fprintf(f, "\n");
  }
  for (const auto& e : t.ended) fprintf(f, "# ended %s: %s\n", e.first.c_str(), e.second.c_str());
  fclose(f);
}

std::vector<EngineKind> find_engines() {
  std::vector<EngineKind> list;
  add_abut(list);
#ifdef ABUT_HAVE_MUJOCO
  add_mujoco(list);
#endif
#ifdef ABUT_HAVE_BULLET
  add_bullet(list);
#endif
#ifdef ABUT_HAVE_ODE
  add_ode(list);
#endif
#ifdef ABUT_HAVE_DART
  add_dart(list);
#endif
#ifdef ABUT_HAVE_SIMBODY
  add_simbody(list);
#endif
  add_python(list);
  return list;
}

const std::vector<EngineKind>& all_engines() {
  static const std::vector<EngineKind> list = find_engines();
  return list;
}

bool chosen(const EngineKind& k, const Options& o) {
  if (o.engine.empty()) return true;
  for (const std::string& name : o.engine)
    if (k.name == name || (k.name.compare(0, name.size(), name) == 0 && k.name[name.size()] == '/'))
      return true;
  return false;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i++) {
    std::string a = argv[i];
    if (a == "--engines" && i + 1 < argc) {
      std::istringstream names(argv[++i]);
      std::string name;
      while (std::getline(names, name, ',')) o.engine.push_back(name);
    } else if (a == "--out" && i + 1 < argc) {
      o.out = argv[++i];
    } else if (a == "--list") {
      for (const EngineKind& k : all_engines())
        printf("%-20s %s\n", k.name.c_str(), k.note.c_str());
      exit(0);
    } else if (a[0] != '-') {
      o.cases += a;
    } else {
      fprintf(stderr, "usage: bench_peers [CASE...] [--engines NAME,...] [--out DIR] [--list]\n");
      exit(2);
    }
  }
  return o;
}

// The folder of the results, with those above it.
void make_folder(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), 0777);  // what is wrong shows when the first file is written
    if (end == std::string::npos) return;
  }
}

void name_engines(const std::vector<EngineKind>& kinds, const std::string& out) {
  std::string path = out + "/engines.csv";
  FILE* f = fopen(path.c_str(), "w");
  if (!f) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fprintf(f, "engine,setting\n");
  for (const EngineKind& k : kinds) {
    printf("%-20s %s\n", k.name.c_str(), k.note.c_str());
    fprintf(f, "%s,\"%s\"\n", k.name.c_str(), k.note.c_str());
  }
  fclose(f);
}

// Brought to rest by Bullet, which is fast, or by the default model where Bullet is missing.
void prepare_piles() {
  const std::vector<EngineKind>& list = all_engines();
  const EngineKind* fast = &list[0];
  for (const EngineKind& k : list)
    if (k.name == "bullet/default") fast = &k;
  for (int n : pile_sizes) {
    fprintf(stderr, "case E  settling %d boxes with %s\n", n, fast->name.c_str());
    pile_prepare(*fast, n);
  }
}

int run(int argc, char** argv) {
  Options o = parse(argc, argv);
  std::vector<EngineKind> kinds;
  for (const EngineKind& k : all_engines())
    if (chosen(k, o)) kinds.push_back(k);
  make_folder(o.out);
  name_engines(kinds, o.out);
  std::vector<Case> cases;
  for (const auto* list : {&slide_cases, &rest_cases, &pile_cases})
    for (const Case& c : *list)
      if (o.cases.empty() || o.cases.find(c.letter) != std::string::npos) cases.push_back(c);
  std::vector<std::string> work;
  for (const Case& c : cases) {
    if (c.letter == 'E' || c.letter == 'S') prepare_piles();
    Table t = run_case(c, kinds, c.timed ? 1 : 2);
    print_table(c, t, kinds);
    write_csv(c, t, kinds, o.out);
    work.insert(work.end(), t.work.begin(), t.work.end());
  }
  FILE* f = fopen((o.out + "/work_precision.csv").c_str(), "w");
  if (!f) return 1;
  fprintf(f, "case,engine,h,error,seconds per simulated second\n");
  for (const std::string& line : work) fprintf(f, "%s\n", line.c_str());
  fclose(f);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }
