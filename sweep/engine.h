// What the parts of the sweep engine share.
#ifndef ABUT_SWEEP_ENGINE_H
#define ABUT_SWEEP_ENGINE_H

#include <jansson.h>

#include "sweep.h"

// --- what varies (vary.c, generate.c) ---

typedef enum Spread { SPREAD_GRID, SPREAD_LIST, SPREAD_UNIFORM, SPREAD_LOG, SPREAD_NORMAL } Spread;
typedef enum Target {
  TARGET_NUMBER,    // of the scene (abut/number.h)
  TARGET_PARAM,     // of the contact model
  TARGET_FORCE,     // one number of the series of forces
  TARGET_CONTROL,   // likewise
  TARGET_FORCES,    // which file of forces
  TARGET_CONTROLS,  // likewise
} Target;

typedef struct Vary {
  char* name;
  Spread spread;
  double a, b;       // grid, uniform: ends; normal: mean and deviation
  double low, high;  // normal: truncated to
  int64_t n;         // values of a grid or list
  double* value;     // of a list
  char** file;       // names of a list of files; the value is the index
  char* tie;         // of "set": the varied number it follows, and its index
  int tied_to;
  Target target;
  int series[2];  // row and field of TARGET_FORCE and TARGET_CONTROL
} Vary;

typedef enum Method { METHOD_GRID, METHOD_RANDOM, METHOD_LHS, METHOD_SOBOL } Method;

// --- what is measured (quantity.c, measure.c) ---

typedef enum Reduce { REDUCE_LAST, REDUCE_MIN, REDUCE_MAX, REDUCE_MEAN, REDUCE_FIRST } Reduce;

typedef struct Quantity {
  int kind;     // index into the table of quantity.c
  int body;     // or joint, or actuator
  int side[2];  // of a contact: a body, or a geom where side_geom, or -1 for any
  bool side_geom[2];
} Quantity;

typedef struct Measure {
  char* name;
  char* text;
  Reduce reduce;
  Quantity quantity;
  char sign;  // '<' or '>': 1 where the value is below or above the bound, else 0; 0: the value
  double bound;
} Measure;

typedef struct Condition {
  Quantity quantity;
  bool above;
  double bound;
} Condition;

typedef struct Stop {
  bool rest, unconverged;
  double speed, hold;  // at rest: no point faster than speed * sqrt(|g| r), for hold seconds
  int ncondition;
  Condition* condition;
} Stop;

// --- series of forces and controls (series.c, series_file.c) ---

enum { SERIES_MAX = 6 };
typedef struct SeriesRow {
  double time;
  int target;  // body or actuator
  double x[SERIES_MAX];
} SeriesRow;
typedef struct Series {
  bool forces;  // else controls
  int nrow;
  SeriesRow* row;  // as given; of two rows of one target with equal times the later one counts
} Series;
// A reader's place in a series.
typedef struct SeriesPlace {
  int* order;  // rows by time
  int next;    // the first of them that is not in force yet
} SeriesPlace;

// --- the specification ---

struct abSweep {
  char* path;    // of the specification, NULL for text
  char* folder;  // relative names in it start there
  char* scene;
  char* contact;      // NULL: the scene's
  char* key;          // NULL: the initial state
  double time, step;  // step 0: the scene's
  bool sleep;
  int nvary, nfixed;  // the varied ones come first
  Vary* vary;
  Method method;
  int64_t samples, repeat, count;
  uint64_t seed;
  int64_t ngrid;  // points of the grid
  int nmeasure;
  Measure* measure;
  Stop stop;
  double limit;  // wall time of a run [s], 0: none
  bool keep_hash, keep_state;
  int nq, nv;
  int nrecord;
  int64_t* record;
  char* record_format;
  Series forces, controls;          // the ones given once
  Series *forces_of, *controls_of;  // those of a varied list of files
  int nforces_of, ncontrols_of;
  json_t* spec;          // as given, for the manifest
  uint64_t fingerprint;  // of the specification and the compiled scene
  bool resolved;         // the scene was there, runs can be made
};

abStatus sweep_fail(abError* error, abStatus code, const char* file, int line, const char* format,
                    ...) __attribute__((format(printf, 5, 6)));
// A copy by malloc; exits of the engine free everything by abSweep.
char* sweep_copy(const char* text);
// The text of a file, NULL with the error filled in.
char* sweep_read_text(const char* path, abError* error);
json_t* sweep_toml(const char* text, const char* path, abError* error);  // toml.cpp
// A path in the specification: in its folder, or in the present one; free it.
char* sweep_find_file(const abSweep* s, const char* name);

// One entry of "vary" or "set", and what it names. `model` and `scene` are to check names against.
abStatus vary_read(abSweep* s, const char* name, const json_t* j, Vary* v, abError* error);
abStatus vary_resolve(abSweep* s, abScene* scene, const abModel* model, const abData* data, Vary* v,
                      abError* error);
void vary_free(Vary* v);
abStatus generate_count(abSweep* s, abError* error);
double sobol_unit(uint64_t index, int dimension, uint64_t shift);
int sobol_most(void);
double normal_quantile(double u);

abStatus measure_read(const abModel* model, const char* name, const char* text, Measure* m,
                      abError* error);
abStatus quantity_read(const abModel* model, const char* text, size_t n, Quantity* q,
                       abError* error);
abStatus condition_read(const abModel* model, const char* text, Condition* c, abError* error);

// What a run has seen so far.
typedef struct Watch {
  const abSweep* sweep;
  const abModel* model;
  double time0, energy0;
  abPose* pose0;  // per body
  abVec3* com0;
  abVec3* com_last;
  double* path;          // per body: length of the way of the centre of mass
  double* radius;        // per body: of its geoms about the centre of mass
  double* total;         // per measure: sums of accumulating ones, extremes, sums for means
  double resting_since;  // NAN: something moves
  double max_residual, max_penetration;
  double nstep, nunconverged;
  int stopped;  // 0: by time; 1: rest; 2: unconverged; 3 + i: condition i
  bool need_path;
} Watch;

bool watch_create(Watch* w, const abSweep* s, const abModel* model);
void watch_free(Watch* w);
void watch_begin(Watch* w, const abModel* model, const abData* data);
// After a step; true: a condition to stop is met.
bool watch_step(Watch* w, const abData* data);
void watch_end(const Watch* w, const abData* data, double* measure);
// The value now; `h` is the time since the last look, for what adds up.
double quantity_value(const Quantity* q, const Watch* w, const abData* data);
bool quantity_adds_up(const Quantity* q);
bool quantity_is_path(const Quantity* q);

abStatus series_load(const char* path, bool forces, const abModel* model, Series* s,
                     abError* error);
abStatus series_read(const json_t* j, bool forces, const abModel* model, Series* s, abError* error);
void series_free(Series* s);
bool series_copy(const Series* from, Series* to);
// A place for series of up to nrow rows; begin goes to the start of one, apply sets what holds at
// data->time.
bool series_place(SeriesPlace* place, int nrow);
void series_place_free(SeriesPlace* place);
void series_begin(const Series* s, SeriesPlace* place);
void series_apply(const Series* s, SeriesPlace* place, abData* data);
// force.BODY.fx, force.BODY[k].fx, control.ACTUATOR, ...: the row and the field it names (-1: its
// time). Without rows of that body a constant one is added.
abStatus series_find(Series* s, const abModel* model, const char* name, int at[2], abError* error);
void series_set(Series* s, const int at[2], double value);

// --- folders of results ---

uint64_t sweep_hash(uint64_t seed, const void* bytes, size_t n);
// The rows in the order of runs, whoever has them.
typedef struct RowReader {
  void* context;
  int64_t nrow;
  int ndigit;  // of a measure as text; 17: all
  // Rows [first, first + n) of those there are, with the numbers of their runs.
  abStatus (*read)(void* context, int64_t first, int64_t n, int64_t* run, double* row,
                   abError* error);
} RowReader;
abStatus summary_make(const abSweep* s, const RowReader* rows, abSweepSummary* out, abError* error);
abStatus results_write_h5(const abSweep* s, const RowReader* rows, const char* path,
                          abError* error);
abStatus results_write_csv(const abSweep* s, const RowReader* rows, const char* path,
                           abError* error);
abStatus results_write_page(const abSweep* s, const RowReader* rows, const char* path,
                            abError* error);

#endif
