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
    this.strip = svg.querySelector(".strip");
    this.bands = new Map([...svg.querySelectorAll(".within")].map((it) => [it.dataset.lane, it]));
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

  // How far a camera's clock may be wrong at a time, as a band in its lane; null: by any amount.
  within(camera, time, us) {
    const band = this.bands.get(camera);
    if (!band) return;
    const [from, to] = us === null ? [this.from, this.to] : [time - us, time + us];
    const left = this.x(from), width = Math.max(3, this.x(to) - left);
    band.classList.toggle("unknown", us === null);
    for (const [name, value] of [["x", left - (width === 3 ? 1.5 : 0)], ["width", width]]) {
      band.setAttribute(name, value);
    }
  }

  // The small pictures of a camera along the axis.
  pictures(address) {
    if (this.strip && this.strip.getAttribute("href") !== address) this.strip.setAttribute("href", address);
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
      const x = this.x(mark.from), to = this.x(mark.to);
      if (to > x) made.push(this.#path(`M${x} ${top - 3}H${to}`, "marked-time"));
      const at = mark.kind === "frame" ? `M${x - 4} ${top}v-7h8v7Z` : `M${x} ${top}l5 -7h-10Z`;
      made.push(this.#path(at, "mark"));
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
