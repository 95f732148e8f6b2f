// The current time, in microseconds by the reference clock; the table and every camera follow it.

export class Playhead extends EventTarget {
  #time; #rate = 1; #began = 0; #from = 0; #playing = false; #raf = 0;

  constructor(from, to, time) {
    super();
    this.from = from;
    this.to = to;
    this.#time = time;
  }

  get playing() { return this.#playing; }
  get rate() { return this.#rate; }

  get time() {
    if (!this.#playing) return this.#time;
    const gone = (performance.now() - this.#began) * 1000 * this.#rate;
    return Math.min(this.#from + gone, this.to);
  }

  set rate(rate) {
    const time = this.time;
    this.#rate = rate;
    if (this.#playing) this.#anchor(time);
  }

  // why: what moved it: {fact: 28}, {camera, sha, frame}, or nothing.
  seek(time, why = {}) {
    this.#time = Math.max(this.from, Math.min(this.to, time));
    this.#anchor(this.#time);
    this.dispatchEvent(new CustomEvent("seek", { detail: why }));
  }

  play() {
    if (this.#playing) return;
    if (this.#time >= this.to) this.#time = this.from;
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

  #anchor(time) {
    this.#from = time;
    this.#began = performance.now();
  }

  #tick() {
    if (!this.#playing) return;
    this.dispatchEvent(new Event("tick"));
    if (this.time >= this.to) return this.pause();
    this.#raf = requestAnimationFrame(() => this.#tick());
  }
}
