// Plots beside the scene: one time axis for all, zoomed together, with a line at the shown time.

import uPlot from "uplot";
import { findSample, resample } from "./data.js";

const COLOURS = {
  left: "#0072b2", right: "#d55e00", robot: "#0b5cad", reference: "#8a949e", zmp: "#e12323", cog: "#1e64eb",
  support: "#14a050",
};
const DASHES = { reference: [5, 3] };
const RUN_DASHES = [null, [7, 4], [2, 3], [9, 3, 2, 3]];
const RUN_SHADES = ["", "#e8590c", "#9c36b5", "#2b8a3e"];
const HEIGHT = 132;
const AXIS = { stroke: "#6b7680", grid: { stroke: "#eef1f4", width: 1 }, ticks: { stroke: "#d5dbe0", width: 1, size: 4 } };
const FONT = "11px system-ui, sans-serif";

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function gaps(values) {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}

export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e5) return value.toExponential(2).replace("-", "−");
  if (size < 5e-5) return "0";
  return value.toFixed(size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4).replace("-", "−");
}

/** A colour for a run: its own hue for the second and further ones. */
function shade(colour, run, single) {
  return run > 0 && single ? RUN_SHADES[Math.min(run, RUN_SHADES.length - 1)] : COLOURS[colour];
}

/** All plots of a page. */
export class Plots {
  constructor(host, runs, data, { seek, duration }) {
    this.host = host;
    this.runs = runs;
    this.seek = seek;
    this.duration = duration;
    this.window = [0, duration];
    this.plots = [];
    const longest = runs.reduce((best, run) => (run.time.at(-1) > best.time.at(-1) ? run : best));
    this.time = longest.time;
    if (runs.length > 1) this.nameRuns();
    const keys = [...new Set(runs.flatMap((run) => run.panels.map((panel) => panel.key)))];
    for (const key of keys) this.addPanel(key, data);
    this.addJoints(runs, longest.joints.time);
    new ResizeObserver(() => this.resize()).observe(host);
  }

  /** Say how the runs differ in all plots. */
  nameRuns() {
    const names = this.runs.map((run, number) => element(
      "span", { class: `run${number}` }, element("i", { class: `swatch line${number ? " dashed" : ""}`, style: "--colour:currentColor" }),
      document.createTextNode(run.label),
    ));
    this.host.append(element("p", { class: "runs" }, ...names));
  }

  addPanel(key, data) {
    const first = this.runs.map((run) => run.panels.find((panel) => panel.key === key)).find(Boolean);
    const curves = [];
    const lines = [...first.lines];
    let limits = null;
    this.runs.forEach((run, number) => {
      const panel = run.panels.find((each) => each.key === key);
      if (!panel) return;
      if (panel.limits) {
        limits = limits
          ? [Math.min(limits[0], panel.limits[0]), Math.max(limits[1], panel.limits[1])] : panel.limits;
      }
      for (const curve of panel.curves) {
        curves.push({ ...curve, run: number, data: resample(run.time, data.signals(curve.values)[0], this.time) });
      }
    });
    this.addPlot({ key, title: first.title, unit: first.unit, curves, lines, limits, time: this.time });
    this.addDifference(key, first, curves);
  }

  /** Beneath the panel of several runs: how far the others are from the first. */
  addDifference(key, panel, curves) {
    if (this.runs.length < 2) return;
    const measured = curves.filter((curve) => curve.role === "measured");
    const differences = [];
    for (const curve of measured.filter((each) => each.run > 0)) {
      const base = measured.find((each) => each.run === 0 && each.name === curve.name);
      if (!base) continue;
      differences.push({ ...curve, role: "difference", data: curve.data.map((value, k) => value - base.data[k]) });
    }
    if (!differences.length) return;
    const label = this.runs.length === 2 ? `${this.runs[1].label} − ${this.runs[0].label}` : `others − ${this.runs[0].label}`;
    this.addPlot({
      key: `${key}.difference`, title: `difference: ${label}`, unit: panel.unit, curves: differences,
      lines: [{ name: "", value: 0 }], limits: null, time: this.time, height: 84, small: true,
    });
  }

  addPlot({ key, title, unit, curves, lines, limits, time, height = HEIGHT, small = false, before = null }) {
    const legend = element("div", { class: "legend" });
    const frame = element("div", { class: "frame" });
    const head = element("div", { class: "head" }, before ?? element("h3", { text: `${title} (${unit})` }), legend);
    const figure = element("section", { class: small ? "plot difference" : "plot", "data-key": key }, head, frame);
    this.host.append(figure);
    const drawn = new Set(curves.filter((curve) => curve.role !== "reference").map((curve) => curve.name));
    const single = drawn.size === 1;
    const several = this.runs.length > 1;
    const series = [{}];
    const bands = [];
    const keys = new Map();
    const entries = [];
    curves.forEach((curve, index) => {
      const edge = curve.role === "edge";
      const planned = curve.role === "reference";
      const colour = edge ? COLOURS.support : planned ? COLOURS[curve.colour] : shade(curve.colour, curve.run, single);
      const apart = several && !single && curve.role === "measured";
      const dash = planned ? DASHES.reference : apart ? RUN_DASHES[curve.run] : null;
      series.push({
        stroke: edge ? "#14a05055" : colour, width: edge ? 0.8 : planned ? 1.2 : 1.4, dash,
        alpha: planned ? (curve.run > 0 ? 0.4 : 0.75) : 1, points: { show: false }, spanGaps: false,
      });
      if (edge && curves[index + 1]?.role === "edge" && curves[index + 1].run === curve.run) {
        bands.push({ series: [index + 2, index + 1], fill: several ? "#14a05016" : "#14a0502a" });
      }
      if (!keys.has(curve.name)) {
        keys.set(curve.name, element("span", { class: "key" }));
        legend.append(keys.get(curve.name));
      }
      this.addKey(keys.get(curve.name), curve, { colour, dash, single, index, entries });
    });
    const state = { key, time, curves, entries, frame, unit, height, lines };
    const options = {
      width: Math.max(200, frame.clientWidth || this.host.clientWidth || 400), height,
      legend: { show: false }, series, bands,
      padding: [6, 10, 0, 0],
      cursor: { sync: { key: "simbench", scales: ["x", null] }, drag: { x: true, y: false, dist: 6 }, points: { size: 6 } },
      select: { show: true },
      scales: {
        x: { time: false, range: () => this.window },
        y: { range: (_plot, low, high) => this.range(low, high, lines, limits) },
      },
      axes: [
        { ...AXIS, font: FONT, size: 24, gap: 3, space: 60, values: (_plot, ticks) => ticks.map((tick) => `${+tick.toFixed(4)}`) },
        { ...AXIS, font: FONT, size: 50, gap: 4, space: 28, values: (_plot, ticks) => ticks.map((tick) => `${+tick.toPrecision(6)}`.replace("-", "−")) },
      ],
      hooks: {
        setSelect: [(plot) => {
          if (plot.select.width > 4) {
            const from = plot.posToVal(plot.select.left, "x");
            this.zoom(from, plot.posToVal(plot.select.left + plot.select.width, "x"));
          }
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        drawAxes: [(plot) => this.drawLines(plot, lines)],
      },
    };
    options.cursor.drag.setScale = false;
    options.cursor.bind = { dblclick: () => () => { this.zoom(0, this.duration); return null; } };
    state.plot = new uPlot(options, [Array.from(time), ...curves.map((curve) => gaps(curve.data))], frame);
    state.head = element("div", { class: "playhead" });
    state.plot.over.append(state.head);
    this.listen(state.plot);
    this.plots.push(state);
    return state;
  }

  /** One entry of a legend for each curve, with the values of all runs. */
  addKey(key, { name, role, run }, { colour, dash, single, index, entries }) {
    const first = !key.childElementCount;
    if (role === "edge" && !first) return;
    if (first || (single && role !== "reference")) {
      const shape = `swatch ${role === "edge" ? "area" : "line"}${dash ? " dashed" : ""}`;
      key.append(element("i", { class: shape, style: `--colour:${colour}` }));
    }
    if (first) key.append(document.createTextNode(name));
    if (role === "edge") return;
    const value = element("b", { class: `run${run}`, title: this.runs[run].label });
    entries.push({ value, index });
    key.append(value);
  }

  range(low, high, lines, limits) {
    if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
    let [least, greatest] = [low, high];
    for (const { value } of lines) {
      // A limit far from the curve would flatten it.
      const size = Math.max(Math.abs(least), Math.abs(greatest));
      if (Math.abs(value) <= 2.5 * size) [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
    }
    if (limits) {
      least = Math.max(least, limits[0]);
      greatest = Math.min(greatest, limits[1]);
      if (!(greatest > least)) [least, greatest] = limits;
    }
    // Of a signal that stands still, rounding is not enlarged to the height of the plot.
    const span = Math.max(greatest - least, 1e-3, 1e-3 * Math.abs(greatest));
    const middle = 0.5 * (least + greatest);
    return [middle - 0.56 * span, middle + 0.56 * span];
  }

  drawLines(plot, lines) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio || 1;
    for (const { name, value } of lines) {
      const y = plot.valToPos(value, "y", true);
      if (!Number.isFinite(y) || y < bbox.top - 1 || y > bbox.top + bbox.height + 1) continue;
      ctx.save();
      ctx.strokeStyle = "#5b6670";
      ctx.fillStyle = "#5b6670";
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.font = `${10 * ratio}px system-ui, sans-serif`;
      ctx.textAlign = "right";
      ctx.textBaseline = y - bbox.top > 14 * ratio ? "bottom" : "top";
      ctx.fillText(name, bbox.left + bbox.width - 3 * ratio, y);
      ctx.restore();
    }
  }

  /** A click or touch moves the shown time; dragging with a mouse zooms, with a finger scrubs. */
  listen(plot) {
    const { over } = plot;
    let down = null;
    const at = (event) => plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
    over.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; });
    over.addEventListener("pointermove", (event) => {
      if (down && event.pointerType === "touch") this.seek(at(event));
    });
    over.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 5) this.seek(at(event));
      down = null;
    });
    over.addEventListener("pointercancel", () => { down = null; });
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.scale(event.deltaY > 0 ? 1.25 : 0.8, at(event));
    }, { passive: false });
  }

  addJoints(runs, time) {
    const names = runs[0].joints.names;
    // Fingers last: the handle that they hold stops them, so that they are always far from their reference.
    const { closesHand, largestError } = runs[0].joints;
    const order = names.map((_, k) => k).sort((a, b) => closesHand[a] - closesHand[b] || largestError[b] - largestError[a]);
    const choice = element("select", { "aria-label": "joint" });
    for (const k of order) {
      choice.append(element("option", { value: k, text: `${names[k]} · error up to ${number(largestError[k])}` }));
    }
    choice.addEventListener("change", () => this.showJoint(+choice.value));
    this.joint = order[0];
    this.choice = choice;
    const heading = element("h3", { class: "choice" }, document.createTextNode("joint "), choice);
    const unit = this.jointUnit(order[0]);
    this.jointPlots = [
      this.addPlot({
        key: "joint.position", title: "", unit, curves: this.jointCurves("position", time), lines: [], limits: null, time, before: heading,
      }),
      this.addPlot({
        key: "joint.torque", title: "torque of this joint's motor", unit: "N·m", curves: this.jointCurves("torque", time),
        lines: this.torqueLimits(), limits: null, time,
      }),
    ];
  }

  jointUnit(k) {
    const joint = this.runs[0].scene?.joints.find((each) => each.column === k);
    return joint?.slides ? "m" : "rad";
  }

  torqueLimits() {
    const limit = this.runs[0].joints.torqueLimit[this.joint];
    return [{ name: "limit", value: limit }, { name: "", value: -limit }];
  }

  jointCurves(kind, time) {
    const curves = [];
    const name = this.runs[0].joints.names[this.joint];
    this.runs.forEach((run, number) => {
      const column = run.joints.names.indexOf(name);
      if (column < 0) return;
      const get = (signal) => resample(run.joints.time, run.joints[signal][column], time);
      if (kind === "torque") {
        curves.push({ name: "torque", colour: "robot", role: "measured", run: number, data: get("torque") });
        return;
      }
      curves.push({ name: "reference", colour: "reference", role: "reference", run: number, data: get("reference") });
      curves.push({ name: "measured", colour: "robot", role: "measured", run: number, data: get("position") });
    });
    return curves;
  }

  showJoint(k) {
    this.joint = k;
    this.choice.value = k;
    this.jointPlots.forEach((state, index) => {
      state.curves = this.jointCurves(index ? "torque" : "position", state.time);
      if (index) state.lines.splice(0, 2, ...this.torqueLimits());
      state.plot.setData([Array.from(state.time), ...state.curves.map((curve) => gaps(curve.data))]);
    });
    this.show(this.shown ?? 0);
  }

  zoom(from, to) {
    const least = Math.min(0.02, this.duration);
    let [low, high] = [Math.max(0, Math.min(from, to)), Math.min(this.duration, Math.max(from, to))];
    if (high - low < least) [low, high] = [Math.max(0, low - least / 2), Math.min(this.duration, high + least / 2)];
    this.window = [low, high];
    for (const { plot } of this.plots) plot.setScale("x", { min: low, max: high });
    this.show(this.shown ?? 0);
    this.onZoom?.(this.window);
  }

  /** Zoom by a factor about a time; below 1 zooms in. */
  scale(factor, about) {
    const [low, high] = this.window;
    const span = Math.min(this.duration, (high - low) * factor);
    const middle = Math.min(high, Math.max(low, about));
    let from = middle - ((middle - low) / (high - low)) * span;
    from = Math.max(0, Math.min(from, this.duration - span));
    this.zoom(from, from + span);
  }

  /** Move the line of the shown time, and the values in the legends. */
  show(time) {
    this.shown = time;
    const inside = time >= this.window[0] - 1e-9 && time <= this.window[1] + 1e-9;
    // uPlot takes over a new range of time only later: the position follows from the range itself.
    const part = (time - this.window[0]) / (this.window[1] - this.window[0]);
    for (const { head, time: times, curves, entries } of this.plots) {
      head.hidden = !inside;
      if (inside) head.style.left = `${100 * part}%`;
      const sample = findSample(times, time);
      for (const { value, index } of entries) value.textContent = number(curves[index].data[sample]);
    }
  }

  resize() {
    for (const { plot, frame, height } of this.plots) {
      const width = frame.clientWidth;
      if (width && width !== plot.width) plot.setSize({ width, height });
    }
    this.show(this.shown ?? 0);
  }
}
