// Beside the tree: the context with what was left out, the ranking, and one memory with the reason
// for its place.

import { FEATURES } from "./features.js";
import { arrow, counted, cut, element, ENDS, ledger, number, said, spaced, whyLeftOut } from "./words.js";

const SHOWN = 30;

// A list of which the first entries are made, and the others when they are asked for.
function listed(name, entries, make) {
  const list = element(name);
  list.append(...entries.slice(0, SHOWN).map(make));
  if (entries.length <= SHOWN) return [list];
  const more = element("button", {
    type: "button",
    text: `Show ${entries.length - SHOWN} more`,
    onclick: () => {
      list.append(...entries.slice(SHOWN).map((entry, n) => make(entry, n + SHOWN)));
      more.remove();
    },
  });
  return [list, more];
}

function opener(found, id, choose) {
  const text = said(found.memories[id]);
  return element("button", {
    type: "button",
    class: "memory",
    text: text ? cut(text, 90) : id,
    onclick: () => choose(id),
  });
}

export function showContext(body, found, choose) {
  const { context } = found;
  const counts = `${counted(context.items.length, "memory", "memories")}, ${counted(context.tokens, "token")}`;
  const parts = [element("p", { text: counts })];
  if (context.text) parts.push(element("pre", { text: context.text, tabindex: 0, "aria-label": "Text of the context" }));
  parts.push(element("h3", { text: `Left out: ${context.omitted.length}` }));
  const make = (item) =>
    element("li", {}, opener(found, item.id, choose), element("span", { class: "muted", text: ` ${item.id}: ${whyLeftOut(item)}` }));
  parts.push(...listed("ul", context.omitted, make));
  body.replaceChildren(...parts);
}

export function showRanking(body, found, choose) {
  const packed = new Set(found.context.items.map((item) => item.id));
  const make = (entry) =>
    element(
      "li",
      {},
      opener(found, entry.id, choose),
      element("span", { class: "muted", text: ` ${entry.id} · score ${number(entry.score)}${packed.has(entry.id) ? " · in the context" : ""}` }),
      element("p", { class: "shares", text: sharesInWords(entry) }),
    );
  const note = found.ranked.some((entry) => Object.keys(entry.shares).length)
    ? "The shares of the features, each a value times its weight, add up to the place."
    : "Ranked by energy.";
  body.replaceChildren(element("p", { class: "muted", text: note }), ...listed("ol", found.ranked, make));
}

function strongest(entry) {
  return Object.entries(entry.shares)
    .filter(([, share]) => share !== 0)
    .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

function sharesInWords(entry) {
  return strongest(entry)
    .map(([name, share]) => `${spaced(name)} ${signed(share)}`)
    .join(" · ");
}

function signed(share) {
  return `${share < 0 ? "−" : "+"}${number(Math.abs(share))}`;
}

export function showMemory(body, { found, id, near, failed, strategy }, choose) {
  const memory = near?.memory ?? found.memories[id];
  const parts = [element("p", { class: "name" }, element("span", { class: `chip kind-${memory?.kind ?? ""}`, text: memory?.kind ?? "memory" }), ` ${id}`)];
  parts.push(element("p", { class: "text", text: said(memory) || "Its text is not known." }));
  parts.push(facts(memory), element("h3", { text: "Why" }), ...why(found, id, strategy, near));
  parts.push(element("h3", { text: near ? `Joined to ${counted(near.degree, "edge")}` : "Joined to" }));
  if (failed) parts.push(element("p", { class: "muted", text: failed }));
  else if (!near) parts.push(element("p", { class: "muted", text: "…" }));
  else parts.push(...listed("ul", near.neighbours, (each) => neighbour(each, choose)));
  body.replaceChildren(...parts);
}

function facts(memory) {
  const list = element("dl");
  const shown = { tags: "Tags", topics: "Topics", entities: "Entities", category: "Category", created_at: "Made", valid_until: "Valid until" };
  for (const [name, label] of Object.entries(shown)) {
    const value = memory?.[name];
    const text = Array.isArray(value) ? value.join(", ") : value;
    if (text) list.append(element("dt", { text: label }), element("dd", { text }));
  }
  return list;
}

// Why a memory has its place: its rank, the context, the strongest way to it, its shares.
function why(found, id, strategy, near) {
  const rank = found.ranked.findIndex((entry) => entry.id === id);
  const entry = found.ranked[rank];
  const omitted = found.context.omitted.find((item) => item.id === id);
  const lines = [];
  if (entry) lines.push(`Rank ${rank + 1} of ${found.ranked.length}, score ${number(entry.score)}.`);
  if (entry && entry.relevance !== null) lines.push(`Likely to be evidence: ${Math.round(entry.relevance * 100)} %.`);
  if (found.context.items.some((item) => item.id === id)) lines.push("In the context.");
  else if (omitted) lines.push(`Left out of the context: ${whyLeftOut(omitted)}.`);
  const seed = found.seeds.find((each) => each.id === id);
  if (seed) lines.push(hit("A seed", seed));
  const runner = found.runners_up.find((each) => each.id === id);
  if (runner) lines.push(hit("A hit of the search, but not a seed", runner));
  const echo = found.echoes?.some((each) => each.id === id); // older traces have none
  if (echo) lines.push("An earlier question, which says no more than this one.");
  const needers = Object.keys(entry?.needed_by ?? {}); // older traces have none
  if (needers.length) lines.push(`Needed by ${needers.join(", ")}.`);
  if (entry?.shares.adjacent) lines.push(`Next to ${entry.adjacent.join(", ")}.`);
  const chain = found.needed?.find((path) => path.ids.at(-1) === id);
  if (chain) lines.push(`Needs lead to it: ${chain.ids.join(", ")}.`);
  const way = wayTo(found, id);
  if (!way && !seed && !runner && !echo && !chain) lines.push("This recall did not reach it.", ...(near ? whyNotReached(found, near) : []));
  const parts = [element("p", { text: lines.join(" ") })];
  if (way?.hops.length) {
    const hops = way.hops.map((hop) => element("li", { title: arrow(hop), text: ledger(hop, strategy) }));
    parts.push(element("p", { text: `The strongest way to it, from the seed ${way.seed}:` }), element("ol", { class: "way" }, ...hops));
    if (way.end) parts.push(element("p", { class: "muted", text: `Here the path ${ENDS[way.end]}.` }));
  }
  if (entry && strongest(entry).length) {
    parts.push(shareTable(entry));
    if (!found.trace.vector) parts.push(element("p", { class: "muted", text: "The question has no vector: what stands here about meaning was guessed from the words." }));
  }
  return parts;
}

// Why a memory is in no path and no list of hits, as far as the scope says it now.
function whyNotReached(found, near) {
  const { memory, superseded_by: by } = near;
  if (!memory) return ["The scope holds no memory with this id."];
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
  if (seed.vector_rank) places.push(`${seed.vector_rank}. by meaning`);
  if (seed.text_rank) places.push(`${seed.text_rank}. by words`);
  return `${what}, score ${number(seed.score)}${places.length ? ` (${places.join(", ")})` : ""}.`;
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

function shareTable(entry) {
  const shares = strongest(entry);
  const most = Math.abs(shares[0][1]);
  const rows = shares.map(([name, share]) => {
    const bar = element("span", { class: share < 0 ? "bar less" : "bar" });
    bar.style.inlineSize = `${(100 * Math.abs(share)) / most}%`;
    return element("tr", {}, element("th", { scope: "row" }, FEATURES[name] ?? spaced(name), element("span", { class: "muted", text: ` ${name}` })), element("td", { class: "number", text: signed(share) }), element("td", { class: "bars", "aria-hidden": "true" }, bar));
  });
  return element("table", {}, element("caption", { text: "What its place is made of: the share of each feature" }), element("tbody", {}, ...rows));
}

function neighbour(each, choose) {
  const text = `${arrow(each)} · weight ${number(each.weight)}${each.tags.length ? ` · ${each.tags.join(", ")}` : ""}`;
  const button = element("button", { type: "button", class: "memory", text: cut(said(each.memory) || each.memory.id, 90), onclick: () => choose(each.memory.id) });
  return element("li", {}, button, element("span", { class: "muted", text: ` ${each.memory.id} · ${text}` }));
}
