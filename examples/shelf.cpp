// From C++: a ball rolls over a shelf, falls, and a ray finds the floor below it.
#include <abut/abut.h>

#include <cstdio>
#include <memory>
#include <string>

// Both are freed by functions of their own.
struct Free {
  void operator()(abModel* model) const { ab_model_free(model); }
  void operator()(abData* data) const { ab_data_free(data); }
};

int main() {
  const std::string scene = R"(<mujoco><worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <geom name="shelf" type="box" size=".5 .2 .01" pos="0 0 .99"/>
    <body name="ball" pos="0 0 1.05"><freejoint/><geom type="sphere" size=".05" mass=".2"/></body>
  </worldbody></mujoco>)";
  abError error{};
  std::unique_ptr<abModel, Free> model(
      ab_load_memory("shelf", scene.data(), scene.size(), nullptr, &error));
  std::unique_ptr<abData, Free> data(model ? ab_data_create(model.get(), &error) : nullptr);
  if (!data) {
    std::fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.message);
    return 1;
  }
  int ball = ab_find_body(model.get(), "ball");
  data->v[0] = 1;  // a push along x
  while (data->time < 1)
    if (ab_step(model.get(), data.get()) == AB_STEP_BROKEN) {
      char why[200];
      std::fprintf(stderr, "%s\n", ab_step_text(model.get(), data.get(), why, sizeof why));
      return 1;
    }
  abRay down = ab_ray(data->com[ball], abVec3{0, 0, -1});
  down.without = ball;
  abRayHit hit;
  if (ab_ray_cast(model.get(), data.get(), &down, &hit, &error) != AB_OK || hit.geom < 0) return 1;
  std::printf("after %.1f s the ball is at x = %.3f m, %.3f m above the %s\n", data->time,
              data->com[ball].x, hit.distance, model->geom[hit.geom].name);
  return 0;
}
