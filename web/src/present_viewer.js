// Draws what is happening now, simulated in the page or elsewhere.
import { formatNumber } from "./plot.js";
import { LivePlot } from "./live_plot.js";
import { $, Viewer } from "./viewer.js";

export class PresentViewer extends Viewer {
  constructor(sim) {
    super(sim, new LivePlot($("plot"), $("cursor"), sim));
    this.sim = sim, this.frame = 0, this.pictures = 0;
  }

  get t() { return this.sim.t; }

  say(text) {
    $("message").textContent = text;
    $("message").hidden = !text;
  }

  showPresent() {
    this.stage.setFrame(0, 0);
    this.measure();
    this.overlay.setFrame(0, this.chosen, this.stage.bodies.map(() => this.stage.scene.matrixWorld));
    if (this.chosen === null && this.sim.contacts > 0) this.chooseStrongest();
    $("time").textContent = `${this.sim.t.toFixed(3)} s`;
    this.due = !this.playing || performance.now() - (this.filled ?? 0) > 400;
    if (this.due) this.fillSide(), ($("pmax").textContent = formatNumber(this.overlay.pressureScale, "Pa"));
    else if (!$("side").hidden && this.pictures % 3 === 0) this.plot.draw(this.sim.t);
    this.pictures++;
    this.dirty = true;
  }

  // Colours and arrows are scaled by what has been seen so far; what was long ago counts less.
  measure() {
    const { overlay } = this, force = this.force ?? 0, pressure = this.pressure ?? 0;
    overlay.measure();
    if (this.sim.contacts === 0) overlay.forceScale = overlay.pressureScale = 0;
    this.force = Math.max(overlay.forceScale, 0.995 * force);
    this.pressure = Math.max(Math.min(overlay.pressureScale, 2 * pressure || Infinity), 0.995 * pressure);
    overlay.forceScale = this.force || 1, overlay.pressureScale = this.pressure || 1;
  }

  chooseStrongest() {
    let best = -1, most = 0;
    for (let c = 0; c < this.sim.contacts; c++) {
      const { normal } = this.sim.contact(c);
      if (normal > most) best = c, most = normal;
    }
    if (best >= 0) this.choose(this.sim.pairKey(best));
  }
}
