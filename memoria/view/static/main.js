// The page: asks, draws what comes, and shows what is chosen.

import { actionsFor } from "./actions.js";
import { ask, events } from "./api.js";
import { showComparison } from "./compare.js";
import { markInContext, showContext } from "./context.js";
import { countLeading, keyOf, legend, otherPaths, pathsOf, waysOf, waysTo } from "./leading.js";
import { showMemory } from "./memory.js";
import { showRanking } from "./ranking.js";
import { Replay } from "./replay.js";
import { changedSettings, settingsFields, STRATEGIES } from "./settings.js";
import { nearest, showStart } from "./start.js";
import { Tree } from "./tree.js";
import { counted, element, visible } from "./words.js";

const POINT = "Point at a memory or an edge to see what went over it.";
const CHOOSE = "Choose a memory to see why it was recalled, and what it is joined to.";
const OPEN = "Choose a memory to see what it is joined to, and when it came about.";
const at = (id) => document.getElementById(id);
const tree = new Tree(at("tree"), { point: (text) => (at("ledger").textContent = visible(text)), choose });
const replay = new Replay(at("replay"), { redraw });
let about = { strategies: {}, connectors: [], saved: [], writes: false };
let scopes = null; // all scopes, or null if they can't be read
let found = null; // the recall that is shown, as `recall --json --full` prints it
let kept = null; // another one, to compare with
let running = null;
let chosen = null;

function say(text, isError = false) {
  at("status").textContent = visible(text);
  at("status").classList.toggle("error", isError);
}

function strategyOf(document) {
  return document.trace.config.strategy?.name ?? "transfer";
}

async function start() {
  about = await ask("/api/about");
  at("scope").value = about.scope;
  at("strategy").append(...Object.keys(about.strategies).map((name) => new Option(STRATEGIES[name] ?? name, name)));
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
  try {
    scopes = (await ask("/api/scopes")).scopes;
    at("scopes").append(...scopes.map((each) => new Option(counted(each.memories, "memory", "memories"), each.scope)));
  } catch (error) {
    if (!found) say(error.message, true); // a saved recall needs no database
  }
  if (!found && !running) home();
}

// Shows what there is before a question.
function home() {
  running?.abort();
  begin("transfer");
  at("stop").hidden = true;
  at("start").hidden = false;
  forgetChoice(OPEN);
  at("context").hidden = at("paths").hidden = at("ranking").hidden = true;
  say("");
  const scope = at("scope").value;
  const doing = {
    choose: (name) => {
      at("scope").value = name;
      home();
    },
    askFor: (text) => {
      at("query").value = text;
      recall();
    },
    open: (memory) => choose(memory.id, { first: memory, scope }),
  };
  showStart(at("start-body"), scope, scopes, doing).catch((error) => {
    at("start-body").replaceChildren();
    say(error.message, true);
  });
}

function fillSettings() {
  settingsFields(at("of-strategy"), about.strategies[at("strategy").value]);
}

function question() {
  const tags = at("tags").value.trim();
  const { budget_tokens = null, deadline_s = null, ...rest } = changedSettings(at("of-strategy"));
  return {
    query: at("query").value,
    tags: tags === "auto" ? "auto" : tags.split(",").map((tag) => tag.trim()).filter(Boolean),
    scope: at("scope").value,
    strategy: at("strategy").value,
    settings: rest,
    budget_tokens,
    deadline_s,
  };
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

// Nothing of an earlier recall stays on the page.
function begin(strategy) {
  found = null;
  forgetChoice();
  tree.clear(strategy);
  replay.hide();
  at("saved").value = "";
  for (const id of ["save", "keep", "notes", "others", "start"]) at(id).hidden = true;
  at("paths").hidden = false;
  at("context").hidden = at("ranking").hidden = true;
  at("stop").hidden = false;
  for (const id of ["context-body", "ranking-body", "legend"]) at(id).replaceChildren();
  at("needle").value = at("counted").textContent = "";
  say("Searching …");
}

function forgetChoice(text = CHOOSE) {
  chosen = null;
  at("ledger").textContent = POINT;
  at("memory-body").replaceChildren(element("p", { class: "muted", text }));
}

// Shows a whole recall: the end of a stream, or a saved one.
function show(document) {
  found = document;
  forgetChoice();
  at("start").hidden = true;
  for (const id of ["context", "paths", "ranking"]) at(id).hidden = false;
  redraw();
  showContext(at("context-body"), found, { choose, say });
  showRanking(at("ranking-body"), found, choose);
  say(inWords());
  const notes = [...found.trace.degraded, ...found.trace.notes];
  at("notes").replaceChildren(...notes.map((text) => element("li", { text })));
  at("notes").hidden = !notes.length;
  offer();
  compare();
  replay.begin(found, about.strategies);
}

function inWords() {
  if (!found.seeds.length) {
    const near = nearest(found.scope, scopes ?? []);
    const isThere = (scopes ?? []).some((each) => each.scope === found.scope);
    return `Nothing found in scope ${found.scope}.${isThere || !near ? "" : ` Did you mean ${near}?`}`;
  }
  const { leading, others } = countLeading(found);
  const seconds = Object.entries(found.trace.timings_s).reduce((sum, [stage, s]) => sum + (stage === "hydrate" ? 0 : s), 0);
  return `${counted(found.context.items.length, "memory", "memories")} in the context; ${counted(found.seeds.length, "seed")}, ${counted(leading + others, "path")}, ${counted(Object.keys(found.memories).length, "memory", "memories")} reached; ${Math.round(seconds * 1000)} ms.`;
}

function compare() {
  at("comparison").hidden = !kept;
  if (!kept) return;
  at("kept-name").textContent = `“${kept.query}”`;
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

// Draws the recorded paths, or those of a replay with its differences from the recorded ones; returns how
// many boxes are new, and how many are gone.
function redraw(again = null) {
  const { all } = tree;
  tree.clear(strategyOf(found));
  at("counted").textContent = "";
  found.seeds.forEach((seed) => tree.seed(seed.id, seed.score));
  const before = waysOf(found);
  const now = again ? waysOf(again) : before;
  if (again) {
    const known = { ...found.memories, ...again.memories };
    pathsOf(again).forEach((path) => tree.path(path, known, (way) => (before.has(way) ? "" : "new")));
    pathsOf(found).filter((path) => !now.has(keyOf(path.ids))).forEach((path) => tree.path(path, known, () => "gone"));
  } else {
    pathsOf(found).forEach((path) => tree.path(path, found.memories));
  }
  otherPaths(found).forEach((path) => tree.path(path, found.memories));
  tree.pack(new Set(found.context.items.map((item) => item.id)), waysTo(found.context));
  if (again) tree.showAll(all);
  tree.select(chosen);
  offerOthers();
  explain(again !== null);
  return { fresh: [...now].filter((way) => !before.has(way)).length, gone: [...before].filter((way) => !now.has(way)).length };
}

function explain(again = false) {
  at("legend").replaceChildren(...legend(found.memories, { again, found: at("counted").textContent !== "" }));
}

// The paths that lead to the context are shown; the others are one click away.
function offerOthers() {
  const { leading, others } = countLeading(found);
  at("paths-heading").textContent = leading ? `${counted(leading, "path leads", "paths lead")} to the context` : "Paths";
  at("others").hidden = !others || !leading;
  at("others").textContent = tree.all ? "Only those to the context" : `Show ${counted(others, "more path")}`;
  at("others").setAttribute("aria-pressed", String(tree.all));
}

async function choose(id, { reveal = false, toBox = false, first = null, scope = found?.scope ?? at("scope").value } = {}) {
  chosen = id;
  const isDrawn = tree.select(id, { reveal });
  if (found) {
    markInContext(at("context-body"), id);
    offerOthers();
  }
  const shown = { found, id, first, connectors: about.connectors, strategy: found && strategyOf(found) };
  const recallId = found?.ranked.some((entry) => entry.id === id) && found.trace.id; // what can be marked
  const actions = actionsFor({ ...about, say, shown: () => ({ scope, recallId }), done: (text, next) => changed(text, next, scope) });
  const toLine = (of) => markInContext(at("context-body"), of)?.scrollIntoView({ block: "center" });
  const doing = { actions, toLine, choose: (other, options) => choose(other, { ...options, scope }) };
  const add = showMemory(at("memory-body"), shown, doing);
  at(toBox && isDrawn ? "scroll" : "memory").scrollIntoView({ block: "nearest" });
  let more;
  try {
    more = { near: await ask(`/api/memory?${new URLSearchParams({ scope, id })}`) };
  } catch (error) {
    more = { failed: `Its edges can't be read: ${error.message}` };
  }
  if (chosen === id && shown.found === found) add(more);
}

// After a change: shows the memory that is there now. The shown recall stays as it was found.
function changed(text, id, scope) {
  say(found ? `${text} Recall again to see its effect.` : text);
  if (id) choose(id, { scope });
  else forgetChoice();
}

async function openSaved(number) {
  running?.abort();
  running = null;
  at("stop").hidden = true;
  const document = await ask(`/api/saved/${number}`);
  at("query").value = document.query;
  at("tags").value = document.query_tags.join(", ");
  at("scope").value = document.scope;
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
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const { at: place, of } = tree.find(at("needle").value);
  at("counted").textContent = at("needle").value.trim() ? `${place} of ${of}` : "";
  if (found) {
    offerOthers();
    explain();
  }
});
at("others").addEventListener("click", () => {
  tree.showAll(!tree.all);
  offerOthers();
});
at("home").addEventListener("click", home);
at("scope").addEventListener("change", () => {
  if (!at("start").hidden) home();
});
at("smaller").addEventListener("click", () => tree.zoom(-1));
at("larger").addEventListener("click", () => tree.zoom(1));
at("fit").addEventListener("click", () => tree.fit());
at("fold").addEventListener("click", () => tree.fold(true));
at("unfold").addEventListener("click", () => tree.fold(false));
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
