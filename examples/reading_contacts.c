// Loads a scene, reads every contact of every step, and checks Newton: the world's contact forces
// and gravity are all that changes the momentum of free bodies.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char** argv) {
  abError error;
  abNotes notes = {0};
  abModel* model = ab_load(argc > 1 ? argv[1] : "scenes/seven_bricks.xml", &notes, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) {
    fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.message);
    return 1;
  }
  for (int i = 0; i < notes.n; i++)  // what the file asks for and abut does not need
    fprintf(stderr, "%s:%d: %s\n", notes.note[i].file, notes.note[i].line, notes.note[i].message);
  ab_notes_free(&notes);

  double worst = 0, largest = 0;
  for (int step = 0; step < 1000; step++) {
    abVec3 before = ab_momentum(model, data).force;
    if (ab_step(model, data) == AB_STEP_BROKEN) return 1;
    double f = 0;  // vertical force of everything fixed to the world
    for (int i = 0; i < data->ncontact; i++) {
      const abContact* c = &data->contacts[i];                      // valid until the next step
      if (model->body[c->body2].mover < 0) f += c->wrench.force.z;  // acts on body 1
    }
    double change = ab_momentum(model, data).force.z - before.z;
    double expected = data->h * (f + model->total_mass * model->gravity.z);
    worst = fmax(worst, fabs(change - expected));
    largest = fmax(largest, f);
  }
  printf("largest force of the world %.3f N, weight %.3f N\n", largest,
         -model->total_mass * model->gravity.z);
  printf("momentum differs from the sum of impulses by at most %.1g N s\n", worst);
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    printf("%s and %s press with %.4f N on %.5f m2\n", model->body[c->body1].name,
           model->body[c->body2].name, fabs(c->normal_wrench.force.z), c->area);
  }
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
