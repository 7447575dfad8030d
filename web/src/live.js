// The live page: simulates while it draws, and lets the user take part.
import { Simulation } from "./simulation.js";
import { formatNumber } from "./plot.js";
import { Hands } from "./hand.js";
import { Devices } from "./devices.js";
import { PresentViewer } from "./present_viewer.js";
import { $ } from "./viewer.js";

const BUDGET = 0.5;  // of the time between two pictures is for the simulation; on the average:
const BURST = 0.35;  // so much more while something falls, as long as
const SAVED = 1;     // s, not used before, last
const LAG = 0.25;    // s the simulation may be behind the clock before they are given up; it makes up for them
const FASTER = 1.25; // by so much, which nobody sees

class Live extends PresentViewer {
  constructor(sim) {
    super(sim);
    this.debt = 0, this.steps = 0, this.stepTime = 0, this.saved = 0;
    this.hands = new Hands(this, sim, $("view"), $("hand-tip"));
    this.devices = new Devices(this, sim, $("device"));
    if (window.innerWidth <= 820) $("side").hidden = true, ($("show-side").checked = false);
    this.fillPage();
    this.listen();
    this.layout();
    this.stage.home(sim.moving.length > 8 ? 1.25 : 1.7);  // room to lift and throw
    this.look();
    requestAnimationFrame((now) => this.tick(now));
  }

  // --- the page ---

  fillPage() {
    const { sim } = this, name = sim.title || sim.model.name || "scene";
    document.title = `${name} · abut live`;
    $("title").textContent = name;
    $("subtitle").textContent = `${sim.moving.length} bodies · abut ${sim.version}`;
    this.fillHint();
    const jointed = sim.model.joints?.some((j) => j.type !== "free");
    for (const m of sim.models) $("model").add(new Option(m.name, m.name, false, m.name === sim.contact_model));
    [...$("model").options].forEach((o, i) => {
      o.title = sim.models[i].summary, o.disabled = jointed && sim.models[i].free_only;
    });
    $("key").add(new Option("initial pose", "-1"));
    sim.keys.forEach((k, i) => $("key").add(new Option(k, String(i))));
    $("key").value = String(sim.key);
    $("key").hidden = sim.keys.length === 0;
    this.baseStep = sim.h;
    this.addActuators();
    this.writeSliders();
  }

  // What there is to try, and with what: fingers, or mouse and keys.
  fillHint() {
    const { sim } = this, line = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
    const fingers = window.matchMedia("(pointer: coarse)").matches;
    $("hint").replaceChildren(line("b", sim.text || "Grab a body and lift it."), line("span", fingers
      ? "Drag a body to move it, beside it to turn the view; two fingers zoom."
      : "Drag a body to move it (shift: on the level; wheel: nearer, farther), beside it to turn the view. Space plays, r resets."));
    if (sim.home) $("hint").append(Object.assign(line("a", "all scenes"), { href: sim.home }));
    $("hint").hidden = false;
  }

  addActuators() {
    for (const [i, a] of this.sim.actuators.entries()) {
      const label = document.createElement("label"), slider = document.createElement("input"), value = document.createElement("output");
      const name = document.createElement("span");
      name.textContent = label.title = a.name;
      Object.assign(slider, { type: "range", min: a.low, max: a.high, step: (a.high - a.low) / 200 });
      slider.oninput = () => {
        this.sim.wasm.live_ctrl(i, slider.valueAsNumber);
        value.textContent = formatNumber(slider.valueAsNumber);
      };
      label.append(name, slider, value);
      $("actuators").append(label);
    }
    this.readActuators();
  }

  // A reset sets the motors, to nothing or to what the keyframe says.
  readActuators() {
    [...$("actuators").children].forEach((label, i) => {
      const [, slider, value] = label.children, now = this.sim.wasm.live_get_ctrl(i);
      slider.valueAsNumber = now, (value.textContent = formatNumber(now));
    });
  }

  writeSliders() {
    $("friction-value").textContent = `${formatNumber($("friction").valueAsNumber)} ×`;
    $("step-value").textContent = formatNumber(1000 * this.sim.h, "ms");
    const weight = 4 * 2 ** $("limit").valueAsNumber;
    $("limit-value").textContent = `${formatNumber(weight)} × m g`;
  }

  listen() {
    $("play").onclick = () => this.toggle();
    $("one").onclick = () => (this.pause(), this.advance(1), this.look());
    $("reset").onclick = () => this.reset();
    $("key").onchange = () => this.reset(Number($("key").value));
    $("model").onchange = () => this.setContact($("model").value);
    $("friction").oninput = () => (this.sim.setFriction($("friction").valueAsNumber), this.writeSliders());
    $("step-size").oninput = () => (this.sim.setStep(this.baseStep * 2 ** $("step-size").valueAsNumber), this.writeSliders());
    $("limit").oninput = () => (this.hands.setLimit(2 ** $("limit").valueAsNumber), this.writeSliders());
    window.addEventListener("pointerdown", () => this.say(""), true);  // what it said has been read
    document.addEventListener("visibilitychange", () => (this.last = undefined));
    // What the mouse has worked gives the keys back: they mean the simulation. What was reached by
    // the keyboard keeps them.
    window.addEventListener("pointerup", () => document.activeElement?.tagName !== "SELECT" && document.activeElement?.blur());
    for (const list of document.querySelectorAll("select")) list.addEventListener("change", () => list.blur());
  }

  key(e) {
    const { tagName, type } = e.target, pressed = tagName === "BUTTON" || type === "checkbox";
    if (tagName === "SELECT" || type === "range" || e.ctrlKey || e.metaKey || e.altKey) return;
    if (pressed && e.key === " ") return;  // presses it
    const act = {
      " ": () => this.toggle(), ArrowRight: () => (this.pause(), this.advance(e.shiftKey ? 10 : 1), this.look()),
      r: () => this.reset(), c: () => this.stage.home(),
      "[": () => this.setSpeed(this.speedIndex - 1), "]": () => this.setSpeed(this.speedIndex + 1),
    }[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (act) e.preventDefault(), act(), (this.dirty = true);
  }

  setContact(name) {
    try {
      this.sim.setContact(name);
    } catch (error) {
      this.say(error.message);
      $("model").value = this.sim.contact_model;
    }
  }

  // --- running ---

  toggle() { this.playing ? this.pause() : this.play(); }
  play() { this.setPlaying(true), (this.debt = 0), this.say(""); }
  pause() {
    this.setPlaying(false);
    this.fillSide();
  }
  grabbed(body) {
    this.down = null;  // no click follows
    this.devices.take(body);
    if (!this.playing) this.play();
  }

  reset(key = this.sim.key) {
    this.sim.reset(key);
    this.hands.releaseAll();
    this.devices.release();
    this.readActuators();
    $("key").value = String(this.sim.key);
    this.plot.clear();
    this.say("");
    this.look();
  }

  // Steps; false where the simulation broke down, which stops it.
  advance(n) {
    const start = performance.now(), done = this.sim.advance(n);
    this.steps += done, this.stepTime += performance.now() - start;
    if (done === n) return true;
    this.pause();
    this.say(`The simulation broke down here: ${this.sim.why()}.\nReset, or choose a smaller step.`);
    return false;
  }

  // As many steps as the time since the last picture asks for, as far as the budget goes. What an
  // impact or a late picture leaves undone is done by the next pictures; a scene that is too large for
  // the machine runs slower, and the page says so.
  run(passed) {
    const { h } = this.sim, start = performance.now(), share = BUDGET * Math.max(passed, 1 / 60);
    const until = start + 1000 * (share + Math.min(this.saved, BURST * passed));
    const asked = passed * this.speed, before = this.sim.t;
    this.debt = Math.min(this.debt + asked, Math.max(LAG * this.speed, 2 * h));
    let most = Math.min(this.debt, FASTER * asked + h);
    while (most >= h && performance.now() < until) {
      const cost = this.steps > 0 ? this.stepTime / this.steps : 1;
      const n = Math.max(1, Math.min(Math.floor(most / h), Math.ceil(2 / cost)));
      if (!this.advance(n)) return;
      most -= n * h, this.debt -= n * h;
    }
    this.ran = (this.ran ?? 0) + this.sim.t - before, this.wanted = (this.wanted ?? 0) + asked;
    this.saved = Math.min(Math.max(this.saved + share - (performance.now() - start) / 1000, 0), SAVED);
  }

  look() {
    this.sim.look();
    this.showPresent();
    this.hands.draw();
    this.plot.add();
    if (this.due) this.writeRate();
  }

  writeRate() {
    const ms = this.steps > 0 ? this.stepTime / this.steps : 0;
    const real = this.wanted > 0 ? Math.min(this.ran / this.wanted, 1) : 1;
    this.rate = { step: ms, real };
    $("rate").textContent = this.playing && ms > 0 ? `${Number(ms.toPrecision(2))} ms a step · ${Math.round(100 * real * this.speed)} % of real time` : "";
    this.steps = this.stepTime = this.ran = this.wanted = 0;
  }

  tick(now) {
    const passed = Math.min(Math.max((now - (this.last ?? now)) / 1000, 0), LAG);
    this.last = now;
    this.devices.poll(passed);
    if (this.playing && passed > 0) {
      this.run(passed);
      this.look();
    }
    this.draw(now, passed);
    requestAnimationFrame((t) => this.tick(t));
  }
}

// For scripts: see doc/live.md.
function publish(live) {
  const { sim } = live;
  return {
    live, get time() { return sim.t; },
    step(n = 1) {
      const good = live.advance(n);
      live.look();
      return good;
    },
    pose: (body) => sim.poseOf(body),
    hash: () => sim.hash(),
    pause: () => live.pause(),
    play: () => live.play(),
    reset: (key) => live.reset(key),
    get contacts() { return Array.from({ length: sim.contacts }, (_, c) => sim.contact(c)); },
  };
}

async function start() {
  try {
    for (const need of ["DecompressionStream", "WebAssembly"])
      if (!(need in window)) throw new Error(`this browser is too old: it lacks ${need}`);
    window.abut = publish(new Live(await Simulation.read()));
    $("message").hidden = true;
  } catch (error) {
    $("message").textContent = `The scene cannot be simulated.\n${error.message}`;
    throw error;
  }
}
document.addEventListener("DOMContentLoaded", start);
