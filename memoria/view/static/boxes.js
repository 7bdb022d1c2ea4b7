// Draws the boxes and the edges of the graph. `look` says how: {outlined, selected, isShown(node)}.

import { arrow, ENDS, fit, number, oneLine, pixels, said, SHORT_ENDS, spaced, tail, twoLines, visible } from "./words.js";

export const BOX = { width: 216, most: 340, outlined: 640, height: 62 }; // as wide as there is room for
export const GAP = 96;
export const INDENT = 20; // of the outline, a hop
const BEND = 24;
const WIDEST_EDGE = 14;
const LARGEST = 13; // radius of a memory with the energy 1
const SMALL = 11; // size of small letters
const LETTERS = 12; // size of the letters of its text
const TEXT = 36; // where the text of a box begins
const HANDLE = 34; // room for the button that folds
const ALIKE = 3; // texts with so many words in common at the beginning are told apart by the next ones
const COMPARED = 240; // letters of a text that are compared

export function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Texts that begin alike, as the parts of one note do, lose words at the beginning where the box has
// no room for the words that tell them apart; who said them stays.
export function distinguish(nodes) {
  const groups = new Map();
  for (const node of nodes) {
    node.words ??= oneLine(said(node.memory)?.slice(0, COMPARED) || node.id).split(" ");
    const key = node.words.slice(0, ALIKE).join(" ");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(node);
  }
  for (const group of groups.values()) {
    const [first] = group;
    const texts = new Map(group.map(({ words }) => [words.join(" "), words]));
    let alike = 0;
    if (texts.size > 1) {
      while (alike < first.words.length && [...texts.values()].every((words) => words[alike] === first.words[alike])) alike++;
    }
    for (const node of group) {
      const label = alike < ALIKE ? node.words.join(" ") : whatDiffers(node, alike);
      if (node.label !== label) node.stale = true;
      node.label = label;
    }
  }
}

// The text of a box, whole if it fits; else from the first word that differs, or further back if its end fits.
function whatDiffers({ memory, words, width }, alike) {
  const fits = (text) => twoLines(text, width - TEXT - HANDLE, LETTERS).filter(Boolean).join(" ") === oneLine(text);
  const whole = words.join(" ");
  if (fits(whole)) return whole;
  const differs = words.findIndex((word, n) => n >= alike && /[\p{L}\p{N}]/u.test(word));
  const from = (at) => `${speakerOf(memory)}… ${words.slice(at).join(" ")}`;
  let at = differs < 0 ? words.length - 1 : differs;
  while (at > 1 && fits(from(at - 1))) at--;
  return from(at);
}

function speakerOf(memory) {
  return memory?.text ? said(memory).slice(0, -memory.text.length) : "";
}

export function drawBox(node, look) {
  const { memory, energy, element, width } = node;
  element.setAttribute("class", ["node", node.mark, node.packed && "packed", node.match && "match"].filter(Boolean).join(" "));
  describe(node, said(memory) || node.id, look);
  const under = node.below.filter(look.isShown).length;
  const radius = Math.max(2, LARGEST * Math.sqrt(Math.min(Math.max(energy, 0), 1)));
  const room = width - TEXT - (under ? HANDLE : 8);
  const [one, two] = twoLines(node.label, room, LETTERS);
  element.replaceChildren(
    shape("rect", { y: -BOX.height / 2, width, height: BOX.height, rx: 6 }),
    shape("circle", { class: `kind-${memory?.kind ?? ""}`, cx: 18, r: radius.toFixed(2) }),
    shape("text", { x: TEXT, y: -13 }, one),
    shape("text", { x: TEXT, y: 2 }, two),
    shape("text", { class: "muted", x: TEXT, y: 21 }, small(node, width - TEXT - 52, look)),
    shape("text", { class: "energy", x: width - 8, y: 21 }, number(energy)),
  );
  if (under) element.append(handle(width, node.folded ? `+${under}` : "−"));
  // Not drawn with the edge: other edges would cross it.
  if (node.hop && !look.outlined) element.append(shape("text", { class: "relation", x: -4, y: -10 }, fit(arrow(node.hop), GAP - BEND / 2, SMALL)));
}

// What a screen reader is told.
function describe(node, text, look) {
  const [place, all] = node.among.split(" ");
  const { element } = node;
  element.setAttribute("aria-level", node.depth + 1);
  element.setAttribute("aria-posinset", place);
  element.setAttribute("aria-setsize", all);
  if (node.below.some(look.isShown)) element.setAttribute("aria-expanded", String(!node.folded));
  else element.removeAttribute("aria-expanded");
  element.setAttribute("aria-selected", String(node.id === look.selected));
  element.setAttribute("aria-label", visible(spoken(node, text)));
}

// The small line of a box: in an outline the relation, then the id as far as there is room for it, then
// why the path ends.
function small(node, room, look) {
  const relation = look.outlined && node.hop ? fit(arrow(node.hop), room / 2, SMALL) : "";
  const end = (!node.below.length && SHORT_ENDS[node.end]) || "";
  const inLine = (id) => [relation, id, end].filter(Boolean).join(" · ");
  const id = tail(node.id, room - pixels(inLine(" "), SMALL), SMALL);
  return fit(inLine(id === "…" ? "" : id), room, SMALL);
}

function handle(width, text) {
  const made = shape("g", { class: "handle", "aria-hidden": "true" });
  made.append(
    shape("rect", { x: width - 30, y: -BOX.height / 2 + 4, width: 26, height: 20, rx: 4 }),
    shape("text", { x: width - 17, y: -BOX.height / 2 + 18 }, text),
  );
  return made;
}

export function drawEdge(node, { outlined }) {
  const { parent } = node;
  const flow = Math.sqrt(Math.min(Math.max(node.energy, 0), 1));
  const width = Math.min(outlined ? INDENT / 2 : WIDEST_EDGE, Math.max(1.5, WIDEST_EDGE * flow));
  const start = parent.x + parent.width;
  const [middle, turned] = [start + BEND / 2, start + BEND];
  const d = outlined
    ? `M${parent.x + INDENT / 2} ${parent.y + BOX.height / 2} V${node.y} H${node.x}`
    : `M${start} ${parent.y} C${middle} ${parent.y} ${middle} ${node.y} ${turned} ${node.y} H${node.x}`;
  node.line.setAttribute("class", `edge ${node.mark}`);
  node.line.replaceChildren(shape("path", { d, "stroke-width": width.toFixed(2) }));
}

function spoken(node, text) {
  const parts = [text, `energy ${number(node.energy)}`];
  if (node.hop) parts.push(`by ${spaced(node.hop.relation || "an edge")} from ${node.hop.source}`);
  else parts.push("seed");
  if (node.packed) parts.push("in the context");
  if (node.folded) parts.push("folded");
  if (node.mark === "new") parts.push("new with these settings");
  if (node.mark === "gone") parts.push("not reached with these settings");
  if (node.end) parts.push(spaced(ENDS[node.end] ?? node.end));
  return parts.join("; ");
}
