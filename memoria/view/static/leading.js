// Which paths lead to the context, and the legend of the graph.

import { counted, element } from "./words.js";

const COLOURED = new Set(["UserRequest", "UserPreference", "AgentAnswer", "AgentAction", "Event", "DataSource"]); // as in style.css
const SEPARATOR = "\u0000";

export function keyOf(ids) {
  return ids.join(SEPARATOR);
}

export function pathsOf(document) {
  return document.explorations.flatMap((each) => each.paths);
}

// The ways from a seed to each memory that was reached.
export function waysOf(document) {
  return new Set(pathsOf(document).flatMap((path) => beginnings(path.ids)));
}

// The ways to the memories of the context: [ids, ...], some of them the beginning of others.
export function waysTo(context) {
  return context.items.map(({ id, path }) => path.slice(0, path.indexOf(id) + 1 || path.length));
}

// The paths of no exploration that lead to the context: hits of the search, and chains of needs.
export function otherPaths(document) {
  const led = new Set(waysTo(document.context).map(keyOf));
  return [...(document.hits ?? []), ...(document.needed ?? [])].filter((path) => led.has(keyOf(path.ids))); // older traces lack some
}

// How many paths lead to the context, and how many others there are; as `Recall.leading` has it.
export function countLeading(document) {
  const ends = new Set(waysTo(document.context).map(keyOf));
  const begun = new Set([...ends].flatMap((end) => [...beginnings(end.split(SEPARATOR))].slice(0, -1)));
  const leading = [...ends].filter((end) => !begun.has(end));
  const on = waysOf(document);
  return { leading: leading.length, others: pathsOf(document).length - leading.filter((end) => on.has(end)).length };
}

// The keys of a way and of all its beginnings.
export function beginnings(ids) {
  return ids.map((_, n) => keyOf(ids.slice(0, n + 1)));
}

// Says what each colour and line of the graph means; kinds without a colour of their own share one.
export function legend(memories, { again, found }) {
  const kinds = [...new Set(Object.values(memories).map((memory) => memory.kind || "unknown kind"))].sort();
  const discs = new Map();
  for (const kind of kinds) {
    const name = COLOURED.has(kind) ? `kind-${kind}` : "kind-";
    discs.set(name, [...(discs.get(name) ?? []), kind]);
  }
  const lines = [
    ["energy-of", "energy (line, disc)"],
    ["packed-of", "in the context"],
    ["chosen-of", "chosen"],
    ...(again ? [["new-of", "new with these limits"], ["gone-of", "gone with these limits"]] : []),
    ...(found ? [["match-of", "found"]] : []),
  ];
  const signs = lines.map(([name, text]) => [`sign ${name}`, [text]]);
  return [...discs, ...signs].map(([name, texts]) => element("li", { class: name, text: texts.join(", ") }));
}
