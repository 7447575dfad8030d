// The stage: light, ground, camera, and the bodies on it.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const SKY = new THREE.Color("#e8ecf1");

// 1, 2 or 5 times a power of ten, near x.
function roundNumber(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  const m = x / power;
  return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

// A tile of ten by ten cells with thin and, at its border, thicker lines.
function gridTexture() {
  const n = 1024, canvas = document.createElement("canvas");
  canvas.width = canvas.height = n;
  const g = canvas.getContext("2d");
  g.fillStyle = "#fbfcfe";
  g.fillRect(0, 0, n, n);
  for (let i = 0; i <= 10; i++) {
    const border = i % 10 === 0;
    g.strokeStyle = border ? "#aeb9c6" : "#d9dfe6";
    g.lineWidth = border ? 5 : 2.5;
    const p = (i * n) / 10;
    g.beginPath();
    g.moveTo(p, 0), g.lineTo(p, n), g.moveTo(0, p), g.lineTo(n, p);
    g.stroke();
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = 8;
  return texture;
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

export class Stage {
  constructor(canvas, recording) {
    this.recording = recording;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.08;
    this.ratio = Math.min(window.devicePixelRatio, 2);
    this.scene = new THREE.Scene();
    this.scene.background = SKY;
    this.geometries = new Map();
    this.materials = new Map();
    this.measure();
    this.addBodies();
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
      return a.length ? [a[Math.floor(0.02 * a.length)], a[Math.floor(0.98 * (a.length - 1))]] : [0, 0];
    });
    const reach = Math.max(...model.geoms.filter((g) => g.type !== "plane" && this.recording.slot.has(g.body))
      .map((g) => Math.hypot(...g.size)), 1e-6);
    this.center = new THREE.Vector3(...box.map(([a, b]) => (a + b) / 2));
    const half = Math.hypot(...box.map(([a, b]) => (b - a) / 2)) + Math.min(reach, model.extent || reach);
    this.size = Math.max(half, 1e-6);
    this.low = box[2][0];
  }

  shape(i) {
    const g = this.recording.geom(i), [x, y, z] = g.size;
    const key = `${g.type} ${g.size} ${g.mesh}`;
    if (g.type !== "mesh" && this.geometries.has(key)) return this.geometries.get(key);
    const make = {
      box: () => new THREE.BoxGeometry(2 * x, 2 * y, 2 * z),
      sphere: () => new THREE.SphereGeometry(x, 32, 20),
      capsule: () => turned(new THREE.CapsuleGeometry(x, 2 * y, 10, 28)),
      cylinder: () => turned(new THREE.CylinderGeometry(x, x, 2 * y, 48)),
      ellipsoid: () => new THREE.SphereGeometry(1, 32, 20).scale(x, y, z),
      plane: () => this.planeGeometry(x, y),
      mesh: () => this.recording.hulls[i].length ? trianglesGeometry(this.recording.hulls[i])
                                                 : meshGeometry(this.recording.model.meshes[g.mesh]),
    };
    const geometry = make[g.type]();
    this.geometries.set(key, geometry);
    return geometry;
  }

  planeGeometry(x, y) {
    const far = 60 * this.size;
    const w = 2 * (x || far), h = 2 * (y || far);
    const geometry = new THREE.PlaneGeometry(w, h);
    const cell = 10 * roundNumber(this.size / 4);
    const uv = geometry.attributes.uv;
    for (let i = 0; i < 4; i++) uv.setXY(i, ((uv.getX(i) - 0.5) * w) / cell, ((uv.getY(i) - 0.5) * h) / cell);
    return geometry;
  }

  material(i, plane) {
    const [r, g, b, a] = this.recording.colors[i];
    const key = `${r} ${g} ${b} ${a} ${plane}`;
    if (!this.materials.has(key)) {
      const material = plane
        ? new THREE.MeshLambertMaterial({ map: (this.grid ??= gridTexture()), side: THREE.DoubleSide })
        : new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.02 });
      if (!plane) material.color.setRGB(r, g, b, THREE.SRGBColorSpace);
      if (a < 1) material.transparent = true, (material.opacity = a);
      material.userData.opacity = a;
      this.materials.set(key, material);
    }
    return this.materials.get(key);
  }

  addBodies() {
    this.bodies = this.recording.model.bodies.map((body, i) => {
      const group = new THREE.Group();
      const [x, y, z, w, a, b, c] = this.recording.poses[i];
      group.position.set(x, y, z);
      group.quaternion.set(a, b, c, w);
      this.scene.add(group);
      return group;
    });
    this.edgeMaterial = new THREE.LineBasicMaterial({ color: "#17202c", transparent: true, opacity: 0.3 });
    this.pickable = [];
    this.recording.model.geoms.forEach((geom, i) => {
      const plane = geom.type === "plane";
      const mesh = new THREE.Mesh(this.shape(i), this.material(i, plane));
      mesh.position.set(...geom.pos);
      mesh.quaternion.set(geom.quat[1], geom.quat[2], geom.quat[3], geom.quat[0]);
      mesh.castShadow = !plane;
      mesh.receiveShadow = true;
      mesh.userData.geom = i;
      this.bodies[geom.body].add(mesh);
      if (!plane) this.pickable.push(mesh);
      if (["box", "mesh", "cylinder"].includes(geom.type)) mesh.add(this.edges(mesh.geometry));
    });
  }

  edges(geometry) {
    this.edgeGeometries ??= new Map();
    if (!this.edgeGeometries.has(geometry)) this.edgeGeometries.set(geometry, new THREE.EdgesGeometry(geometry, 25));
    return new THREE.LineSegments(this.edgeGeometries.get(geometry), this.edgeMaterial);
  }

  addLight() {
    const s = this.size;
    this.scene.add(new THREE.HemisphereLight("#f2f6ff", "#cfcac4", 1.75));
    const sun = new THREE.DirectionalLight("#fff3df", 2.35);
    sun.position.copy(this.center).add(new THREE.Vector3(-1.15, -0.35, 1.9).multiplyScalar(1.6 * s));
    sun.target.position.copy(this.center);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    Object.assign(sun.shadow.camera, { left: -1.7 * s, right: 1.7 * s, top: 1.7 * s, bottom: -1.7 * s, near: 0.1 * s, far: 9 * s });
    sun.shadow.normalBias = 0.004 * s;
    sun.shadow.bias = -0.0004;
    sun.shadow.radius = 3;
    sun.shadow.intensity = 0.85;
    this.scene.add(sun, sun.target);
    const fill = new THREE.DirectionalLight("#dbe8ff", 0.8);
    fill.position.copy(this.center).add(new THREE.Vector3(1.6, -1, 0.8).multiplyScalar(s));
    fill.target = sun.target;
    this.scene.add(fill);
    this.scene.fog = new THREE.Fog(SKY, 5 * s, 22 * s);
  }

  addCamera(canvas) {
    this.camera = new THREE.PerspectiveCamera(36, 1, 0.01 * this.size, 80 * this.size);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.minDistance = 0.1 * this.size;
    this.controls.maxDistance = 20 * this.size;
    this.home();
  }

  home() {
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).add(new THREE.Vector3(1.75, -2.35, 1.25).multiplyScalar(0.98 * this.size));
    this.controls.update();
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

  // Fewer pixels where the machine draws slowly.
  adapt(milliseconds) {
    this.average = 0.9 * (this.average ?? milliseconds) + 0.1 * milliseconds;
    if (this.average < 45 || this.ratio <= 0.6) return;
    this.ratio = Math.max(0.6, this.ratio * 0.8);
    this.average = undefined;
    this.resize();
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
    this.recording.moving.forEach((body, i) => this.poseAt(i, f, s, this.bodies[body].position, this.bodies[body].quaternion));
    this.renderer.shadowMap.needsUpdate = true;
  }

  // Per body, the displacement from the start of the step that ended with frame f to what is shown.
  motionSince(f) {
    const { time, step, moving } = this.recording;
    const before = f > 0 ? Math.min(step / (time[f] - time[f - 1]), 1) : 0;
    const motion = this.bodies.map(() => new THREE.Matrix4());
    const p = new THREE.Vector3(), q = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
    moving.forEach((body, i) => {
      this.poseAt(i, f > 0 ? f - 1 : 0, 1 - before, p, q);
      const now = new THREE.Matrix4().compose(this.bodies[body].position, this.bodies[body].quaternion, one);
      motion[body].compose(p, q, one).invert().premultiply(now);
    });
    return motion;
  }

  setXray(on) {
    for (const material of this.materials.values()) {
      if (material.map) continue;
      const opacity = on ? 0.3 * material.userData.opacity : material.userData.opacity;
      material.opacity = opacity;
      material.transparent = opacity < 1;
      material.depthWrite = opacity >= 1;
      material.needsUpdate = true;
    }
  }

  render() { this.renderer.render(this.scene, this.camera); }
}
