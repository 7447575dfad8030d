// Reads the data elements that follow the page: the model, and chunks of samples (their layout is
// described in src/io/html.c).

export const VALUES = 14;  // floats per contact
export const POINT = 0, NORMAL = 3, FORCE = 6, MOMENT = 9, AREA = 10, DEPTH = 11, PRESSURE = 12, SIZE = 13;

export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Numbers whose bytes were sorted by significance, back in their order.
function unshuffle(bytes, at, n, width) {
  const out = new Uint8Array(n * width);
  for (let b = 0; b < width; b++) {
    const from = at + b * n;
    for (let i = 0; i < n; i++) out[i * width + b] = bytes[from + i];
  }
  return out.buffer;
}

function readPoses(bytes, at, frames, bodies) {
  const n = frames * bodies * 7;
  const word = new Uint32Array(unshuffle(bytes, at, n, 4));
  for (let k = 0; k < bodies * 7; k++)
    for (let i = 1; i < frames; i++) word[k * frames + i] ^= word[k * frames + i - 1];
  const column = new Float32Array(word.buffer);
  const pose = new Float32Array(n);  // [frame][body][7]
  for (let k = 0; k < bodies * 7; k++)
    for (let i = 0; i < frames; i++) pose[i * bodies * 7 + k] = column[k * frames + i];
  return pose;
}

function readChunk(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [F, B, C, V] = [0, 4, 8, 12].map((i) => view.getUint32(i, true));
  let at = 16;
  const take = (n) => (at += n) - n;
  const copy = (n) => bytes.slice(take(n), at).buffer;
  const chunk = { F, B, C, V };
  chunk.time = new Float64Array(copy(8 * F));
  chunk.pose = readPoses(bytes, take(28 * F * B), F, B);
  chunk.count = new Uint32Array(copy(4 * F));
  chunk.geom1 = new Uint32Array(copy(4 * C));
  chunk.geom2 = new Uint32Array(copy(4 * C));
  chunk.tag = new Uint8Array(copy(C));
  chunk.nvert = new Uint8Array(copy(C));
  chunk.value = new Float32Array(unshuffle(bytes, take(4 * VALUES * C), VALUES * C, 4));
  chunk.vertex = new Int16Array(unshuffle(bytes, take(6 * V), 3 * V, 2));
  chunk.pressure = new Uint8Array(copy(V));
  return chunk;
}

async function readChunks(report) {
  const elements = document.querySelectorAll('script[type="application/abut-chunk"]');
  const chunks = [];
  for (const [i, element] of elements.entries()) {
    try {
      chunks.push(readChunk(await inflate(fromBase64(element.textContent))));
    } catch (error) {
      // The last chunk of a killed run may be torn; all before it are whole.
      console.warn(`chunk ${i} cannot be read: ${error.message}`);
      break;
    }
    element.remove();
    report((i + 1) / elements.length);
  }
  return chunks;
}

function join(chunks, key, Type) {
  const all = new Type(chunks.reduce((n, c) => n + c[key].length, 0));
  let at = 0;
  for (const c of chunks) all.set(c[key], at), (at += c[key].length);
  return all;
}

// The offsets of runs of the given lengths.
function offsets(count) {
  const start = new Uint32Array(count.length + 1);
  for (let i = 0; i < count.length; i++) start[i + 1] = start[i] + count[i];
  return start;
}

export class Recording {
  static async read(report) {
    const element = document.getElementById("abut-model");
    if (!element) throw new Error("this page holds no recording");
    return new Recording(JSON.parse(element.textContent), await readChunks(report));
  }

  constructor(head, chunks) {
    Object.assign(this, head);
    this.time = join(chunks, "time", Float64Array);
    this.frames = this.time.length;
    this.pose = join(chunks, "pose", Float32Array);
    this.start = offsets(join(chunks, "count", Uint32Array));  // first contact of a frame
    for (const [key, Type] of [["geom1", Uint32Array], ["geom2", Uint32Array], ["tag", Uint8Array],
                               ["nvert", Uint8Array], ["vertex", Int16Array], ["pressure", Uint8Array]])
      this[key] = key === "vertex" ? this.joinVertices(chunks) : join(chunks, key, Type);
    this.contacts = this.tag.length;
    this.value = this.joinValues(chunks);
    this.vertexStart = offsets(this.nvert);
    this.slot = new Map(this.moving.map((body, i) => [body, i]));
  }

  // [column][contact] of each chunk -> [contact][column]
  joinValues(chunks) {
    const out = new Float32Array(this.contacts * VALUES);
    let base = 0;
    for (const c of chunks) {
      for (let k = 0; k < VALUES; k++)
        for (let i = 0; i < c.C; i++) out[(base + i) * VALUES + k] = c.value[k * c.C + i];
      base += c.C;
    }
    return out;
  }

  joinVertices(chunks) {
    const out = new Int16Array(3 * chunks.reduce((n, c) => n + c.V, 0));
    let base = 0;
    for (const c of chunks) {
      for (let k = 0; k < 3; k++)
        for (let i = 0; i < c.V; i++) out[(base + i) * 3 + k] = c.vertex[k * c.V + i];
      base += c.V;
    }
    return out;
  }

  // The last frame at or before time t.
  frameAt(t) {
    let low = 0, high = this.frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  geom(i) { return this.model.geoms[i]; }
  bodyName(geom) { return this.model.bodies[this.geom(geom).body].name || "world"; }
  pairName(c) { return `${this.bodyName(this.geom1[c])} · ${this.bodyName(this.geom2[c])}`; }
  pairKey(c) { return this.geom1[c] * this.model.geoms.length + this.geom2[c]; }
  get(c, k) { return this.value[c * VALUES + k]; }
  vec(c, k, out) { return out.set(this.get(c, k), this.get(c, k + 1), this.get(c, k + 2)); }

  // Everything about one contact in numbers.
  contact(c) {
    const g = (k) => this.get(c, k);
    const normal = g(FORCE) * g(NORMAL) + g(FORCE + 1) * g(NORMAL + 1) + g(FORCE + 2) * g(NORMAL + 2);
    const total = Math.hypot(g(FORCE), g(FORCE + 1), g(FORCE + 2));
    const a = this.geom(this.geom1[c]), b = this.geom(this.geom2[c]);
    return {
      key: this.pairKey(c), name: this.pairName(c), normal,
      friction: Math.sqrt(Math.max(0, total * total - normal * normal)),
      limit: Math.max(a.mu_static, b.mu_static) * normal,
      moment: g(MOMENT), area: g(AREA), depth: g(DEPTH), pressure: g(PRESSURE),
      mode: ["stick", "slip", "separating"][this.tag[c] & 15] ?? "separating",
      kind: ["none", "point", "line", "surface"][this.tag[c] >> 4],
    };
  }
}
