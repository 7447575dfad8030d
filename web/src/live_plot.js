// The plot of a contact while it happens: the last seconds of one pair.
import { Plot } from "./plot.js";

const WINDOW = 4;  // seconds
const MOST = 2000;

export class LivePlot extends Plot {
  constructor(canvas, cursor, sim) {
    super(canvas, cursor, { time: [0, WINDOW], frames: 200 });
    this.sim = sim, this.frame = 0, this.series = [];
  }

  choose(key) {
    this.key = key;
    this.series = [];
    this.add();
    return this.series[0]?.name ?? this.name;
  }

  clear() { this.series = [], this.drawn = false; }

  // The present state of the chosen pair.
  add() {
    const r = this.sim, t = r.t;
    this.frame++;
    for (let c = 0; c < r.contacts; c++)
      if (r.pairKey(c) === this.key) this.series.push({ f: this.frame, t, ...r.contact(c) });
    this.name = this.series.at(-1)?.name ?? this.name;
    while (this.series.length > MOST || this.series[0]?.t < t - WINDOW) this.series.shift();
    this.span(t);
  }

  span(t) {
    const end = Math.max(t, WINDOW);
    this.recording.time = [end - WINDOW, end];
    const sorted = this.series.map((s) => Math.max(s.normal, s.friction)).sort((a, b) => a - b);
    const usual = sorted[Math.floor(0.97 * (sorted.length - 1))] || 1;
    this.top = 1.25 * Math.min(sorted.at(-1) || 1, 1.6 * usual);
    if (this.box) this.box.t0 = end - WINDOW, (this.box.t1 = end);
    this.drawn = false;
  }
}
