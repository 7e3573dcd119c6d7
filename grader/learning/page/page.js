// SPDX-License-Identifier: MIT
// Draws a trace (vgpu/node/trace/timeline_json.c) as two charts that share a time axis: a row for each
// host thread, stream and copy engine, and a row for each link that carried something. Times are microseconds.
"use strict";

const trace = JSON.parse(document.getElementById("trace").textContent);
const LEFT = 190, ROW = 18, RATE = 34, WIDTH = 1200, RIGHT = WIDTH - 10, LETTER = 6.5;
const SVG = "http://www.w3.org/2000/svg";
const slices = trace.traceEvents.filter((e) => e.ph === "X");
const first = Math.min(...slices.map((s) => s.ts));
const last = Math.max(...slices.map((s) => s.ts + s.dur));
const opened = document.getElementById("timeline").dataset;
let from = +opened.from, to = +opened.to;

function make(parent, kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const x = (us) => LEFT + ((us - from) / Math.max(to - from, 1e-6)) * (RIGHT - LEFT);

// ---- details ----

const details = document.getElementById("details");

function explain(shape, text) {
  shape.dataset.details = text;
  shape.addEventListener("mousemove", (event) => {
    details.textContent = text;
    details.style.display = "block";
    details.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 360)}px`;
    details.style.top = `${event.clientY + 14}px`;
    shape.classList.add("hover");
  });
  shape.addEventListener("mouseleave", () => {
    details.style.display = "none";
    shape.classList.remove("hover");
  });
}

function about(slice) {
  const args = slice.args;
  const lines = [slice.name, `${slice.ts} us to ${(slice.ts + slice.dur).toFixed(6)} us`];
  if (slice.cat === "host" || slice.cat === "range") lines.push(`${slice.dur} us`);
  else lines.push(`${slice.dur} us, issued at ${args.issued} us`, `${args.bytes} bytes`);
  if (args.from) lines.push(`from ${args.from} to ${args.to}`);
  if (args.bytes && slice.dur) lines.push(`${(args.bytes / slice.dur / 1e3).toFixed(2)} GB/s`);
  if (args.site) lines.push(args.site);
  return lines.join("\n");
}

// ---- rows ----

const names = new Map(), groups = new Map(), places = new Map();
for (const e of trace.traceEvents) {
  if (e.name === "thread_name") names.set(`${e.pid} ${e.tid}`, e.args.name);
  if (e.name === "process_sort_index") places.set(e.pid, e.args.sort_index);
  if (e.name === "process_name") groups.set(e.pid, e.args.name);
}

function usedRows() {
  const used = new Map();
  for (const s of slices) used.set(`${s.pid} ${s.tid}`, [s.pid, s.tid]);
  return [...used.entries()].sort(
    ([, a], [, b]) => places.get(a[0]) - places.get(b[0]) || a[1] - b[1]);
}

function axis(svg, height) {
  const raw = (to - from) / 8, unit = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-6)));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= raw) || unit;
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    make(svg, "line", { x1: x(at), x2: x(at), y1: 14, y2: height, class: "row" });
    make(svg, "text", { x: x(at) + 2, y: 11 }, `${+at.toFixed(3)} us`);
  }
}

function clear(svg, height) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  axis(svg, height);
}

function place(s, y) {
  const left = Math.max(x(s.ts), LEFT), right = Math.min(x(s.ts + s.dur), RIGHT);
  return right < LEFT || left > RIGHT ? null
    : { x: left, width: Math.max(right - left, 0.75), y, height: ROW - 4, class: `slice ${s.cat}` };
}

function drawTimeline() {
  const svg = document.getElementById("timeline"), at = new Map();
  let y = 18, group = 0;
  const rows = usedRows();
  const height = y + rows.length * ROW + new Set(rows.map(([, r]) => r[0])).size * ROW + 6;
  clear(svg, height);
  const tip = make(make(svg, "defs", {}), "marker",
    { id: "tip", markerWidth: 6, markerHeight: 6, refX: 5, refY: 3, orient: "auto" });
  make(tip, "path", { d: "M0,0 L6,3 L0,6 z", fill: "#b03030" });
  for (const [key, [pid]] of rows) {
    if (pid !== group) {
      make(svg, "text", { x: 4, y: y + 13, class: "group" }, groups.get(pid));
      y += ROW;
      group = pid;
    }
    make(svg, "text", { x: 14, y: y + 12 }, names.get(key));
    make(svg, "line", { x1: LEFT, x2: WIDTH, y1: y + ROW - 1, y2: y + ROW - 1, class: "row" });
    at.set(key, y);
    y += ROW;
  }
  for (const s of slices) {
    const where = place(s, at.get(`${s.pid} ${s.tid}`) + 1);
    if (!where) continue;
    explain(make(svg, "rect", where), about(s));
    const fits = Math.floor((where.width - 6) / LETTER);
    if (fits >= 4) {
      const shown = s.name.length > fits ? `${s.name.slice(0, fits - 1)}…` : s.name;
      make(svg, "text", { x: where.x + 3, y: where.y + 10, class: "name" }, shown);
    }
  }
  drawArrows(svg, at);
  drawFindings(svg, at);
}

/* A triangle where the operation begins that a finding is about. */
function drawFindings(svg, at) {
  for (const e of trace.traceEvents.filter((e) => e.cat === "finding")) {
    const left = x(e.ts), y = at.get(`${e.pid} ${e.tid}`);
    if (left < LEFT || left > RIGHT) continue;
    const mark = make(svg, "path", { d: `M${left - 6},${y} L${left + 6},${y} L${left},${y + 11} z`,
      class: "finding" });
    explain(mark, [e.name, e.args.site, `./lab explain ${e.name}`].filter(Boolean).join("\n"));
  }
}

function drawArrows(svg, at) {
  const starts = new Map(trace.traceEvents.filter((e) => e.ph === "s").map((e) => [e.id, e]));
  for (const end of trace.traceEvents.filter((e) => e.ph === "f")) {
    const start = starts.get(end.id);
    const [x1, x2] = [x(start.ts), x(end.ts)];
    if (x1 < LEFT || x2 > WIDTH) continue;
    const y1 = at.get(`${start.pid} ${start.tid}`) + 8, y2 = at.get(`${end.pid} ${end.tid}`) + 8;
    make(svg, "path", { d: `M${x1},${y1} C${x1 + 12},${y1} ${x2 - 12},${y2} ${x2},${y2}`,
      class: "arrow" });
  }
}

// ---- links ----

function drawLinks() {
  const svg = document.getElementById("links");
  const busy = trace.otherData.links.filter((link) => link.bytes > 0);
  clear(svg, 18 + busy.length * RATE);
  busy.forEach((link, i) => drawLink(svg, link, 18 + i * RATE));
}

function drawLink(svg, link, y) {
  const bottom = y + RATE - 6, scale = (RATE - 10) / link.gbs;
  const samples = trace.traceEvents.filter((e) => e.ph === "C" && e.name === link.name);
  make(svg, "text", { x: 14, y: y + 12 }, link.name);
  make(svg, "text", { x: 14, y: y + 24 }, `${link.bytes} bytes`);
  make(svg, "line", { x1: LEFT, x2: WIDTH, y1: bottom, y2: bottom, class: "row" });
  samples.forEach((sample, i) => {
    const rate = sample.args["GB/s"], end = i + 1 < samples.length ? samples[i + 1].ts : last;
    const left = Math.max(x(sample.ts), LEFT), right = Math.min(x(end), WIDTH);
    if (rate === 0 || right < LEFT || left > WIDTH) return;
    const high = Math.max(rate * scale, 1);
    const bar = make(svg, "rect", { x: left, width: Math.max(right - left, 0.5), y: bottom - high,
      height: high, class: "rate" });
    explain(bar, `${link.name}\n${rate} of ${link.gbs} GB/s (${(100 * rate / link.gbs).toFixed(1)} %)` +
      `\n${sample.ts} us to ${end} us`);
  });
}

// ---- moving about ----

function draw() {
  drawTimeline();
  drawLinks();
}

/* Shows `factor` times as much, around `here`; whether anything changed. */
function zoom(here, factor) {
  const before = [from, to];
  from = Math.max(first, here - (here - from) * factor);
  to = Math.min(last, here + (to - here) * factor);
  draw();
  return from !== before[0] || to !== before[1];
}

function all() {
  from = first;
  to = last;
  draw();
}

/* Moves by a share of what is shown. */
function move(share) {
  const span = to - from;
  from = Math.min(Math.max(from + share * span, first), last - span);
  to = from + span;
  draw();
}

const KEYS = {
  "+": () => zoom((from + to) / 2, 0.8),
  "-": () => zoom((from + to) / 2, 1.25),
  ArrowLeft: () => move(-0.1),
  ArrowRight: () => move(0.1),
  Home: all,
};

function follow(svg) {
  let grabbed = null;
  svg.addEventListener("wheel", (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - 10);
    const here = from + Math.min(Math.max(share, 0), 1) * (to - from);
    // Who has all of it before him and scrolls on, scrolls the page.
    if (zoom(here, event.deltaY > 0 ? 1.25 : 0.8)) event.preventDefault();
  }, { passive: false });
  svg.addEventListener("keydown", (event) => {
    if (!KEYS[event.key]) return;
    KEYS[event.key]();
    event.preventDefault();
  });
  svg.addEventListener("mousedown", (event) => { grabbed = { x: event.clientX, from, to }; });
  window.addEventListener("mouseup", () => { grabbed = null; });
  window.addEventListener("mousemove", (event) => {
    if (!grabbed) return;
    const span = grabbed.to - grabbed.from, width = svg.getBoundingClientRect().width;
    const moved = (grabbed.x - event.clientX) / width * span * WIDTH / (WIDTH - LEFT - 10);
    from = Math.min(Math.max(grabbed.from + moved, first), last - span);
    to = from + span;
    draw();
  });
  svg.addEventListener("dblclick", all);
}

draw();
follow(document.getElementById("timeline"));
follow(document.getElementById("links"));
