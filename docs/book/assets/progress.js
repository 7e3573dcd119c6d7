/* SPDX-License-Identifier: MIT
 * progress.js: which chapters were read and which labs were passed, as the reader ticks them off. It
 * is kept by the browser (localStorage) under the pages' places in the site and is sent nowhere. The
 * first page counts them, and its map and the menu mark them. */
"use strict";

const progress = (() => {
  const KEY = "peerlab.progress", UNIT = /(?:book\/\d\d-[\w-]+|labs\/\d\d-[\w-]+\/index)\.html$/;

  /* {place: date}; null where the browser keeps nothing. */
  function load() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) || "{}");
      return kept !== null && typeof kept === "object" ? kept : {};
    } catch (error) {
      return error instanceof SyntaxError ? {} : null;
    }
  }

  /* False: it could not be kept, as a private window may refuse. */
  function save(done) {
    try {
      localStorage.setItem(KEY, JSON.stringify(done));
      return true;
    } catch {
      return false;
    }
  }

  /* The chapter or lab that an address leads to; undefined: another page. */
  const unitOf = (address) => new URL(address, document.baseURI).pathname.match(UNIT)?.[0];
  const isLab = (unit) => unit.startsWith("labs/");

  /* Links of the map and of the menu. */
  function markLinks(done) {
    document.querySelectorAll(".md-nav__link[href], figure.drawn a").forEach((link) => {
      const address = link.getAttribute("href") || link.getAttribute("xlink:href");
      const unit = address && unitOf(address);
      link.classList.toggle("done", Boolean(unit && done[unit]));
    });
  }

  function count(place, done) {
    const all = new Set([...document.querySelectorAll(".md-nav__link[href]")]
      .map((link) => unitOf(link.href)).filter(Boolean));
    const units = [...all], passed = units.filter((unit) => done[unit]);
    const of = (lab) => [passed, units].map((list) => list.filter((u) => isLab(u) === lab).length);
    const [read, chapters] = of(false), [labs, allLabs] = of(true);
    place.textContent = `You have read ${read} of ${chapters} chapters and passed ${labs} of ` +
      `${allLabs} labs. Tick each off at its end; only this browser remembers it.`;
  }

  /* The box at a page's end. */
  function box(unit, done) {
    const input = document.createElement("input"), label = document.createElement("label");
    input.type = "checkbox";
    input.checked = Boolean(done[unit]);
    input.autocomplete = "off";
    label.className = "progress";
    label.append(input, isLab(unit) ? " I have passed this lab." : " I have read this chapter.");
    input.addEventListener("change", () => {
      const now = load() || {};
      if (input.checked) now[unit] = new Date().toISOString().slice(0, 10);
      else delete now[unit];
      if (!save(now)) input.disabled = true;
      markLinks(now);
    });
    document.querySelector("article").append(label);
  }

  function show() {
    const done = load(), unit = unitOf(location.href);
    if (done === null) return;
    markLinks(done);
    if (unit) box(unit, done);
    document.querySelectorAll("[data-progress]").forEach((place) => count(place, done));
  }
  return { show };
})();

progress.show();
