// What the contacts do, drawn over the bodies: the patch coloured by pressure and edged by mode, the
// equivalent contact point, and the normal and friction forces as arrows.
import * as THREE from "three";
import { FORCE, NORMAL, POINT, PRESSURE, SIZE, AREA } from "./recording.js";

const MODE = ["#159a74", "#ef7d16", "#8a93a1"].map((c) => new THREE.Color(c));
const CHOSEN = new THREE.Color("#111827");
// From no pressure to much: dark violet, red, orange, pale yellow.
const RAMP = ["#2b1055", "#7a1f7d", "#c9345c", "#f4774b", "#fbb661", "#fdf0b0"].map((c) => new THREE.Color(c));

export function rampColor(s, out) {
  const x = Math.min(Math.max(s, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(x), RAMP.length - 2);
  return out.copy(RAMP[i]).lerp(RAMP[i + 1], x - i);
}

export function rampStyle() {
  return `linear-gradient(90deg, ${RAMP.map((c) => "#" + c.getHexString()).join(", ")})`;
}

// Triangles that change every frame.
class Soup {
  constructor(parent, order, opacity) {
    this.geometry = new THREE.BufferGeometry();
    const material = new THREE.MeshBasicMaterial({
      vertexColors: true, transparent: true, opacity, depthTest: false, depthWrite: false,
      side: THREE.DoubleSide, toneMapped: false, fog: false,
    });
    this.mesh = new THREE.Mesh(this.geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
    parent.add(this.mesh);
    this.reserve(4096);
  }
  reserve(n) {
    this.room = n;
    const old = this.position;
    this.position = new Float32Array(3 * n);
    this.color = new Float32Array(3 * n);
    if (old) this.position.set(old);
    this.geometry.setAttribute("position", new THREE.BufferAttribute(this.position, 3).setUsage(THREE.DynamicDrawUsage));
    this.geometry.setAttribute("color", new THREE.BufferAttribute(this.color, 3).setUsage(THREE.DynamicDrawUsage));
  }
  begin(n) {
    if (n > this.room) this.reserve(2 * n);
    this.n = 0;
  }
  put(p, c) {
    this.position.set([p.x, p.y, p.z], 3 * this.n);
    this.color.set([c.r, c.g, c.b], 3 * this.n++);
  }
  end() {
    this.geometry.setDrawRange(0, this.n);
    this.geometry.attributes.position.needsUpdate = true;
    this.geometry.attributes.color.needsUpdate = true;
  }
}

// Instances of one shape, drawn once in full where nothing hides them and once faintly where
// something does; without a graphics card, once for both.
class Swarm {
  constructor(parent, geometry, color, order, fine) {
    this.parent = parent, this.geometry = geometry, this.order = order;
    const common = { color, transparent: true, depthWrite: false, toneMapped: false, fog: false };
    this.materials = fine
      ? [new THREE.MeshBasicMaterial({ ...common, opacity: 0.95 }),
         new THREE.MeshBasicMaterial({ ...common, opacity: 0.5, depthFunc: THREE.GreaterDepth })]
      : [new THREE.MeshBasicMaterial({ ...common, opacity: 0.75, depthTest: false })];
    this.reserve(256);
  }
  reserve(n) {
    this.meshes?.forEach((m) => (this.parent.remove(m), m.dispose()));
    this.room = n;
    this.meshes = this.materials.map((material) => {
      const mesh = new THREE.InstancedMesh(this.geometry, material, n);
      mesh.frustumCulled = false;
      mesh.renderOrder = this.order;
      this.parent.add(mesh);
      return mesh;
    });
    for (const mesh of this.meshes) mesh.instanceMatrix = this.meshes[0].instanceMatrix;
  }
  begin(n) {
    if (n > this.room) this.reserve(2 * n);
    this.n = 0;
  }
  put(matrix) { this.meshes[0].setMatrixAt(this.n++, matrix); }
  end() {
    this.meshes.forEach((m) => (m.count = this.n));
    this.meshes[0].instanceMatrix.needsUpdate = true;
  }
}

// The value below which a part q of the weight lies, of pairs [value, weight].
function quantile(pairs, q) {
  const sorted = pairs.filter(([x, w]) => x > 0 && w > 0).sort((a, b) => a[0] - b[0]);
  let left = q * sorted.reduce((sum, [, w]) => sum + w, 0);
  for (const [x, w] of sorted) if ((left -= w) <= 0) return x;
  return sorted.at(-1)?.[0] ?? 0;
}

export class Overlay {
  constructor(stage, recording) {
    this.recording = recording;
    this.size = stage.size;
    this.group = new THREE.Group();
    stage.scene.add(this.group);
    this.patches = new THREE.Group();
    this.forces = new THREE.Group();
    this.group.add(this.patches, this.forces);
    this.fill = new Soup(this.patches, 10, 0.82);
    this.edge = new Soup(this.patches, 11, 0.95);
    // Flat colours: only outlines show, so few triangles are enough.
    const fine = !stage.software;
    const shaft = new THREE.CylinderGeometry(0.5, 0.5, 1, fine ? 10 : 5, 1, true).translate(0, 0.5, 0);
    const tip = new THREE.ConeGeometry(1, 1, fine ? 16 : 8).translate(0, 0.5, 0);
    this.arrows = ["#2457c5", "#d23b3b"].map((color, i) => [
      new Swarm(this.forces, shaft, color, 20 + i, fine), new Swarm(this.forces, tip, color, 20 + i, fine)]);
    this.points = new Swarm(this.patches, new THREE.IcosahedronGeometry(1, fine ? 2 : 0), "#111827", 19, fine);
    this.measure();
  }

  // Scales that hold for the whole run, so that colours and lengths can be compared between frames.
  measure() {
    const r = this.recording, stride = Math.max(1, Math.floor(r.contacts / 20000));
    const force = [], pressure = [];
    for (let c = 0; c < r.contacts; c += stride) {
      const contact = r.contact(c);
      force.push([contact.normal, 1]);
      // The mean pressure, weighed by area: an edge has a huge pressure on nearly nothing.
      if (contact.area > 0) pressure.push([contact.normal / contact.area, contact.area]);
    }
    this.forceScale = quantile(force, 0.98) || 1;
    this.pressureScale = 1.8 * quantile(pressure, 0.9) || 1;
  }

  // Where a model gives no pressure, the mean one.
  topPressure(c, contact) {
    const p = this.recording.get(c, PRESSURE), area = this.recording.get(c, AREA);
    return p > 0 ? p : area > 0 ? contact.normal / area : 0;
  }

  // The geometry of a contact is that of the start of its step; here it is carried along by body 1
  // to where that body is shown.
  carry(c, p) { return p.applyMatrix4(this.motion[this.recording.geom(this.recording.geom1[c]).body]); }
  point(c) { return this.carry(c, this.recording.vec(c, POINT, new THREE.Vector3())); }

  vertices(c) {
    const r = this.recording, point = r.vec(c, POINT, new THREE.Vector3()), size = r.get(c, SIZE) / 2047;
    const list = [];
    for (let i = r.vertexStart[c]; i < r.vertexStart[c + 1]; i++)
      list.push(this.carry(c, new THREE.Vector3(r.vertex[3 * i], r.vertex[3 * i + 1], r.vertex[3 * i + 2])
        .multiplyScalar(size).add(point)));
    return list;
  }

  addPatch(c, chosen) {
    const r = this.recording, vert = this.vertices(c);
    if (vert.length < 2) return;
    const contact = r.contact(c), top = this.topPressure(c, contact), given = r.get(c, PRESSURE) > 0;
    const share = vert.map((_, i) => (given ? r.pressure[r.vertexStart[c] + i] / 255 : 1));
    const color = share.map((s) => rampColor((s * top) / this.pressureScale, new THREE.Color()));
    const middle = vert.reduce((m, v) => m.add(v), new THREE.Vector3()).divideScalar(vert.length);
    const mean = rampColor((share.reduce((a, b) => a + b) / vert.length) * top / this.pressureScale, new THREE.Color());
    for (let i = 0; i < vert.length && vert.length > 2; i++) {
      const j = (i + 1) % vert.length;
      this.fill.put(middle, mean), this.fill.put(vert[i], color[i]), this.fill.put(vert[j], color[j]);
    }
    this.addOutline(c, vert, chosen);
  }

  // A ribbon in the contact plane along every edge.
  addOutline(c, vert, chosen) {
    const normal = this.recording.vec(c, NORMAL, new THREE.Vector3());
    const color = chosen ? CHOSEN : MODE[Math.min(this.recording.tag[c] & 15, 2)];
    const half = (chosen ? 0.0045 : 0.0026) * this.size, d = new THREE.Vector3(), w = new THREE.Vector3();
    const last = vert.length === 2 ? 1 : vert.length;
    for (let i = 0; i < last; i++) {
      const a = vert[i], b = vert[(i + 1) % vert.length];
      d.subVectors(b, a);
      if (d.lengthSq() === 0) continue;
      d.normalize().multiplyScalar(half);
      w.crossVectors(normal, d);
      const corner = [[-1, -1, a], [1, -1, b], [1, 1, b], [-1, 1, a]].map(([s, t, p]) => p.clone().addScaledVector(d, s).addScaledVector(w, t));
      for (const k of [0, 1, 2, 0, 2, 3]) this.edge.put(corner[k], color);
    }
  }

  addArrow([shaft, tip], point, force) {
    const magnitude = force.length();
    // A force too small to see is not drawn; an impact is cut at twice the usual length.
    const length = Math.min(magnitude / this.forceScale, 2) * 0.26 * this.size;
    if (length < 0.01 * this.size) return;
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), force.clone().divideScalar(magnitude));
    const head = Math.min(0.05 * this.size, 0.5 * length), width = 0.16 * head, wide = 0.34 * head;
    const m = new THREE.Matrix4();
    shaft.put(m.compose(point, turn, new THREE.Vector3(width, length - head, width)));
    const end = point.clone().addScaledVector(force, (length - head) / magnitude);
    tip.put(m.compose(end, turn, new THREE.Vector3(wide, head, wide)));
  }

  addForces(c) {
    const r = this.recording, point = this.point(c);
    const force = r.vec(c, FORCE, new THREE.Vector3()), normal = r.vec(c, NORMAL, new THREE.Vector3());
    const along = normal.multiplyScalar(force.dot(normal));
    this.addArrow(this.arrows[0], point, along);
    this.addArrow(this.arrows[1], point, force.sub(along));
    const s = 0.007 * this.size;
    this.points.put(new THREE.Matrix4().makeScale(s, s, s).setPosition(point));
  }

  // motion: per body, its displacement since the start of the step that ended with frame f
  setFrame(f, chosenKey, motion) {
    this.motion = motion;
    const r = this.recording, from = r.start[f], to = r.start[f + 1], n = to - from;
    const verts = r.vertexStart[to] - r.vertexStart[from];
    const swarms = [...this.arrows.flat(), this.points];
    this.fill.begin(3 * verts), this.edge.begin(6 * verts);
    swarms.forEach((s) => s.begin(n));
    for (let c = from; c < to; c++) {
      this.addPatch(c, r.pairKey(c) === chosenKey);
      this.addForces(c);
    }
    [this.fill, this.edge, ...swarms].forEach((x) => x.end());
    this.from = from, this.to = to;
  }

  // The contact whose point is nearest to a place on the screen, within 28 pixels.
  pick(camera, x, y, width, height) {
    let best = -1, distance = 28;
    for (let c = this.from; c < this.to; c++) {
      const p = this.point(c).project(camera);
      const d = Math.hypot(((p.x + 1) / 2) * width - x, ((1 - p.y) / 2) * height - y);
      if (p.z < 1 && d < distance) best = c, distance = d;
    }
    return best;
  }
}
