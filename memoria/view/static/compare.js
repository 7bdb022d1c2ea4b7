// Two recalls side by side: one that was kept, and the one that is shown.

import { settingInWords, STRATEGIES } from "./settings.js";
import { counted, cut, element, said } from "./words.js";

const SHOWN = 20;

export function showComparison(body, kept, found, choose) {
  const [before, after] = [kept, found].map(placesOf);
  const differing = differences(flat(kept), flat(found));
  const ids = new Set([...kept.ranked.slice(0, SHOWN), ...found.ranked.slice(0, SHOWN)].map((entry) => entry.id));
  const order = (id) => after.rank.get(id) ?? Infinity;
  const rows = [...ids].sort((a, b) => order(a) - order(b) || before.rank.get(a) - before.rank.get(b)).map((id) => {
    const text = said(found.memories[id] ?? kept.memories[id]) || id;
    const button = element("button", { type: "button", class: "memory", text: cut(text, 60), onclick: () => choose(id) });
    return element("tr", {}, element("td", {}, button), place(before, id), place(after, id));
  });
  const names = ["memory", "kept", "shown"].map((text) => element("th", { scope: "col", text }));
  const caption = `The first ${SHOWN} of both: rank, and ✓ for the context`;
  body.replaceChildren(
    element("p", { text: inContexts(before.packed, after.packed) }),
    element("ul", {}, ...differing.map((text) => element("li", { text }))),
    element("table", {}, element("caption", { text: caption }), element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows)),
  );
}

function placesOf(document) {
  return {
    rank: new Map(document.ranked.map((entry, n) => [entry.id, n + 1])),
    packed: new Set(document.context.items.map((item) => item.id)),
  };
}

function place({ rank, packed }, id) {
  const text = rank.has(id) ? `${rank.get(id)}${packed.has(id) ? " ✓" : ""}` : "–";
  const spoken = rank.has(id) ? `rank ${rank.get(id)}${packed.has(id) ? ", in the context" : ""}` : "not found";
  return element("td", { class: "number", "aria-label": spoken, text });
}

function inContexts(before, after) {
  const both = [...after].filter((id) => before.has(id)).length;
  const [lost, won] = [before.size - both, after.size - both];
  return `${counted(both, "memory", "memories")} in both contexts, ${lost} in the kept one only, ${won} in the shown one only.`;
}

// What was asked, and the settings, by name.
function flat(document) {
  const settings = { question: document.query, tags: document.query_tags.join(", "), scope: document.scope };
  const add = (name, value) => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) add(name ? `${name}.${key}` : key, inner);
    } else if (name === "strategy.name") settings[name] = STRATEGIES[value] ?? value;
    else settings[name] = JSON.stringify(value);
  };
  add("", document.trace.config);
  return settings;
}

// Settings that only one of two strategies has can't be compared.
function differences(before, after) {
  const other = before["strategy.name"] !== after["strategy.name"];
  const isOfOne = (name) => other && name.startsWith("strategy.") && !(name in before && name in after);
  return Object.keys({ ...before, ...after })
    .filter((name) => before[name] !== after[name] && !isOfOne(name))
    .map((name) => `${settingInWords(name)}: ${before[name] ?? "–"} → ${after[name] ?? "–"}`);
}
