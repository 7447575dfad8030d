// What the replay and the live page share: the picture, the table of contacts, the plot, the tip.
import { Stage } from "./stage.js";
import { Overlay, rampStyle } from "./overlay.js";
import { formatNumber } from "./plot.js";

export const $ = (id) => document.getElementById(id);
const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const ROWS = 60, MOVING_ROWS = 20;  // of the table; more cannot be read while they move

export class Viewer {
  constructor(recording, plot) {
    this.recording = recording;
    this.stage = new Stage($("view"), recording);
    this.overlay = new Overlay(this.stage, recording);
    this.plot = plot;
    this.playing = false, this.chosen = null, this.dirty = true;
    document.body.classList.toggle("plain", this.stage.software);
    $("ramp").style.background = rampStyle();
    $("speed").innerHTML = SPEEDS.map((s, i) => `<option value="${i}">${s} ×</option>`).join("");
    this.setSpeed(SPEEDS.indexOf(1));
    this.watch();
  }

  watch() {
    $("speed").onchange = () => this.setSpeed(Number($("speed").value));
    $("home").onclick = () => (this.stage.home(), (this.dirty = true));
    $("show-patches").onchange = (e) => this.show(this.overlay.patches, e.target.checked);
    $("show-forces").onchange = (e) => this.show(this.overlay.forces, e.target.checked);
    $("show-xray").onchange = (e) => (this.stage.setXray(e.target.checked), (this.dirty = true));
    $("show-side").onchange = (e) => (($("side").hidden = !e.target.checked), this.layout());
    $("table").onclick = (e) => e.target.closest("tr[data-key]") && this.choose(Number(e.target.closest("tr").dataset.key));
    $("table").onmousemove = (e) => this.tip(Number(e.target.closest("tr[data-c]")?.dataset.c ?? -1), e.clientX - 250, e.clientY);
    $("table").onmouseleave = () => this.tip(-1);
    const view = $("view");
    view.onpointermove = (e) => !e.buttons && this.hover(e.clientX, e.clientY);
    view.onpointerleave = () => this.tip(-1);
    view.onclick = (e) => this.clicked(e);
    view.onpointerdown = (e) => (this.down = [e.clientX, e.clientY]);
    view.addEventListener("webglcontextrestored", () => (this.dirty = true));
    this.stage.controls.addEventListener("change", () => (this.dirty = this.turned = true));
    window.addEventListener("resize", () => this.layout());
    window.addEventListener("keydown", (e) => this.key(e));
  }

  setPlaying(on) {
    this.playing = on;
    $("play").classList.toggle("playing", on);
    $("play").ariaLabel = on ? "pause" : "play";
  }

  setSpeed(i) {
    this.speedIndex = Math.min(Math.max(i, 0), SPEEDS.length - 1);
    this.speed = SPEEDS[this.speedIndex];
    $("speed").value = String(this.speedIndex);
  }

  // A picture, where something has changed since the last one; `passed` seconds ago.
  draw(now, passed) {
    this.stage.controls.update();
    const moved = this.playing || this.turned;
    this.turned = false;
    if (moved) this.restAt = now + 150;
    if (this.stage.setMoving(now < (this.restAt ?? 0))) this.dirty = true;
    if (!this.dirty) return;
    this.dirty = false;
    this.stage.render();
    this.drawn = (this.drawn ?? 0) + 1;
    if (moved && passed > 0) this.stage.adapt(1000 * passed);
  }

  show(group, on) { group.visible = on, this.dirty = true; }
  layout() {
    const side = $("side");
    document.body.style.setProperty("--bar", `${$("bar").offsetHeight}px`);
    // Below a narrow picture the panel takes no width from it.
    this.stage.resize(side.hidden || side.offsetWidth > window.innerWidth / 2 ? 0 : side.offsetWidth);
    this.plot.resize();
    this.fillSide();
    this.dirty = true;
  }

  choose(key) {
    this.chosen = key;
    const name = this.plot.choose(key);
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
    // Friction that is rounding is none here; the tip tells it.
    for (const text of [formatNumber(normal), formatNumber(friction > 1e-5 * normal ? friction : 0), formatNumber(1e4 * area)])
      tr.insertCell().textContent = text;
    return tr;
  }

  hover(x, y) {
    const c = this.overlay.patches.visible || this.overlay.forces.visible
      ? this.overlay.pick(this.stage.camera, x, y, window.innerWidth, window.innerHeight) : -1;
    this.tip(c, x + 16, y + 16);
  }

  clicked(e) {
    if (!this.down || Math.hypot(e.clientX - this.down[0], e.clientY - this.down[1]) > 4) return;  // it was a drag
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

  // Position of a body's frame and its quaternion (w, x, y, z) as shown now.
  poseOf(name) {
    const body = this.recording.model.bodies.findIndex((b) => b.name === name);
    const { position: p, quaternion: q } = this.stage.bodies[body];
    return { p: [p.x, p.y, p.z], q: [q.w, q.x, q.y, q.z] };
  }
}
