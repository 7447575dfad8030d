// Notes: what a scene asks for, is not honoured, and does not change the motion. Each kind is told
// once, at the first place it occurs.
// Tests: test_mjcf.
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "scene/mjcf/mjcf.h"
#include "scene/scene.h"

static const char* const reason[AB_NOTE_COUNT] = {
    [AB_NOTE_SOFT] =
        "numbers of soft contacts and soft limits are not used: both are hard here, "
        "unless the contact model has parameters of its own (abut models)",
    [AB_NOTE_SOLVER] =
        "settings of another solver are not used: the contact model has its own "
        "(abut models)",
    [AB_NOTE_INTEGRATOR] =
        "this integrator is not available; semi-implicit Euler with implicit "
        "joint damping is used in its place",
    [AB_NOTE_COMPILER] = "this setting has no meaning here",
    [AB_NOTE_FUSE] =
        "bodies without joints keep their names and are welded to their parents, "
        "which moves alike",
    [AB_NOTE_MEMORY] = "sizes of memory are found by themselves",
    [AB_NOTE_VISUAL] = "settings of the picture are not used",
    [AB_NOTE_STATISTIC] = "statistics are computed, not read",
    [AB_NOTE_TEXTURE] = "textures are not drawn",
    [AB_NOTE_MATERIAL] = "only the colour of a material is used",
    [AB_NOTE_SKIN] = "skins are not drawn",
    [AB_NOTE_CAMERA] = "cameras are not used",
    [AB_NOTE_LIGHT] = "lights are not used",
    [AB_NOTE_SENSOR] = "sensors are not computed; a recording holds the motion and the contacts",
    [AB_NOTE_USER] = "user data are not kept",
    [AB_NOTE_GROUP] = "groups of joints and actuators are for drawing, and not kept",
    [AB_NOTE_FLUID] = "there is no fluid, so its coefficients are not used",
    [AB_NOTE_CUSTOM] = "custom entries whose name does not begin with 'abut.' are not used",
    [AB_NOTE_SLEEP] = "sleeping is switched on where the simulation is run (abut run --sleep)",
    [AB_NOTE_EQUALITY] =
        "constraints are switched off by a flag of <option>: they are all inactive",
    [AB_NOTE_LOOSE] =
        "MuJoCo passes over this element where it stands, and so it is left out here; put bodies "
        "into <worldbody>",
    [AB_NOTE_TENDON] =
        "tendons through space without stiffness, damping, limits and friction do nothing and "
        "are left out",
    [AB_NOTE_HULL] =
        "the hull keeps all its vertices, and normals and texture coordinates of "
        "meshes are not used",
    [AB_NOTE_LENGTH] = "length ranges of actuators are for muscles, and not used",
    [AB_NOTE_URDF] = "tags that do not describe motion are not used",
    [AB_NOTE_SPHERE] = "a spherical joint has no axis and no limits",
    [AB_NOTE_INERTIA] =
        "no matter has this inertia; its principal moments are replaced, as balanceinertia would",
    [AB_NOTE_MASSLESS] =
        "a link that moves has no mass or no inertia; it gets 1 g, or the inertia of a ball of 1 "
        "cm",
    [AB_NOTE_NUMBERS] = "more numbers than are needed, or commas between them; the first are used",
    [AB_NOTE_VISUAL_MESH] = "a mesh for pictures only cannot be read and is left out",
    [AB_NOTE_OBJECTS] =
        "the file has several objects: their hull is that of all, a mass from density that of the "
        "first, as in MuJoCo; join them, or give the mass",
    [AB_NOTE_ATTACH] = "the options of a model that is attached do not count: the scene's own do",
    [AB_NOTE_RANGE] = "the lower limit is above the upper one: the joint is not limited",
    [AB_NOTE_FLAT] =
        "a mesh to collide with is flat: it gets the thickness of a thousandth of its size",
    [AB_NOTE_MARGIN] =
        "margins of geoms count for the contact model patch only, and gaps are not used: with "
        "other models surfaces touch where they are",
    [AB_NOTE_EFFORT] = "limits of effort and velocity are for controllers, and not enforced",
};

void ab_note(abReading* m, abNoteKind kind, const abXml* e, const abXmlAttr* attr) {
  abNotes* notes = m->notes;
  if (!notes || m->noted[kind]) return;
  m->noted[kind] = true;
  abError* bigger = ab_realloc(notes->note, sizeof *bigger * (size_t)(notes->n + 1));
  if (!bigger) return;  // a note lost for want of memory is no reason to fail
  notes->note = bigger;
  ab_fail(&notes->note[notes->n++], AB_ERROR_UNSUPPORTED, e->file, attr ? attr->line : e->line,
          "<%.40s>%s%.40s: %s", e->name, attr ? " " : "", attr ? attr->name : "", reason[kind]);
}

// More than this and the file is of another kind altogether.
#define MAX_PROBLEM 100

bool ab_add_problem(int* n, abError** list, const abError* problem) {
  if (*n >= MAX_PROBLEM) return false;
  abError* bigger = ab_realloc(*list, sizeof *bigger * (size_t)(*n + 1));
  if (!bigger) return false;
  *list = bigger;
  bigger[(*n)++] = *problem;
  return true;
}

void ab_notes_free(abNotes* notes) {
  if (!notes) return;
  ab_free(notes->note);
  ab_free(notes->problem);
  *notes = (abNotes){0};
}
