// Engines of the Python registry: the newest MuJoCo and Drake. Each runs in a Python process of its
// own (worker.py, whose head tells what goes over the pipes), started once per process of the
// benchmark. The interpreter is that of bench/peers/python.sh or the one named by
// ABUT_BENCH_PYTHON; an engine it cannot import is left out.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine.h"

namespace bench {
namespace {

const char* interpreter() {
  const char* named = getenv("ABUT_BENCH_PYTHON");
  return named ? named : ABUT_BENCH_PYTHON;
}

std::string script(const std::string& family) {
  return std::string(ABUT_BENCH_WORKERS) + "/worker_" + family + ".py";
}

// "MuJoCo 3.1": what the worker says of itself; empty where it cannot start.
std::string version(const std::string& family) {
  if (access(interpreter(), X_OK) != 0) return "";
  std::string command =
      std::string("'") + interpreter() + "' -B '" + script(family) + "' --version 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "";
  char line[128] = "";
  bool any = fgets(line, sizeof line, pipe) != nullptr;
  if (pclose(pipe) != 0 || !any) return "";
  line[strcspn(line, "\n")] = 0;
  return line;
}

// The worker of this process; each process of the benchmark runs one kind of engine only.
struct Worker {
  int to = -1, from = -1;
  int scenes = 0;

  void start(const std::string& family) {
    if (to >= 0) return;
    int request[2], answer[2];
    if (pipe2(request, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) abort();
    if (fork() == 0) {
      dup2(request[0], 0);
      dup2(answer[1], 1);
      rlimit limit = {60, 62};  // seconds; a step that does not come back
      setrlimit(RLIMIT_CPU, &limit);
      std::string path = script(family);
      execl(interpreter(), interpreter(), "-B", "-W", "ignore", path.c_str(), (char*)nullptr);
      _exit(127);
    }
    close(request[0]);
    close(answer[1]);
    to = request[1], from = answer[0];
    signal(SIGPIPE, SIG_IGN);  // a worker that is gone shows as an answer that does not come
  }
  void send(const std::string& line) const {
    size_t done = 0;
    while (done < line.size()) {
      ssize_t n = write(to, line.data() + done, line.size() - done);
      if (n <= 0) lost();
      done += (size_t)n;
    }
  }
  void receive(double* out, size_t count) const {
    size_t done = 0, size = count * sizeof(double);
    while (done < size) {
      ssize_t n = read(from, (char*)out + done, size - done);
      if (n <= 0) lost();
      done += (size_t)n;
    }
  }
  // The worker ended: with its time spent, or with an error it has printed.
  [[noreturn]] static void lost() {
    int status = 0;
    wait(&status);
    if (WIFSIGNALED(status)) {
      signal(WTERMSIG(status), SIG_DFL);
      raise(WTERMSIG(status));
    }
    _exit(2);
  }
};

Worker worker;

void append_vec(std::string& out, const char* name, const abVec3& v) {
  append(out, "\"%s\":[%.17g,%.17g,%.17g],", name, v.x, v.y, v.z);
}
void append_pose(std::string& out, const abPose& p) {
  append(out, "\"pose\":[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]", p.p.x, p.p.y, p.p.z, p.q.w,
         p.q.x, p.q.y, p.q.z);
}

std::string json(const Scene& s) {
  std::string out = "{";
  append_vec(out, "gravity", s.gravity);
  append(out, "\"h\":%.17g,\"mu\":%.17g,\"mu_static\":%.17g,\"body\":[", s.h, s.mu_kinetic,
         s.mu_static);
  for (const Body& b : s.body) {
    if (&b != &s.body[0]) out += ",";
    append(out, "{\"fixed\":%d,\"rail\":%d,\"gravity\":%d,\"mass\":%.17g,", b.fixed, b.rail,
           b.gravity, b.mass);
    append_vec(out, "inertia", b.inertia);
    append_vec(out, "axis", b.axis);
    append(out, "\"twist\":[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g],", b.twist.lin.x, b.twist.lin.y,
           b.twist.lin.z, b.twist.ang.x, b.twist.ang.y, b.twist.ang.z);
    append_pose(out, b.pose);
    out += ",\"geom\":[";
    for (const Geom& g : b.geom) {
      if (&g != &b.geom[0]) out += ",";
      append(out, "{\"type\":\"%s\",", shape_name(g.type));
      append_vec(out, "size", g.size);
      append_pose(out, g.pose);
      out += "}";
    }
    out += "]}";
  }
  return out + "]}";
}

class Remote : public Engine {
 public:
  Remote(const Scene& s, const std::string& family, const std::string& setting)
      : id(worker.scenes++), value(4 + 13 * s.body.size()) {
    worker.start(family);
    worker.send("scene " + std::to_string(id) + " " + setting + " " + json(s) + "\n");
    worker.receive(value.data(), value.size());
    ask_step = "step " + std::to_string(id) + "\n";
  }
  ~Remote() override { worker.send("drop " + std::to_string(id) + "\n"); }
  void step() override {
    worker.send(ask_step);
    worker.receive(value.data(), value.size());
    processor += value[2], wall += value[3];
    is_broken |= value[0] != 0;
  }
  void apply(int body, abWrench w) override {
    std::string line;
    append(line, "apply %d %d %.17g %.17g %.17g %.17g %.17g %.17g\n", id, body, w.force.x,
           w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z);
    worker.send(line);
  }
  abPose pose(int body) override {
    const double* v = state(body);
    return {{v[0], v[1], v[2]}, {v[3], v[4], v[5], v[6]}};
  }
  abTwist twist(int body) override {
    const double* v = state(body);
    return {{v[7], v[8], v[9]}, {v[10], v[11], v[12]}};
  }
  int contacts() override {
    worker.send("contacts " + std::to_string(id) + "\n");
    worker.receive(value.data(), value.size());
    return (int)value[1];
  }
  bool broken() override { return is_broken; }
  bool own_clock(double* processor_seconds, double* wall_seconds) override {
    *processor_seconds = processor, *wall_seconds = wall;
    return true;
  }

 private:
  const double* state(int body) const { return value.data() + 4 + 13 * (size_t)body; }

  int id;
  std::vector<double> value;
  std::string ask_step;
  double processor = 0, wall = 0;
  bool is_broken = false;
};

std::unique_ptr<Engine> create_mujoco(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Remote>(scene, "mujoco", kind.name.substr(kind.name.find('/') + 1));
}

std::unique_ptr<Engine> create_drake(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Remote>(scene, "drake", kind.name.substr(kind.name.find('/') + 1));
}

}  // namespace

void add_python(std::vector<EngineKind>& list) {
  std::string mujoco = version("mujoco"), drake = version("drake");
  if (mujoco.empty())
    fprintf(stderr, "bench: the newest MuJoCo is not there, left out (bench/peers/python.sh)\n");
  else {
    list.push_back({"mujoco-new/default", mujoco + ", defaults", create_mujoco, 1000});
    list.push_back({"mujoco-new/best",
                    "as mujoco/best, with the implicitfast integrator (RK4 without contact)",
                    create_mujoco, 1000});
  }
  if (drake.empty())
    fprintf(stderr, "bench: Drake is not there, left out (bench/peers/python.sh)\n");
  else {
    list.push_back({"drake/default", drake + ", hydroelastic, defaults, compliant bodies",
                    create_drake, 1000});
    list.push_back(
        {"drake/best",
         "finer mesh for a body alone on the floor, stiction tolerance 1e-6 m/s (several "
         "bodies 1e-5), stiffer under heavy loads, continuous plant without contact",
         create_drake, 1000});
  }
}

}  // namespace bench
