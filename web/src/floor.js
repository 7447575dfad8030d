// The floor: a plane with thin lines at every cell and thicker ones at every tenth, as wide on the screen wherever they are,
// fading where cells get smaller than pixels.
//
// It fills most of the picture, so what a pixel costs is what a picture costs where there is no graphics card. A plane is equally
// lit everywhere: its colours in the sun and in the shade are found at its corners, as they come to the screen, and a pixel only
// chooses between them. Lines are computed rather than painted, since reading a texture costs more than that.
import * as THREE from "three";

const VERTEX = `
#include <common>
#include <fog_pars_vertex>
#include <shadowmap_pars_vertex>
#include <lights_pars_begin>
#include <tonemapping_pars_fragment>
#include <colorspace_pars_fragment>
uniform vec3 diffuse;
attribute vec2 cell;
varying vec2 vCell;
varying vec3 vSun, vShade;

vec3 shown(vec3 irradiance) {
  return sRGBTransferOETF(vec4(ACESFilmicToneMapping(RECIPROCAL_PI * diffuse * irradiance), 1.0)).rgb;
}

void main() {
  vCell = cell;
  #include <beginnormal_vertex>
  #include <defaultnormal_vertex>
  #include <begin_vertex>
  #include <project_vertex>
  #include <worldpos_vertex>
  #include <shadowmap_vertex>
  #include <fog_vertex>
  vec3 normal = normalize(dot(transformedNormal, mvPosition.xyz) > 0.0 ? -transformedNormal : transformedNormal);
  vec3 light[NUM_DIR_LIGHTS], sky = getHemisphereLightIrradiance(hemisphereLights[0], normal);
  for (int i = 0; i < NUM_DIR_LIGHTS; i++)
    light[i] = directionalLights[i].color * max(dot(normal, directionalLights[i].direction), 0.0);
  for (int i = 1; i < NUM_DIR_LIGHTS; i++) sky += light[i];
  vSun = shown(sky + light[0]);
  vShade = shown(sky + (1.0 - directionalLightShadows[0].shadowIntensity) * light[0]);
}`;

const FRAGMENT = `
#include <common>
#include <packing>
#include <fog_pars_fragment>
#include <lights_pars_begin>
#include <shadowmap_pars_fragment>
#include <shadowmask_pars_fragment>
varying vec2 vCell;
varying vec3 vSun, vShade;

void main() {
  float sun = 1.0 - (1.0 - getShadowMask()) / directionalLightShadows[0].shadowIntensity;
  vec2 slope = fwidth(vCell);
  vec2 thin = abs(fract(vCell - 0.5) - 0.5), thick = abs(fract(0.1 * vCell - 0.5) - 0.5) * 10.0;
  vec2 a = clamp(1.1 - thin / slope, 0.0, 1.0) * clamp(0.5 - slope, 0.0, 0.5);
  vec2 b = clamp(1.7 - thick / slope, 0.0, 1.0) * clamp(1.0 - 0.2 * slope, 0.0, 1.0);
  float lines = 0.06 * max(a.x, a.y) + 0.05 * max(b.x, b.y);
  gl_FragColor = vec4(mix(vShade, vSun, sun) * (1.0 - lines), 1.0);
  #include <fog_fragment>
}`;

// For lights as the stage has them: a sky, and the sun before all others that shine from one side.
export function floorMaterial() {
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX, fragmentShader: FRAGMENT, lights: true, fog: true, side: THREE.DoubleSide,
    uniforms: THREE.UniformsUtils.merge([THREE.UniformsLib.lights, THREE.UniformsLib.fog, { diffuse: { value: new THREE.Color("#f7f8fa") } }]),
  });
}
