// The stage: light, ground, camera, and the bodies on it.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { floorMaterial } from "./floor.js";

const SKY = new THREE.Color("#e8ecf1");

// 1, 2 or 5 times a power of ten, near x.
function roundNumber(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  const m = x / power;
  return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

function trianglesGeometry(flat) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(flat), 3));
  geometry.computeVertexNormals();
  return geometry;
}

function meshGeometry(mesh) {
  const flat = new Float32Array(mesh.triangle.length * 3);
  mesh.triangle.forEach((v, i) => flat.set(mesh.vert.slice(3 * v, 3 * v + 3), 3 * i));
  return trianglesGeometry(flat);
}

const turned = (geometry) => geometry.rotateX(Math.PI / 2);  // three's axis is y, ours z

// Whether the browser draws without a graphics card; then every pixel counts.
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

// Nothing behind the picture shows through it, which spares the browser to mix the two; three.js would ask for that. Without a context
// it asks for its own, and says what is wrong.
function opaqueContext(canvas, antialias) {
  return canvas.getContext("webgl2", { alpha: false, depth: true, stencil: false, antialias, powerPreference: "high-performance" }) ?? undefined;
}

// How each kind of geom is drawn: a shape of unit size, scaled for each. Boxes and cylinders get dark
// edges, found in the fragment shader from the distance to the border in pixels.
const EDGE = {
  box: "vec3 d = (0.5 - abs(vUnit)) / max(fwidth(vUnit), 1e-6) + 1e3 * step(0.5, abs(vUnitNormal)); float edge = min(d.x, min(d.y, d.z));",
  cylinder: "float r = length(vUnit.xy); float edge = abs(vUnitNormal.z) > 0.5 ? (1.0 - r) / fwidth(r) : (0.5 - abs(vUnit.z)) / fwidth(vUnit.z);",
};

function addEdges(material, code) {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vUnit, vUnitNormal;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvUnit = position; vUnitNormal = normal;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vUnit, vUnitNormal;")
      .replace("#include <color_fragment>",
        `#include <color_fragment>\n{ ${code} diffuseColor.rgb *= mix(0.62, 1.0, smoothstep(0.4, 1.6, edge)); }`);
  };
  material.customProgramCacheKey = () => code;
}

const FROM = new THREE.Vector3(1.75, -2.35, 1.25).normalize();  // where the camera looks from

// The camera's controls fail where a mouse button and a finger are down together: while one kind of pointer turns the view, they
// hear nothing of the other, neither down nor up. Hands do, for they listen before.
function oneKindOfPointer(canvas) {
  const down = new Map();
  canvas.addEventListener("pointerdown", (e) => {
    if ([...down.values()].some((kind) => kind !== e.pointerType)) e.stopImmediatePropagation();
    else down.set(e.pointerId, e.pointerType);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!e.buttons) down.delete(e.pointerId);  // it went up elsewhere
    if (down.size > 0 && !down.has(e.pointerId)) e.stopPropagation();
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, (e) => !down.delete(e.pointerId) && down.size > 0 && e.stopImmediatePropagation());
}

export class Stage {
  constructor(canvas, recording) {
    this.recording = recording;
    this.software = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, context: opaqueContext(canvas, !this.software) });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.software ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.08;
    this.full = this.ratio = Math.min(window.devicePixelRatio, 2);
    if (this.software) this.moving = 0.6 * this.full;
    this.scene = new THREE.Scene();
    this.scene.background = SKY;
    this.materials = [];
    this.measure();
    this.addBodies();
    if (!this.floor) this.addGrid();
    this.addLight();
    this.addCamera(canvas);
    this.resize();
  }

  // Where the bodies are during most of the run: a body that flies away must not shrink the rest.
  measure() {
    const { pose, frames, moving, model } = this.recording;
    const stride = Math.max(1, Math.floor((frames * moving.length) / 4000));
    const axes = [[], [], []];
    for (let i = 0; i < frames * moving.length; i += stride)
      for (let k = 0; k < 3; k++) axes[k].push(pose[7 * i + k]);
    const box = axes.map((a) => {
      a.sort((x, y) => x - y);
      return a.length ? [a[Math.floor(0.02 * a.length)], a[Math.ceil(0.98 * (a.length - 1))]] : [0, 0];
    });
    const reach = Math.max(...model.geoms.filter((g) => g.type !== "plane" && this.recording.slot.has(g.body))
      .map((g) => Math.hypot(...g.size)), 1e-6);
    this.balls = moving.map((body, i) => [...pose.slice(7 * i, 7 * i + 3), Math.max(0, ...model.geoms
      .filter((g) => g.body === body && g.type !== "plane").map((g) => Math.hypot(...g.pos) + Math.min(Math.hypot(...g.size), model.extent || Infinity)))]);
    this.center = new THREE.Vector3(...box.map(([a, b]) => (a + b) / 2));
    const half = Math.hypot(...box.map(([a, b]) => (b - a) / 2)) + Math.min(reach, model.extent || reach);
    this.size = Math.max(half, 1e-6);
    this.low = box[2][0] - reach;
  }

  // The unit shape of a geom, its scale, and a name that geoms drawn together share.
  shape(i) {
    const g = this.recording.geom(i), [x, y, z] = g.size;
    const make = {
      box: () => ["box", [2 * x, 2 * y, 2 * z], () => new THREE.BoxGeometry(1, 1, 1)],
      sphere: () => ["ball", [x, x, x], () => new THREE.SphereGeometry(1, 32, 20)],
      ellipsoid: () => ["ball", [x, y, z], () => new THREE.SphereGeometry(1, 32, 20)],
      cylinder: () => ["cylinder", [x, x, 2 * y], () => turned(new THREE.CylinderGeometry(1, 1, 1, 48))],
      capsule: () => [`capsule ${y / x}`, [x, x, x], () => turned(new THREE.CapsuleGeometry(1, (2 * y) / x, 10, 28))],
      mesh: () => [`mesh ${g.mesh} ${g.mesh < 0 ? i : ""}`, [1, 1, 1], () =>
        this.recording.hulls[i].length ? trianglesGeometry(this.recording.hulls[i])
                                       : meshGeometry(this.recording.model.meshes[g.mesh])],
    };
    return make[g.type]();
  }

  // A plane without end is drawn where the scene is; `center` is the scene's, as the plane sees it.
  planeGeometry(x, y, center) {
    const far = 60 * this.size, cell = roundNumber(this.size / 4);
    const geometry = new THREE.PlaneGeometry(2 * (x || far), 2 * (y || far)), position = geometry.attributes.position;
    const cells = new Float32Array([0, 1, 2, 3].flatMap((k) => [position.getX(k) / cell, position.getY(k) / cell]));
    geometry.setAttribute("cell", new THREE.BufferAttribute(cells, 2));
    const near = (c) => Math.round(c / (10 * cell)) * 10 * cell;  // its lines go on where they were
    return geometry.translate(x ? 0 : near(center.x), y ? 0 : near(center.y), 0);
  }

  material(kind, opacity) {
    const Material = this.software ? THREE.MeshLambertMaterial : THREE.MeshStandardMaterial;
    const material = new Material(this.software ? {} : { roughness: 0.62, metalness: 0.02 });
    material.transparent = opacity < 1;
    material.depthWrite = opacity >= 1;
    material.opacity = material.userData.opacity = opacity;
    if (EDGE[kind]) addEdges(material, EDGE[kind]);
    this.materials.push(material);
    return material;
  }

  addBodies() {
    this.bodies = this.recording.poses.map(([x, y, z, w, a, b, c]) => {
      const body = new THREE.Object3D();
      body.position.set(x, y, z);
      body.quaternion.set(a, b, c, w);
      body.updateMatrix();
      return body;
    });
    const batches = new Map();
    this.recording.model.geoms.forEach((geom, i) => {
      if (this.recording.colors[i][3] === 0) return;  // not to be seen: nor its shadow, nor anything cut out behind it
      if (geom.type === "plane") return this.addPlane(geom);
      const [kind, scale, make] = this.shape(i), opacity = this.recording.colors[i][3];
      const key = `${kind} ${opacity}`;
      if (!batches.has(key)) batches.set(key, { kind, opacity, make, geoms: [] });
      const [w, x, y, z] = geom.quat;
      const local = new THREE.Matrix4().compose(new THREE.Vector3(...geom.pos), new THREE.Quaternion(x, y, z, w), new THREE.Vector3(...scale));
      batches.get(key).geoms.push({ i, body: geom.body, local });
    });
    this.batches = [...batches.values()].map((batch) => this.addBatch(batch));
  }

  // All geoms of one kind in one draw call.
  addBatch({ kind, opacity, make, geoms }) {
    const mesh = new THREE.InstancedMesh(make(), this.material(kind, opacity), geoms.length);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    const color = new THREE.Color();
    geoms.forEach(({ i, body, local }, k) => {
      const [r, g, b] = this.recording.colors[i];
      mesh.setColorAt(k, color.setRGB(r, g, b, THREE.SRGBColorSpace));
      mesh.setMatrixAt(k, new THREE.Matrix4().multiplyMatrices(this.bodies[body].matrix, local));
    });
    this.scene.add(mesh);
    return { mesh, all: geoms, geoms: geoms.map((g, k) => ({ ...g, k })).filter((g) => this.recording.slot.has(g.body)) };
  }

  // Where the scene has no floor, lines (and lines only) tell which way is down.
  addGrid() {
    const cell = roundNumber(this.size / 4);
    const grid = new THREE.GridHelper(40 * cell, 40, "#aab4c0", "#cfd6de");
    grid.rotation.x = Math.PI / 2;
    grid.position.set(Math.round(this.center.x / cell) * cell, Math.round(this.center.y / cell) * cell, this.low);
    this.scene.add(grid);
  }

  addPlane(geom) {
    const [w, x, y, z] = geom.quat, one = new THREE.Vector3(1, 1, 1);
    const matrix = new THREE.Matrix4().compose(new THREE.Vector3(...geom.pos), new THREE.Quaternion(x, y, z, w), one);
    matrix.premultiply(this.bodies[geom.body].matrix);
    const center = this.center.clone().applyMatrix4(matrix.clone().invert());
    const mesh = new THREE.Mesh(this.planeGeometry(geom.size[0], geom.size[1], center), (this.floor ??= floorMaterial()));
    mesh.matrixAutoUpdate = false;
    mesh.matrix.copy(matrix);
    mesh.receiveShadow = true;
    this.scene.add(mesh);
  }

  addLight() {
    const s = this.size;
    this.scene.add(new THREE.HemisphereLight("#f2f6ff", "#cfcac4", this.software ? 2 : 1.75));
    const sun = new THREE.DirectionalLight("#fff3df", 2.35);
    sun.position.copy(this.center).add(new THREE.Vector3(-1.15, -0.35, 1.9).multiplyScalar(1.6 * s));
    sun.target.position.copy(this.center);
    sun.castShadow = true;
    sun.shadow.mapSize.setScalar(this.software ? 512 : 2048);
    Object.assign(sun.shadow.camera, { left: -1.7 * s, right: 1.7 * s, top: 1.7 * s, bottom: -1.7 * s, near: 0.1 * s, far: 9 * s });
    sun.shadow.normalBias = 0.004 * s;
    sun.shadow.bias = -0.0004;
    sun.shadow.radius = 3;
    sun.shadow.intensity = 0.85;
    this.scene.add(sun, sun.target);
    if (!this.software) this.addFill(sun);
    this.scene.fog = new THREE.Fog(SKY, 5 * s, 22 * s);
  }

  addFill(sun) {
    const s = this.size;
    const fill = new THREE.DirectionalLight("#dbe8ff", 0.8);
    fill.position.copy(this.center).add(new THREE.Vector3(1.6, -1, 0.8).multiplyScalar(s));
    fill.target = sun.target;
    this.scene.add(fill);
  }

  addCamera(canvas) {
    this.camera = new THREE.PerspectiveCamera(36, 1, 0.01 * this.size, 80 * this.size);
    this.camera.up.set(0, 0, 1);
    oneKindOfPointer(canvas);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.minDistance = 0.1 * this.size;
    this.controls.maxDistance = 20 * this.size;
    this.home();
  }

  // `back`: how far away, to leave room around; farther where the window is narrow
  home(back = this.back ?? 1) {
    this.back = back;
    const free = (window.innerWidth - (this.panel ?? 0)) / window.innerHeight;
    const distance = this.recording.frames === 1 ? back * this.reach(free) : 2.74 * back * Math.max(1, 1 / free) * this.size;
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).addScaledVector(FROM, distance);
    this.controls.update();
  }

  // The distance from which all bodies are seen where they were first, as balls around them.
  reach(aspect) {
    const right = new THREE.Vector3(0, 0, 1).cross(FROM).normalize(), up = FROM.clone().cross(right);
    const slope = Math.tan((this.camera.fov * Math.PI) / 360), p = new THREE.Vector3();
    let most = 0.5 * this.size;
    for (const [x, y, z, r] of this.balls) {
      p.set(x, y, z).sub(this.center);
      const wide = (Math.abs(p.dot(right)) + r) / (slope * aspect), high = (Math.abs(p.dot(up)) + r) / slope;
      most = Math.max(most, p.dot(FROM) + Math.max(wide, high));
    }
    return Math.min(most, 12 * this.size);
  }

  // The picture's middle is the middle of what the panel (and the bar below) leave free.
  resize(panel = this.panel ?? 0) {
    const w = window.innerWidth, h = window.innerHeight;
    this.panel = panel;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.setViewOffset(w, h, panel / 2, 20, w, h);
  }

  // Fewer pixels while things move, where the machine draws slowly; all of them when they rest.
  adapt(milliseconds) {
    this.average = 0.7 * (this.average ?? milliseconds) + 0.3 * milliseconds;
    if (this.average > 40) this.moving = Math.max(0.3, (this.moving ?? this.full) * 0.75);
    else if (this.average < 14) this.moving = Math.min(this.full, (this.moving ?? this.full) * 1.15);
    else return;
    this.average = undefined;
  }

  setMoving(on) {
    const ratio = on ? (this.moving ?? this.full) : this.full;
    if (ratio === this.ratio) return false;
    this.ratio = ratio;
    this.resize();
    return true;
  }

  // The pose of the i-th moving body between frame f and the next; s in [0, 1].
  poseAt(i, f, s, position, quaternion) {
    const { pose, moving, frames } = this.recording;
    const n = moving.length, a = 7 * (f * n + i), b = a + 7 * n;
    position.set(pose[a], pose[a + 1], pose[a + 2]);
    quaternion.set(pose[a + 4], pose[a + 5], pose[a + 6], pose[a + 3]).normalize();
    if (s <= 0 || f + 1 >= frames) return;
    position.lerp(new THREE.Vector3(pose[b], pose[b + 1], pose[b + 2]), s);
    quaternion.slerp(new THREE.Quaternion(pose[b + 4], pose[b + 5], pose[b + 6], pose[b + 3]).normalize(), s);
  }

  setFrame(f, s) {
    this.recording.moving.forEach((body, i) => {
      const b = this.bodies[body];
      this.poseAt(i, f, s, b.position, b.quaternion);
      b.updateMatrix();
    });
    const m = new THREE.Matrix4();
    for (const { mesh, geoms } of this.batches) {
      for (const { k, body, local } of geoms) mesh.setMatrixAt(k, m.multiplyMatrices(this.bodies[body].matrix, local));
      mesh.instanceMatrix.needsUpdate = true;
    }
    // Without a graphics card, shadows follow at every fourth picture while things move.
    this.pictures = (this.pictures ?? 0) + 1;
    this.renderer.shadowMap.needsUpdate = !this.software || this.ratio === this.full || this.pictures % 4 === 0;
  }

  // Per body, the displacement from the start of the step that ended with frame f to what is shown.
  motionSince(f) {
    const { time, step, moving } = this.recording;
    const before = f > 0 ? Math.min(step / (time[f] - time[f - 1]), 1) : 0;
    const motion = this.bodies.map(() => new THREE.Matrix4());
    const p = new THREE.Vector3(), q = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
    moving.forEach((body, i) => {
      this.poseAt(i, f > 0 ? f - 1 : 0, 1 - before, p, q);
      motion[body].compose(p, q, one).invert().premultiply(this.bodies[body].matrix);
    });
    return motion;
  }

  setXray(on) {
    for (const material of this.materials) {
      const opacity = on ? 0.3 * material.userData.opacity : material.userData.opacity;
      material.opacity = opacity;
      material.transparent = opacity < 1;
      material.depthWrite = opacity >= 1;
      material.needsUpdate = true;
    }
  }

  render() { this.renderer.render(this.scene, this.camera); }
}
