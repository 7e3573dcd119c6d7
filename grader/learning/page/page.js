// SPDX-License-Identifier: MIT
// Draws a trace (vgpu/node/trace/timeline_json.c) as two charts that share a time axis: a row for each
// host thread, stream and copy engine, and a row for each link that carried something. Times are microseconds.
"use strict";

const trace = JSON.parse(document.getElementById("trace").textContent);
const LEFT = 190, ROW = 18, RATE = 34, WIDTH = 1200, RIGHT = WIDTH - 10, LETTER = 6.5, NANOSECOND = 1e-3;
const SVG = "http://www.w3.org/2000/svg";
const slices = trace.traceEvents.filter((e) => e.ph === "X");
const first = Math.min(...slices.map((s) => s.ts));
const last = Math.max(...slices.map((s) => s.ts + s.dur));
const opened = document.getElementById("timeline").dataset;
const parts = JSON.parse(opened.parts);
let part = +opened.part, [from, to] = parts[part];

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

const inView = (s) => s.ts <= to && s.ts + s.dur >= from;

/* The rows with something in the time that is shown: [key, [pid, tid], its slices there, lines]. */
function usedRows() {
  const used = new Map();
  for (const s of slices.filter(inView)) {
    const key = `${s.pid} ${s.tid}`;
    if (!used.has(key)) used.set(key, [key, [s.pid, s.tid], []]);
    used.get(key)[2].push(s);
  }
  const rows = [...used.values()].sort(
    ([, a], [, b]) => places.get(a[0]) - places.get(b[0]) || a[1] - b[1]);
  return rows.map(([key, place, inside]) => [key, place, inside, 1 + nest(inside)]);
}

/* Sorts the slices of a row, and stores in each how many others it lies in (NVTX ranges); the most. */
function nest(inside) {
  const around = [];
  inside.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
  for (const s of inside) {
    while (around.length && around.at(-1).ts + around.at(-1).dur < s.ts + NANOSECOND) around.pop();
    s.depth = around.length;
    around.push(s);
  }
  return Math.max(...inside.map((s) => s.depth));
}

function axis(svg, height) {
  const raw = (to - from) / 8, unit = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-6)));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= raw) || unit;
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    make(svg, "line", { x1: x(at), x2: x(at), y1: 14, y2: height, class: "row" });
    const text = `${+at.toFixed(3)} us`;
    if (x(at) + LETTER * text.length < RIGHT) make(svg, "text", { x: x(at) + 2, y: 11 }, text);
  }
}

function clear(svg, height) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  axis(svg, height);
}

function place(s, y) {
  const left = Math.max(x(s.ts), LEFT), right = Math.min(x(s.ts + s.dur), RIGHT);
  return { x: left, width: Math.max(right - left, 0.75), y, height: ROW - 4, class: `slice ${s.cat}` };
}

function drawTimeline() {
  const svg = document.getElementById("timeline"), at = new Map();
  let y = 18, group = 0;
  const rows = usedRows(), groupsShown = new Set(rows.map(([, r]) => r[0])).size;
  const height = y + (rows.reduce((sum, row) => sum + row[3], 0) + groupsShown) * ROW + 6;
  clear(svg, height);
  const tip = make(make(svg, "defs", {}), "marker",
    { id: "tip", markerWidth: 6, markerHeight: 6, refX: 5, refY: 3, orient: "auto" });
  make(tip, "path", { d: "M0,0 L6,3 L0,6 z", fill: "#b03030" });
  for (const [key, [pid], , lines] of rows) {
    if (pid !== group) {
      make(svg, "text", { x: 4, y: y + 13, class: "group" }, groups.get(pid));
      y += ROW;
      group = pid;
    }
    make(svg, "text", { x: 14, y: y + 12 }, names.get(key));
    at.set(key, y);
    y += lines * ROW;
    make(svg, "line", { x1: LEFT, x2: WIDTH, y1: y - 1, y2: y - 1, class: "row" });
  }
  for (const [key, , inside] of rows) inside.forEach((s, i) => {
    const where = place(s, at.get(key) + 1 + s.depth * ROW), next = inside[i + 1];
    explain(make(svg, "rect", where), about(s));
    drawName(svg, s.name, where, next && next.depth === s.depth ? x(next.ts) : next ? 0 : RIGHT);
  });
  drawArrows(svg, at);
  drawFindings(svg, at);
}

/* On the bar; if it is too narrow, beside it, where `free` says how far nothing else stands. */
function drawName(svg, name, bar, free) {
  const short = name.replace(/^cuda(?=[A-Z])/, ""), right = bar.x + bar.width;
  const letters = (width) => Math.floor((width - 6) / LETTER), fits = letters(bar.width);
  const at = { x: bar.x + 3, y: bar.y + 10, class: "name" };
  if (fits >= name.length) make(svg, "text", at, name);
  else if (fits >= short.length) make(svg, "text", at, short);
  else if (letters(free - right) >= short.length)
    make(svg, "text", { ...at, x: right + 2, class: "name beside" }, short);
  else if (fits >= 4) make(svg, "text", at, `${short.slice(0, fits - 1)}…`);
}

/* A triangle where the operation begins that a finding is about. */
function drawFindings(svg, at) {
  for (const e of trace.traceEvents.filter((e) => e.cat === "finding")) {
    const left = x(e.ts), y = at.get(`${e.pid} ${e.tid}`);
    if (y === undefined || left < LEFT || left > RIGHT) continue;
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
    const [y1, y2] = [start, end].map((e) => at.get(`${e.pid} ${e.tid}`) + 8);
    if (x1 < LEFT || x2 > RIGHT || isNaN(y1 + y2)) continue;
    make(svg, "path", { d: `M${x1},${y1} C${x1 + 12},${y1} ${x2 - 12},${y2} ${x2},${y2}`,
      class: "arrow" });
  }
}

// ---- links ----

/* [sample, until when it holds] of the times within what is shown in which the link carried something. */
function rates(link) {
  const samples = samplesOf.get(link.name) || [];
  return samples.map((sample, i) => [sample, i + 1 < samples.length ? samples[i + 1].ts : last])
    .filter(([sample, end]) => sample.args["GB/s"] > 0 && end >= from && sample.ts <= to);
}

const samplesOf = new Map();
for (const e of trace.traceEvents.filter((e) => e.ph === "C")) {
  if (!samplesOf.has(e.name)) samplesOf.set(e.name, []);
  samplesOf.get(e.name).push(e);
}

function drawLinks() {
  const svg = document.getElementById("links");
  const busy = trace.otherData.links.filter((link) => link.bytes > 0 && rates(link).length > 0);
  clear(svg, 18 + busy.length * RATE);
  busy.forEach((link, i) => drawLink(svg, link, 18 + i * RATE));
}

function drawLink(svg, link, y) {
  const bottom = y + RATE - 6, scale = (RATE - 10) / link.gbs;
  make(svg, "text", { x: 14, y: y + 12 }, link.name);
  make(svg, "text", { x: 14, y: y + 24 }, `${link.bytes} bytes`);
  make(svg, "line", { x1: LEFT, x2: WIDTH, y1: bottom, y2: bottom, class: "row" });
  for (const [sample, end] of rates(link)) {
    const rate = sample.args["GB/s"];
    const left = Math.max(x(sample.ts), LEFT), right = Math.min(x(end), RIGHT);
    const high = Math.max(rate * scale, 1);
    const bar = make(svg, "rect", { x: left, width: Math.max(right - left, 0.5), y: bottom - high,
      height: high, class: "rate" });
    explain(bar, `${link.name}\n${rate} of ${link.gbs} GB/s (${(100 * rate / link.gbs).toFixed(1)} %)` +
      `\n${sample.ts} us to ${end} us`);
  }
}

// ---- moving about ----

function draw() {
  const [begin, end] = parts[part], whole = from === begin && to === end;
  const count = parts.length === 1 ? "1 part" : `${parts.length} parts`;
  document.getElementById("part").textContent = whole ? `part ${part + 1} of ${parts.length}` : count;
  drawTimeline();
  drawLinks();
}

function show(number) {
  part = Math.min(Math.max(number, 0), parts.length - 1);
  [from, to] = parts[part];
  draw();
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
  earlier: () => show(part - 1),
  later: () => show(part + 1),
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

/* Above the timeline: each finding once, with its time, at which a click shows it. */
function listFindings() {
  const told = new Set();
  for (const e of trace.traceEvents.filter((e) => e.cat === "finding")) {
    const row = `${groups.get(e.pid).replace(/ \(.*/, "")}, ${names.get(`${e.pid} ${e.tid}`)}`;
    const words = `${e.name}: ${[e.args.site, row].filter(Boolean).join(", ")}, at ${e.ts.toFixed(1)} us`;
    if (told.has(words)) continue;
    told.add(words);
    const line = document.createElement("p"), button = document.createElement("button");
    button.textContent = "show";
    button.addEventListener("click", () => {
      const number = parts.findIndex(([begin, end]) => begin <= e.ts && e.ts <= end);
      if (number >= 0) show(number);
      else all();
    });
    line.append(words, ` (./lab explain ${e.name}) `, button);
    document.getElementById("findings").append(line);
  }
}

for (const button of document.querySelectorAll("#moves button"))
  button.addEventListener("click", KEYS[button.dataset.key]);
listFindings();
draw();
follow(document.getElementById("timeline"));
follow(document.getElementById("links"));
