// The replay: plays a recording and answers to the user.
import * as THREE from "three";
import { Recording } from "./recording.js";
import { Plot, formatNumber } from "./plot.js";
import { $, Viewer } from "./viewer.js";


class Player extends Viewer {
  constructor(recording) {
    super(recording, new Plot($("plot"), $("cursor"), recording));
    this.begin = recording.time[0], this.end = recording.time[recording.frames - 1];
    this.t = this.begin;
    this.fillPage();
    this.listen();
    this.seek(this.begin);
    this.chooseStrongest();
    this.layout();
    requestAnimationFrame((now) => this.tick(now));
  }

  fillPage() {
    const r = this.recording, m = r.model;
    const name = m.name || "scene";
    document.title = `${name} · abut replay`;
    $("title").textContent = name;
    $("subtitle").textContent = [`${r.moving.length} bodies`, `${formatNumber(this.end - this.begin, "s")}`,
      `step ${formatNumber(1000 * r.step, "ms")}`, r.contact_model && `contact model ${r.contact_model}`].filter(Boolean).join(" · ");
    $("pmax").textContent = formatNumber(this.overlay.pressureScale, "Pa");
    $("scrub").max = String(r.frames - 1);
    $("side").hidden = r.contacts === 0;
    $("show-side").checked = r.contacts > 0;
  }

  listen() {
    $("play").onclick = () => this.toggle();
    $("scrub").oninput = () => (this.pause(), this.seek(this.recording.time[Number($("scrub").value)]));
    $("plot").onpointerdown = $("plot").onpointermove = (e) =>
      e.buttons && (this.pause(), this.seek(this.plot.timeAt(e.clientX)));
  }

  key(e) {
    if (e.target.tagName === "SELECT") return;
    const step = e.shiftKey ? 10 : 1;
    const act = {
      " ": () => this.toggle(), ArrowRight: () => this.stepBy(step), ArrowLeft: () => this.stepBy(-step),
      Home: () => this.seek(this.begin), End: () => this.seek(this.end), c: () => this.stage.home(),
      "[": () => this.setSpeed(this.speedIndex - 1), "]": () => this.setSpeed(this.speedIndex + 1),
    }[e.key];
    if (act) e.preventDefault(), act(), (this.dirty = true);
  }

  toggle() { this.playing ? this.pause() : this.play(); }
  play() {
    if (this.t >= this.end) this.seek(this.begin);
    this.setPlaying(true);
  }
  pause() {
    this.setPlaying(false);
    this.fillSide();
  }
  stepBy(n) {
    this.pause();
    const f = Math.min(Math.max(this.frame + n, 0), this.recording.frames - 1);
    this.seek(this.recording.time[f]);
  }

  seek(t) {
    const r = this.recording, old = this.frame;
    this.t = Math.min(Math.max(t, this.begin), this.end);
    const f = (this.frame = r.frameAt(this.t));
    const gap = f + 1 < r.frames ? r.time[f + 1] - r.time[f] : 1;
    this.stage.setFrame(f, (this.t - r.time[f]) / gap);
    this.overlay.setFrame(f, this.chosen, this.stage.motionSince(f));
    $("scrub").value = String(f);
    $("time").textContent = `${this.t.toFixed(3)} s`;
    if ($("side").hidden) return void (this.dirty = true);
    // While it plays nobody reads the table faster than this.
    const due = !this.playing || performance.now() - (this.filled ?? 0) > 400;
    if (f !== old && due) this.fillSide();
    else this.plot.draw(this.t);
    this.dirty = true;
  }

  // The pair that carries the most over the run is worth a look first.
  chooseStrongest() {
    const r = this.recording, sum = new Map();
    const stride = Math.max(1, Math.floor(r.contacts / 20000));
    for (let c = 0; c < r.contacts; c += stride)
      sum.set(r.pairKey(c), (sum.get(r.pairKey(c)) ?? 0) + r.contact(c).normal);
    const best = [...sum].sort((a, b) => b[1] - a[1])[0];
    if (best) this.choose(best[0]);
  }

  tick(now) {
    const passed = Math.min((now - (this.last ?? now)) / 1000, 0.25);
    this.last = now;
    if (this.playing) {
      this.seek(this.t + passed * this.speed);
      if (this.t >= this.end) this.pause();
    }
    this.draw(now, passed);
    requestAnimationFrame((t) => this.tick(t));
  }

}

async function start() {
  const message = $("message");
  try {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it lacks DecompressionStream");
    const recording = await Recording.read((s) => (message.textContent = `loading ${Math.round(100 * s)} %`));
    if (recording.frames === 0) throw new Error("the recording holds no samples");
    const player = new Player(recording);
    message.hidden = true;
    return player;
  } catch (error) {
    message.textContent = `The replay cannot be shown.\n${error.message}`;
    throw error;
  }
}

// For scripts and tests: window.abut resolves to the player.
window.abut = new Promise((resolve, reject) =>
  document.addEventListener("DOMContentLoaded", () => start().then(resolve, reject)));
window.THREE_REVISION = THREE.REVISION;
