// One timeline with all events: bars and marks in lanes, a ruler, and the shown time, which can be dragged.

import { element } from "./plots.js";

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

function ticks(duration, width) {
  const most = Math.max(2, Math.floor(width / 56));
  const step = STEPS.find((each) => duration / each <= most) ?? 100;
  const times = [];
  for (let time = 0; time <= duration + 1e-9; time += step) times.push(+time.toFixed(6));
  return times;
}

export class Timeline {
  constructor(host, runs, { seek, duration }) {
    this.seek = seek;
    this.duration = duration;
    this.ruler = element("div", { class: "ruler" });
    this.track = element("div", {
      class: "scrub", role: "slider", tabindex: "0", "aria-label": "time of the run", "aria-valuemin": "0",
      "aria-valuemax": duration.toFixed(3),
    });
    this.window = element("div", { class: "zoomed", hidden: "" });
    this.head = element("div", { class: "head" });
    this.hint = element("div", { class: "hint", "aria-live": "polite" });
    const lanes = element("div", { class: "lanes" });
    lanes.append(element("div", { class: "lane ruled" }, element("span", { class: "name" }), this.ruler));
    const names = [...new Set(runs.flatMap((run) => run.lanes.map((lane) => lane.name)))];
    this.count = 0;
    for (const name of names) {
      runs.forEach((run, number) => {
        const lane = run.lanes.find((each) => each.name === name);
        if (!lane) return;
        const row = element("div", { class: "row" });
        for (const event of lane.events) row.append(this.mark(event));
        // Beneath the first run's row, the others' have the run's name and colour.
        const label = number > 0 ? run.label : name;
        const title = runs.length > 1 ? `${name}, ${run.label}` : name;
        lanes.append(element("div", { class: `lane run${number}` }, element("span", { class: "name", text: label, title }), row));
      });
    }
    this.track.append(this.window, this.head);
    host.append(lanes, element("div", { class: "over" }, this.track), this.hint);
    this.lanes = lanes;
    this.listen();
    new ResizeObserver(() => this.rule()).observe(host);
    this.rule();
  }

  mark({ start, end, words, tone }) {
    this.count += 1;
    const left = (100 * start) / this.duration;
    const width = end === null ? 0 : (100 * Math.max(0, end - start)) / this.duration;
    const when = end === null || end === start ? `${start.toFixed(3)} s` : `${start.toFixed(3)}–${end.toFixed(3)} s`;
    const made = element("div", {
      class: `${end === null ? "mark" : "bar"} ${tone}`, style: `left:${left}%;${end === null ? "" : `width:${width}%`}`,
      title: `${when}: ${words}`,
    });
    made.dataset.start = start;
    made.dataset.words = `${when}: ${words}`;
    return made;
  }

  rule() {
    const width = this.ruler.clientWidth;
    this.ruler.replaceChildren(...ticks(this.duration, width).map((time) => element("span", {
      class: "tick", style: `left:${(100 * time) / this.duration}%`, text: `${time}`,
    })));
  }

  at(event) {
    const box = this.track.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.duration;
  }

  /** Event beneath the pointer: the scrubbing track lies over the marks. */
  beneath(event) {
    return document.elementsFromPoint(event.clientX, event.clientY).find((each) => each.dataset?.words && this.lanes.contains(each));
  }

  listen() {
    const { track } = this;
    track.addEventListener("pointerdown", (event) => {
      track.setPointerCapture(event.pointerId);
      this.dragging = true;
      const mark = this.beneath(event);
      this.hint.textContent = mark?.dataset.words ?? "";
      // A mark jumps exactly to its time; elsewhere the pointer's counts.
      this.seek(mark?.classList.contains("mark") ? +mark.dataset.start : this.at(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (this.dragging) this.seek(this.at(event));
      else this.hint.textContent = this.beneath(event)?.dataset.words ?? "";
    });
    for (const name of ["pointerup", "pointercancel"]) track.addEventListener(name, () => { this.dragging = false; });
    track.addEventListener("pointerleave", () => { if (!this.dragging) this.hint.textContent = ""; });
  }

  show(time) {
    this.head.style.left = `${(100 * time) / this.duration}%`;
    this.track.setAttribute("aria-valuenow", time.toFixed(3));
    this.track.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
  }

  showWindow([from, to]) {
    this.window.hidden = to - from > this.duration - 1e-9;
    this.window.style.left = `${(100 * from) / this.duration}%`;
    this.window.style.width = `${(100 * (to - from)) / this.duration}%`;
  }
}
