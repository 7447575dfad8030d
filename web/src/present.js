// The present state of a simulation (include/abut/frame.h) in the form of a recording with a single
// frame, so that the same code draws both.
import { Recording, VALUES } from "./recording.js";

export const element = (id) => {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`this page lacks its part ${id}`);
  return text;
};

export class Present extends Recording {
  constructor(head) {
    super(head, []);
    this.frames = 1;
    this.pose = new Float32Array(7 * this.moving.length);
    this.poses.forEach((p, body) => this.slot.has(body) && this.pose.set(p, 7 * this.slot.get(body)));
    this.all = Float64Array.from(this.poses.flat());
    this.byName = new Map(this.model.bodies.map((b, i) => [b.name, i]));
    this.time = [0], this.start = [0, 0], this.vertexStart = new Uint32Array(1), this.handList = [];
  }

  readFrame(buffer, at = 0) {
    const nbody = this.model.bodies.length, view = new DataView(buffer, at);
    const [C, V, H] = [8, 12, 16].map((i) => view.getInt32(i, true));
    at += 24;
    // The frame may begin anywhere: numbers are copied to where they are aligned.
    const take = (Type, n) => new Type(buffer.slice(at, (at += n * Type.BYTES_PER_ELEMENT)));
    this.time = [view.getFloat64(0, true)];
    this.all = take(Float64Array, 7 * nbody);
    this.moving.forEach((body, i) => this.pose.set(this.all.subarray(7 * body, 7 * body + 7), 7 * i));
    const hands = take(Float64Array, 9 * H), tags = take(Int32Array, 4 * C);
    this.handList = Array.from({ length: H }, (_, i) => this.handFrom(hands.subarray(9 * i, 9 * i + 9)));
    const column = (k) => Int32Array.from({ length: C }, (_, i) => tags[4 * i + k]);
    this.geom1 = column(0), this.geom2 = column(1), this.tag = column(2), this.nvert = column(3);
    this.value = take(Float32Array, VALUES * C);
    this.vertex = take(Float32Array, 3 * V);
    this.pressure = take(Float32Array, V);
    this.contacts = C;
    this.start = [0, C];
    this.vertexStart = new Uint32Array(C + 1);
    for (let i = 0; i < C; i++) this.vertexStart[i + 1] = this.vertexStart[i] + this.nvert[i];
  }

  // Force, where it acts, and where it draws to.
  handFrom(d) { return { force: d.slice(0, 3), grip: d.slice(3, 6), target: d.slice(6, 9) }; }

  // Index of a body given by its name or index.
  body(which) {
    const i = typeof which === "number" ? which : this.byName.get(which);
    if (!this.model.bodies[i]) throw new Error(`there is no body '${which}'`);
    return i;
  }

  // Centre of mass and quaternion of a body.
  poseOf(which) {
    const i = this.body(which), [x, y, z, w, a, b, c] = this.all.subarray(7 * i);
    const [u, v, s] = this.model.bodies[i].com;
    // p + q com q*
    const tx = 2 * (b * s - c * v), ty = 2 * (c * u - a * s), tz = 2 * (a * v - b * u);
    return [x + u + w * tx + (b * tz - c * ty), y + v + w * ty + (c * tx - a * tz), z + s + w * tz + (a * ty - b * tx), w, a, b, c];
  }
}
