// Hands: bodies grabbed with the mouse, with fingers, or by a device. Each pointer holds a point of a
// body by a spring and a damper (src/couple.c); the spring is drawn, and the force written beside it.
import * as THREE from "three";
import { formatNumber } from "./plot.js";
import { HandPicture } from "./hand_picture.js";

const SAG = 0.008;  // by how much of the scene's size a held body hangs below the pointer
const UP = new THREE.Vector3(0, 0, 1);

export class Hands {
  constructor(viewer, sim, canvas, tip) {
    Object.assign(this, { viewer, sim, canvas, tip, stage: viewer.stage });
    this.pointers = new Map();  // of the browser, by their ids
    this.limitFactor = 1;
    this.ray = new THREE.Raycaster();
    this.picture = new HandPicture(this.stage);
    // Before the camera's controls hear of it.
    canvas.addEventListener("pointerdown", (e) => this.down(e), true);
    canvas.addEventListener("pointermove", (e) => this.move(e), true);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(end, (e) => this.up(e), true);
    canvas.addEventListener("wheel", (e) => this.wheel(e), { capture: true, passive: false });
  }

  get g() { return Math.hypot(...(this.sim.model.gravity ?? [0, 0, -9.81])) || 9.81; }
  // How fast a held body follows [rad / s]: in small scenes and in large ones such that it hangs by as much of the picture, and that
  // a hand of four times the weight can stop it where it drew it to over half of the scene.
  get frequency() { return Math.sqrt(this.g / (SAG * this.stage.size)); }
  // The force a hand has: four times the weight of what it holds, times the slider.
  limit(body) { return 4 * this.limitFactor * this.sim.massWith(body) * this.g; }
  setLimit(factor) {
    this.limitFactor = factor;
    for (const { hand, body } of this.pointers.values()) this.sim.wasm.live_limit(hand, this.limit(body));
  }

  aim(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.ray.setFromCamera(at, this.stage.camera);
    return this.ray;
  }

  // The body that can be moved under a place on the screen, and the point hit.
  pick(x, y) {
    const ray = this.aim(x, y);
    let best = null;
    for (const { mesh, all } of this.stage.batches) {
      mesh.boundingSphere = null;  // of where its instances were
      for (const hit of ray.intersectObject(mesh, false))
        if (!best || hit.distance < best.distance) best = { ...hit, body: all[hit.instanceId].body };
    }
    return best && this.sim.slot.has(best.body) ? best : null;
  }

  // Where a pointer moves: upright and facing the camera, so that up on the screen is up in the
  // world; seen from above, or with shift, on the level.
  plane(point, level) {
    const look = this.stage.camera.getWorldDirection(new THREE.Vector3());
    const steep = Math.abs(look.z) > 0.85;
    const normal = level || steep ? UP.clone() : look.setZ(0).normalize();
    return new THREE.Plane().setFromNormalAndCoplanarPoint(normal, point);
  }

  down(e) {
    if (e.button !== 0) return;
    const hit = this.pick(e.clientX, e.clientY), hand = hit ? this.sim.freeHand() : -1;
    if (hand < 0) return;
    e.stopPropagation();
    this.canvas.setPointerCapture(e.pointerId);
    this.canvas.classList.add("held");
    this.pointers.set(e.pointerId, { hand, body: hit.body, point: hit.point.clone(), level: e.shiftKey, x: e.clientX, y: e.clientY });
    this.sim.grab(hand, hit.body, hit.point, this.frequency, this.limit(hit.body));
    this.viewer.grabbed(hit.body);
  }

  move(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return e.buttons ? undefined : this.over(e);
    e.stopPropagation();
    p.x = e.clientX, p.y = e.clientY;
    const hit = this.aim(p.x, p.y).ray.intersectPlane(this.plane(p.point, e.shiftKey), new THREE.Vector3());
    // A plane seen edge-on is hit far away.
    if (!hit || hit.distanceTo(this.stage.controls.target) > 20 * this.stage.size) return;
    p.point.copy(hit);
    this.sim.move(p.hand, hit);
    this.viewer.dirty = true;
  }

  // Nearer or farther, while something is held.
  wheel(e) {
    if (this.pointers.size === 0) return;
    e.preventDefault(), e.stopPropagation();
    const away = this.stage.camera.getWorldDirection(new THREE.Vector3()).setZ(0).normalize();
    for (const p of this.pointers.values())
      this.sim.move(p.hand, p.point.addScaledVector(away, -0.0004 * e.deltaY * this.stage.size));
  }

  up(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    this.pointers.delete(e.pointerId);
    this.sim.release(p.hand);
    this.canvas.classList.toggle("held", this.pointers.size > 0);
    this.viewer.dirty = true;
  }

  // Looking for a body costs time: at most ten times a second.
  over(e) {
    const now = performance.now();
    if (now - (this.looked ?? 0) < 100) return;
    this.looked = now;
    this.canvas.classList.toggle("over", this.pick(e.clientX, e.clientY) !== null);
  }

  releaseAll() {
    for (const p of this.pointers.values()) this.sim.release(p.hand);
    this.pointers.clear();
    this.canvas.classList.remove("held");
  }

  draw() {
    const held = this.sim.held ?? [];
    this.picture.draw(held.flatMap((body, i) => (body >= 0 ? [this.sim.hand(i)] : [])));
    this.writeForce();
  }

  writeForce() {
    const p = [...this.pointers.values()].at(-1);
    this.tip.hidden = !p;
    if (!p) return;
    this.tip.textContent = formatNumber(Math.hypot(...this.sim.hand(p.hand).force), "N");
    this.tip.style.left = `${p.x + 14}px`, (this.tip.style.top = `${p.y - 24}px`);
  }
}
