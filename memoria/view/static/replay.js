// Sliders that explore again from the recorded seeds, with another threshold or depth. The ranking
// and the context stay those of the recall.

import { ask } from "./api.js";
import { counted, number, spaced } from "./words.js";

const PAUSE_MS = 200;
// The settings of each strategy that the sliders stand for.
const SLIDERS = {
  transfer: { threshold: "min_activation", depth: "max_depth" },
  lif: { threshold: "min_signal", depth: "max_hops" },
  synapse: { threshold: "min_activation", depth: "max_steps" },
  anchor: { depth: "iterations" },
};

export class Replay {
  constructor(form, { redraw }) {
    this.form = form;
    this.redraw = redraw;
    form.addEventListener("input", () => this.#moved());
    form.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    this.#at("reset").addEventListener("click", () => this.#reset());
  }

  hide() {
    this.form.hidden = true;
    this.found = null;
    clearTimeout(this.timer);
  }

  begin(found, strategies) {
    this.hide();
    const recorded = found.trace.config.strategy ?? {};
    const names = SLIDERS[recorded.name];
    if (!names || !found.seeds.length) return;
    this.found = found;
    this.names = names;
    this.recorded = { ...strategies[recorded.name], ...recorded };
    for (const slider of ["threshold", "depth"]) {
      this.#at(`${slider}-label`).hidden = !names[slider];
      if (names[slider]) this.#at(slider).title = spaced(names[slider]);
    }
    const depth = this.#at("depth");
    depth.max = Math.max(8, this.recorded[names.depth]);
    this.form.hidden = false;
    this.#place();
  }

  #at(id) {
    return document.getElementById(id);
  }

  #place() {
    this.#at("depth").value = this.recorded[this.names.depth];
    if (this.names.threshold) this.#at("threshold").value = Math.log10(this.recorded[this.names.threshold]);
    this.#at("changes").textContent = "";
    this.moved = new Set();
    this.#values();
  }

  // What the sliders say; a slider that was not moved keeps the recorded value to the last digit.
  #settings() {
    const given = { depth: Number(this.#at("depth").value), threshold: 10 ** Number(this.#at("threshold").value) };
    const value = (slider) => (this.moved.has(slider) ? given[slider] : this.recorded[this.names[slider]]);
    return Object.fromEntries(Object.keys(this.names).map((slider) => [slider, value(slider)]));
  }

  #values() {
    const settings = this.#settings();
    for (const slider of Object.keys(this.names)) {
      const text = slider === "depth" ? String(settings.depth) : number(settings.threshold);
      this.#at(`${slider}-value`).textContent = text;
      this.#at(slider).setAttribute("aria-valuetext", text);
    }
  }

  #moved() {
    for (const slider of Object.keys(this.names)) {
      if (document.activeElement === this.#at(slider)) this.moved.add(slider);
    }
    this.#values();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#again(this.found), PAUSE_MS);
  }

  #reset() {
    clearTimeout(this.timer);
    this.#place();
    this.redraw();
  }

  async #again(found) {
    const settings = this.#settings();
    const changes = Object.fromEntries(Object.entries(settings).map(([slider, value]) => [`strategy.${this.names[slider]}`, value]));
    let again;
    try {
      again = await ask(`/api/replay/${encodeURIComponent(found.trace.id)}`, { body: { changes } });
    } catch (error) {
      this.#at("changes").textContent = `Can't explore again: ${error.message}`;
      return;
    }
    if (this.found !== found || JSON.stringify(settings) !== JSON.stringify(this.#settings())) return;
    const boxes = this.redraw(again.identical ? null : again);
    this.#at("changes").textContent = inWords(again, boxes);
  }
}

function inWords(again, { fresh, gone }) {
  const paths = again.explorations.reduce((sum, each) => sum + each.paths.length, 0);
  const other = again.changes.filter((change) => change.before && change.after).length;
  if (again.identical) return `${counted(paths, "path")}, the same as recorded.`;
  return `${counted(paths, "path")}: ${counted(fresh, "new box", "new boxes")}, ${gone} gone; ${counted(other, "path")} with other values.`;
}
