// The page: puts recording, stage, overlay and plot together and answers to the user.
import * as THREE from "three";
import { Recording } from "./recording.js";
import { Stage } from "./stage.js";
import { Overlay, rampStyle } from "./overlay.js";
import { Plot, formatNumber } from "./plot.js";

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const ROWS = 60, MOVING_ROWS = 20;  // of the table; more cannot be read while they move

class Player {
  constructor(recording) {
    this.recording = recording;
    this.stage = new Stage($("view"), recording);
    this.overlay = new Overlay(this.stage, recording);
    this.plot = new Plot($("plot"), $("cursor"), recording);
    this.begin = recording.time[0], this.end = recording.time[recording.frames - 1];
    this.t = this.begin;
    this.playing = false, this.speed = 1, this.chosen = null, this.dirty = true;
    this.fillPage();
    this.listen();
    this.setSpeed(SPEEDS.indexOf(1));
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
    document.body.classList.toggle("plain", this.stage.software);
    $("ramp").style.background = rampStyle();
    $("pmax").textContent = formatNumber(this.overlay.pressureScale, "Pa");
    $("scrub").max = String(r.frames - 1);
    $("side").hidden = r.contacts === 0;
    $("show-side").checked = r.contacts > 0;
    $("speed").innerHTML = SPEEDS.map((s, i) => `<option value="${i}">${s} ×</option>`).join("");
  }

  listen() {
    $("play").onclick = () => this.toggle();
    $("home").onclick = () => (this.stage.home(), (this.dirty = true));
    $("scrub").oninput = () => (this.pause(), this.seek(this.recording.time[Number($("scrub").value)]));
    $("speed").onchange = () => this.setSpeed(Number($("speed").value));
    $("show-patches").onchange = (e) => this.show(this.overlay.patches, e.target.checked);
    $("show-forces").onchange = (e) => this.show(this.overlay.forces, e.target.checked);
    $("show-xray").onchange = (e) => (this.stage.setXray(e.target.checked), (this.dirty = true));
    $("show-side").onchange = (e) => (($("side").hidden = !e.target.checked), this.layout());
    $("table").onclick = (e) => e.target.closest("tr[data-key]") && this.choose(Number(e.target.closest("tr").dataset.key));
    $("table").onmousemove = (e) => this.tip(Number(e.target.closest("tr[data-c]")?.dataset.c ?? -1), e.clientX - 250, e.clientY);
    $("table").onmouseleave = () => this.tip(-1);
    $("plot").onpointerdown = $("plot").onpointermove = (e) =>
      e.buttons && (this.pause(), this.seek(this.plot.timeAt(e.clientX)));
    const view = $("view");
    view.onpointermove = (e) => !e.buttons && this.hover(e.clientX, e.clientY);
    view.onpointerleave = () => this.tip(-1);
    view.onclick = (e) => this.clicked(e);
    view.onpointerdown = (e) => (this.down = [e.clientX, e.clientY]);
    this.stage.controls.addEventListener("change", () => (this.dirty = this.turned = true));
    window.addEventListener("resize", () => this.layout());
    window.addEventListener("keydown", (e) => this.key(e));
  }

  layout() {
    const side = $("side");
    this.stage.resize(side.hidden ? 0 : side.offsetWidth);
    this.plot.resize();
    this.fillSide();
    this.dirty = true;
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

  show(group, on) { group.visible = on, this.dirty = true; }
  toggle() { this.playing ? this.pause() : this.play(); }
  play() {
    if (this.t >= this.end) this.seek(this.begin);
    this.playing = true;
    $("play").classList.add("playing");
    $("play").ariaLabel = "pause";
  }
  pause() {
    this.playing = false;
    this.fillSide();
    $("play").classList.remove("playing");
    $("play").ariaLabel = "play";
  }
  setSpeed(i) {
    this.speedIndex = Math.min(Math.max(i, 0), SPEEDS.length - 1);
    this.speed = SPEEDS[this.speedIndex];
    $("speed").value = String(this.speedIndex);
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

  choose(key) {
    this.chosen = key;
    this.plot.choose(key);
    const name = this.plot.series[0]?.name;
    $("plot-title").textContent = name ? `Force over time: ${name}` : "Force over time";
    this.overlay.setFrame(this.frame, key, this.stage.motionSince(this.frame));
    this.fillSide();
    this.dirty = true;
  }

  fillSide() {
    if ($("side").hidden) return;
    this.filled = performance.now();
    const r = this.recording, from = r.start[this.frame], to = r.start[this.frame + 1];
    const rows = [];
    for (let c = from; c < to; c++) rows.push({ c, ...r.contact(c) });
    rows.sort((a, b) => b.normal - a.normal);
    $("ncontact").textContent = String(to - from);
    $("table").tBodies[0].replaceChildren(...rows.slice(0, this.playing ? MOVING_ROWS : ROWS).map((row) => this.row(row)));
    this.plot.draw(this.t);
  }

  row({ c, key, name, mode, normal, friction, area }) {
    const tr = document.createElement("tr");
    tr.dataset.key = String(key), tr.dataset.c = String(c);
    tr.classList.toggle("selected", key === this.chosen);
    const dot = document.createElement("i");
    dot.className = `dot ${mode}`;
    const first = tr.insertCell();
    first.append(dot, name);
    first.title = name;
    for (const text of [formatNumber(normal), formatNumber(friction), formatNumber(1e4 * area)])
      tr.insertCell().textContent = text;
    return tr;
  }

  hover(x, y) {
    const c = this.overlay.patches.visible || this.overlay.forces.visible
      ? this.overlay.pick(this.stage.camera, x, y, window.innerWidth, window.innerHeight) : -1;
    this.tip(c, x + 16, y + 16);
  }

  clicked(e) {
    if (Math.hypot(e.clientX - this.down[0], e.clientY - this.down[1]) > 4) return;  // it was a drag
    const c = this.overlay.pick(this.stage.camera, e.clientX, e.clientY, window.innerWidth, window.innerHeight);
    if (c >= 0) this.choose(this.recording.pairKey(c));
  }

  tip(c, x, y) {
    const tip = $("tip");
    tip.hidden = c < 0;
    if (c < 0) return;
    const k = this.recording.contact(c);
    const use = k.limit > 0 ? `${(100 * k.friction / k.limit).toFixed(0)} % of the limit` : "";
    const rows = [["mode", `${k.mode}, ${k.kind}`], ["normal force", formatNumber(k.normal, "N")],
      ["friction", formatNumber(k.friction, "N")], ["", use], ["free moment", formatNumber(k.moment, "N m")],
      ["area", formatNumber(1e4 * k.area, "cm²")], ["depth", formatNumber(1e3 * k.depth, "mm")],
      ["largest pressure", formatNumber(this.overlay.topPressure(c, k), "Pa")]];
    const title = document.createElement("b"), table = document.createElement("table");
    title.textContent = k.name;
    for (const [a, b] of rows) {
      if (!b) continue;
      const tr = table.insertRow();
      tr.insertCell().textContent = a, (tr.insertCell().textContent = b);
    }
    tip.replaceChildren(title, table);
    tip.style.left = `${Math.min(Math.max(x, 8), window.innerWidth - 240)}px`;
    tip.style.top = `${Math.min(y, window.innerHeight - 230)}px`;
  }

  tick(now) {
    const passed = Math.min((now - (this.last ?? now)) / 1000, 0.25);
    this.last = now;
    if (this.playing) {
      this.seek(this.t + passed * this.speed);
      if (this.t >= this.end) this.pause();
    }
    this.stage.controls.update();
    const moved = this.playing || this.turned;
    this.turned = false;
    if (moved) this.restAt = now + 150;
    if (this.stage.setMoving(now < (this.restAt ?? 0))) this.dirty = true;
    if (this.dirty) {
      this.dirty = false;
      this.stage.render();
      this.drawn = (this.drawn ?? 0) + 1;
      if (moved && passed > 0) this.stage.adapt(1000 * passed);
    }
    requestAnimationFrame((t) => this.tick(t));
  }

  // Position of a body's frame and its quaternion (w, x, y, z) as shown now.
  poseOf(name) {
    const body = this.recording.model.bodies.findIndex((b) => b.name === name);
    const { position: p, quaternion: q } = this.stage.bodies[body];
    return { p: [p.x, p.y, p.z], q: [q.w, q.x, q.y, q.z] };
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
