// What there is before a question: scopes with their sizes, questions to try, the newest memories.

import { ask } from "./api.js";
import { counted, cut, date, element, said } from "./words.js";

const SHOWN = 12; // scopes

function showScopes(scopes, current, choose) {
  const sizes = [...scopes].sort((a, b) => b.memories - a.memories);
  const button = ({ scope, memories }) =>
    element("li", {}, element("button", { type: "button", class: "scope", "aria-pressed": String(scope === current), onclick: () => choose(scope) }, scope, element("span", { class: "muted", text: ` ${counted(memories, "memory", "memories")}` })));
  const parts = [element("h3", { text: `Scopes: ${scopes.length}` }), element("ul", { class: "chips" }, ...sizes.slice(0, SHOWN).map(button))];
  if (sizes.length > SHOWN) {
    const rest = element("ul", { class: "chips" }, ...sizes.slice(SHOWN).map(button));
    parts.push(element("details", {}, element("summary", { text: `${sizes.length - SHOWN} more scopes` }), rest));
  }
  return parts;
}

// Shows a scope below the list of all scopes; `known` are all scopes, or null if they can't be read.
export async function showStart(body, scope, known, { choose, askFor, open }) {
  const scopes = known ? showScopes(known, scope, choose) : [];
  body.replaceChildren(...scopes, element("p", { class: "muted", text: "…" }));
  const found = await ask(`/api/overview?${new URLSearchParams({ scope })}`);
  if (!found.memories) {
    const near = nearest(scope, known ?? []);
    const text = `Scope ${scope} has no memories.${near ? ` Did you mean ${near}?` : ""}`;
    body.replaceChildren(...scopes, element("p", { text }));
    return;
  }
  const kinds = Object.entries(found.kinds).map(([kind, count]) => element("li", { class: `kind-${kind}`, text: `${kind} ${count}` }));
  const questions = found.questions.map((text) => element("li", {}, element("button", { type: "button", class: "memory", text, onclick: () => askFor(text) })));
  const recent = found.recent.map((memory) =>
    element("li", {}, element("button", { type: "button", class: "memory", text: cut(said(memory) || memory.id, 140), onclick: () => open(memory) }), element("span", { class: "muted", text: ` ${date(memory.created_at)} ${memory.kind}` })),
  );
  body.replaceChildren(
    ...scopes,
    element("h3", { text: `${scope}: ${counted(found.memories, "memory", "memories")}` }),
    element("ul", { class: "kinds", "aria-label": "Kinds" }, ...kinds),
    ...(questions.length ? [element("h3", { text: "Questions to try" }), element("ul", {}, ...questions)] : []),
    element("h3", { text: "Newest memories" }),
    element("ul", {}, ...recent),
  );
}

// The scope whose name differs least from a mistyped one, by pairs of letters.
export function nearest(name, known) {
  const pairs = (text) => new Set([...text.toLowerCase()].map((letter, n, all) => letter + (all[n + 1] ?? "")));
  const wanted = pairs(name);
  let best = [0, ""];
  for (const { scope } of known) {
    const found = pairs(scope);
    const both = [...wanted].filter((pair) => found.has(pair)).length;
    const alike = (2 * both) / (wanted.size + found.size);
    if (scope !== name && alike > best[0]) best = [alike, scope];
  }
  return best[0] > 0.5 ? best[1] : "";
}
