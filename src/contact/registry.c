// The contact models, in the order 'abut models' lists them. The first is the default.
// Tests: test_settings.
#include <abut/contact.h>
#include <string.h>

extern const abContactModel ab_model_patch, ab_model_ecp, ab_model_volume_pgs, ab_model_volume_qp,
    ab_model_volume_penalty, ab_model_point_pgs, ab_model_point_penalty;

static const abContactModel* const model[] = {
    &ab_model_patch,          &ab_model_ecp,       &ab_model_volume_pgs,    &ab_model_volume_qp,
    &ab_model_volume_penalty, &ab_model_point_pgs, &ab_model_point_penalty,
};

int ab_contact_model_count(void) { return (int)(sizeof model / sizeof *model); }

const abContactModel* ab_contact_model(int i) {
  return i >= 0 && i < ab_contact_model_count() ? model[i] : NULL;
}

const abContactModel* ab_find_contact_model(const char* name) {
  for (int i = 0; name && i < ab_contact_model_count(); i++)
    if (strcmp(model[i]->name, name) == 0) return model[i];
  return NULL;
}
