"use strict";
const data = JSON.parse(document.getElementById("records").textContent);
let last = null;
function show(svg, event) {
  const records = data[svg.dataset.scenario], xs = svg.dataset.x.split(" ").map(Number);
  const ys = svg.dataset.y.split(" ").map(Number), at = svg.dataset.record.split(" ").map(Number);
  const box = svg.getBoundingClientRect();
  const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
  let best = 0;
  xs.forEach((each, i) => { if (Math.abs(each - x) < Math.abs(xs[best] - x)) best = i; });
  if (last && last.parentNode && last.parentNode !== svg) last.remove();
  const near = svg.querySelector(".near") || document.createElementNS("http://www.w3.org/2000/svg", "circle");
  near.setAttribute("class", "near");
  near.setAttribute("cx", xs[best]); near.setAttribute("cy", ys[best]); near.setAttribute("r", 3.5);
  svg.append(near); last = near;
  const record = records[at[best]], line = svg.parentNode.querySelector(".shown");
  line.textContent = "";
  const value = JSON.parse(svg.dataset.values)[best];
  line.append(value + " \u00b7 " + record.date + " \u00b7 ");
  if (record.link) {
    const link = document.createElement("a");
    link.href = record.link; link.textContent = record.label; line.append(link);
  } else line.append(record.label);
  if (record.outcome !== "holds") line.append(" \u00b7 " + record.outcome);
}
for (const kind of ["pointermove", "pointerdown"])
  document.addEventListener(kind, event => {
    const svg = event.target.closest && event.target.closest("svg");
    if (svg) show(svg, event);
  });
