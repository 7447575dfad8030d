// A binary tree over boxes, kept balanced while leaves come and go.
//
// A leaf is put beside the node where it adds the least surface to the tree: at each node, making a
// new parent here costs the union's surface, going down costs what the child's surface grows by,
// plus what all boxes above grow by. A box's surface is proportional to the chance that a query
// enters it, so the sum of surfaces is the cost of a query. On the way back up every node whose
// children differ in height by more than one is rotated, which bounds the height by 1.44 log2 n
// whatever the order of insertion.
//
// When many leaves have moved by little, the tree is kept and its boxes are made anew from the
// leaves up, unless the sum of surfaces tells that it has become a bad one. Then a new tree is
// cheaper: the leaves are divided in halves across the direction in which their middles spread
// most, and so on. Halves of equal number make the tree as flat as can be, and stray bodies do not
// matter. All pairs of meeting leaves are then found by descending from the root in two places at
// once.
// Tests: test_broadphase.
#include "collide/broad/tree.h"

// A tree whose surfaces have grown by this factor is built anew.
static const double WORSE = 1.25;

static double surface(const abBox* b) {
  abVec3 d = v3_sub(b->high, b->low);
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

// fmin and fmax are calls, because of NaN.
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

static abBox unite(const abBox* a, const abBox* b) {
  return (abBox){
      v3(smaller(a->low.x, b->low.x), smaller(a->low.y, b->low.y), smaller(a->low.z, b->low.z)),
      v3(larger(a->high.x, b->high.x), larger(a->high.y, b->high.y), larger(a->high.z, b->high.z))};
}

size_t ab_tree_bytes(int nleaf) { return sizeof(abTreeNode) * 2 * (size_t)(nleaf > 0 ? nleaf : 1); }

void ab_tree_init(abTree* tree, int nleaf, void* bytes) {
  *tree = (abTree){.nleaf = nleaf, .root = -1, .free = -1, .node = bytes};
  for (int i = 2 * nleaf - 1; i >= nleaf; i--) {
    tree->node[i].parent = tree->free;
    tree->free = i;
  }
}

static bool is_leaf(const abTree* tree, int i) { return i < tree->nleaf; }

static void refresh(abTree* tree, int i) {
  abTreeNode* n = &tree->node[i];
  const abTreeNode *a = &tree->node[n->child[0]], *b = &tree->node[n->child[1]];
  n->box = unite(&a->box, &b->box);
  n->height = 1 + (a->height > b->height ? a->height : b->height);
}

static void replace_child(abTree* tree, int parent, int old, int new) {
  if (parent < 0)
    tree->root = new;
  else
    tree->node[parent].child[tree->node[parent].child[1] == old] = new;
  tree->node[new].parent = parent;
}

// Lifts child `side` of i above i; i takes over the lower of the child's own children. Returns the
// new top.
static int rotate(abTree* tree, int i, int side) {
  abTreeNode* n = &tree->node[i];
  int up = n->child[side];
  abTreeNode* u = &tree->node[up];
  int keep = tree->node[u->child[1]].height > tree->node[u->child[0]].height;
  int give = u->child[1 - keep];
  replace_child(tree, n->parent, i, up);
  u->child[1 - keep] = i;
  n->parent = up;
  n->child[side] = give;
  tree->node[give].parent = i;
  refresh(tree, i);
  refresh(tree, up);
  return up;
}

static void repair_upwards(abTree* tree, int i) {
  while (i >= 0) {
    const abTreeNode* n = &tree->node[i];
    int lean = tree->node[n->child[1]].height - tree->node[n->child[0]].height;
    if (lean > 1 || lean < -1)
      i = rotate(tree, i, lean > 1);
    else
      refresh(tree, i);
    i = tree->node[i].parent;
  }
}

static int find_sibling(const abTree* tree, const abBox* box) {
  int i = tree->root;
  while (!is_leaf(tree, i)) {
    const abTreeNode* n = &tree->node[i];
    abBox grown = unite(&n->box, box);
    double here = surface(&grown);           // of a new parent at this node
    double above = here - surface(&n->box);  // what this node's box grows by if we go down
    double cost[2];
    for (int k = 0; k < 2; k++) {
      const abTreeNode* c = &tree->node[n->child[k]];
      abBox both = unite(&c->box, box);
      cost[k] = above + surface(&both) - (is_leaf(tree, n->child[k]) ? 0 : surface(&c->box));
    }
    if (here < cost[0] && here < cost[1]) break;
    i = n->child[cost[1] < cost[0]];
  }
  return i;
}

void ab_tree_insert(abTree* tree, int leaf, abBox box) {
  abTreeNode* n = &tree->node[leaf];
  *n = (abTreeNode){.box = box, .parent = -1, .child = {-1, -1}};
  if (tree->root < 0) {
    tree->root = leaf;
    return;
  }
  int sibling = find_sibling(tree, &box);
  int parent = tree->free;
  tree->free = tree->node[parent].parent;
  replace_child(tree, tree->node[sibling].parent, sibling, parent);
  tree->node[parent].child[0] = sibling;
  tree->node[parent].child[1] = leaf;
  tree->node[sibling].parent = parent;
  n->parent = parent;
  repair_upwards(tree, parent);
}

void ab_tree_remove(abTree* tree, int leaf) {
  int parent = tree->node[leaf].parent;
  if (parent < 0) {
    tree->root = -1;
    return;
  }
  int sibling = tree->node[parent].child[tree->node[parent].child[0] == leaf];
  int above = tree->node[parent].parent;
  replace_child(tree, above, parent, sibling);
  tree->node[parent].parent = tree->free;
  tree->free = parent;
  repair_upwards(tree, above);
}

bool ab_tree_query(const abTree* tree, const abBox* box, bool (*visit)(void*, int), void* context) {
  // The balance bounds the height by 1.44 log2 n < 64 for any n that fits an int; each level leaves
  // one node waiting.
  int stack[96], n = 0;
  if (tree->root >= 0) stack[n++] = tree->root;
  while (n > 0) {
    const abTreeNode* node = &tree->node[stack[--n]];
    if (!box_meets(&node->box, box)) continue;
    if (node->child[0] < 0) {
      if (!visit(context, (int)(node - tree->node))) return false;
    } else {
      stack[n++] = node->child[0];
      stack[n++] = node->child[1];
    }
  }
  return true;
}

// --- all at once ---

typedef struct Item {
  double middle[3];
  int leaf;
} Item;

static bool item_before(const Item* a, const Item* b, int axis) {
  return a->middle[axis] < b->middle[axis] ||
         (a->middle[axis] == b->middle[axis] && a->leaf < b->leaf);
}

// Rearranges the items so that the k-th along the axis stands at its place, smaller ones before it.
static void select_item(Item* item, int n, int k, int axis) {
  int low = 0, high = n - 1;
  while (low < high) {
    Item pivot = item[low + (high - low) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (item_before(&item[i], &pivot, axis)) i++;
      while (item_before(&pivot, &item[j], axis)) j--;
      if (i <= j) {
        Item x = item[i];
        item[i++] = item[j], item[j--] = x;
      }
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      return;
  }
}

static int widest_axis(const Item* item, int n) {
  int widest = 0;
  double most = -1;
  for (int axis = 0; axis < 3; axis++) {
    double low = item[0].middle[axis], high = low;
    for (int i = 1; i < n; i++) {
      double x = item[i].middle[axis];
      low = x < low ? x : low, high = x > high ? x : high;
    }
    if (high - low > most) most = high - low, widest = axis;
  }
  return widest;
}

// Items that become a child of a node, the root of parent -1.
typedef struct Part {
  Item* item;
  int n, parent, side;
} Part;

static void put_child(abTree* tree, const Part* part, int i) {
  tree->node[i].parent = part->parent;
  if (part->parent < 0)
    tree->root = i;
  else
    tree->node[part->parent].child[part->side] = i;
}

// Inner nodes are taken one after the other, parents first; returns the next that is free.
static int build_nodes(abTree* tree, Item* item, int n) {
  // each level of halves leaves one part waiting, and has half the items of that above
  Part part[40] = {{item, n, -1, 0}};
  int next = tree->nleaf;
  for (int waiting = 1; waiting > 0;) {
    Part p = part[--waiting];
    if (p.n == 1) {
      abTreeNode* leaf = &tree->node[p.item->leaf];
      leaf->child[0] = leaf->child[1] = -1, leaf->height = 0;
      put_child(tree, &p, p.item->leaf);
      continue;
    }
    int i = next++, half = p.n / 2;
    put_child(tree, &p, i);
    select_item(p.item, p.n, half, widest_axis(p.item, p.n));
    part[waiting++] = (Part){p.item + half, p.n - half, i, 1};
    part[waiting++] = (Part){p.item, half, i, 0};
  }
  for (int i = next - 1; i >= tree->nleaf; i--) refresh(tree, i);
  return next;
}

bool ab_tree_build(abTree* tree, int n, const int* leaf, abArena* scratch) {
  abArenaMark mark = ab_arena_mark(scratch);
  Item* item = AB_TAKE(scratch, Item, n);
  if (!item) return false;
  for (int i = 0; i < n; i++) {
    const abBox* b = &tree->node[leaf[i]].box;
    item[i] = (Item){{b->low.x + b->high.x, b->low.y + b->high.y, b->low.z + b->high.z}, leaf[i]};
  }
  tree->root = -1;
  int next = n > 0 ? build_nodes(tree, item, n) : tree->nleaf;
  tree->surface = 0;
  for (int i = tree->nleaf; i < next; i++) tree->surface += surface(&tree->node[i].box);
  tree->free = -1;
  for (int i = 2 * tree->nleaf - 1; i >= next; i--) {
    tree->node[i].parent = tree->free;
    tree->free = i;
  }
  ab_arena_release(scratch, mark);
  return true;
}

// Goes around the tree: a node is done when both of its children are.
bool ab_tree_refit(abTree* tree) {
  double sum = 0;
  for (int i = tree->root, last = -1, next; i >= 0; last = i, i = next) {
    const abTreeNode* n = &tree->node[i];
    if (is_leaf(tree, i)) {
      next = n->parent;
    } else if (last == n->parent) {
      next = n->child[0];
    } else if (last == n->child[0]) {
      next = n->child[1];
    } else {
      refresh(tree, i);
      sum += surface(&n->box);
      next = n->parent;
    }
  }
  return tree->root >= 0 && sum < WORSE * tree->surface;
}

bool ab_tree_pairs(const abTree* tree, bool (*visit)(void*, int, int), void* context) {
  // Of a node with itself two of three remain waiting, of two nodes one of two: with a height below
  // 64 no more than 256. Two nodes wait only if their boxes meet, which is counted, not branched
  // on.
  int stack[320][2], n = 0;
  const abTreeNode* node = tree->node;
  if (tree->root >= 0) stack[n][0] = stack[n][1] = tree->root, n++;
  while (n > 0) {
    int a = stack[--n][0], b = stack[n][1];
    const abTreeNode *x = &node[a], *y = &node[b];
    if (a == b) {
      if (is_leaf(tree, a)) continue;
      int l = x->child[0], r = x->child[1];
      stack[n][0] = l, stack[n][1] = r;
      n += box_meets(&node[l].box, &node[r].box);
      stack[n][0] = stack[n][1] = r, n++;
      stack[n][0] = stack[n][1] = l, n++;
      continue;
    }
    if (x->height == 0 && y->height == 0) {
      if (!visit(context, a, b)) return false;
      continue;
    }
    // go down in the higher one
    bool first = x->height >= y->height;
    const abTreeNode *down = first ? x : y, *other = first ? y : x;
    int stay = first ? b : a;
    for (int k = 0; k < 2; k++) {
      int child = down->child[k];
      stack[n][0] = child, stack[n][1] = stay;
      n += box_meets(&node[child].box, &other->box);
    }
  }
  return true;
}
