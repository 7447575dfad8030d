// See order.h.
// Tests: test_compile.
#include "scene/order.h"

// Without recursion: first child and next sibling, both in the order of adding.
void ab_order_bodies(const abScene* scene, int* from, int* to, int* scratch) {
  int n = scene->body.n, *child = scratch, *sibling = scratch + n;
  for (int i = 0; i < n; i++) child[i] = sibling[i] = 0;
  for (int i = n - 1; i > 0; i--) {
    int parent = scene->body.item[i].parent;
    sibling[i] = child[parent];
    child[parent] = i;
  }
  int at = 0;
  for (int body = 0; at < n;) {
    from[at] = body;
    to[body] = at++;
    if (child[body]) {
      body = child[body];
      continue;
    }
    while (body && !sibling[body]) body = scene->body.item[body].parent;
    if (!body) break;
    body = sibling[body];
  }
}

// Sorted by body, stable; first[b] .. first[b + 1] are the k-th body's.
void ab_order_by_body(const abScene* scene, const int* to_body, int n, const int* body_of,
                      int* first, int* from, int* to) {
  for (int i = 0; i < n; i++) first[to_body[body_of[i]] + 1]++;
  for (int b = 0; b < scene->body.n; b++) first[b + 1] += first[b];
  for (int i = 0; i < n; i++) {
    int at = first[to_body[body_of[i]]]++;
    from[at] = i;
    to[i] = at;
  }
}
