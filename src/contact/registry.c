// The contact models, in the order 'abut models' lists them. The first is the default.
#include <abut/contact.h>
#include <string.h>

#if __has_include("contact/patch.c")
extern const abContactModel ab_model_patch;
#endif
#if __has_include("contact/ecp.c")
extern const abContactModel ab_model_ecp;
#endif
#if __has_include("contact/volume_pgs.c")
extern const abContactModel ab_model_volume_pgs;
#endif
#if __has_include("contact/volume_qp.c")
extern const abContactModel ab_model_volume_qp;
#endif
#if __has_include("contact/volume_penalty.c")
extern const abContactModel ab_model_volume_penalty;
#endif
#if __has_include("contact/point_pgs.c")
extern const abContactModel ab_model_point_pgs;
#endif
#if __has_include("contact/point_penalty.c")
extern const abContactModel ab_model_point_penalty;
#endif

static const abContactModel* const model[] = {
#if __has_include("contact/patch.c")
    &ab_model_patch,
#endif
#if __has_include("contact/ecp.c")
    &ab_model_ecp,
#endif
#if __has_include("contact/volume_pgs.c")
    &ab_model_volume_pgs,
#endif
#if __has_include("contact/volume_qp.c")
    &ab_model_volume_qp,
#endif
#if __has_include("contact/volume_penalty.c")
    &ab_model_volume_penalty,
#endif
#if __has_include("contact/point_pgs.c")
    &ab_model_point_pgs,
#endif
#if __has_include("contact/point_penalty.c")
    &ab_model_point_penalty,
#endif
    NULL};

int ab_contact_model_count(void) { return (int)(sizeof model / sizeof *model) - 1; }

const abContactModel* ab_contact_model(int i) { return model[i]; }

const abContactModel* ab_find_contact_model(const char* name) {
  for (int i = 0; i < ab_contact_model_count(); i++)
    if (strcmp(model[i]->name, name) == 0) return model[i];
  return NULL;
}
