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

/* A labelled number that calls `changed` whenever it is another one. Browsers that come back to a
 * page would put old numbers into the fields beside results of the first ones: they are told not to. */
function number(label, value, least, step, changed) {
  const input = make("input", { type: "number", value, min: least, max: 1e9, step, autocomplete: "off" });
  input.addEventListener("input", () => changed());
  return { input, row: make("label", {}, make("span", { textContent: label }), input) };
}

/* The value of a field; NaN, and the field marked, where what it holds is none. */
function valueOf(field) {
  const good = field.input.value !== "" && field.input.checkValidity();
  field.input.ariaInvalid = String(!good);
  return good ? Number(field.input.value) : NaN;
}

/* A number for a table: `digits` behind the point, three in all where it is small; "-" for none. */
function shown(value, digits) {
  if (!Number.isFinite(value)) return "-";
  return value !== 0 && value < 0.1 ? value.toPrecision(3) : value.toFixed(digits);
}

function table(head, rows) {
  const line = (tag, cells) => make("tr", {}, ...cells.map((c) => make(tag, { textContent: c })));
  return make("table", {}, make("thead", {}, line("th", head)),
    make("tbody", {}, ...rows.map((cells) => line("td", cells))));
}

/* ---- the ring, chunk by chunk ---- */

/* The sends of one step, rank by rank: each [from, to, chunk]. */
function ringSends(ranks, step) {
  const at = (k) => ((k % ranks) + ranks) % ranks;
  return Array.from({ length: ranks }, (_, r) =>
    [r, at(r + 1), at(r - 1 - step)]); // as in lab 07: rank r finishes chunk r
}

/* sums[r][k] after `done` sends since the start: how many ranks' numbers are in rank r's chunk k. The
 * sends of a step happen at once: each carries what was there before the step. */
function ringAfter(ranks, done) {
  let sums = Array.from({ length: ranks }, () => Array(ranks).fill(1));
  for (let step = 0; step * ranks < done; step++) {
    const next = sums.map((row) => row.slice());
    for (const [from, to, chunk] of ringSends(ranks, step).slice(0, done - step * ranks)) {
      next[to][chunk] = sums[from][chunk] + (step < ranks - 1 ? sums[to][chunk] : 0);
    }
    sums = next;
  }
  return sums;
}

/* The same for what is drawn. */
function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* The ranks on a circle, an arrow from each to the next; those of `moved` carry their chunk. */
function ringDrawing(ranks, moved) {
  const at = (rank, radius) => {
    const angle = 2 * Math.PI * rank / ranks - Math.PI / 2;
    return [150 + radius * Math.cos(angle), 130 + radius * Math.sin(angle)];
  };
  const arrows = Array.from({ length: ranks }, (_, from) => {
    const [x, y] = at(from, 90), [u, v] = at(from + 1, 90), long = Math.hypot(u - x, v - y);
    const [p, q] = [(u - x) / long, (v - y) / long]; // along the arrow; (q, -p) leads outwards
    const sent = moved.find(([rank]) => rank === from);
    const line = drawn("line", { x1: x + 22 * p + 4 * q, y1: y + 22 * q - 4 * p,
      x2: u - 28 * p + 4 * q, y2: v - 28 * q - 4 * p, stroke: "currentColor",
      "stroke-width": sent ? 3 : 1, opacity: sent ? 1 : 0.3, "marker-end": "url(#ring-head)" });
    const side = Math.abs(q) < 0.2 ? "middle" : q > 0 ? "start" : "end"; // beside its arrow
    const label = drawn("text", { x: (x + u) / 2 + 14 * q, y: (y + v) / 2 - 14 * p + 4,
      "text-anchor": side, "font-size": 13, fill: "currentColor" });
    label.textContent = sent ? `chunk ${sent[2]}` : "";
    return drawn("g", { class: sent ? "sends" : "waits" }, line, label);
  });
  const nodes = Array.from({ length: ranks }, (_, rank) => {
    const [x, y] = at(rank, 90);
    const label = drawn("text", { x, y: y + 5, "text-anchor": "middle", "font-size": 14,
      fill: "currentColor" });
    label.textContent = rank;
    return drawn("g", {}, drawn("circle", { cx: x, cy: y, r: 18, fill: "none",
      stroke: "currentColor", "stroke-width": 2 }), label);
  });
  const head = drawn("marker", { id: "ring-head", viewBox: "0 0 8 8", refX: 4, refY: 4,
    markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" },
  drawn("path", { d: "M0 0L8 4L0 8z", fill: "currentColor" }));
  const title = drawn("title", {});
  title.textContent = `${ranks} ranks in a ring, ${moved.length} of them send`;
  return drawn("svg", { viewBox: "0 0 300 260", width: 300, role: "img", style: "max-width: 100%" },
    title, drawn("defs", {}, head), ...arrows, ...nodes);
}

/* Bytes and time after `done` sends, of the ring and of the naive way: S megabytes on each rank, B
 * GB/s of a port in each direction. The naive way sends N - 1 times S into rank 0's port, then as much
 * out of it; another rank sends S once. */
function ringCosts(ranks, done, megabytes, rate) {
  const chunk = megabytes / ranks, all = 2 * (ranks - 1), us = (mb) => mb * 1000 / rate;
  const step = us(chunk), naive = us(all * megabytes), now = Math.ceil(done / ranks) * step;
  return { chunk, sent: Math.ceil(done / ranks) * chunk, whole: all * chunk, now, ring: all * step, naive,
    carried: Math.min(now, naive) * rate / 1000, naiveWhole: all * megabytes };
}

/* How far something is: filled up to `now` of its length; `whole` is what the full width stands for. */
function progressBar(label, now, length, whole, words) {
  const part = (name, us) => {
    const piece = make("span", { className: name });
    piece.style.width = `${100 * us / whole}%`;
    return piece;
  };
  return make("div", { className: "bar", title: words }, make("b", { textContent: label }),
    make("div", {}, part("past", Math.min(now, length)), part("left", length - Math.min(now, length))));
}

play.ring = (place) => {
  let ranks = 4, done = 0;
  const slider = make("input", { type: "range", min: 2, max: 8, value: ranks, autocomplete: "off" });
  const count = make("output", { className: "count" });
  const said = make("output", { ariaLive: "polite" }), cells = make("div", { className: "cells" });
  const circle = make("div", { className: "circle" }), costs = make("div", { className: "costs" });
  const megabytes = number("MB on each GPU", 64, 0.001, "any", () => show());
  const rate = number("GB/s of a GPU's port", 395, 0.001, "any", () => show());
  const button = (text, to) => {
    const made = make("button", { type: "button", textContent: text });
    made.addEventListener("click", () => {
      done = Math.min(Math.max(to(), 0), 2 * (ranks - 1) * ranks);
      show();
    });
    return made;
  };
  const step = button("Next step", () => (Math.floor(done / ranks) + 1) * ranks);
  const chunk = button("Next chunk", () => done + 1);
  const back = button("Back", () => (Math.ceil(done / ranks) - 1) * ranks);
  const again = button("From the start", () => 0);

  /* What the last send was, in words. */
  function told() {
    const all = 2 * (ranks - 1);
    if (done === 0) return `${ranks} ranks, ${all} steps`;
    const now = Math.ceil(done / ranks), half = now < ranks ? "reduce-scatter" : "all-gather";
    const [from, to, k] = ringSends(ranks, now - 1)[(done - 1) % ranks];
    return done % ranks
      ? `step ${now} of ${all}: ${half}; rank ${from} sends chunk ${k} to rank ${to}`
      : `step ${now} of ${all}: ${half}; each rank has sent ${now}/${ranks} of its data`;
  }
  /* Both ways after the same time. */
  function showCosts() {
    const c = ringCosts(ranks, done, valueOf(megabytes), valueOf(rate));
    const ring = `Ring: each rank has sent ${shown(c.sent, 1)} of ${shown(c.whole, 1)} MB, in ` +
      `${shown(c.now, 1)} of ${shown(c.ring, 1)} µs.`;
    const naive = `Naive way: rank 0's port has carried ${shown(c.carried, 1)} of ` +
      `${shown(c.naiveWhole, 1)} MB, in ${shown(c.now, 1)} of ${shown(c.naive, 1)} µs.`;
    const bars = Number.isFinite(c.naive) ? [progressBar("ring", c.now, c.ring, c.naive, ring),
      progressBar("naive", c.now, c.naive, c.naive, naive)] : [];
    costs.replaceChildren(...bars, make("p", { textContent: ring }), make("p", { textContent: naive }));
  }
  function show() {
    const sums = ringAfter(ranks, done), now = Math.ceil(done / ranks);
    const made = table(["", ...sums.map((_, k) => `chunk ${k}`)],
      sums.map((row, r) => [`rank ${r}`, ...row]));
    const cell = (r, k) => made.tBodies[0].rows[r].cells[k + 1];
    sums.forEach((row, r) => row.forEach((sum, k) => {
      if (sum === ranks) cell(r, k).classList.add("whole");
    }));
    const moved = done > 0 ? ringSends(ranks, now - 1).slice(0, done - (now - 1) * ranks) : [];
    moved.forEach(([, to, k]) => cell(to, k).classList.add("moved"));
    circle.replaceChildren(ringDrawing(ranks, moved));
    showCosts();
    cells.replaceChildren(made);
    said.textContent = told();
    count.textContent = ranks;
    step.disabled = chunk.disabled = done === 2 * (ranks - 1) * ranks;
    back.disabled = again.disabled = done === 0;
  }
  slider.addEventListener("input", () => {
    ranks = Number(slider.value);
    done = 0;
    show();
  });
  place.append(make("label", {}, make("span", { textContent: "GPUs" }), slider, count),
    step, chunk, back, again, said, circle, megabytes.row, rate.row, costs,
    cells,
    make("p", { textContent: "A cell says how many ranks' numbers are in it." }));
  show();
};

/* ---- which way for a copy ---- */

/* A machine of the gallery in the fields: its rates are one way. */
function fillFrom(node, fields, both) {
  for (const name of ["link", "host", "us"]) fields[name].input.value = node[name];
  both.checked = false;
}

play.path = (place) => {
  const result = make("div", { ariaLive: "polite" });
  const fields = {};
  const nodes = JSON.parse(place.dataset.nodes || "[]");
  const choice = make("select", { autocomplete: "off" }, make("option", { value: "", textContent: "my own numbers" }),
    ...nodes.map((node) => make("option", { value: node.name, textContent: node.name })));
  const add = (name, label, value, least, step, changed) => {
    fields[name] = number(label, value, least, step, changed);
  };
  const chosen = () => nodes.find((node) => node.name === choice.value);
  const mine = () => { choice.value = ""; show(); };
  function show() {
    const v = Object.fromEntries(Object.entries(fields).map(([k, f]) => [k, valueOf(f)]));
    const link = v.link * (both.checked ? 0.5 : 1), ms = (gbs) => v.mb / gbs + v.us / 1000;
    const direct = ms(link), serial = ms(v.host) + v.mb / v.host, piped = ms(v.host);
    const reached = !chosen() || chosen().peer;
    const row = (name, t) =>
      [name, shown(t, 2), shown(v.mb / t, 1), reached ? shown(t / direct, 1) : "-"];
    result.replaceChildren(table(["way", "ms", "GB/s", "times direct"], [
      reached ? row("direct, over the link", direct) : ["direct: no peer access", "-", "-", "-"],
      row("through the host, hop after hop", serial),
      row("through the host, hops overlapped", piped),
    ]));
  }
  add("mb", "MB to copy", 1000, 0.001, "any", show);
  add("link", "GB/s of the link, as it is advertised", 600, 0.001, "any", mine);
  add("host", "GB/s of each hop through the host", 32, 0.001, "any", mine);
  add("us", "µs before the first byte", 0, 0, "any", mine);
  const both = make("input", { type: "checkbox", checked: true, autocomplete: "off" });
  both.addEventListener("change", mine);
  choice.addEventListener("change", () => {
    if (chosen()) fillFrom(chosen(), fields, both);
    show();
  });
  place.append(
    make("label", {}, make("span", { textContent: "machine (GPU 0 to GPU 1)" }), choice),
    ...["mb", "link", "host", "us"].map((name) => fields[name].row),
    make("label", {}, make("span", { textContent: "the advertised number counts both directions" }), both),
    result);
  show();
};

/* ---- what fits ---- */

/* One digit behind the point, as C's printf and zero.c round: 26.25 is 26.2, and 3.75 is 3.8. */
function tenths(value) {
  const tens = value * 10, low = Math.floor(tens);
  const half = Math.abs(tens - low - 0.5) < 1e-9;
  return ((half ? low + (low % 2) : Math.round(tens)) / 10).toFixed(1);
}

/* GB of activations on each GPU (Korthikanti et al., 2022; zero-plan/gpt.c has the same): of a block
 * of a transformer in 16 bits, times the blocks. */
const recomputed = {
  full: "recomputed in the backward", selective: "all but attention scores", none: "all",
};

function activationGigabytes(shape, kept) {
  const sbh = shape.sequence * shape.batch * shape.hidden / 1e9;
  const block = sbh * (34 + 5 * shape.heads * shape.sequence / shape.hidden);
  const each = { full: 2 * sbh, selective: 34 * sbh, none: block }[kept];
  return shape.layers * each + (kept === "full" ? block : 0); // one block at a time is there again
}

/* GB by part of a stage's memory on each GPU; with offload the states are in the host's. */
function zeroParts(stage, p, n, offload, activations) {
  const states = 12 * p / (stage >= 1 ? n : 1);
  return {
    gpu: { parameters: 2 * p / (stage >= 3 ? n : 1), gradients: 2 * p / (stage >= 2 ? n : 1),
      states: offload ? 0 : states, activations },
    host: offload ? states : 0,
  };
}

/* A row of parts, and where the memory ends. `whole`: what the full width stands for. */
function bar(label, parts, room, whole) {
  const pieces = Object.entries(parts).map(([name, gb]) => {
    const piece = make("span", { className: name, title: `${name}: ${tenths(gb)} GB` });
    piece.style.width = `${100 * gb / whole}%`;
    return piece;
  });
  const end = make("i", { title: `${room} GB` });
  end.style.left = `${100 * room / whole}%`;
  return make("div", { className: "bar" }, make("b", { textContent: label }),
    make("div", {}, ...pieces, end));
}

function bars(stages, room) {
  const sum = (parts) => Object.values(parts).reduce((x, y) => x + y, 0);
  const whole = Math.max(room, ...stages.map(({ gpu }) => sum(gpu))) * 1.02;
  if (!Number.isFinite(whole)) return [];
  const legend = Object.keys(stages[0].gpu).map((name) =>
    make("span", {}, make("span", { className: name }), ` ${name}`));
  return [...stages.map(({ gpu }, stage) => bar(`stage ${stage}`, gpu, room, whole)),
    make("p", { className: "legend" }, ...legend, make("span", {}, make("i", {}), " memory of a GPU"))];
}

play.zero = (place) => {
  const result = make("div", { ariaLive: "polite" }), drawing = make("div", { className: "bars" });
  const p = number("billion parameters", 7, 0.001, "any", show);
  const n = number("GPUs", 8, 1, 1, show);
  const room = number("GB of memory each", 80, 0.001, "any", show);
  const shape = {
    layers: number("layers", 32, 1, 1, show), hidden: number("hidden size", 4096, 1, 1, show),
    heads: number("attention heads", 32, 1, 1, show),
    sequence: number("tokens of a sequence", 4096, 1, 1, show),
    batch: number("sequences a GPU", 1, 1, 1, show),
  };
  const kept = make("select", { autocomplete: "off" }, ...Object.entries(recomputed).map(
    ([value, text]) => make("option", { value, textContent: text })));
  const offload = make("input", { type: "checkbox", autocomplete: "off" });
  const labelled = (text, field) =>
    make("label", {}, make("span", { textContent: text }), field);
  function show() {
    const sizes = Object.fromEntries(Object.entries(shape).map(([k, f]) => [k, valueOf(f)]));
    const activations = activationGigabytes(sizes, kept.value);
    const stages = [0, 1, 2, 3].map((stage) =>
      zeroParts(stage, valueOf(p), valueOf(n), offload.checked, activations));
    const gb = (value) => (Number.isFinite(value) ? tenths(value) : "-");
    const rows = stages.map(({ gpu, host }, stage) => {
      const kinds = gpu.parameters + gpu.gradients + gpu.states, all = kinds + activations;
      const fits = Number.isFinite(all + valueOf(room)) ? (all <= valueOf(room) ? "yes" : "no") : "-";
      return [stage, gb(kinds), gb(all), fits, gb(host), stage === 3 ? "3 P" : "2 P"];
    });
    result.replaceChildren(table(["stage", "parameters, gradients, states: GB", "and activations: GB",
      "fits", "host: GB", "sent in a step"], rows));
    drawing.replaceChildren(...bars(stages, valueOf(room)));
  }
  for (const field of [kept, offload]) field.addEventListener("change", show);
  place.append(p.row, n.row, room.row,
    make("details", {}, make("summary", { textContent: "The model's shape, which activations depend on" }),
      ...Object.values(shape).map((field) => field.row)),
    labelled("activations that are stored", kept),
    labelled("optimizer states in host memory (offload)", offload), drawing, result,
    make("p", { textContent: "Bytes of P parameters as above; activations of one GPU, without tensor " +
      "parallelism. Buckets and gathered layers are not counted." }));
  show();
};

document.querySelectorAll("[data-play]").forEach((place) => play[place.dataset.play](place));
