// Shapes beside a frame: an overlay above a camera's picture, and the tool that draws on it.
// Points are pixels of the frame. The picture itself is never changed.

const SVG = "http://www.w3.org/2000/svg";
const HEAD = 0.03; // the length of an arrow's head, as a share of the frame's width
const STEP = 0.02, FINE = 0.002; // one press of an arrow key, as a share of the frame's width

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawn({ kind, points: [[x, y], [toX, toY]], text }, width) {
  const made = kind === "arrow"
    ? element("path", { class: kind, d: arrow(x, y, toX, toY, width * HEAD) })
    : element("rect", {
      class: kind, x: Math.min(x, toX), y: Math.min(y, toY),
      width: Math.abs(toX - x), height: Math.abs(toY - y),
    });
  if (text) made.append(Object.assign(element("title", {}), { textContent: text }));
  return made;
}

function arrow(x, y, toX, toY, head) {
  const long = Math.hypot(toX - x, toY - y) || 1;
  const alongX = ((toX - x) / long) * head, alongY = ((toY - y) / long) * head;
  const left = `${toX - alongX - alongY / 2} ${toY - alongY + alongX / 2}`;
  const right = `${toX - alongX + alongY / 2} ${toY - alongY - alongX / 2}`;
  return `M${x} ${y}L${toX} ${toY}M${left}L${toX} ${toY}L${right}`;
}

// A layer above a camera's picture that is zoomed and moved with it.
export class Overlay {
  constructor(camera) {
    this.layer = document.createElement("div");
    this.layer.className = "overlay";
    camera.screen.append(this.layer);
  }

  // Shows a copy of saved shapes, or nothing.
  show(svg) {
    this.layer.replaceChildren(...(svg ? [svg.cloneNode(true)] : []));
  }
}

// Draws on an overlay until it is closed. style(): the kind and text of the next shape.
export class Sketch {
  #from = null; #cross;

  constructor(overlay, { width, height }, style, changed) {
    Object.assign(this, { width, height, style, changed, shapes: [] });
    this.#cross = [Math.round(width / 2), Math.round(height / 2)];
    this.svg = element("svg", {
      class: "shapes sketch", viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "application",
      "aria-label": "Drawing area: arrow keys move the cross, Enter sets a corner",
    });
    overlay.layer.replaceChildren(this.svg);
    for (const kind of ["pointerdown", "pointermove", "pointerup"]) {
      this.svg.addEventListener(kind, (event) => this.#pointer(event));
    }
    this.svg.addEventListener("keydown", (event) => this.#key(event));
    this.#show();
  }

  undo() {
    this.shapes.pop();
    this.#show();
  }

  close() { this.svg.remove(); }

  // The pixel of the frame under the pointer: the picture is as large as its box allows.
  #at({ clientX, clientY }) {
    const box = this.svg.getBoundingClientRect();
    const scale = Math.min(box.width / this.width, box.height / this.height);
    const left = box.left + (box.width - this.width * scale) / 2;
    const top = box.top + (box.height - this.height * scale) / 2;
    return this.#within((clientX - left) / scale, (clientY - top) / scale);
  }

  #within(x, y) {
    const inside = (value, most) => Math.round(Math.max(0, Math.min(most, value)));
    return [inside(x, this.width), inside(y, this.height)];
  }

  #pointer(event) {
    event.stopPropagation();
    this.#cross = this.#at(event);
    if (event.type === "pointerdown") {
      this.#from = this.#cross;
      this.svg.setPointerCapture(event.pointerId);
    } else if (event.type === "pointerup" && this.#from) this.#add();
    this.#show();
  }

  #key(event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Tab") return;
    event.stopPropagation();
    if (by) {
      const step = Math.max(1, this.width * (event.shiftKey ? FINE : STEP));
      this.#cross = this.#within(this.#cross[0] + by[0] * step, this.#cross[1] + by[1] * step);
    } else if (event.key === "Enter") {
      if (this.#from) this.#add(); else this.#from = this.#cross;
    } else if (event.key === "Escape" && this.#from) this.#from = null;
    else return;
    event.preventDefault();
    this.#show();
  }

  #add() {
    const [from, to] = [this.#from, this.#cross];
    this.#from = null;
    if (from[0] !== to[0] || from[1] !== to[1]) this.shapes.push({ ...this.style(), points: [from, to] });
  }

  #show() {
    const [x, y] = this.#cross, arm = this.width / 60;
    const all = this.#from ? [...this.shapes, { ...this.style(), points: [this.#from, [x, y]] }] : this.shapes;
    this.svg.replaceChildren(
      ...all.map((shape) => drawn(shape, this.width)),
      element("path", { class: "cross", d: `M${x - arm} ${y}H${x + arm}M${x} ${y - arm}V${y + arm}` }),
    );
    this.changed(this.shapes.length, this.#cross, this.#from);
  }
}
