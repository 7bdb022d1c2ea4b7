// The paths as trees: a column a hop, a row a leaf; where the columns don't fit, an outline that does.
// Only what is near to the view is drawn. The arrow keys go through a tree, which is one tab stop.

import { BOX, distinguish, drawBox, drawEdge, GAP, INDENT, shape } from "./boxes.js";
import { beginnings, keyOf } from "./leading.js";
import { ENDS, ledger, number, said } from "./words.js";

const PITCH = 74;
const MARGIN = 10;
const AHEAD = 1600; // memories this near to what is seen are drawn; pixels
const LEAST_SCALE = 0.83; // columns that would be smaller become an outline: letters of 10 pixels
const SCALES = { least: 0.2, most: 2.5, step: 1.25 };

export class Tree {
  // `point(text)` is called with what the pointer or the focus is on, `choose(id)` with a memory.
  constructor(svg, { point, choose }) {
    this.svg = svg;
    this.point = point;
    this.choose = choose;
    this.edges = shape("g", { "aria-hidden": "true" });
    this.boxes = shape("g", { role: "presentation" });
    svg.append(this.edges, this.boxes);
    this.view = svg.parentElement;
    // Listening on the SVG would make it a tab stop in Chromium.
    for (const kind of ["pointerover", "focusin"]) this.view.addEventListener(kind, (e) => this.#over(e));
    svg.addEventListener("click", (e) => this.#click(e));
    svg.addEventListener("keydown", (e) => this.#key(e));
    this.view.addEventListener("scroll", () => {
      if (Math.abs(this.view.scrollTop - this.nearTo) > AHEAD / 4) this.#near();
    });
    this.view.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    new ResizeObserver(() => this.later()).observe(this.view);
    this.clear("transfer");
  }

  clear(strategy) {
    this.strategy = strategy;
    this.nodes = new Map(); // way from the seed -> node
    this.roots = [];
    this.order = []; // the nodes from top to bottom, as the arrow keys go
    this.current = null;
    this.selected = null;
    this.zoomed = null; // null: as large as fits
    this.all = true; // or only the nodes that lead to the context
    this.needle = "";
    this.edges.replaceChildren();
    this.boxes.replaceChildren();
    this.draw();
  }

  seed(id, energy) {
    if (!this.nodes.has(id)) this.roots.push(this.#node(id, id, null, energy));
  }

  // Adds a path; `markOf(way)` is "", "new" or "gone".
  path(path, memories, markOf = () => "") {
    const [seed] = path.ids;
    this.seed(seed, path.hops.length ? path.hops[0].energy_in : path.energy);
    let node = this.nodes.get(seed);
    this.#know(node, memories[seed]);
    for (const hop of path.hops) {
      const way = keyOf([node.way, hop.target]);
      let next = this.nodes.get(way);
      if (!next) {
        next = this.#node(way, hop.target, node, hop.energy_out);
        next.hop = hop;
        next.mark = markOf(way);
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

  // Marks the memories of the context, and the ways that lead to them: lists of ids.
  pack(ids, ways) {
    const leading = new Set(ways.flatMap(beginnings));
    for (const node of this.nodes.values()) {
      node.packed = ids.has(node.id);
      node.leads = leading.has(node.way);
      node.stale = true;
    }
    this.leading = [...this.nodes.values()].some((node) => node.leads);
    this.all = !this.leading;
    this.later();
  }

  showAll(all) {
    this.all = all;
    this.draw();
  }

  fold(folded) {
    for (const node of this.nodes.values()) {
      node.folded = folded && node.below.length > 0;
      node.stale = true;
    }
    this.draw();
  }

  // Selects a memory; with `reveal`, shows it, wherever it is. Tells whether it was shown.
  select(id, { reveal = false } = {}) {
    this.selected = id;
    for (const node of this.nodes.values()) {
      node.element?.setAttribute("aria-selected", String(node.id === id));
    }
    if (!reveal) return false;
    const places = [...this.nodes.values()].filter((node) => node.id === id);
    const node = places.find((each) => this.#isOpen(each)) ?? places.find((each) => each.leads) ?? places[0];
    if (node) this.#reveal(node);
    return Boolean(node);
  }

  // Goes to the next memory with these words, and says which of how many it is.
  find(words) {
    const needle = words.trim().toLowerCase();
    const again = needle === this.needle;
    this.needle = needle;
    for (const node of this.nodes.values()) {
      const is = needle !== "" && `${said(node.memory) ?? ""} ${node.id}`.toLowerCase().includes(needle);
      if (is !== node.match) node.stale = true;
      node.match = is;
    }
    const found = this.#everything().filter((node) => node.match);
    this.draw();
    if (!found.length) return { at: 0, of: 0 };
    const at = again ? (found.indexOf(this.current) + 1) % found.length : 0;
    this.#reveal(found[at]);
    return { at: at + 1, of: found.length };
  }

  zoom(steps) {
    const { view } = this;
    const before = this.scale;
    this.zoomed = Math.min(SCALES.most, Math.max(SCALES.least, before * SCALES.step ** steps));
    const middle = [(view.scrollLeft + view.clientWidth / 2) / before, (view.scrollTop + view.clientHeight / 2) / before];
    this.draw();
    view.scrollLeft = middle[0] * this.scale - view.clientWidth / 2;
    view.scrollTop = middle[1] * this.scale - view.clientHeight / 2;
    this.#near();
  }

  fit() {
    this.zoomed = null;
    this.draw();
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
    const roots = this.roots.filter((node) => this.#isShown(node));
    const room = this.view.clientWidth || 800;
    const columns = 1 + this.#depth(roots);
    const wide = 2 * MARGIN + columns * BOX.width + (columns - 1) * GAP;
    const outlined = wide * LEAST_SCALE > room;
    if (outlined !== this.outlined) for (const node of this.nodes.values()) node.place = null;
    this.outlined = outlined;
    const inside = Math.max(room - 2 * MARGIN, 180);
    const gaps = (columns - 1) * GAP;
    const most = outlined ? BOX.outlined : BOX.most;
    const box = Math.min(most, outlined ? inside : Math.max(BOX.width, Math.floor((inside - gaps) / columns)));
    const rows = this.#place(roots, outlined, box);
    distinguish(this.order);
    const width = 2 * MARGIN + (outlined ? box : columns * box + gaps);
    const height = 2 * MARGIN + rows * PITCH;
    this.scale = this.zoomed ?? (outlined ? 1 : Math.min(1, room / width));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", roots.length ? Math.floor(width * this.scale) : 0);
    this.svg.setAttribute("height", roots.length ? height * this.scale : 0);
    if ((!this.current || !this.#isOpen(this.current)) && this.order.length) this.#stop(this.order[0]);
    this.#near();
  }

  #depth(nodes) {
    const deepest = (node) => Math.max(node.depth, ...this.#open(node).map(deepest));
    return Math.max(0, ...nodes.map(deepest));
  }

  // Gives each node its place in boxes, or an outline, as wide as `room`; returns how many rows there are.
  #place(roots, outlined, room) {
    this.order = [];
    let rows = 0;
    const place = (node) => {
      this.order.push(node);
      node.below.sort((a, b) => b.energy - a.energy || (a.id < b.id ? -1 : 1));
      node.x = MARGIN + node.depth * (outlined ? INDENT : room + GAP);
      node.width = outlined ? room - node.depth * INDENT : room;
      const row = () => MARGIN + PITCH * rows++ + PITCH / 2;
      if (outlined) node.y = row();
      const open = this.#open(node);
      open.forEach(place);
      if (!outlined) node.y = open[0]?.y ?? row();
      if (node.opened !== open.length) node.stale = true;
      node.opened = open.length;
    };
    roots.forEach(place);
    this.#number(roots);
    return rows;
  }

  #isShown(node) {
    return this.all || node.leads || node.mark !== "";
  }

  #open(node) {
    return node.folded ? [] : node.below.filter((each) => this.#isShown(each));
  }

  #isOpen(node) {
    for (let each = node; each; each = each.parent) if (!this.#isShown(each) || (each !== node && each.folded)) return false;
    return true;
  }

  #everything() {
    const found = [];
    const visit = (node) => {
      found.push(node);
      node.below.forEach(visit);
    };
    this.roots.forEach(visit);
    return found;
  }

  #reveal(node) {
    if (!this.#isShown(node)) this.all = true;
    for (let each = node.parent; each; each = each.parent) {
      if (each.folded) each.stale = true;
      each.folded = false;
    }
    this.draw();
    this.#stop(node);
    const { view, scale } = this;
    view.scrollTop = node.y * scale - view.clientHeight / 2;
    view.scrollLeft = (node.x + node.width / 2) * scale - view.clientWidth / 2;
    this.#near();
  }

  // Says of each memory which one of its siblings it is: a screen reader sees only those drawn.
  #number(siblings) {
    siblings.forEach((node, n) => {
      const among = `${n + 1} ${siblings.length}`;
      if (node.among !== among) node.stale = true;
      node.among = among;
      this.#number(this.#open(node));
    });
  }

  // Draws what is in view or near it, and takes out what is not.
  #near() {
    this.nearTo = this.view.scrollTop;
    const [top, bottom] = [(this.nearTo - AHEAD) / this.scale, (this.nearTo + this.view.clientHeight + AHEAD) / this.scale];
    const drawn = new Set();
    for (const node of this.order) {
      const from = node.parent?.y ?? node.y; // an edge may cross the view, far from both its ends
      if ((from <= bottom && node.y >= top) || node === this.current) {
        this.#show(node);
        drawn.add(node.element);
      }
    }
    for (const element of [...this.boxes.children]) if (!drawn.has(element)) this.#hide(element.node);
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
    const node = { way, id, parent, energy, depth, below: [], mark: "", among: "1 1", stale: true, folded: false, match: false };
    this.nodes.set(way, node);
    return node;
  }

  #know(node, memory) {
    if (memory && node.memory !== memory) {
      node.memory = memory;
      node.words = null;
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
    const place = `${node.parent?.y} ${node.x} ${node.y} ${node.width}`;
    if (node.place !== place) node.element.setAttribute("transform", `translate(${node.x} ${node.y})`);
    if (node.stale || node.place !== place) {
      const look = { outlined: this.outlined, selected: this.selected, isShown: (each) => this.#isShown(each) };
      drawBox(node, look);
      if (node.line) drawEdge(node, look);
    }
    node.place = place;
    node.stale = false;
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
    if (event.target.closest(".handle")) this.#toggle(node, !node.folded);
    else this.choose(node.id);
  }

  #toggle(node, folded) {
    node.folded = folded;
    node.stale = true;
    this.draw();
  }

  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1 : -1);
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
    const under = node.below.some((each) => this.#isShown(each));
    const act = {
      ArrowDown: () => this.#focus(this.order[at + 1]),
      ArrowUp: () => this.#focus(this.order[at - 1]),
      ArrowRight: () => (node.folded ? this.#toggle(node, false) : this.#focus(this.#open(node)[0])),
      ArrowLeft: () => (under && !node.folded ? this.#toggle(node, true) : this.#focus(node.parent)),
      Home: () => this.#focus(this.order[0]),
      End: () => this.#focus(this.order.at(-1)),
      "+": () => this.zoom(1),
      "-": () => this.zoom(-1),
      0: () => this.fit(),
      Enter: () => this.choose(node.id),
      " ": () => this.choose(node.id),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  #focus(node) {
    if (!node) return;
    this.#stop(node);
    node.element.focus({ preventScroll: true });
    node.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
