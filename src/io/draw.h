// How shapes look: triangles with normals, and colours that tell bodies apart.
#ifndef ABUT_IO_DRAW_H
#define ABUT_IO_DRAW_H

#include <abut/model.h>

#include "io/buffer.h"

// Triangles in the shape's own frame.
typedef struct abDrawing {
  abBuffer vert;    // float[3] each
  abBuffer normal;  // float[3] each
  abBuffer index;   // uint32_t, three per triangle
} abDrawing;

// Fills a cleared drawing. Planes without a size are drawn as squares that hold the scene.
void ab_draw_geom(const abModel* model, int geom, abDrawing* out);
void ab_drawing_free(abDrawing* drawing);
int ab_drawing_nvert(const abDrawing* drawing);

// The colour the file gives, or, where it gives none, one that differs from body to body.
void ab_draw_color(const abModel* model, int geom, float rgba[4]);

#endif
