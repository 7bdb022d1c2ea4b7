// One memory: why it was recalled, its neighbours, its conversation, its changes, and its time.

import { button, listed, opener } from "./lists.js";
import { likely, shareTable } from "./ranking.js";
import { arrow, counted, date, element, ENDS, ledger, number, said, time, whyLeftOut } from "./words.js";

const SCROLLED = 400; // a text with so many letters may scroll, so the tab key reaches it

// Shows a memory as it is known, and returns a function that adds the answer of the server: {near}, or
// {failed}. Opened lists and forms stay as they are, unless the memory has changed.
// `found` is the recall that is shown, or null. `actions` makes the buttons that change the memory.
export function showMemory(body, shown, doing) {
  const { found, id, first } = shown;
  const known = found?.memories[id] ?? first;
  const [head, rest] = [element("div"), element("div")];
  head.append(...itself(shown, known, null, doing));
  rest.append(...around(shown, {}, doing));
  body.replaceChildren(head, rest);
  return (more) => {
    const { near } = more;
    const isAsKnown = JSON.stringify(near?.memory) === JSON.stringify(known) && (!found || isReached(found, id));
    if (near && !isAsKnown) head.replaceChildren(...itself(shown, near.memory ?? known, near, doing));
    rest.replaceChildren(...around(shown, more, doing));
  };
}

// The memory itself, and why it was recalled.
function itself({ found, id, strategy, connectors }, memory, near, { choose, toLine, actions }) {
  const parts = [element("p", { class: "name" }, element("span", { class: `chip kind-${memory?.kind ?? ""}`, text: memory?.kind ?? "memory" }), ` ${id}`)];
  const text = said(memory) || "Its text is not known.";
  parts.push(element("p", { class: "text", tabindex: text.length > SCROLLED && 0, text }));
  parts.push(facts(memory), ...(memory ? actions(memory) : []));
  if (memory && connectors.includes(memory.kind)) parts.push(element("p", { class: "muted", text: "It joins memories. Recalls go over it, but a context never holds it." }));
  if (found) parts.push(element("h3", { text: "Why" }), ...why(found, id, strategy, near, { choose, toLine }));
  return parts;
}

// Its versions, when all about it came about, its conversation, and its neighbours.
function around({ id, connectors }, { near, failed }, { choose }) {
  if (!near) return [element("h3", { text: "Neighbours" }), element("p", { class: "muted", text: failed ?? "…" })];
  const heading = element("h3", { text: `Neighbours: ${counted(near.degree, "edge")}` });
  const neighbours = listed("ul", near.neighbours, (each) => neighbour(each, choose));
  return [...sequence(near, id, choose), ...timeline(near, id, connectors, choose), ...thread(near, id, choose), heading, ...neighbours];
}

// A fact that changed: its versions, the oldest first.
function sequence(near, id, choose) {
  if (!near.versions.length) return [];
  const make = (memory) => step(memory, id, choose, memory.id === near.superseded_by ? `${date(memory.created_at)} · replaced it` : date(memory.created_at));
  return [element("h3", { text: "How it changed" }), element("ol", { class: "line-of" }, ...near.versions.map(make))];
}

// A conversation, as it was said; a date is that of the messages below it, too.
function thread(near, id, choose) {
  if (near.thread.length < 2) return [];
  return [element("h3", { text: "Conversation" }), element("ol", { class: "line-of thread" }, ...near.thread.map((memory, n) => step(memory, id, choose, isSameDay(memory, near.thread[n - 1]) ? "" : date(memory.created_at))))];
}

// A memory, its neighbours, versions and conversation on an axis of time: as far apart as they came
// about. Connectors are left out: their time is that of the write.
function timeline(near, id, connectors, choose) {
  const known = [near.memory, ...near.neighbours.map((each) => each.memory), ...near.versions, ...near.thread];
  const all = known.filter((memory) => memory?.created_at && !connectors.includes(memory.kind));
  const dated = [...new Map(all.map((memory) => [memory.id, memory])).values()];
  const times = dated.map((memory) => Date.parse(memory.created_at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  if (dated.length < 2 || from === to) return [];
  const axis = element("div", { class: "axis" });
  for (const [n, memory] of dated.entries()) {
    const text = `${date(memory.created_at)} ${said(memory) || memory.id}`;
    const dot = element("button", { type: "button", class: `dot kind-${memory.kind}${memory.id === id ? " chosen" : ""}`, title: text, "aria-label": text, onclick: () => choose(memory.id, { reveal: true }) });
    dot.style.insetInlineStart = `${(100 * (times[n] - from)) / (to - from)}%`;
    axis.append(dot);
  }
  const days = [from, to].map((each) => new Date(each).toISOString());
  const inWords = date(days[0]) === date(days[1]) ? time : date;
  const ends = element("p", { class: "ends muted" }, ...days.map((text) => element("span", { text: inWords(text) })));
  return [element("h3", { text: "In time" }), axis, ends];
}

function isSameDay(memory, other) {
  return date(memory.created_at) === date(other?.created_at);
}

function step(memory, id, choose, note) {
  const mine = memory.id === id;
  const text = mine ? element("span", { text: said(memory) }) : button(memory, choose, 200);
  return element("li", { class: mine ? "chosen" : "", "aria-current": mine && "true" }, note ? element("span", { class: "muted", text: note }) : "", text);
}

function facts(memory) {
  const list = element("dl");
  const shown = { tags: "Tags", topics: "Topics", entities: "Entities", category: "Category", created_at: "Made", valid_until: "Valid until" };
  for (const [name, label] of Object.entries(shown)) {
    const value = memory?.[name];
    const text = Array.isArray(value) ? value.join(", ") : ["created_at", "valid_until"].includes(name) ? time(value) : value;
    if (text) list.append(element("dt", { text: label }), element("dd", { text }));
  }
  return list;
}

function isReached(found, id) {
  const hits = [...found.seeds, ...found.runners_up, ...(found.echoes ?? [])];
  return Boolean(wayTo(found, id)) || hits.some((each) => each.id === id) || Boolean(found.needed?.some((path) => path.ids.at(-1) === id));
}

// Why a memory has its place: its rank, the context, the strongest way to it, its shares.
function why(found, id, strategy, near, { choose, toLine }) {
  const rank = found.ranked.findIndex((entry) => entry.id === id);
  const entry = found.ranked[rank];
  const omitted = found.context.omitted.find((item) => item.id === id);
  const lines = [];
  if (entry) lines.push(`Rank ${rank + 1} of ${found.ranked.length}, ${likely(entry)}.`);
  const item = found.context.items.find((each) => each.id === id);
  if (item) lines.push(element("span", {}, "In the context: ", element("button", { type: "button", class: "label", text: `[${item.label || item.id}]`, title: "Show its line", onclick: () => toLine(id) }), "."));
  else if (omitted) lines.push(`Left out of the context: ${whyLeftOut(omitted)}.`);
  const seed = found.seeds.find((each) => each.id === id);
  if (seed) lines.push(hit("A seed: the search found it", seed));
  const runner = found.runners_up.find((each) => each.id === id);
  if (runner) lines.push(hit("The search found it, but it is not a seed", runner));
  const echo = found.echoes?.some((each) => each.id === id); // older traces have none
  if (echo) lines.push("An earlier question, which says no more than this one.");
  const needers = Object.keys(entry?.needed_by ?? {}); // older traces have none
  if (needers.length) lines.push(`Needed by ${needers.join(", ")}.`);
  if (entry?.shares.adjacent) lines.push(`It is next to ${entry.adjacent.join(", ")}.`);
  const chain = found.needed?.find((path) => path.ids.at(-1) === id);
  if (chain) lines.push(`Needs lead to it: ${chain.ids.join(", ")}.`);
  const way = wayTo(found, id);
  if (!isReached(found, id)) lines.push("This recall did not reach it.", ...(near ? whyNotReached(found, near) : []));
  const parts = lines.length ? [element("p", {}, ...lines.flatMap((line) => [line, " "]))] : [];
  if (way?.hops.length) parts.push(...steps(found, way, strategy, choose));
  if (entry && Object.values(entry.shares).some((share) => share !== 0)) {
    parts.push(...shareTable(entry));
    if (!found.trace.vector) parts.push(element("p", { class: "muted", text: "The question has no vector: the shares of meaning are guessed from the words." }));
  }
  return parts;
}

// The memories on the strongest way to a memory, beginning at a hit; the numbers on request.
function steps(found, way, strategy, choose) {
  const { hops } = way;
  const step = (hop) => element("li", {}, element("span", { class: "muted", text: `${arrow(hop)} ` }), opener(found, hop.target, choose));
  const first = element("li", {}, element("span", { class: "muted", text: "found by the search: " }), opener(found, hops[0].source, choose));
  const numbers = hops.map((hop) => element("li", { text: ledger(hop, strategy) }));
  const parts = [element("p", { text: `The strongest way to it, in ${counted(hops.length, "step")}:` }), element("ol", { class: "line-of steps" }, first, ...hops.map(step))];
  if (way.end) parts.push(element("p", { class: "muted", text: `Here the path ${ENDS[way.end]}.` }));
  parts.push(element("details", {}, element("summary", { text: "The energy of each step" }), element("ol", { class: "way" }, ...numbers)));
  return parts;
}

// Why a memory is in no path and no list of hits, as far as the scope says it now.
function whyNotReached(found, near) {
  const { memory, superseded_by: by } = near;
  if (!memory) return ["The scope has no memory with this id."];
  const lines = [];
  if (by) lines.push(`${by} has taken its place: recalls of the present leave it out.`);
  if (memory.valid_until && new Date(memory.valid_until) < new Date(found.trace.started_at)) lines.push(`It held until ${memory.valid_until}: later recalls leave it out.`);
  if (lines.length) return lines;
  const reached = new Set(found.explorations.flatMap((each) => each.paths.flatMap((path) => path.ids)));
  const ids = new Set(near.neighbours.map((each) => each.memory.id).filter((id) => reached.has(id)));
  lines.push("It was not among the hits of the search.");
  if (!near.degree) lines.push("No edge leads to it.");
  else if (!ids.size) lines.push(`No energy came to what ${near.degree > near.neighbours.length ? "its strongest edges join it to" : "it is joined to"}.`);
  else lines.push(`Energy came as far as ${[...ids].slice(0, 3).join(", ")}, and not on to it: the edge is weak, shares no tag with the question or is one of many; or the depth was reached.`);
  return lines;
}

function hit(what, seed) {
  const places = [];
  if (seed.vector_rank) places.push(`place ${seed.vector_rank} by meaning`);
  if (seed.text_rank) places.push(`place ${seed.text_rank} by words`);
  return `${what}${places.length ? ` (${places.join(", ")})` : ""}.`;
}

// The way on which most energy reached a memory.
function wayTo(found, id) {
  let best = null;
  for (const exploration of found.explorations) {
    for (const path of exploration.paths) {
      const at = path.ids.indexOf(id);
      if (at < 0) continue;
      const hops = path.hops.slice(0, at);
      const energy = hops.length ? hops.at(-1).energy_out : exploration.seed.score;
      const end = at === path.ids.length - 1 ? path.end_reason : null;
      if (!best || energy > best.energy || (energy === best.energy && end && !best.end)) best = { seed: path.seed_id, hops, energy, end };
    }
  }
  return best;
}

function neighbour(each, choose) {
  const text = `${arrow(each)} · weight ${number(each.weight)}${each.tags.length ? ` · ${each.tags.join(", ")}` : ""}`;
  return element("li", {}, button(each.memory, choose), element("span", { class: "muted", text: ` ${each.memory.id} · ${text}` }));
}
