// A tree of boxes: finds everything that meets a box in time that grows with the answer and the
// tree's height.
#ifndef ABUT_COLLIDE_TREE_H
#define ABUT_COLLIDE_TREE_H

#include "base/arena.h"
#include "math/quad.h"
#include "math/vec.h"

typedef struct abBox {
  abVec3 low, high;
} abBox;

// Without branches, since mostly it is a toss-up, and by two.
static inline bool box_meets(const abBox* a, const abBox* b) {
  abTwo al = {a->low.x, a->low.y}, ah = {a->high.x, a->high.y};
  abTwo bl = {b->low.x, b->low.y}, bh = {b->high.x, b->high.y};
  abTwo low = {a->low.z, b->low.z}, high = {b->high.z, a->high.z};
  abTwoMask m = (al <= bh) & (bl <= ah) & (low <= high);
  return m[0] & m[1] & 1;
}

static inline bool box_holds(const abBox* outer, const abBox* inner) {
  return outer->low.x <= inner->low.x && inner->high.x <= outer->high.x &&
         outer->low.y <= inner->low.y && inner->high.y <= outer->high.y &&
         outer->low.z <= inner->low.z && inner->high.z <= outer->high.z;
}

typedef struct abTreeNode {
  abBox box;
  int parent;
  int child[2];  // child[0] < 0: a leaf
  int height;    // 0 for leaves
} abTreeNode;

// Leaf i is node i; inner nodes follow.
typedef struct abTree {
  int nleaf;
  int root;          // -1 while empty
  int free;          // list of unused inner nodes, by parent
  abTreeNode* node;  // 2 nleaf
  double surface;    // of all inner nodes, when the tree was built
} abTree;

// Bytes for a tree of n leaves, and the tree made in them, empty.
size_t ab_tree_bytes(int nleaf);
void ab_tree_init(abTree* tree, int nleaf, void* bytes);
void ab_tree_insert(abTree* tree, int leaf, abBox box);
void ab_tree_remove(abTree* tree, int leaf);
// The tree over these leaves, whose boxes stand in their nodes; what it held before is forgotten.
// Scratch from the arena, given back; false if it is exhausted.
bool ab_tree_build(abTree* tree, int n, const int* leaf, abArena* scratch);
// Gives all inner nodes of a tree that was built the boxes that follow from those in its leaves.
// False: these have come to lie so that a new tree is better.
bool ab_tree_refit(abTree* tree);
// Calls visit(context, a, b) once for every two leaves whose boxes meet, until it returns false.
bool ab_tree_pairs(const abTree* tree, bool (*visit)(void*, int, int), void* context);
// Calls visit(context, leaf) for every leaf whose box meets the given one, until it returns false.
bool ab_tree_query(const abTree* tree, const abBox* box, bool (*visit)(void*, int), void* context);

#endif
