// The page: asks, draws what comes, and shows what is chosen.

import { ask, events } from "./api.js";
import { showComparison } from "./compare.js";
import { showContext, showMemory, showRanking } from "./panels.js";
import { Replay } from "./replay.js";
import { settingsFields } from "./settings.js";
import { Tree } from "./tree.js";
import { counted, element } from "./words.js";

const at = (id) => document.getElementById(id);
const tree = new Tree(at("tree"), { point: (text) => (at("ledger").textContent = text), choose });
const replay = new Replay(at("replay"), { redraw, say });
let about = { strategies: {}, saved: [] };
let found = null; // the recall that is shown, as `recall --json` prints it
let kept = null; // another one, to compare with
let running = null;
let chosen = null;

function say(text, isError = false) {
  at("status").textContent = text;
  at("status").classList.toggle("error", isError);
}

function strategyOf(document) {
  return document.trace.config.strategy?.name ?? "transfer";
}

async function start() {
  about = await ask("/api/about");
  at("scope").value = about.scope;
  at("strategy").append(...Object.keys(about.strategies).map((name) => new Option(name)));
  at("strategy").addEventListener("change", fillSettings);
  fillSettings();
  if (about.saved.length) {
    at("saved-label").hidden = false;
    const options = about.saved.map((each, n) => new Option(`${each.name}: ${each.query}`, n));
    at("saved").append(new Option("choose …", ""), ...options);
    at("saved").value = "0";
    await openSaved(0);
  } else {
    at("query").focus();
  }
  await listScopes().catch((error) => {
    if (!found) say(error.message, true); // a saved recall needs no database
  });
}

async function listScopes() {
  const { scopes } = await ask("/api/scopes");
  at("scopes").append(...scopes.map((each) => new Option(counted(each.memories, "memory", "memories"), each.scope)));
}

function fillSettings() {
  settingsFields(at("fields"), about.strategies[at("strategy").value]);
}

function question() {
  const tags = at("tags").value.trim();
  const settings = Object.fromEntries(
    [...at("fields").querySelectorAll("[name]")]
      .filter((field) => field.value !== "" && field.value !== field.dataset.standard)
      .map((field) => [field.name, valueOf(field)]),
  );
  const { budget_tokens = null, ...rest } = settings;
  return {
    query: at("query").value,
    tags: tags === "auto" ? "auto" : tags.split(",").map((tag) => tag.trim()).filter(Boolean),
    scope: at("scope").value,
    strategy: at("strategy").value,
    settings: rest,
    budget_tokens,
  };
}

function valueOf(field) {
  if (field.type === "number") return Number(field.value);
  return field.tagName === "SELECT" ? field.value === "true" : field.value;
}

async function recall() {
  running?.abort();
  const mine = (running = new AbortController());
  const asked = question();
  begin(asked.strategy);
  let paths = 0;
  const known = {};
  try {
    for await (const { name, data } of events("/api/recall", { body: asked, signal: mine.signal })) {
      if (running !== mine) return;
      if (name === "seeds") {
        data.seeds.forEach((seed) => tree.seed(seed.id, seed.score));
        tree.later();
        say(`${counted(data.seeds.length, "seed")} found; following their edges …`);
      } else if (name === "path") {
        Object.assign(known, data.memories);
        tree.path(data.path, known);
        say(`${counted(++paths, "path")} so far …`);
      } else if (name === "recall") {
        show(data);
      } else if (name === "error") {
        throw new Error(data.message);
      }
    }
    if (!found) throw new Error("the recall broke off: memoria view was stopped, or the connection lost");
  } catch (error) {
    if (running === mine) say(error.name === "AbortError" ? "Stopped." : error.message, error.name !== "AbortError");
  } finally {
    if (running === mine) {
      running = null;
      at("stop").hidden = true;
    }
  }
}

function begin(strategy) {
  found = null;
  chosen = null;
  tree.clear(strategy);
  tree.select(null);
  replay.hide();
  at("saved").value = "";
  at("save").hidden = true;
  at("keep").hidden = true;
  at("notes").hidden = true;
  at("stop").hidden = false;
  for (const id of ["memory-body", "context-body", "ranking-body"]) at(id).replaceChildren();
  say("Searching …");
}

// Shows a whole recall: what a stream ended with, or what was saved.
function show(document) {
  found = document;
  redraw();
  showContext(at("context-body"), found, choose);
  showRanking(at("ranking-body"), found, choose);
  at("find").hidden = false;
  at("memory-body").replaceChildren(element("p", { class: "muted", text: "Choose a memory to see why it was recalled, and what it is joined to." }));
  const paths = found.explorations.reduce((sum, each) => sum + each.paths.length, 0);
  const seconds = Object.entries(found.trace.timings_s).reduce((sum, [stage, s]) => sum + (stage === "hydrate" ? 0 : s), 0);
  const counts = `${counted(found.seeds.length, "seed")}, ${counted(paths, "path")}, ${counted(Object.keys(found.memories).length, "memory", "memories")}, ${counted(found.context.items.length, "memory", "memories")} in the context`;
  say(found.seeds.length ? `${counts}; ${Math.round(seconds * 1000)} ms.` : `Nothing found in scope ${found.scope}.`);
  const notes = [...found.trace.degraded, ...found.trace.notes];
  at("notes").replaceChildren(...notes.map((text) => element("li", { text })));
  at("notes").hidden = !notes.length;
  const kinds = [...new Set(Object.values(found.memories).map((memory) => memory.kind))].sort();
  at("kinds").replaceChildren(...kinds.map((kind) => element("li", { class: `kind-${kind}`, text: kind })));
  offer();
  compare();
  replay.begin(found, about.strategies);
}

function compare() {
  at("comparison").hidden = !kept;
  if (!kept) return;
  at("kept-name").textContent = `“${kept.query}”, ${strategyOf(kept)}`;
  if (found && found !== kept) showComparison(at("comparison-body"), kept, found, choose);
  else at("comparison-body").replaceChildren(element("p", { class: "muted", text: "Ask again with other words or settings." }));
}

function offer() {
  at("keep").hidden = false;
  const save = at("save");
  URL.revokeObjectURL(save.href);
  save.href = URL.createObjectURL(new Blob([JSON.stringify(found)], { type: "application/json" }));
  save.hidden = false;
}

// Draws the recorded paths, or those of a replay with what differs from the recorded ones.
function redraw(again = null) {
  tree.clear(strategyOf(found));
  found.seeds.forEach((seed) => tree.seed(seed.id, seed.score));
  const key = (path) => JSON.stringify(path.ids);
  const pathsOf = (document) => document.explorations.flatMap((each) => each.paths);
  const before = new Set(pathsOf(found).map(key));
  if (again) {
    const known = { ...found.memories, ...again.memories };
    const now = new Set(pathsOf(again).map(key));
    pathsOf(again).forEach((path) => tree.path(path, known, before.has(key(path)) ? "" : "new"));
    pathsOf(found).filter((path) => !now.has(key(path))).forEach((path) => tree.path(path, known, "gone"));
  } else {
    pathsOf(found).forEach((path) => tree.path(path, found.memories));
  }
  tree.pack(new Set(found.context.items.map((item) => item.id)));
  tree.select(chosen);
}

async function choose(id) {
  if (!found) return;
  chosen = id;
  tree.select(id);
  const shown = { found, id, strategy: strategyOf(found) };
  const draw = (more) => showMemory(at("memory-body"), { ...shown, ...more }, choose);
  draw({});
  at("memory").scrollIntoView({ block: "nearest" });
  let more;
  try {
    more = { near: await ask(`/api/memory?${new URLSearchParams({ scope: found.scope, id })}`) };
  } catch (error) {
    more = { failed: `Its edges can't be read: ${error.message}` };
  }
  if (chosen === id) draw(more);
}

async function openSaved(number) {
  running?.abort();
  running = null;
  at("stop").hidden = true;
  const document = await ask(`/api/saved/${number}`);
  at("query").value = document.query;
  at("tags").value = document.query_tags.join(", ");
  at("scope").value = document.scope;
  chosen = null;
  show(document);
}

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  recall();
});
at("find").addEventListener("submit", (event) => {
  event.preventDefault();
  choose(at("missing").value.trim());
});
at("stop").addEventListener("click", () => running?.abort());
at("keep").addEventListener("click", () => {
  kept = found;
  compare();
  say("Kept: ask again with other words or settings to compare both.");
});
at("drop").addEventListener("click", () => {
  kept = null;
  compare();
});
at("saved").addEventListener("change", () => {
  if (at("saved").value) openSaved(at("saved").value).catch((error) => say(error.message, true));
});
start().catch((error) => say(error.message, true));
