// A camera follows the playhead: exact frames while it stands, small changes of speed while it runs.
//
// A seek aims at the middle of a frame, (pts[n] + pts[n + 1]) / 2. A player that seeks to the exact
// start of a frame may show the previous one.

import { along, frameAt, frameOf, middleOf, pieceAt, shownAt } from "./camera_time.js";
import { hasPreview } from "./previews.js";
import { Tile } from "./tile.js";

const SEEK_S = 0.5; // an error larger than this is corrected by a seek
const NUDGE = 0.25; // the largest change of speed, as a share
const NUDGE_A_S = 2; // the change of speed for each second of error
const OFF_S = 0.02, ON_S = 0.005; // speed is changed from this error on, until it is so small
const AHEAD_US = 4e6; // the next segment is opened this long before it is needed
const HOLE_US = 5e5; // a time longer than this without a frame is a gap
const PRESENTED_MS = 400; // a picture is reported within this time of a seek, or was already there
const LEAD_S = 0.1; // a slot that is about to be shown is sought so far ahead
const RUNS_MAX = 4; // a player runs up to so many times as fast; beyond, and backwards, it is sought

const WHOLE = "", PREVIEW = "/preview.mp4"; // what a slot plays of a segment

class Slot {
  constructor(label, kind) {
    this.kind = kind;
    this.video = document.createElement("video");
    Object.assign(this.video, { muted: true, playsInline: true, preload: "auto" });
    this.video.setAttribute("aria-label", label);
    this.video.tabIndex = -1;
    this.sha = null;
    this.brought = false;
    this.presented = null; // the frame that is seen of it
  }

  open(sha) {
    if (this.sha === sha) return;
    this.sha = sha;
    this.presented = null;
    this.brought = false;
    this.video.src = `/footage/${sha}${this.kind}`;
  }

  // Whether it can be shown at this moment: it is near, or was brought near on a slow machine.
  canShow(seconds) {
    const { video } = this, near = Math.abs(video.currentTime - seconds) < SEEK_S;
    return video.readyState > 1 && !video.seeking && (near || this.brought);
  }

  // Seeks there while it is out of sight.
  bring(seconds) {
    const { video } = this;
    if (video.readyState === 0 || video.seeking || this.canShow(seconds)) return;
    video.addEventListener("seeked", () => { this.brought = true; }, { once: true });
    video.currentTime = seconds;
  }

  close() {
    if (this.sha === null) return;
    this.sha = this.presented = null;
    this.video.removeAttribute("src");
    this.video.load();
  }
}

export const WHOLE_MAX = 4; // so many cameras run whole; if there are more, as previews

export class Camera extends EventTarget {
  #indexes = new Map(); #read = new Map(); #wanted = null; #turn = 0; #nudged = false;

  // previews: whether it may run as a preview, since many cameras do. Then `whole` says that this one
  // runs whole all the same. A picture that stands is always of the whole.
  constructor(figure, told, playhead, instant, previews = false) {
    super();
    this.figure = figure;
    this.name = told.name;
    this.segments = told.segments;
    this.clock = told.clock;
    this.steps = told.steps;
    this.causes = told.nothing;
    this.playhead = playhead;
    this.screen = figure.querySelector(".screen");
    const labels = ["the picture at the playhead", "the next segment"];
    this.slots = [WHOLE, PREVIEW].slice(0, previews ? 2 : 1).flatMap((kind) => labels.map(
      (label) => new Slot(`${told.name}: ${label}`, kind)));
    this.whole = !previews;
    this.front = this.slots[0];
    this.screen.replaceChildren(...this.slots.map((slot) => slot.video));
    this.tile = new Tile(figure, instant);
    for (const slot of this.slots) this.#watch(slot);
    this.#show(this.front);
  }

  get video() { return this.front.video; }

  cameraTime(time) { return along(pieceAt(this.clock, time).line, time); }

  // The segment with the first frame at or after a time, as `replay.cameras.timeline` finds it.
  // If two have the time, it is the likelier one of this piece of the clock, then the one reported nearer.
  segmentAt(time) {
    const { epoch } = pieceAt(this.clock, time), cameraTime = this.cameraTime(time);
    const its = this.segments.filter((each) => each.epochs.includes(epoch));
    const likelier = (a, b) => a.epochs.indexOf(epoch) - b.epochs.indexOf(epoch)
      || Math.abs(a.told - time) - Math.abs(b.told - time) || a.start - b.start;
    const over = its.filter((each) => each.start <= cameraTime && cameraTime < each.end);
    if (over.length) return over.sort(likelier)[0];
    const before = Math.max(...its.map((each) => each.end).filter((end) => end <= cameraTime));
    const begins = its.filter((each) => each.start > cameraTime).sort((a, b) => a.start - b.start);
    return begins.length && begins[0].start - before <= HOLE_US ? begins[0] : null;
  }

  // When its footage begins, by the reference clock; empty if it has none.
  begins() { return this.segments.flatMap((it) => shownAt(this.clock, it.start, it.epochs)); }

  // A note beside the picture that its clock was set about then, or that it was not mapped.
  #doubts(says = "") {
    const time = this.playhead.time;
    const steps = this.steps.filter(([from, to]) => from <= time && time <= to);
    const none = this.causes.filter(([from, to]) => from <= time && time < to);
    const how = (all) => all.map((each) => each[2]);
    this.tile.doubts(how(steps).concat(says || []), how(none));
  }

  // Why there is no picture of a time.
  cause(time) {
    const found = this.causes.find(([from, to]) => from <= time && time < to);
    return found ? found[2] : "No footage of this time.";
  }

  async index(sha) {
    if (!this.#indexes.has(sha)) {
      const asked = fetch(`/footage/${sha}/index`, { headers: { Accept: "application/json" } })
        .then((answer) => {
          if (!answer.ok) throw new Error(`${answer.status}`);
          return answer.json();
        })
        .then((index) => { this.#read.set(sha, index); return index; });
      asked.catch(() => this.#indexes.delete(sha));
      this.#indexes.set(sha, asked);
    }
    return this.#indexes.get(sha);
  }

  // Shows the fact's frame of this camera by the ledger's frame number, or why there is none.
  async showFact(sight, time) {
    this.#doubts();
    this.tile.fact(sight);
    if (sight?.sha && sight.frame !== null) return this.showFrame(sight.sha, sight.frame);
    const there = sight?.state === "recorded" || sight?.state === "locked";
    if (sight && !there) return this.#nothing(sight.text);
    return this.#showTime(time, sight?.text);
  }

  async showTime(time) {
    this.#doubts();
    this.tile.fact(null);
    return this.#showTime(time);
  }

  async #showTime(time, says = "") {
    this.figure.dataset.settled = "no";
    const turn = ++this.#turn, segment = this.segmentAt(time);
    if (!segment) return this.#nothing(says || this.cause(time));
    const index = await this.index(segment.sha).catch(() => null);
    if (turn !== this.#turn) return undefined;
    if (!index) return this.#nothing(segment.says || "Not available.");
    const target = this.cameraTime(time) - segment.start, frame = frameAt(index.pts, target);
    const hole = frame > 0 && index.pts[frame] > target ? index.pts[frame] - index.pts[frame - 1] : 0;
    if (hole > HOLE_US) return this.#nothing(this.cause(time));
    return this.showFrame(segment.sha, frame);
  }

  // Shows the frame of a step, even if its time is unknown.
  async showStep({ sha, frame, says }) {
    this.#doubts(says);
    this.tile.fact(null);
    return this.showFrame(sha, frame);
  }

  // Shows one frame and stays there. Resolves when the player reports which frame it shows.
  async showFrame(sha, frame) {
    const turn = ++this.#turn;
    const segment = this.segments.find((each) => each.sha === sha);
    if (segment && !segment.plays) {
      return this.#nothing(segment.says || "A browser cannot play this segment.");
    }
    this.#wanted = { sha, frame };
    this.figure.dataset.settled = "no";
    const index = await this.index(sha).catch(() => null);
    if (turn !== this.#turn) return undefined;
    if (!index) return this.#nothing("Not available.");
    const slot = this.#slotOf(sha, WHOLE), previewed = this.front.kind === PREVIEW;
    if (!previewed) this.#show(slot); // else the preview stays in sight until the frame is there
    slot.open(sha);
    this.#tell();
    for (const each of this.slots) each.brought = false;
    slot.video.pause();
    await ready(slot.video);
    if (turn !== this.#turn) return undefined;
    const there = middleOf(index, frame);
    const isThere = (seconds) => frameOf(index.pts, seconds) === frame;
    await soughtTo(slot.video, Math.min(there, slot.video.duration || there), isThere);
    if (turn !== this.#turn) return undefined;
    slot.presented ??= frame; // a frame that was already there is not presented again
    if (previewed) this.#show(slot);
    this.#tell();
    this.figure.dataset.settled = "yes";
    this.dispatchEvent(new CustomEvent("shown", { detail: { sha, frame } }));
    this.#readyPreview(sha, there);
    return frame;
  }

  // One frame forward or back, into another segment if necessary, with the time it was taken. If by
  // the checks the clock never showed that time, the current time is kept, with a note.
  async step(by) {
    if (!this.#wanted) return null;
    const { sha, frame } = this.#wanted;
    const at = this.segments.findIndex((each) => each.sha === sha);
    if (at < 0) return null;
    let index = await this.index(sha), next = frame + by, to = at;
    if (next < 0) {
      to = at - 1;
      if (to < 0) return null;
      index = await this.index(this.segments[to].sha);
      next = index.pts.length - 1;
    } else if (next >= index.pts.length) {
      to = at + 1;
      if (to >= this.segments.length) return null;
      index = await this.index(this.segments[to].sha);
      next = 0;
    }
    const segment = this.segments[to];
    const here = this.playhead.time, off = (time) => Math.abs(time - here);
    const times = shownAt(this.clock, segment.start + index.pts[next], segment.epochs);
    const time = times.sort((a, b) => off(a) - off(b))[0];
    const says = time === undefined ? "By its checks this camera's clock never showed this frame's time." : "";
    return { sha: segment.sha, frame: next, time: time ?? here, says };
  }

  // While the playhead runs: stay within a frame of it.
  follow() {
    this.#doubts();
    this.tile.fact(null);
    const time = this.playhead.time, cameraTime = this.cameraTime(time);
    const segment = this.segmentAt(time);
    if (!segment || !segment.plays) {
      this.video.pause();
      return this.#nothing(segment?.says || this.cause(time));
    }
    const front = this.front, wanted = (cameraTime - segment.start) / 1e6;
    let slot = this.#slotOf(segment.sha, this.#kindOf(segment.sha));
    const before = front.sha;
    slot.open(segment.sha);
    // The whole runs on until the preview has a picture, and the other way round.
    if (slot.kind !== front.kind && before === segment.sha && !slot.canShow(wanted)) {
      slot.bring(wanted + LEAD_S * this.playhead.rate);
      slot = front;
    } else if (slot !== front) { front.video.pause(); this.#show(slot); }
    if (slot !== front || slot.sha !== before || this.figure.dataset.settled === "none") {
      this.figure.dataset.settled = "no";
      this.#tell();
    }
    this.#prepare(time, segment.sha);
    const { video } = this;
    if (video.readyState < 2 || video.seeking) return undefined;
    const error = wanted - video.currentTime, rate = this.playhead.rate;
    this.figure.dataset.error = error.toFixed(4);
    if (rate < 0 || rate > RUNS_MAX) return this.#seekTo(segment, wanted);
    if (Math.abs(error) > SEEK_S) video.currentTime = wanted;
    this.#nudged = Math.abs(error) > (this.#nudged ? ON_S : OFF_S);
    const share = this.#nudged ? Math.max(-NUDGE, Math.min(NUDGE, error * NUDGE_A_S)) : 0;
    const speed = Math.round(rate * (1 + share) * 100) / 100;
    if (video.playbackRate !== speed) video.playbackRate = speed;
    if (video.paused) video.play().catch(() => {});
    return undefined;
  }

  // A picture of this moment at once, without running: the player seeks again when it has shown it.
  #seekTo(segment, seconds) {
    this.video.pause();
    const index = this.#read.get(segment.sha);
    this.video.currentTime = index ? middleOf(index, frameAt(index.pts, seconds * 1e6)) : seconds;
  }

  stop() { for (const slot of this.slots) slot.video.pause(); }

  #prepare(time, sha) {
    const next = this.segmentAt(time + AHEAD_US * this.playhead.rate);
    if (!next || !next.plays || next.sha === sha) return;
    const kind = this.#kindOf(next.sha);
    const free = (slot) => slot.kind === kind && slot !== this.front && slot.sha !== sha;
    this.slots.find(free)?.open(next.sha);
  }

  // The preview of a picture that stands, to run at once.
  async #readyPreview(sha, seconds) {
    if (this.#kindOf(sha) === WHOLE) return;
    const turn = this.#turn, slot = this.#slotOf(sha, PREVIEW);
    slot.open(sha);
    await ready(slot.video);
    if (turn === this.#turn) slot.bring(seconds);
  }

  #kindOf(sha) { return !this.whole && hasPreview(sha) ? PREVIEW : WHOLE; }

  // The slot that plays this, or that may be opened for it.
  #slotOf(sha, kind) {
    const its = this.slots.filter((slot) => slot.kind === kind);
    return its.find((slot) => slot.sha === sha) ?? its.find((slot) => slot === this.front) ?? its[0];
  }

  #show(front) {
    this.front = front;
    for (const slot of this.slots) {
      slot.video.hidden = slot !== front;
      slot.brought = false;
    }
    if (this.figure.dataset.settled !== "none") this.#tell();
  }

  #nothing(says) {
    this.#turn += 1;
    this.tile.nothing(says);
    this.#wanted = null;
    this.figure.dataset.settled = "none";
    delete this.figure.dataset.frame;
    delete this.figure.dataset.error;
    this.dispatchEvent(new Event("picture"));
    return null;
  }

  // Says which picture is seen now, and when it was taken by both clocks.
  #tell() {
    const { sha, presented: frame, kind } = this.front, index = this.#read.get(sha);
    if (frame === null || !index) return this.tile.nothing();
    const { dataset } = this.figure, same = dataset.frame === String(frame) && dataset.sha === sha;
    Object.assign(dataset, { frame, sha });
    if (!same) this.dispatchEvent(new Event("picture"));
    const segment = this.segments.find((each) => each.sha === sha);
    const taken = {
      sha, frame, of: index.pts.length, preview: kind === PREVIEW, camera: null, within: null,
    };
    if (segment) {
      const here = this.playhead.time, off = (time) => Math.abs(time - here);
      taken.camera = segment.start + index.pts[frame];
      this.dispatchEvent(new CustomEvent("presented", { detail: taken.camera }));
      const times = shownAt(this.clock, taken.camera, segment.epochs);
      taken.house = times.sort((a, b) => off(a) - off(b))[0];
      if (times.length) taken.within = pieceAt(this.clock, taken.house).within;
    }
    return this.tile.picture(taken);
  }

  // Reads which frame the player presents, each time it presents one.
  #watch(slot) {
    const { video } = slot;
    const heard = (_, told) => {
      video.requestVideoFrameCallback?.(heard);
      const { sha } = slot, index = this.#read.get(sha);
      if (!index) {
        if (sha) this.index(sha).catch(() => null);
        return;
      }
      slot.presented = frameOf(index.pts, told.mediaTime);
      if (slot !== this.front || this.figure.dataset.settled === "none") return;
      this.figure.dataset.presented = slot.presented;
      if (this.playhead.playing) this.#wanted = { sha, frame: slot.presented };
      this.#tell();
    };
    video.requestVideoFrameCallback?.(heard);
    video.addEventListener("error", () => {
      const shown = slot === this.front && slot.sha;
      if (shown) this.#nothing("The footage could not be loaded.");
    });
  }
}

function ready(video) {
  if (video.readyState >= 1) return Promise.resolve();
  return new Promise((resolve) => {
    video.addEventListener("loadedmetadata", resolve, { once: true });
    video.addEventListener("error", resolve, { once: true });
  });
}

// Resolves when the seek is done and its picture is presented: `seeked` may come before it is drawn,
// and the first reported picture may still be the previous one. A picture that was already there is
// not reported again, so none is awaited for long.
function soughtTo(video, seconds, isThere) {
  return new Promise((resolve) => {
    let sought = false, there = !video.requestVideoFrameCallback, over = false;
    const end = () => { over = true; resolve(); };
    const presented = (_, told) => {
      if (over) return;
      if (!isThere(told.mediaTime)) return void video.requestVideoFrameCallback(presented);
      there = true;
      if (sought) end();
    };
    video.addEventListener("seeked", () => {
      sought = true;
      if (there) end(); else setTimeout(end, PRESENTED_MS);
    }, { once: true });
    if (!there) video.requestVideoFrameCallback(presented);
    video.addEventListener("error", end, { once: true });
    video.currentTime = seconds;
  });
}
