// The force of one contact over time: normal force, friction, the friction limit, and a band that
// tells stick from slip.

const COLOR = { stick: "#159a74", slip: "#ef7d16", separating: "#8a93a1" };

function niceStep(range, most) {
  const raw = range / most, power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5, 10].find((m) => m * power >= raw) ?? 10);
}

export function formatNumber(x, unit = "") {
  const a = Math.abs(x);
  const text = a === 0 ? "0" : a >= 1e5 || a < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(3)));
  return unit ? `${text} ${unit}` : text;
}

export class Plot {
  constructor(canvas, cursor, recording) {
    this.canvas = canvas, this.cursor = cursor, this.recording = recording;
  }

  // The rows of one pair over the run; their name.
  choose(key) {
    const r = this.recording;
    this.series = [];
    for (let f = 0; f < r.frames; f++)
      for (let c = r.start[f]; c < r.start[f + 1]; c++)
        if (r.pairKey(c) === key) this.series.push({ f, t: r.time[f], ...r.contact(c) });
    const sorted = this.series.map((s) => Math.max(s.normal, s.friction)).sort((a, b) => a - b);
    // Impacts are many times the force at rest: the axis shows what the contact does most of the
    // time, and lets the tips leave the picture.
    const usual = sorted[Math.floor(0.97 * (sorted.length - 1))] || 1;
    this.top = 1.25 * Math.min(sorted.at(-1) || 1, 1.6 * usual);
    this.drawn = false;
    return this.series[0]?.name;
  }

  resize() { this.box = null, this.drawn = false; }

  layout() {
    if (this.box) return this.box;
    const ratio = window.devicePixelRatio || 1, w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (!w) return { w };
    this.canvas.width = Math.round(w * ratio), this.canvas.height = Math.round(h * ratio);
    const r = this.recording;
    return this.box = { ratio, w, h, left: 40, right: w - 12, top: 8, bottom: h - 28,
             t0: r.time[0], t1: Math.max(r.time[r.frames - 1], r.time[0] + 1e-9) };
  }

  // The curves are drawn once; only the mark of the present time moves.
  draw(t) {
    const box = this.layout();
    if (!box.w) return;
    if (!this.drawn) {
      const g = this.canvas.getContext("2d");
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.clearRect(0, 0, this.canvas.width, this.canvas.height);
      this.drawAll(g, box);
      this.drawn = true;
    }
    this.cursor.style.transform = `translateX(${this.x(box, t).toFixed(1)}px)`;
  }

  drawAll(g, box) {
    g.scale(box.ratio, box.ratio);
    g.font = "10.5px system-ui, sans-serif";
    this.drawAxes(g, box);
    if (!this.series?.length) {
      g.fillStyle = "#66707f", g.textAlign = "center";
      g.fillText("choose a contact in the table or in the picture", (box.left + box.right) / 2, (box.top + box.bottom) / 2);
      return;
    }
    g.save();
    g.beginPath(), g.rect(box.left, box.top, box.right - box.left, box.bottom - box.top), g.clip();
    this.drawLine(g, box, "limit", "#d23b3b", [3, 3]);
    this.drawLine(g, box, "friction", "#d23b3b", []);
    this.drawLine(g, box, "normal", "#2457c5", []);
    g.restore();
    // Each sample tells of the time since the one before it.
    const width = Math.max(1, (box.right - box.left) / this.recording.frames + 0.5);
    this.series.forEach((s, i) => {
      const before = this.series[i - 1], x = this.x(box, s.t);
      const from = before?.f === s.f - 1 ? Math.min(this.x(box, before.t), x - width) : x - width;
      g.fillStyle = COLOR[s.mode];
      g.fillRect(Math.max(from, box.left), box.bottom + 3, x - Math.max(from, box.left), 6);
    });
  }

  x(box, t) { return box.left + ((t - box.t0) / (box.t1 - box.t0)) * (box.right - box.left); }
  y(box, v) { return box.bottom - (v / this.top) * (box.bottom - box.top); }

  drawAxes(g, box) {
    const top = this.series?.length ? this.top : (this.top = 1);
    g.fillStyle = "#66707f", g.strokeStyle = "rgba(31,39,51,.1)", g.lineWidth = 1;
    g.textAlign = "right", g.textBaseline = "middle";
    const step = niceStep(top, 4);
    for (let v = 0; v <= top * 1.0001; v += step) {
      const y = this.y(box, v);
      g.beginPath(), g.moveTo(box.left, y), g.lineTo(box.right, y), g.stroke();
      g.fillText(formatNumber(v), box.left - 5, y);
    }
    g.textAlign = "center", g.textBaseline = "top";
    const dt = niceStep(box.t1 - box.t0, 5);
    for (let t = Math.ceil(box.t0 / dt) * dt; t <= box.t1 + 1e-9; t += dt) {
      const last = t + dt > box.t1 + 1e-9;
      g.fillText(formatNumber(Number(t.toPrecision(6)), last ? "s" : ""), this.x(box, t), box.bottom + 12);
    }
    g.textAlign = "left", g.fillText("N", 2, box.top - 4);
  }

  drawLine(g, box, key, color, dash) {
    g.strokeStyle = color, g.lineWidth = dash.length ? 1 : 1.5, g.globalAlpha = dash.length ? 0.6 : 1;
    g.setLineDash(dash);
    g.beginPath();
    let last = -2;
    for (const s of this.series) {
      const x = this.x(box, s.t), y = this.y(box, s[key]);
      if (s.f === last + 1) g.lineTo(x, y);
      else g.moveTo(x, y);
      last = s.f;
    }
    g.stroke();
    g.setLineDash([]), g.globalAlpha = 1;
  }

  timeAt(clientX) {
    const box = this.layout(), x = clientX - this.canvas.getBoundingClientRect().left;
    const s = Math.min(Math.max((x - box.left) / (box.right - box.left), 0), 1);
    return box.t0 + s * (box.t1 - box.t0);
  }
}
