// Friction and restitution of a pair of geoms (surface.c).
#ifndef ABUT_COLLIDE_SURFACE_H
#define ABUT_COLLIDE_SURFACE_H

#include <abut/contact.h>

abSurface ab_surface(const abModel* model, int geom1, int geom2);

#endif
