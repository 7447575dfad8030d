// The order in which a scene is compiled: bodies depth first, what hangs on them body by body.
#ifndef ABUT_SCENE_ORDER_H
#define ABUT_SCENE_ORDER_H

#include "scene/scene.h"

// from[k] is the scene's index of the k-th body, to[] the other way round. scratch: two per body.
void ab_order_bodies(const abScene* scene, int* from, int* to, int* scratch);
// The same of n things whose k-th hangs on the body body_of[k]. first: cleared, one per body and
// two.
void ab_order_by_body(const abScene* scene, const int* to_body, int n, const int* body_of,
                      int* first, int* from, int* to);

#endif
