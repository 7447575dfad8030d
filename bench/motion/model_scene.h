// A compiled model in the words of bench/peers/engine.h, for engines that read no MJCF.
#ifndef ABUT_BENCH_MODEL_SCENE_H
#define ABUT_BENCH_MODEL_SCENE_H

#include <abut/abut.h>

#include "../peers/engine.h"

namespace bench {

// At the state of `data`. Shapes are borrowed from the model. What cannot be said is listed in
// `lacks`, empty if nothing is missing.
Scene scene_of_model(const abModel* model, const abData* data, std::string& lacks);

}  // namespace bench

#endif
