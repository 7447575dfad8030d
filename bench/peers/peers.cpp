// bench_peers [CASE...] [--engines NAME,...] [--out DIR] [--list]
//
// Runs the cases with every engine, prints a table per case, writes DIR/case_X.csv and
// DIR/work_precision.csv. NAME may be a prefix: "abut" is every model of abut.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "jobs.h"

namespace bench {

namespace {

struct Options {
  std::string cases;
  std::vector<std::string> engine;
  std::string out = "out/bench";
};

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
  for (const auto& e : t.cost) fprintf(f, "# cost %s: %.2f\n", e.first.c_str(), e.second);
  fclose(f);
}

void write_work(const std::vector<std::string>& work, const std::string& out) {
  FILE* f = fopen((out + "/work_precision.csv").c_str(), "w");
  if (!f) return;
  fprintf(f, "case,engine,h,error,seconds per simulated second\n");
  for (const std::string& line : work) fprintf(f, "%s\n", line.c_str());
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

// Let fall by Bullet, which is fast, or by the default model where Bullet is missing; brought to
// rest by the default model.
void prepare_piles() {
  const std::vector<EngineKind>& list = all_engines();
  const EngineKind *fast = &list[0], *still = &list[0];
  for (const EngineKind& k : list) {
    if (k.name == "bullet/default") fast = &k;
    if (k.name == "abut/patch") still = &k;
  }
  for (int n : pile_sizes) pile_prepare(*fast, *still, n);
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
  double expected = 0;
  for (const Case& c : cases) expected += c.expect;
  Progress progress(expected);
  const std::string messages = o.out + "/messages.log";
  remove(messages.c_str());
  std::vector<std::string> work;
  for (const Case& c : cases) {
    if (c.letter == 'E' || c.letter == 'S') prepare_piles();
    Table t = run_case(c, kinds, messages, progress);
    print_table(c, t, kinds);
    write_csv(c, t, kinds, o.out);
    work.insert(work.end(), t.work.begin(), t.work.end());
    write_work(work, o.out);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }
