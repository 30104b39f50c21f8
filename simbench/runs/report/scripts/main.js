// The interactive part of a report: scene, timeline and plots that share one time.
//
// `window.simbenchReport` is what tests and scripts of users may rely on:
//   start(buffer)            builds the page from a decompressed block; called by the page itself
//   state()                  { ready, time, duration, playing, speed, loop, follow, view, webgl, layers, zoom,
//                              runs, plots, events, joint }
//   seek(s), play(), pause(), setSpeed(ratio), setLayer(name, on), setView("overlay" | "side"), zoom(from, to)
//   bodyPoses(run)           world matrices of the drawn bodies by name, row by row

import { openData } from "./data.js";
import { element, Plots } from "./plots.js";
import { Viewer } from "./scene.js";
import { Timeline } from "./timeline.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const VIEWS = [["start", "scenario"], ["front", "front"], ["side", "side"], ["top", "top"]];

class Player {
  constructor(host, data) {
    this.data = data;
    this.host = host;
    this.runs = data.document.runs.map((run) => ({
      ...run,
      time: data.array(run.time),
      joints: {
        ...run.joints,
        time: data.array(run.joints.time),
        position: data.signals(run.joints.position),
        reference: data.signals(run.joints.reference),
        torque: data.signals(run.joints.torque),
      },
    }));
    this.duration = Math.max(...this.runs.map((run) => run.time.at(-1)));
    this.time = 0;
    this.speed = 1;
    this.playing = false;
    this.loop = false;
    this.build();
    this.seek(0);
    this.ready = true;
    host.dataset.ready = "true";
  }

  build() {
    const stage = element("div", { class: "stage" });
    const notes = element("div", { class: "notes" });
    const controls = element("div", { class: "controls" });
    const layers = element("div", { class: "layers", role: "group", "aria-label": "layers" });
    const timeline = element("div", { class: "timeline" });
    const plots = element("div", { class: "plots" });
    const left = element("div", { class: "left" }, stage, notes, controls, timeline, layers);
    const zoom = this.zoomBar();
    const right = element("div", { class: "right" }, zoom, plots);
    this.host.append(element("div", { class: "player" }, left, right));
    this.addScene(stage, notes);
    this.addControls(controls);
    this.addLayers(layers);
    const shared = { seek: (time) => this.seek(time), duration: this.duration };
    this.timeline = new Timeline(timeline, this.runs, shared);
    this.plots = new Plots(plots, this.runs, this.data, shared);
    this.plots.onZoom = (range) => this.timeline.showWindow(range);
    this.host.addEventListener("keydown", (event) => this.press(event));
    for (const button of document.querySelectorAll("button.jump")) {
      button.addEventListener("click", () => {
        this.pause();
        this.seek(+button.dataset.time);
        this.host.scrollIntoView({ block: "start", behavior: "smooth" });
      });
    }
  }

  addScene(stage, notes) {
    for (const run of this.runs) {
      if (!run.scene) {
        const whose = this.runs.length > 1 ? `${run.label}: ` : "";
        notes.append(element("p", { class: "note", text: `${whose}no scene: ${run.noScene}` }));
      }
    }
    if (!this.runs.some((run) => run.scene)) {
      stage.remove();
      return;
    }
    try {
      this.viewer = new Viewer(stage, this.runs, this.data);
    } catch (error) {
      const text = "This browser shows no scene: it has no WebGL, or it is switched off. Plots and tables work without it.";
      notes.append(element("p", { class: "note no-webgl", text, title: String(error.message ?? error) }));
      stage.remove();
    }
    if (this.viewer && this.runs.length > 1) {
      this.labels = element("div", { class: "labels" });
      this.runs.forEach((run, number) => {
        if (run.scene) this.labels.append(element("span", { class: `run${number}`, text: run.label }));
      });
      stage.append(this.labels);
    }
  }

  addControls(host) {
    this.playButton = element("button", { type: "button", class: "play", "aria-label": "play", onclick: () => this.toggle() });
    const step = (count, label, text) => element("button", {
      type: "button", "aria-label": label, title: label, text, onclick: () => this.step(count),
    });
    this.clock = element("output", { class: "clock" });
    const speed = element("select", { "aria-label": "speed", title: "speed" });
    for (const each of SPEEDS) speed.append(element("option", { value: each, text: `${each}×` }));
    speed.value = "1";
    speed.addEventListener("change", () => this.setSpeed(+speed.value));
    this.speedChoice = speed;
    host.append(step(-1, "one sample back", "‹"), this.playButton, step(1, "one sample on", "›"), this.clock, speed);
    host.append(this.switch("loop", this.loop, (on) => { this.loop = on; }));
    if (!this.viewer) return;
    host.append(this.switch("follow", this.viewer.follow, (on) => this.viewer.setFollow(on)));
    const views = element("span", { class: "views", role: "group", "aria-label": "view" });
    for (const [name, text] of VIEWS) {
      views.append(element("button", { type: "button", text, title: `look: ${text}`, onclick: () => this.viewer.resetView(name) }));
    }
    host.append(views);
    if (this.viewer.shown.length > 1) {
      this.viewButtons = new Map();
      const group = element("span", { class: "views", role: "group", "aria-label": "runs" });
      for (const [view, text] of [["overlay", "one scene"], ["side", "side by side"]]) {
        const button = element("button", { type: "button", text, "aria-pressed": String(view === "overlay"), onclick: () => this.setView(view) });
        this.viewButtons.set(view, button);
        group.append(button);
      }
      host.append(group);
    }
  }

  switch(text, on, change) {
    const button = element("button", { type: "button", class: "switch", text, "aria-pressed": String(on) });
    button.addEventListener("click", () => {
      const now = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(now));
      change(now);
    });
    return button;
  }

  addLayers(host) {
    if (!this.viewer) {
      host.remove();
      return;
    }
    this.layerButtons = new Map();
    for (const [name, text] of this.viewer.available()) {
      const button = this.switch(text, this.viewer.layers[name], (on) => this.viewer.setLayer(name, on));
      button.classList.add("layer", name);
      button.dataset.layer = name;
      this.layerButtons.set(name, button);
      host.append(button);
    }
    const kinds = new Set(this.viewer.shown.flatMap((run) => run.forces.map((force) => force.layer)));
    if (!kinds.size) return;
    const { newtons } = this.viewer.shown[0];
    const words = [];
    if (kinds.has("feet")) words.push(`feet ${newtons.feet} N per metre`);
    if (kinds.size > 1 || !kinds.has("feet")) words.push(`others ${newtons.other} N per metre`);
    host.append(element("span", { class: "scale", text: `arrows: ${words.join(", ")}` }));
  }

  zoomBar() {
    const button = (text, label, action) => element("button", { type: "button", text, title: label, "aria-label": label, onclick: action });
    return element("div", { class: "zoom" },
      element("span", { text: "drag across a plot to zoom, click to go there" }),
      button("−", "zoom out", () => this.plots.scale(2, this.time)),
      button("+", "zoom in at the shown time", () => this.plots.scale(0.5, this.time)),
      button("all", "show the whole run", () => this.plots.zoom(0, this.duration)),
    );
  }

  press(event) {
    if (event.target.closest("select, button, a, summary") && event.key === " ") return;
    if (event.target.closest("select")) return;
    const jumps = { ArrowLeft: -0.1, ArrowRight: 0.1 };
    if (event.key === " ") this.toggle();
    else if (event.key in jumps) this.seek(this.time + (event.shiftKey ? 10 : 1) * jumps[event.key]);
    else if (event.key === "Home") this.seek(0);
    else if (event.key === "End") this.seek(this.duration);
    else return;
    event.preventDefault();
  }

  step(count) {
    const times = this.runs[0].joints.time;
    let index = 0;
    while (index < times.length - 1 && times[index] < this.time - 1e-6) index++;
    this.pause();
    this.seek(times[Math.min(times.length - 1, Math.max(0, index + count))]);
  }

  seek(time) {
    this.time = Math.min(this.duration, Math.max(0, time));
    this.viewer?.seek(this.time);
    this.timeline.show(this.time);
    this.plots.show(this.time);
    this.clock.textContent = `${this.time.toFixed(2)} / ${this.duration.toFixed(2)} s`;
  }

  setSpeed(speed) {
    this.speed = speed;
    this.speedChoice.value = String(speed);
  }

  setLayer(name, on) {
    this.viewer?.setLayer(name, on);
    this.layerButtons?.get(name)?.setAttribute("aria-pressed", String(on));
  }

  setView(view) {
    this.viewer?.setView(view);
    this.labels?.classList.toggle("apart", view === "side");
    this.viewButtons?.forEach((button, name) => button.setAttribute("aria-pressed", String(name === view)));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.playing) return;
    if (this.time >= this.duration - 1e-6) this.seek(0);
    this.playing = true;
    this.showPlaying();
    let before = performance.now();
    const advance = (now) => {
      if (!this.playing) return;
      const next = this.time + (this.speed * Math.max(0, now - before)) / 1000;
      before = now;
      if (next >= this.duration && !this.loop) {
        this.seek(this.duration);
        this.pause();
        return;
      }
      this.seek(next >= this.duration ? 0 : next);
      requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }

  pause() {
    this.playing = false;
    this.showPlaying();
  }

  showPlaying() {
    this.playButton.classList.toggle("on", this.playing);
    this.playButton.setAttribute("aria-label", this.playing ? "pause" : "play");
  }

  state() {
    return {
      ready: Boolean(this.ready), time: this.time, duration: this.duration, playing: this.playing, speed: this.speed,
      loop: this.loop, follow: Boolean(this.viewer?.follow), view: this.viewer?.view ?? null,
      webgl: Boolean(this.viewer), frames: this.viewer?.frames ?? 0,
      layers: this.viewer ? Object.fromEntries(this.viewer.available().map(([name]) => [name, this.viewer.layers[name]])) : {},
      visible: this.viewer ? Object.fromEntries(Object.entries(this.viewer.shown[0].layers).map(([name, group]) => [name, group.visible])) : {},
      zoom: [...this.plots.window], runs: this.runs.map((run) => run.label),
      plots: this.plots.plots.map((each) => each.key), events: this.timeline.count,
      joint: this.runs[0].joints.names[this.plots.joint],
    };
  }
}

let player = null;

window.simbenchReport = {
  start(buffer) {
    player = new Player(document.getElementById("player"), openData(buffer));
  },
  state: () => player?.state() ?? { ready: false },
  seek: (time) => player.seek(time),
  play: () => player.play(),
  pause: () => player.pause(),
  setSpeed: (speed) => player.setSpeed(speed),
  setLayer: (name, on) => player.setLayer(name, on),
  setView: (view) => player.setView(view),
  zoom: (from, to) => player.plots.zoom(from, to),
  showJoint: (name) => player.plots.showJoint(player.runs[0].joints.names.indexOf(name)),
  bodyPoses: (run) => player.viewer.bodyPoses(run),
};
