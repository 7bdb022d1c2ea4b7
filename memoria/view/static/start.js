// What there is before a question: scopes with their sizes, questions to try, the newest memories.

import { ask } from "./api.js";
import { counted, cut, date, element, said } from "./words.js";

const SHOWN = 12; // scopes
const LIKE = 0.6; // least share of letters that a mistyped name has in common with a scope

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

// The scope that a mistyped name probably means: the one with most letters in common, in their order.
export function nearest(name, known) {
  let best = [LIKE, ""];
  for (const { scope } of known) {
    const like = (2 * inCommon(name.toLowerCase(), scope.toLowerCase())) / (name.length + scope.length);
    if (scope !== name && like > best[0]) best = [like, scope];
  }
  return best[1];
}

// The number of letters that two texts have in common, in the same order.
function inCommon(one, other) {
  let row = new Array(other.length + 1).fill(0);
  for (const letter of one) {
    const next = [0];
    for (let n = 0; n < other.length; n++) next.push(letter === other[n] ? row[n] + 1 : Math.max(row[n + 1], next[n]));
    row = next;
  }
  return row.at(-1);
}
