// Numbers and names as a reader sees them, and elements made of texts: never of HTML.

export function element(name, { text, title, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text != null) made.textContent = visible(`${text}`);
  if (title !== undefined) made.title = visible(title);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key === "aria-label") made.setAttribute(key, visible(value));
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return made;
}

// Characters that reverse what follows them are shown as codes: with them, an id can look like another.
export function visible(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (mark) => `\\u${mark.codePointAt(0).toString(16)}`);
}

export function number(value) {
  if (!value) return "0";
  const size = Math.abs(value);
  return size < 0.001 ? value.toExponential(2) : value.toFixed(size < 10 ? 3 : 1);
}

export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

// What a memory says, with who said it before it, as `MemoryNode.said` has it.
export function said(memory) {
  const { text, metadata = {} } = memory ?? {};
  const role = "conversation" in metadata && ["user", "assistant", "tool", "system"].includes(metadata.role);
  const speaker = typeof metadata.speaker === "string" && metadata.speaker.trim() ? metadata.speaker : role && metadata.role;
  return text && speaker && !text.startsWith(`${speaker}: `) ? `${speaker}: ${text}` : text;
}

export function spaced(name) {
  return name.replaceAll("_", " ");
}

// A title stays apart from the text below it.
export function oneLine(text) {
  return visible(text.trim().replace(/\s*\n\s*/g, " · ").replace(/\s+/g, " "));
}

export function cut(text, most) {
  const letters = [...oneLine(text)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : letters.join("");
}

const MOST_LETTERS = 160;
const widths = new Map(); // width of each letter in the page's own font, in parts of its size
let ruler = null;

function widthOf(letter) {
  if (!ruler) {
    ruler = document.createElement("canvas").getContext("2d");
    ruler.font = `100px ${getComputedStyle(document.body).fontFamily}`;
  }
  if (!widths.has(letter)) widths.set(letter, ruler.measureText(letter).width / 100);
  return widths.get(letter);
}

export function pixels(text, size) {
  return size * [...text].reduce((sum, letter) => sum + widthOf(letter), 0);
}

// Cuts a text to a width in pixels.
export function fit(text, width, size) {
  const letters = [...oneLine(text.slice(0, 4 * MOST_LETTERS))].slice(0, MOST_LETTERS);
  const room = width / size;
  let used = 0;
  let end = 0; // letters that leave room for an ellipsis
  for (const [n, letter] of letters.entries()) {
    used += widthOf(letter);
    if (used > room) return `${letters.slice(0, end).join("").trimEnd()}…`;
    if (used + widthOf("…") <= room) end = n + 1;
  }
  return letters.join("");
}

// Breaks a text into two lines of a width in pixels; the second is cut.
export function twoLines(text, width, size) {
  const words = oneLine(text.slice(0, 4 * MOST_LETTERS)).split(" ");
  let used = 0;
  let taken = 0;
  for (const word of words) {
    used += pixels(`${word} `, size);
    if (used > width) break;
    taken++;
  }
  if (!taken) return [fit(text, width, size), ""];
  return [words.slice(0, taken).join(" "), fit(words.slice(taken).join(" "), width, size)];
}

// Cuts a text to a width in pixels from its beginning: the end of an id tells parts of a note apart.
export function tail(text, width, size) {
  const letters = [...oneLine(text)];
  let used = 0;
  for (let n = letters.length - 1; n >= 0; n--) {
    used += widthOf(letters[n]);
    if (used + (n ? widthOf("…") : 0) > width / size) return `…${letters.slice(n + 1).join("")}`;
  }
  return letters.join("");
}

export function date(text) {
  return text ? text.slice(0, 10) : "";
}

export function time(text) {
  return text ? text.slice(0, 16).replace("T", " ") : "";
}

export const ENDS = {
  max_depth: "ends: the greatest depth is reached",
  below_threshold: "ends: what it would pass on is below the threshold",
  dead_end: "ends: it is joined to nothing further",
  truncated: "ends: the time was up",
  not_explored: "a hit of the search, or a chain of needs; not explored",
};
export const SHORT_ENDS = {
  max_depth: "greatest depth",
  below_threshold: "below threshold",
  dead_end: "dead end",
  truncated: "time was up",
};

export function arrow(hop) {
  const relation = spaced(hop.relation || "joined");
  return hop.direction === "out" ? `${relation} →` : `← ${relation}`;
}

// What went over an edge. Only under transfer energy is it this formula.
export function ledger(hop, strategy) {
  const ends = `${hop.source} ${hop.direction === "out" ? "→" : "←"} ${hop.target}`;
  const [before, after] = [number(hop.energy_in), number(hop.energy_out)];
  const [weight, likeness] = [number(hop.weight), number(hop.tag_similarity)];
  const tags = hop.tags.length ? ` · tags: ${hop.tags.join(", ")}` : "";
  const sum =
    strategy === "transfer"
      ? `energy ${before} × weight ${weight} / √degree ${hop.degree} × tag similarity ${likeness} = ${after}`
      : `energy ${before} to ${after} · weight ${weight}, degree ${hop.degree}, tag similarity ${likeness}`;
  return `${ends} · ${spaced(hop.relation || "joined")} · ${sum}${tags}`;
}

export function whyLeftOut(item) {
  const reasons = {
    budget: "there was no room left in the budget",
    duplicate: `${item.duplicate_of} is better and says the same`,
    no_text: "it has no text, or its text could not be read in time",
    relevance: "it is too unlikely to be evidence for the question",
    filter: "it was only on the way: it does not fit the filter, or only asks what the question asks",
  };
  return reasons[item.reason] ?? spaced(item.reason);
}
