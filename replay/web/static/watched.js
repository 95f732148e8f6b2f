// Which footage of a round was in motion before the reader's eyes, until it goes with an observation.
//
// It is kept in this browser for each user and round. A still picture counts for nothing; steps from
// frame to frame do.

const NEAR_US = 1e6; // two pictures within this time, one after the other, are one span
const SPANS = 60; // the longest spans that are kept of a round
const KEEP_MS = 24 * 3600 * 1000;

const who = document.getElementById("session")?.dataset.name ?? "";
const keyOf = (round) => `watched ${who} ${round}`;

export const roundOf = (path) => decodeURI(path).replace(/^\/(rounds|watch)\//, "");

// What was watched of a round: {camera: [[from, to], …]}, microseconds by each camera's clock.
export function watchedOf(round) {
  return JSON.parse(localStorage.getItem(keyOf(round)) ?? "null")?.spans ?? {};
}

// An object without the names that every object has: a camera may be called `constructor`.
const bare = (spans) => Object.assign(Object.create(null), spans);

export class Watched {
  #last = new Map(); #saved = 0;

  constructor(round, cameras) {
    this.key = keyOf(round);
    this.spans = bare(watchedOf(round));
    this.#forget();
    for (const camera of cameras) {
      camera.addEventListener("presented", (event) => this.#see(camera.name, event.detail));
    }
    addEventListener("pagehide", () => this.#save());
  }

  #see(camera, time) {
    const last = this.#last.get(camera);
    this.#last.set(camera, time);
    if (last === undefined || last === time || Math.abs(time - last) > NEAR_US) return;
    this.#add(camera, Math.min(last, time), Math.max(last, time));
    if (performance.now() - this.#saved > 1000) this.#save();
  }

  // Adds a span, joined with those that it touches.
  #add(camera, from, to) {
    const apart = [];
    for (const [start, end] of this.spans[camera] ?? []) {
      if (end < from || start > to) apart.push([start, end]);
      else [from, to] = [Math.min(from, start), Math.max(to, end)];
    }
    this.spans[camera] = [...apart, [from, to]];
  }

  #save() {
    if (Object.keys(this.spans).length === 0) return;
    this.#saved = performance.now();
    const all = Object.entries(this.spans)
      .flatMap(([camera, its]) => its.map((span) => [camera, ...span]))
      .sort(([, a, b], [, c, d]) => (d - c) - (b - a)).slice(0, SPANS);
    this.spans = bare();
    for (const [camera, ...span] of all) (this.spans[camera] ??= []).push(span.map(Math.round));
    localStorage.setItem(this.key, JSON.stringify({ at: Date.now(), spans: this.spans }));
  }

  #forget() {
    for (const key of Object.keys(localStorage)) {
      const old = () => Date.now() - (JSON.parse(localStorage.getItem(key))?.at ?? 0) > KEEP_MS;
      if (key.startsWith("watched ") && old()) localStorage.removeItem(key);
    }
  }
}
