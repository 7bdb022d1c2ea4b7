// Lists of memories that stay short until more is asked for.

import { cut, element, said } from "./words.js";

const SHOWN = 10;

// A list of which the first entries are made, and the others when they are asked for.
export function listed(name, entries, make) {
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

export function button(memory, choose, most = 90) {
  const text = said(memory);
  return element("button", { type: "button", class: "memory", text: text ? cut(text, most) : memory.id, onclick: () => choose(memory.id, { reveal: true }) });
}

export function opener(found, id, choose) {
  return button(found.memories[id] ?? { id }, choose);
}
