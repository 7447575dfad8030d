// The CSV folder: bodies.csv, joints.csv, contacts.csv. Numbers are written with 17 digits, which
// is enough to read back the same doubles. The rows of a sample are composed in memory and handed
// to the system whole, so that a killed run leaves no torn row.
// Tests: test_record.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/buffer.h"
#include "io/recorder.h"

typedef enum { BODIES_CSV, JOINTS_CSV, CONTACTS_CSV, NFILE } File;

typedef struct Csv {
  abRecorder base;
  int fd[NFILE];
  abBuffer text[NFILE];
  char* path[NFILE];
} Csv;

static const char* const file_name[NFILE] = {"bodies.csv", "joints.csv", "contacts.csv"};
static const char* const header[NFILE] = {
    "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n",
    "time,joint,q,v\n",
    "time,body1,body2,geom1,geom2,px,py,pz,nx,ny,nz,fx,fy,fz,tx,ty,tz,area,depth,kind,mode\n",
};

static abStatus csv_open(abRecorder* recorder, const abModel* model, abError* error) {
  (void)model;
  Csv* csv = (Csv*)recorder;
  for (int f = 0; f < NFILE; f++) csv->fd[f] = -1;
  for (int f = 0; f < NFILE; f++) {
    size_t n = strlen(recorder->path) + strlen(file_name[f]) + 2;
    csv->path[f] = ab_alloc(n);
    if (!csv->path[f]) return ab_fail(error, AB_ERROR_MEMORY, recorder->path, 0, "no memory");
    bool slash = recorder->path[strlen(recorder->path) - 1] == '/';
    snprintf(csv->path[f], n, "%s%s%s", recorder->path, slash ? "" : "/", file_name[f]);
    csv->fd[f] = ab_file_create(csv->path[f], error);
    if (csv->fd[f] < 0) return AB_ERROR_FILE;
    abStatus status = ab_file_write(csv->fd[f], header[f], strlen(header[f]), csv->path[f], error);
    if (status != AB_OK) return status;
  }
  return AB_OK;
}

// A name as a CSV field (RFC 4180): quoted where it holds a separator.
static void add_name(abBuffer* b, const char* name) {
  ab_buffer_text(b, ",");
  if (!name) return;
  if (!strpbrk(name, ",\"\r\n")) {
    ab_buffer_text(b, name);
    return;
  }
  ab_buffer_text(b, "\"");
  for (const char* c = name; *c; c++) ab_buffer_add(b, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
  ab_buffer_text(b, "\"");
}

static void add_number(abBuffer* b, double x) { ab_buffer_print(b, ",%.17g", x); }

static void add_vec(abBuffer* b, abVec3 a) {
  ab_buffer_print(b, ",%.17g,%.17g,%.17g", a.x, a.y, a.z);
}

static void add_bodies(abBuffer* b, const abModel* model, const abData* data) {
  for (int i = 1; i < model->nbody; i++) {
    if (model->body[i].mover < 0) continue;
    ab_buffer_print(b, "%.17g", data->time);
    add_name(b, model->body[i].name);
    add_vec(b, data->com[i]);
    abQuat q = data->pose[i].q;
    ab_buffer_print(b, ",%.17g,%.17g,%.17g,%.17g", q.w, q.x, q.y, q.z);
    add_vec(b, data->twist[i].lin);
    add_vec(b, data->twist[i].ang);
    ab_buffer_text(b, "\n");
  }
}

static void add_joints(abBuffer* b, const abModel* model, const abData* data) {
  for (int i = 0; i < model->njoint; i++) {
    const abJoint* joint = &model->joint[i];
    if (joint->type != AB_JOINT_HINGE && joint->type != AB_JOINT_SLIDE) continue;
    ab_buffer_print(b, "%.17g", data->time);
    add_name(b, joint->name);
    add_number(b, data->q[joint->q0]);
    add_number(b, data->v[joint->v0]);
    ab_buffer_text(b, "\n");
  }
}

static void add_contacts(abBuffer* b, const abModel* model, const abData* data) {
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    ab_buffer_print(b, "%.17g", data->time);
    add_name(b, model->body[c->body1].name);
    add_name(b, model->body[c->body2].name);
    add_name(b, model->geom[c->geom1].name);
    add_name(b, model->geom[c->geom2].name);
    add_vec(b, c->point);
    add_vec(b, c->normal);
    add_vec(b, c->wrench.force);
    add_vec(b, c->wrench.torque);
    add_number(b, c->area);
    add_number(b, c->depth);
    add_name(b, ab_patch_kind_name(c->kind));
    add_name(b, ab_contact_mode_name(c->mode));
    ab_buffer_text(b, "\n");
  }
}

static abStatus csv_sample(abRecorder* recorder, const abModel* model, const abData* data,
                           abError* error) {
  Csv* csv = (Csv*)recorder;
  add_bodies(&csv->text[BODIES_CSV], model, data);
  add_joints(&csv->text[JOINTS_CSV], model, data);
  add_contacts(&csv->text[CONTACTS_CSV], model, data);
  recorder->pending = 0;
  for (int f = 0; f < NFILE; f++) {
    if (csv->text[f].failed)
      return ab_fail(error, AB_ERROR_MEMORY, csv->path[f], 0, "no memory for a sample");
    recorder->pending += csv->text[f].n;
  }
  return AB_OK;
}

static abStatus csv_flush(abRecorder* recorder, abError* error) {
  Csv* csv = (Csv*)recorder;
  for (int f = 0; f < NFILE; f++) {
    abStatus status =
        ab_file_write(csv->fd[f], csv->text[f].byte, csv->text[f].n, csv->path[f], error);
    if (status != AB_OK) return status;
    csv->text[f].n = 0;
  }
  return AB_OK;
}

static abStatus csv_close(abRecorder* recorder, bool abandon, abError* error) {
  Csv* csv = (Csv*)recorder;
  abStatus status = AB_OK;
  for (int f = 0; f < NFILE; f++) {
    if (csv->fd[f] >= 0 && close(csv->fd[f]) != 0 && !abandon)
      status = ab_fail(error, AB_ERROR_FILE, csv->path[f], 0, "cannot complete this file");
    ab_buffer_free(&csv->text[f]);
    ab_free(csv->path[f]);
  }
  return status;
}

const abRecorderFormat ab_record_csv = {sizeof(Csv), csv_open, csv_sample, csv_flush, csv_close};
