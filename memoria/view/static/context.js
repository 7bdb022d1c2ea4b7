// The context as a prompt gets it: the name of each memory leads to its box, and back.

import { listed, opener } from "./lists.js";
import { counted, element, whyLeftOut } from "./words.js";

export function showContext(body, found, { choose, say }) {
  const { context } = found;
  const counts = `${counted(context.items.length, "memory", "memories")}, ${counted(context.tokens, "token")}`;
  const bar = element("p", { class: "bar-of" }, element("span", { text: counts }));
  const parts = [bar];
  if (context.text) {
    bar.append(element("button", { type: "button", id: "copy", text: "Copy", onclick: () => copy(context.text, say) }));
    parts.push(element("pre", { tabindex: 0, role: "region", "aria-label": "Text of the context" }, ...lines(context, choose)));
  }
  if (context.omitted.length) {
    const make = (item) => element("li", {}, opener(found, item.id, choose), element("span", { class: "muted", text: ` ${item.id}: ${whyLeftOut(item)}` }));
    parts.push(element("details", {}, element("summary", { text: `Left out: ${context.omitted.length}` }), ...listed("ul", context.omitted, make)));
  }
  body.replaceChildren(...parts);
}

// Marks the lines of a memory, and returns the first one.
export function markInContext(body, id) {
  for (const line of body.querySelectorAll(".line")) line.classList.toggle("chosen", line.dataset.id === id);
  const box = body.querySelector("pre");
  const line = body.querySelector(".line.chosen");
  if (line) box.scrollTop = line.offsetTop - box.offsetTop - 20;
  return line;
}

// Each line belongs to the memory whose name began it or a line before it; a line with a date alone, to none.
function lines(context, choose) {
  const ids = new Map(context.items.map((item) => [item.label || item.id, item.id]));
  let id = "";
  return context.text.split("\n").flatMap((text, n) => {
    const parts = text.split(/(\[[^\]\n]+\])/);
    const at = parts.findIndex((part) => ids.has(part.slice(1, -1)));
    if (at >= 0) id = ids.get(parts[at].slice(1, -1));
    else if (/^\d{4}-\d{2}-\d{2}:$/.test(text)) id = "";
    const mine = id;
    const shown = at < 0 ? [text] : [parts.slice(0, at).join(""), element("button", { type: "button", class: "label", text: parts[at], title: "Show it in the graph", onclick: () => choose(mine, { reveal: true, toBox: true }) }), parts.slice(at + 1).join("")];
    const line = element("span", { class: "line" }, ...shown);
    line.dataset.id = mine;
    return n ? ["\n", line] : [line];
  });
}

async function copy(text, say) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say("The browser refused to copy: select the text, and copy it.", true);
  }
}
