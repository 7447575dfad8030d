// Gamepads and the SpaceMouse. They move a hand that holds the body grabbed last: sticks and cap push
// it about; what slips is felt as vibration where the gamepad has a motor.
import * as THREE from "three";

const DEAD = 0.12;  // of a stick's way; worn ones do not come back to zero
const SPACE_MOUSE = [{ vendorId: 0x256f }, { vendorId: 0x046d, usagePage: 1, usage: 8 }];

const live = (x) => (Math.abs(x) > DEAD ? (x - Math.sign(x) * DEAD) / (1 - DEAD) : 0);

export class Devices {
  constructor(viewer, sim, button) {
    Object.assign(this, { viewer, sim, hand: -1, body: -1, cap: [0, 0, 0] });
    button.hidden = !navigator.hid;
    button.onclick = () => this.connect().catch((e) => viewer.say(`No SpaceMouse: ${e.message}`));
  }

  // The body the next movement is about.
  take(body) { this.release(), (this.body = body); }

  async connect() {
    const [device] = await navigator.hid.requestDevice({ filters: SPACE_MOUSE });
    if (!device) return;
    if (!device.opened) await device.open();
    device.addEventListener("inputreport", (e) => this.report(e));
  }

  // Report 1: translation, three 16-bit numbers up to about 350 (x right, y towards the user, z
  // down); older devices send translation and rotation together.
  report({ reportId, data }) {
    if (reportId === 1 && data.byteLength >= 6) this.cap = [0, 2, 4].map((i) => data.getInt16(i, true) / 350);
  }

  // How the devices push: right, forwards, up, each up to 1.
  wish() {
    const pad = [...(navigator.getGamepads?.() ?? [])].find(Boolean);
    this.pad = pad;
    const [x = 0, y = 0, , z = 0] = pad?.axes ?? [];
    const lift = (pad?.buttons[7]?.value ?? 0) - (pad?.buttons[6]?.value ?? 0);
    return [live(x) + live(this.cap[0]), -live(y) - live(this.cap[1]), lift - live(z) - live(this.cap[2])];
  }

  poll(passed) {
    const [right, forwards, up] = this.wish();
    const button = this.pad?.buttons[0]?.pressed ?? false;
    if (button && !this.pressed && this.hand >= 0) this.release();
    this.pressed = button;
    if (right || forwards || up) this.push(right, forwards, up, passed);
    this.shake();
  }

  push(right, forwards, up, passed) {
    if (this.hand < 0 && !this.hold()) return;
    const { camera, size } = this.viewer.stage;
    const ahead = camera.getWorldDirection(new THREE.Vector3()).setZ(0).normalize();
    const side = new THREE.Vector3(ahead.y, -ahead.x, 0), speed = 0.8 * size * passed;
    this.target.addScaledVector(side, right * speed).addScaledVector(ahead, forwards * speed);
    this.target.z += up * speed;
    this.sim.move(this.hand, this.target);
  }

  // Takes hold of the body at its centre of mass; of the first one where none was grabbed.
  hold() {
    const body = this.body >= 0 ? this.body : this.sim.moving[0], hand = this.sim.freeHand();
    if (body === undefined || hand < 0) return false;
    this.body = body, this.hand = hand;
    this.target = new THREE.Vector3(...this.sim.poseOf(body).slice(0, 3));
    this.sim.grab(hand, body, this.target, this.viewer.hands.frequency, this.viewer.hands.limit(body));
    if (!this.viewer.playing) this.viewer.play();
    return true;
  }

  release() {
    if (this.hand >= 0) this.sim.release(this.hand);
    this.hand = -1;
  }

  // Vibration grows with the power of slip: full where a body slides down a slope of 45 degrees at
  // the speed it would fall with over its own size.
  shake() {
    const motor = this.pad?.vibrationActuator, now = performance.now();
    if (!motor || now - (this.shaken ?? 0) < 50 || !this.viewer.playing) return;
    this.shaken = now;
    const { sim } = this, mass = this.body >= 0 ? sim.massWith(this.body) : 1;
    const full = mass * 9.81 * Math.sqrt(9.81 * this.viewer.stage.size);
    const strength = Math.min(1, sim.wasm.live_slip_power() / full);
    if (strength > 0.01)
      motor.playEffect?.("dual-rumble", { duration: 60, weakMagnitude: strength, strongMagnitude: strength * strength }).catch(() => {});
  }
}
