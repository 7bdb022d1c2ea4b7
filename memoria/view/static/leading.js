// Which paths lead to the context, and the legend of the graph.

import { counted, element } from "./words.js";

const SEPARATOR = "\u0000";
const keyOf = (ids) => ids.join(SEPARATOR);

export function pathsOf(document) {
  return document.explorations.flatMap((each) => each.paths);
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
  const all = pathsOf(document).map((path) => path.ids);
  const on = new Set(all.flatMap(beginnings));
  return { leading: leading.length, others: all.length - leading.filter((end) => on.has(end)).length };
}

function beginnings(ids) {
  return ids.map((_, n) => keyOf(ids.slice(0, n + 1)));
}

// Says what each colour and line of the graph means.
export function legend(memories, { again, found }) {
  const kinds = [...new Set(Object.values(memories).map((memory) => memory.kind))].sort();
  const lines = [
    ["energy-of", "energy (line, disc)"],
    ["packed-of", "in the context"],
    ["chosen-of", "chosen"],
    ...(again ? [["new-of", "new with these limits"], ["gone-of", "gone with these limits"]] : []),
    ...(found ? [["match-of", "found"]] : []),
  ];
  return [...kinds.map((kind) => element("li", { class: `kind-${kind}`, text: kind || "unknown kind" })), ...lines.map(([name, text]) => element("li", { class: `sign ${name}`, text }))];
}
