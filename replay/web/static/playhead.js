// The current time, in microseconds by the reference clock; the table and every camera follow it.
// It runs forward or backwards, to the end of the round or round a stretch that repeats.

export class Playhead extends EventTarget {
  #time; #rate = 1; #began = 0; #from = 0; #playing = false; #raf = 0; #loop = null;

  constructor(from, to, time) {
    super();
    this.from = from;
    this.to = to;
    this.#time = time;
  }

  get playing() { return this.#playing; }
  get rate() { return this.#rate; }
  get loop() { return this.#loop; }

  get time() {
    if (!this.#playing) return this.#time;
    const gone = (performance.now() - this.#began) * 1000 * this.#rate;
    return this.#within(this.#from + gone, this.#loop ?? this);
  }

  // Seconds of the house in a second of the viewer; below 0 it runs backwards.
  set rate(rate) {
    const time = this.time;
    this.#rate = rate;
    if (this.#playing) this.#anchor(time);
  }

  // A stretch that repeats, {from, to}, or null.
  set loop(stretch) {
    this.#loop = stretch;
    if (stretch && this.#playing) this.#anchor(this.#start());
    this.dispatchEvent(new Event("loop"));
  }

  // why: what moved it: {fact: 28}, {camera, sha, frame}, or nothing.
  seek(time, why = {}) {
    this.#time = this.#within(time);
    this.#anchor(this.#time);
    this.dispatchEvent(new CustomEvent("seek", { detail: why }));
  }

  play() {
    if (this.#playing) return;
    const stretch = this.#loop ?? this;
    const inside = stretch.from <= this.#time && this.#time <= stretch.to;
    if (!inside || this.#over(this.#time)) this.#time = this.#start();
    this.#playing = true;
    this.#anchor(this.#time);
    this.dispatchEvent(new Event("play"));
    this.#raf = requestAnimationFrame(() => this.#tick());
  }

  pause() {
    if (!this.#playing) return;
    this.#time = this.time;
    this.#playing = false;
    cancelAnimationFrame(this.#raf);
    this.dispatchEvent(new Event("pause"));
  }

  #within(time, stretch = this) { return Math.max(stretch.from, Math.min(stretch.to, time)); }

  // The time at which it begins in its direction.
  #start() {
    const stretch = this.#loop ?? this;
    return this.#rate < 0 ? stretch.to : stretch.from;
  }

  // Whether a time lies at its end in its direction, or beyond.
  #over(time) {
    const stretch = this.#loop ?? this;
    return this.#rate < 0 ? time <= stretch.from : time >= stretch.to;
  }

  #anchor(time) {
    this.#from = time;
    this.#began = performance.now();
  }

  #tick() {
    if (!this.#playing) return;
    this.dispatchEvent(new Event("tick"));
    if (this.#over(this.time)) {
      if (!this.#loop) return this.pause();
      this.#anchor(this.#start());
    }
    this.#raf = requestAnimationFrame(() => this.#tick());
  }
}
