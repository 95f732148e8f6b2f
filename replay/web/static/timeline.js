// The timeline's playhead line, its marks, and seeking by pointer.

export class Timeline {
  constructor(svg, playhead) {
    this.svg = svg;
    this.playhead = playhead;
    this.from = Number(svg.dataset.from);
    this.to = Number(svg.dataset.to);
    this.gutter = Number(svg.dataset.gutter);
    this.width = svg.viewBox.baseVal.width;
    this.line = svg.querySelector(".playhead");
    this.marks = svg.querySelector(".marks");
    svg.addEventListener("pointerdown", (event) => this.#point(event));
  }

  x(time) {
    const share = (time - this.from) / (this.to - this.from);
    return this.gutter + (this.width - this.gutter - 8) * Math.max(0, Math.min(1, share));
  }

  move(time) {
    const x = this.x(time);
    this.line.setAttribute("x1", x);
    this.line.setAttribute("x2", x);
  }

  current(number) {
    this.svg.querySelector(".tick.now")?.classList.remove("now");
    this.svg.querySelector(`[data-fact="${number}"]`)?.classList.add("now");
  }

  // The stretch that repeats, or null.
  loop(stretch) {
    this.svg.querySelector(".loop")?.remove();
    if (!stretch) return;
    const top = Number(this.marks.dataset.top);
    this.svg.insertBefore(
      this.#path(`M${this.x(stretch.from)} ${top + 3}H${this.x(stretch.to)}`, "loop"), this.line,
    );
  }

  show(marks, clip) {
    const top = Number(this.marks.dataset.top), made = [];
    for (const mark of marks) {
      made.push(this.#path(`M${this.x(mark.time)} ${top}l5 -7h-10Z`, "mark"));
    }
    if (clip.from !== null || clip.to !== null) {
      const from = this.x(clip.from ?? this.from), to = this.x(clip.to ?? this.to);
      made.push(this.#path(`M${from} ${top - 2}H${to}`, "clip"));
    }
    this.marks.replaceChildren(...made);
  }

  #path(d, kind) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    path.setAttribute("class", kind);
    return path;
  }

  #point(event) {
    const go = (at) => {
      const box = this.svg.getBoundingClientRect();
      const x = ((at.clientX - box.left) / box.width) * this.width;
      const share = (x - this.gutter) / (this.width - this.gutter - 8);
      this.playhead.seek(this.from + share * (this.to - this.from));
    };
    const stop = () => {
      this.svg.removeEventListener("pointermove", go);
      this.svg.removeEventListener("pointerup", stop);
    };
    event.preventDefault();
    go(event);
    this.svg.setPointerCapture(event.pointerId);
    this.svg.addEventListener("pointermove", go);
    this.svg.addEventListener("pointerup", stop);
  }
}
