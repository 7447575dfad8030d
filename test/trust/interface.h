// What the calls that interface.py writes are made with: one of everything, all of it right.
#ifndef ABUT_TEST_TRUST_INTERFACE_H
#define ABUT_TEST_TRUST_INTERFACE_H

#include <abut/abut.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
  abModel *model, *other_model;
  abData *data, *other_data, *second_data;
  abScene *scene, *other_scene, *empty_scene;
  abError error;
  abNotes notes;
  abRecorder* recorder;
  abRecording* recording;
  abPointer* pointer;
  abNumber number;
  abRayHit ray_hit;
  abGeomDistance distance;
  const abResponse* response;  // of data
  abMat6 mat6;
  abInverseContact inverse_out;
  abOverlapSummary overlap;
  abJointDef joint_def;
  abGeomDef geom_def;
  abMeshDef mesh_def;
  abTendonDef tendon_def;
  abEqualityDef equality_def;
  abActuatorDef actuator_def;
  abPairDef pair_def;
  abPointerDef pointer_def;
  abInverseDef inverse_def;
  abConvex convex;
  abCamera camera;
  abLpDef lp;
  abNnlsDef nnls;
  abLcpDef lcp;
  abQpDef qp;
  abMcpDef mcp;
  abPatch patch;
  abFrameHand frame_hand;
  void *block, *state, *model_bytes;  // block: zeros, enough for whatever is written
  size_t nblock, nstate, nmodel_bytes;
  double number_list[64];
  char text[256], *long_text, *scene_text;
  const char* known[2];
  // files to read, and to write
  char folder[64], scene_file[128], recording_file[128];
  char path[128], scene_path[128], model_path[128], page_path[128];
} Fixture;

typedef struct Call {
  const char *function, *text;
  void (*call)(Fixture* f);
} Call;

extern const Call interface_call[];
extern const int interface_count;

#endif
