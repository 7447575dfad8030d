// The view of `abut haptic`: draws the frames that come by web socket. The address of the page holds
// the token that lets it in.
import { formatNumber } from "./plot.js";
import { HandPicture } from "./hand_picture.js";
import { element, Present } from "./present.js";
import { PresentViewer } from "./present_viewer.js";
import { $ } from "./viewer.js";

class Remote extends Present {
  get t() { return this.time[0]; }
}

class View extends PresentViewer {
  constructor(remote) {
    super(remote);
    this.hands = new HandPicture(this.stage);
    const name = remote.model.name || "scene";
    document.title = `${name} · abut haptic`;
    $("title").textContent = name;
    $("subtitle").textContent = `${remote.moving.length} bodies · hands in the loop`;
    this.layout();
    this.stage.home(1.5);  // room to lift
    this.setPlaying(true);
    this.connect();
    requestAnimationFrame((now) => this.tick(now));
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}${location.pathname}`, "abut-view");
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.say("");
    socket.onmessage = (e) => (this.news = e.data);
    socket.onclose = () => (this.setPlaying(false), this.say("The run is over."));
  }

  key() {}

  tick(now) {
    const passed = Math.min((now - (this.last ?? now)) / 1000, 0.1);
    this.last = now;
    if (this.news) {
      this.sim.readFrame(this.news);
      this.news = null;
      this.frames = (this.frames ?? 0) + 1;
      this.showPresent();
      this.plot.add();
      this.hands.draw(this.sim.handList);
      $("rate").textContent = "hands feel " + this.sim.handList.map((h) => formatNumber(Math.hypot(...h.force), "N")).join(" · ");
    }
    this.draw(now, passed);
    requestAnimationFrame((t) => this.tick(t));
  }
}

document.addEventListener("DOMContentLoaded", () => {
  window.abut = new View(new Remote(JSON.parse(element("abut-model"))));
});
