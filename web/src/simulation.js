// The simulator: the library as WebAssembly, one scene in it.
import { fromBase64, inflate } from "./recording.js";
import { element, Present } from "./present.js";

const HANDS = 4;  // as in web/wasm/live.c

// The module asks the system for nothing but a place for its messages; there is none.
const nothing = { wasi_snapshot_preview1: new Proxy({}, { get: () => () => 52 }) };

export class Simulation extends Present {
  static async read() {
    const code = await inflate(fromBase64(element("abut-wasm")));
    const { instance } = await WebAssembly.instantiate(code, nothing);
    const head = { ...JSON.parse(element("abut-model")), ...JSON.parse(element("abut-live")) };
    return new Simulation(head, instance.exports, fromBase64(element("abut-scene")));
  }

  constructor(head, wasm, scene) {
    super(head);
    this.wasm = wasm;
    wasm._initialize();
    this.give(scene);
    if (wasm.live_load(scene.length)) throw new Error(this.error());
    this.h = this.step;
    this.given = this.contact_model || "none";
    this.setContact(this.given);
    wasm.live_set_step(this.h);
    this.reset(this.key);
  }

  // Bytes, or a text, into the module's memory.
  give(bytes) {
    const at = this.wasm.live_room(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
  }
  call(name, text, ...more) {
    this.give(new TextEncoder().encode(`${text}\0`));
    if (this.wasm[name](...more)) throw new Error(this.error());
  }
  error() { return this.readText(this.wasm.live_error()); }
  why() { return this.readText(this.wasm.live_why()); }  // the last step broke down
  readText(at) {
    const memory = new Uint8Array(this.wasm.memory.buffer);
    return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  }
  doubles(at, n) { return new Float64Array(this.wasm.memory.buffer, at, n); }

  get t() { return this.wasm.live_time(); }

  // Lets go of everything, too. The key by its name or index; -1: the initial pose.
  reset(which = this.key) {
    const key = typeof which === "string" ? this.keys.indexOf(which) : which;
    if (!Number.isInteger(key) || key < -1 || key >= this.keys.length || (key < 0 && which !== -1)) throw new Error(`there is no keyframe '${which}'`);
    this.key = key;
    this.held?.fill(-1);
    this.wasm.live_reset(key);
    this.look();
  }

  setContact(name) {
    this.call("live_contact", name);
    this.contact_model = name;
    this.giveParams();
  }
  // The parameters the page was made with belong to the model it was made with, which forgets them
  // whenever it is chosen anew.
  giveParams() {
    if (this.contact_model !== this.given) return;
    for (const [name, value] of Object.entries(this.params)) this.call("live_param", name, value);
  }
  setStep(h) { this.h = h, this.wasm.live_set_step(h); }
  setFriction(factor) {
    this.wasm.live_friction(factor);
    this.giveParams();
  }

  // Steps; how many were done: fewer where one breaks down.
  advance(n) {
    if (!Number.isInteger(n) || n < 0) throw new Error(`steps are counted by whole numbers, not by '${n}'`);
    return this.wasm.live_step(n);
  }

  // 64 bits as the program prints them.
  hash() { return BigInt.asUintN(64, this.wasm.live_hash()).toString(16).padStart(16, "0"); }

  // Takes over the present state for drawing.
  look() {
    const at = this.wasm.live_frame();  // may let the memory grow, which then is another buffer
    this.readFrame(this.wasm.memory.buffer, at);
  }

  poseOf(which) {
    this.look();
    return super.poseOf(which);
  }

  // --- hands ---

  freeHand() {
    this.held ??= new Array(HANDS).fill(-1);
    return this.held.indexOf(-1);
  }
  grab(hand, body, p, frequency, limit) {
    this.held[hand] = body;
    this.wasm.live_grab(hand, body, p.x, p.y, p.z, frequency, limit);
  }
  move(hand, p) { this.wasm.live_move(hand, p.x, p.y, p.z); }
  release(hand) {
    this.held[hand] = -1;
    this.wasm.live_grab(hand, -1, 0, 0, 0, 0, 0);
  }
  hand(hand) { return this.handFrom(this.doubles(this.wasm.live_hand(hand), 9)); }
  // Mass of everything that hangs together with a body.
  massWith(body) {
    const { bodies } = this.model;
    return bodies.reduce((sum, b) => sum + (b.mover === bodies[body].mover ? b.mass : 0), 0);
  }
}
