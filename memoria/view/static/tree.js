// The paths as trees from left to right: a column a hop, a row a leaf. The strongest way goes straight.
// Only what is near to the view stands in the page, so that large recalls stay quick.
// A tree can be gone through with the arrow keys; only the memory that has the focus is a tab stop.

import { arrow, ENDS, fit, ledger, number, said, SHORT_ENDS, spaced } from "./words.js";

const BOX = { width: 212, height: 46 };
const GAP = 100;
const PITCH = 58;
const MARGIN = 12;
const BEND = 26;
const WIDEST_EDGE = 14;
const LARGEST = 15; // radius of a memory with the energy 1
const END_WIDTH = 110;
const AHEAD = 1600; // memories this near to what is seen are drawn; pixels
const SEPARATOR = "\u0000";

function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export class Tree {
  // `point(text)` is called with what the pointer or the focus is on, `choose(id)` with a memory.
  constructor(svg, { point, choose }) {
    this.svg = svg;
    this.point = point;
    this.choose = choose;
    this.edges = shape("g", { "aria-hidden": "true" });
    this.boxes = shape("g", { role: "presentation" });
    svg.append(this.edges, this.boxes);
    for (const kind of ["pointerover", "focusin"]) svg.addEventListener(kind, (e) => this.#over(e));
    svg.addEventListener("click", (e) => this.#click(e));
    svg.addEventListener("keydown", (e) => this.#key(e));
    this.view = svg.parentElement;
    this.view.addEventListener("scroll", () => {
      if (Math.abs(this.view.scrollTop - this.nearTo) > AHEAD / 4) this.#near();
    });
    window.addEventListener("resize", () => this.#near());
    this.clear("transfer");
  }

  clear(strategy) {
    this.strategy = strategy;
    this.nodes = new Map(); // way from the seed -> node
    this.roots = [];
    this.order = []; // the nodes from top to bottom, as the arrow keys go
    this.current = null;
    this.edges.replaceChildren();
    this.boxes.replaceChildren();
    this.draw();
  }

  seed(id, energy) {
    if (!this.nodes.has(id)) this.roots.push(this.#node(id, id, null, energy));
  }

  // Adds a path; `mark` is "", "new" or "gone".
  path(path, memories, mark = "") {
    let way = path.ids[0];
    this.seed(way, path.hops.length ? path.hops[0].energy_in : path.energy);
    let node = this.nodes.get(way);
    this.#know(node, memories[way]);
    for (const hop of path.hops) {
      way += SEPARATOR + hop.target;
      let next = this.nodes.get(way);
      if (!next) {
        next = this.#node(way, hop.target, node, hop.energy_out);
        next.hop = hop;
        next.mark = mark;
        node.below.push(next);
        node.stale = true;
      }
      this.#know(next, memories[hop.target]);
      node = next;
    }
    node.end = path.end_reason;
    node.stale = true;
    this.later();
  }

  // Marks the memories of the context.
  pack(ids) {
    for (const node of this.nodes.values()) {
      node.packed = ids.has(node.id);
      node.stale = true;
    }
    this.later();
  }

  select(id) {
    for (const node of this.nodes.values()) {
      node.element?.setAttribute("aria-selected", String(node.id === id));
    }
    this.selected = id;
  }

  // Draws once in a frame, however many paths came.
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    this.order = [];
    let rows = 0;
    let depth = 0;
    const place = (node) => {
      this.order.push(node);
      depth = Math.max(depth, node.depth);
      node.below.sort((a, b) => b.energy - a.energy || (a.id < b.id ? -1 : 1));
      node.below.forEach(place);
      node.y = node.below[0]?.y ?? MARGIN + PITCH * rows++ + BOX.height / 2;
    };
    this.roots.forEach(place);
    this.#number(this.roots);
    this.#near();
    const width = 2 * MARGIN + depth * (BOX.width + GAP) + BOX.width + END_WIDTH;
    this.svg.setAttribute("width", this.roots.length ? width : 0);
    this.svg.setAttribute("height", this.roots.length ? 2 * MARGIN + rows * PITCH : 0);
    if (!this.current && this.order.length) this.#stop(this.order[0]);
  }

  // Says of each memory which one of its siblings it is: a screen reader sees only those drawn.
  #number(siblings) {
    siblings.forEach((node, n) => {
      const among = `${n + 1} ${siblings.length}`;
      if (node.among !== among) node.stale = true;
      node.among = among;
      this.#number(node.below);
    });
  }

  // Draws what is in view or near it, and takes out what is not.
  #near() {
    this.nearTo = this.view.scrollTop;
    const [top, bottom] = [this.nearTo - AHEAD, this.nearTo + this.view.clientHeight + AHEAD];
    for (const node of this.order) {
      const from = node.parent?.y ?? node.y; // an edge may cross the view, far from both its ends
      if ((from <= bottom && node.y >= top) || node === this.current) this.#show(node);
      else if (node.element) this.#hide(node);
    }
    this.#inOrder();
  }

  // What is drawn stands in the page as it is read, from top to bottom. The memory with the focus
  // would lose it if it were moved; the others are moved around it.
  #inOrder() {
    let after = null;
    for (let at = this.order.length - 1; at >= 0; at--) {
      const { element } = this.order[at];
      if (!element) continue;
      if (element.nextSibling !== after && element !== document.activeElement) this.boxes.insertBefore(element, after);
      after = element;
    }
  }

  #hide(node) {
    node.element.remove();
    node.line?.remove();
    node.element = node.line = node.place = null;
  }

  #node(way, id, parent, energy) {
    const depth = parent ? parent.depth + 1 : 0;
    const node = { way, id, parent, energy, depth, below: [], mark: "", among: "1 1", stale: true };
    this.nodes.set(way, node);
    return node;
  }

  #know(node, memory) {
    if (memory && node.memory !== memory) {
      node.memory = memory;
      node.stale = true;
    }
  }

  #show(node) {
    if (!node.element) {
      node.element = shape("g", { role: "treeitem", tabindex: -1 });
      node.element.node = node;
      this.boxes.append(node.element);
      if (node.hop) {
        node.line = shape("g", { class: "edge" });
        node.line.node = node;
        this.edges.append(node.line);
      }
    }
    if (node.stale || !node.place) this.#fill(node);
    const x = MARGIN + node.depth * (BOX.width + GAP);
    const place = `${node.parent?.y} ${node.y}`;
    if (node.place !== place) node.element.setAttribute("transform", `translate(${x} ${node.y})`);
    if (node.line && (node.place !== place || node.stale)) this.#edge(node, x);
    node.place = place;
    node.stale = false;
  }

  #fill(node) {
    const { memory, energy, element } = node;
    const kind = memory?.kind ?? "";
    const text = said(memory) || node.id;
    element.setAttribute("class", `node ${node.mark} ${node.packed ? "packed" : ""}`);
    const [place, all] = node.among.split(" ");
    element.setAttribute("aria-level", node.depth + 1);
    element.setAttribute("aria-posinset", place);
    element.setAttribute("aria-setsize", all);
    if (node.below.length) element.setAttribute("aria-expanded", "true");
    element.setAttribute("aria-selected", String(node.id === this.selected));
    element.setAttribute("aria-label", spoken(node, text));
    const radius = Math.max(2, LARGEST * Math.sqrt(Math.min(Math.max(energy, 0), 1)));
    element.replaceChildren(
      shape("rect", { y: -BOX.height / 2, width: BOX.width, height: BOX.height, rx: 6 }),
      shape("circle", { class: `kind-${kind}`, cx: 21, r: radius.toFixed(2) }),
      shape("text", { x: 42, y: -4 }, fit(text, BOX.width - 50, 12)),
      shape("text", { class: "muted", x: 42, y: 13 }, fit(node.id, BOX.width - 100, 11)),
      shape("text", { class: "energy", x: BOX.width - 8, y: 13 }, number(energy)),
    );
    if (node.end && SHORT_ENDS[node.end]) {
      element.append(shape("text", { class: "muted", x: BOX.width + 8, y: 4 }, SHORT_ENDS[node.end]));
    }
  }

  #edge(node, x) {
    const [from, start, end] = [node.parent.y, x - GAP, x];
    const [middle, turned] = [start + BEND / 2, start + BEND];
    const flow = Math.sqrt(Math.min(Math.max(node.energy, 0), 1));
    node.line.setAttribute("class", `edge ${node.mark}`);
    node.line.replaceChildren(
      shape("path", {
        d: `M${start} ${from} C${middle} ${from} ${middle} ${node.y} ${turned} ${node.y} H${end}`,
        "stroke-width": Math.max(1.5, WIDEST_EDGE * flow).toFixed(2),
      }),
      shape("text", { x: end - 5, y: node.y - 9 }, fit(arrow(node.hop), GAP - BEND, 11)),
    );
  }

  #of(event) {
    return event.target.closest("g.node, g.edge")?.node;
  }

  #over(event) {
    const node = this.#of(event);
    if (!node) return;
    const seed = `seed ${node.id} · score ${number(node.energy)}`;
    const end = node.end ? ` · ${ENDS[node.end]}` : "";
    this.point((node.hop ? ledger(node.hop, this.strategy) : seed) + end);
  }

  #click(event) {
    const node = this.#of(event);
    if (!node) return;
    this.#stop(node);
    this.choose(node.id);
  }

  // Makes a node the tab stop.
  #stop(node) {
    this.current?.element?.setAttribute("tabindex", -1);
    this.current = node;
    this.#show(node);
    node.element.setAttribute("tabindex", 0);
  }

  #key(event) {
    const node = this.#of(event);
    if (!node || event.ctrlKey || event.altKey || event.metaKey) return;
    const at = this.order.indexOf(node);
    const next = {
      ArrowDown: () => this.order[at + 1],
      ArrowUp: () => this.order[at - 1],
      ArrowRight: () => node.below[0],
      ArrowLeft: () => node.parent,
      Home: () => this.order[0],
      End: () => this.order.at(-1),
    }[event.key];
    if (next) {
      event.preventDefault();
      this.#focus(next());
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(node.id);
    }
  }

  #focus(node) {
    if (!node) return;
    this.#stop(node);
    node.element.focus({ preventScroll: true });
    node.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function spoken(node, text) {
  const parts = [text, `energy ${number(node.energy)}`];
  if (node.hop) parts.push(`by ${spaced(node.hop.relation || "an edge")} from ${node.hop.source}`);
  else parts.push("seed");
  if (node.packed) parts.push("in the context");
  if (node.mark === "new") parts.push("new with these settings");
  if (node.mark === "gone") parts.push("not reached with these settings");
  if (node.end) parts.push(spaced(ENDS[node.end] ?? node.end));
  return parts.join("; ");
}
