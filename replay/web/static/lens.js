// How a camera's picture is looked at: enlarged about a point, moved, with other tones. It is for the
// eye alone: footage, frames, stills and clips stay as they were recorded.

const ZOOM_MAX = 8;
const SVG = "http://www.w3.org/2000/svg";
let made = 0;

export class Lens extends EventTarget {
  zoom = 1; brightness = 1; contrast = 1; gamma = 1;
  #x = 0; #y = 0; #fingers = new Map(); #curves;

  constructor(figure) {
    super();
    this.figure = figure;
    this.screen = figure.querySelector(".screen");
    this.note = document.createElement("span");
    this.note.className = "lens-note";
    this.screen.append(this.note);
    this.#curves = this.#filter();
    this.screen.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.screen.addEventListener(kind, (event) => this.#pointer(event));
    }
    this.screen.addEventListener("dblclick", () => this.whole());
    this.#show();
  }

  // Enlarges by a factor about a point of the screen, as shares of its width and height.
  by(factor, x = 0.5, y = 0.5) {
    const zoom = Math.max(1, Math.min(ZOOM_MAX, this.zoom * factor));
    this.#x = x - ((x - this.#x) * zoom) / this.zoom;
    this.#y = y - ((y - this.#y) * zoom) / this.zoom;
    this.zoom = zoom;
    this.#show();
  }

  // Moves what is seen, as shares of the screen.
  move(x, y) {
    this.#x -= x;
    this.#y -= y;
    this.#show();
  }

  whole() {
    this.zoom = 1;
    this.#show();
  }

  // Zoom and place in thousandths, as a bookmark keeps them.
  get view() {
    const [zoom, x, y] = [this.zoom, this.#x, this.#y].map((each) => Math.round(each * 1000));
    return { zoom, x, y };
  }

  set view({ zoom, x, y }) {
    [this.zoom, this.#x, this.#y] = [zoom, x, y].map((each) => each / 1000);
    this.#show();
  }

  // name: brightness, contrast or gamma; 1 is as recorded.
  tone(name, value) {
    this[name] = value;
    this.#show();
  }

  plain() {
    this.brightness = this.contrast = this.gamma = 1;
    this.whole();
  }

  #show() {
    this.#x = Math.max(1 - this.zoom, Math.min(0, this.#x));
    this.#y = Math.max(1 - this.zoom, Math.min(0, this.#y));
    const parts = [];
    if (this.brightness !== 1) parts.push(`brightness(${this.brightness})`);
    if (this.contrast !== 1) parts.push(`contrast(${this.contrast})`);
    if (this.gamma !== 1) parts.push(`url(#${this.#curves.id})`);
    for (const curve of this.#curves.querySelectorAll("[exponent]")) {
      curve.setAttribute("exponent", 1 / this.gamma);
    }
    const placed = `translate(${this.#x * 100}%, ${this.#y * 100}%) scale(${this.zoom})`;
    for (const part of this.screen.querySelectorAll("video, .overlay")) {
      part.style.transform = this.zoom === 1 ? "" : placed;
      if (part.matches("video")) part.style.filter = parts.join(" ");
    }
    const said = this.zoom === 1 ? [] : [`${this.zoom.toFixed(1)}×`];
    for (const name of ["brightness", "contrast", "gamma"]) {
      if (this[name] !== 1) said.push(`${name} ${this[name].toFixed(1)}`);
    }
    this.note.textContent = said.join(" · ");
    this.note.hidden = said.length === 0;
    this.screen.classList.toggle("zoomed", this.zoom > 1);
    this.dispatchEvent(new Event("change"));
  }

  #at(event) {
    const box = this.screen.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  #wheel(event) {
    event.preventDefault();
    this.by(Math.exp(-event.deltaY / 400), ...this.#at(event));
  }

  // One finger, or the pointer, moves an enlarged picture; two enlarge it about their middle.
  #pointer(event) {
    if (event.type === "pointerdown") {
      this.#fingers.set(event.pointerId, this.#at(event));
      this.screen.setPointerCapture(event.pointerId);
      return;
    }
    if (event.type !== "pointermove") {
      this.#fingers.delete(event.pointerId);
      return;
    }
    const before = this.#fingers.get(event.pointerId);
    if (!before) return;
    const now = this.#at(event);
    const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.#fingers.set(event.pointerId, now);
    if (!other) return this.move(before[0] - now[0], before[1] - now[1]);
    const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
    if (apart(before) > 0) {
      this.by(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    }
  }

  // The curve of the tones between dark and light.
  #filter() {
    made += 1;
    const svg = document.createElementNS(SVG, "svg"), filter = document.createElementNS(SVG, "filter");
    const transfer = document.createElementNS(SVG, "feComponentTransfer");
    filter.id = `tones-${made}`;
    filter.setAttribute("color-interpolation-filters", "sRGB");
    for (const channel of ["R", "G", "B"]) {
      const curve = document.createElementNS(SVG, `feFunc${channel}`);
      for (const [name, value] of [["type", "gamma"], ["exponent", 1]]) curve.setAttribute(name, value);
      transfer.append(curve);
    }
    filter.append(transfer);
    svg.append(filter);
    svg.setAttribute("aria-hidden", "true");
    svg.classList.add("tones");
    this.screen.append(svg);
    return filter;
  }
}
