/* SPDX-License-Identifier: MIT
 * play.js: the parts of pages that can be played with. A page holds <div data-play="NAME"></div>; the
 * function of that name fills it. No library, no network; every number is computed here and now. */
"use strict";

const play = {};

/* An element with its attributes and children. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, attributes);
  element.append(...children);
  return element;
}

/* A labelled number that calls `changed` whenever it is another one. */
function number(label, value, least, step, changed) {
  const input = make("input", { type: "number", value, min: least, step });
  input.addEventListener("input", () => changed());
  return { input, row: make("label", {}, make("span", { textContent: label }), input) };
}

/* The value of an input, or its least when it is none. */
function valueOf(field) {
  const value = Number(field.input.value);
  return Number.isFinite(value) && value >= Number(field.input.min) ? value : Number(field.input.min);
}

function table(head, rows) {
  const line = (tag, cells) => make("tr", {}, ...cells.map((c) => make(tag, { textContent: c })));
  return make("table", {}, make("thead", {}, line("th", head)),
    make("tbody", {}, ...rows.map((cells) => line("td", cells))));
}

/* ---- the ring, chunk by chunk ---- */

/* sums[r][k]: how many ranks' numbers are in rank r's chunk k. One step of all ranks at once. */
function ringStep(sums, step) {
  const n = sums.length, at = (k) => ((k % n) + n) % n, next = sums.map((row) => row.slice());
  const moved = [];
  for (let r = 0; r < n; r++) {
    const chunk = step < n - 1 ? at(r - step) : at(r + 1 - (step - (n - 1)));
    const to = at(r + 1);
    next[to][chunk] = step < n - 1 ? sums[to][chunk] + sums[r][chunk] : sums[r][chunk];
    moved.push([to, chunk]);
  }
  return { next, moved };
}

play.ring = (place) => {
  let ranks = 4, step = 0, sums = [], moved = [];
  const slider = make("input", { type: "range", min: 2, max: 8, value: ranks });
  const said = make("output", { ariaLive: "polite" }), cells = make("div", { className: "cells" });
  const forward = make("button", { type: "button", textContent: "Next step" });
  const again = make("button", { type: "button", textContent: "From the start" });

  function show() {
    const last = 2 * (ranks - 1), half = step <= ranks - 1 ? "reduce-scatter" : "all-gather";
    said.textContent = step === 0 ? `${ranks} ranks, ${last} steps` :
      `step ${step} of ${last}: ${half}; each rank has sent ${step}/${ranks} of its data`;
    const head = ["", ...sums.map((_, k) => `chunk ${k}`)];
    const made = table(head, sums.map((row, r) => [`rank ${r}`, ...row]));
    moved.forEach(([r, k]) => made.tBodies[0].rows[r].cells[k + 1].classList.add("moved"));
    sums.forEach((row, r) => row.forEach((sum, k) => {
      if (sum === ranks) made.tBodies[0].rows[r].cells[k + 1].classList.add("whole");
    }));
    cells.replaceChildren(made);
    forward.disabled = step === last;
  }
  function restart() {
    ranks = Number(slider.value);
    step = 0;
    moved = [];
    sums = Array.from({ length: ranks }, () => Array(ranks).fill(1));
    show();
  }
  forward.addEventListener("click", () => {
    ({ next: sums, moved } = ringStep(sums, step++));
    show();
  });
  again.addEventListener("click", restart);
  slider.addEventListener("input", restart);
  place.append(make("label", {}, make("span", { textContent: "GPUs" }), slider), forward, again,
    said, cells, make("p", { textContent: "A cell says how many ranks' numbers are in it." }));
  restart();
};

/* ---- which way for a copy ---- */

play.path = (place) => {
  const result = make("div", { ariaLive: "polite" });
  const fields = {};
  const add = (name, label, value, least, step) => {
    fields[name] = number(label, value, least, step, show);
  };
  function show() {
    const v = Object.fromEntries(Object.entries(fields).map(([k, f]) => [k, valueOf(f)]));
    const link = v.link * (v.both ? 0.5 : 1), ms = (gbs) => v.mb / gbs + v.us / 1000;
    const direct = ms(link), serial = ms(v.host) + v.mb / v.host, piped = ms(v.host);
    const row = (name, t) => [name, t.toFixed(2), (v.mb / t).toFixed(1), (t / direct).toFixed(1)];
    result.replaceChildren(table(["way", "ms", "GB/s", "times direct"], [
      row("direct, over the link", direct),
      row("through the host, hop after hop", serial),
      row("through the host, hops overlapped", piped),
    ]));
  }
  add("mb", "MB to copy", 1000, 0.001, "any");
  add("link", "GB/s of the link, as it is advertised", 600, 0.001, "any");
  add("host", "GB/s of each hop through the host", 32, 0.001, "any");
  add("us", "µs before the first byte", 0, 0, "any");
  const both = make("input", { type: "checkbox", checked: true });
  both.addEventListener("change", show);
  fields.both = { input: { get value() { return both.checked ? 1 : 0; }, min: 0 } };
  place.append(...["mb", "link", "host", "us"].map((name) => fields[name].row),
    make("label", {}, make("span", { textContent: "the advertised number counts both directions" }), both),
    result);
  show();
};

/* ---- what fits ---- */

/* GB on each GPU, for p billion parameters on n GPUs. */
function zeroGigabytes(stage, p, n) {
  return 2 * p / (stage >= 3 ? n : 1) + 2 * p / (stage >= 2 ? n : 1) + 12 * p / (stage >= 1 ? n : 1);
}

play.zero = (place) => {
  const result = make("div", { ariaLive: "polite" });
  const p = number("billion parameters", 7, 0.001, "any", show);
  const n = number("GPUs", 8, 1, 1, show);
  const room = number("GB of memory each", 80, 0.001, "any", show);
  function show() {
    const rows = [0, 1, 2, 3].map((stage) => {
      const gb = zeroGigabytes(stage, valueOf(p), valueOf(n));
      return [stage, gb.toFixed(1), gb <= valueOf(room) ? "yes" : "no", stage === 3 ? "3 P" : "2 P"];
    });
    result.replaceChildren(table(["stage", "GB on each", "fits", "sent in a step"], rows));
  }
  place.append(p.row, n.row, room.row, result,
    make("p", { textContent: "Without activations: these come on top." }));
  show();
};

document.querySelectorAll("[data-play]").forEach((place) => play[place.dataset.play](place));
