// The player of a page: one playhead, the cameras that follow it, its transport, and how each
// picture is looked at.

import { Camera, WHOLE_MAX } from "./camera.js";
import { pieceAt } from "./camera_time.js";
import { clockIn } from "./clock.js";
import { Lens } from "./lens.js";
import { Playhead } from "./playhead.js";
import { Timeline } from "./timeline.js";
import { Watched, roundOf } from "./watched.js";

const $ = (id) => document.getElementById(id);
const FASTEST = 16;
const LOOP_US = 3e6; // a loop without a clip: so long before and after this moment

export class Player {
  // The page's data has from, to and cameras; the playhead begins at a time.
  constructor(told, time) {
    this.instant = clockIn($("clock").dataset.zone);
    this.playhead = new Playhead(told.from, told.to, time);
    this.timeline = new Timeline(document.querySelector("#timeline svg"), this.playhead);
    const plays = (each) => each.segments.some((segment) => segment.plays);
    this.many = told.cameras.filter(plays).length > WHOLE_MAX;
    this.cameras = told.cameras.map((each) => {
      const figure = document.querySelector(`[data-camera="${CSS.escape(each.name)}"]`);
      return new Camera(figure, each, this.playhead, this.instant, this.many);
    });
    const seen = this.cameras.filter(plays);
    this.lenses = new Map(seen.map((each) => [each, new Lens(each.figure)]));
    this.seen = seen;
    new Watched(roundOf(location.pathname), this.cameras);
    for (const camera of seen) {
      camera.addEventListener("shown", () => this.#pictures(), { once: true });
      camera.figure.addEventListener("pointerdown", () => this.choose(camera));
      this.lenses.get(camera).addEventListener("change", () => { this.#tones(); this.#previews(); });
    }
    this.#follow();
    this.#buttons();
    this.choose(seen[0] ?? null);
  }

  // The actions that every page of footage has, for its buttons and keys.
  get acts() {
    const lens = () => this.lenses.get(this.chosen);
    return {
      toggle: () => this.toggle(),
      shuttle: (by) => this.shuttle(by),
      stop: () => this.playhead.pause(),
      loop: () => this.loop(),
      frame: (by) => this.frame(by),
      enlarge: () => this.enlarge(),
      camera: (number) => this.choose(this.seen[number - 1] ?? this.chosen),
      zoom: (factor) => lens()?.by(factor),
      whole: () => lens()?.whole(),
    };
  }

  say(text) { $("now").textContent = $("now").title = text; }

  // The stretch that a loop repeats where a clip is set; a page with clips replaces it.
  stretch() { return null; }

  choose(camera) {
    this.chosen = camera;
    for (const each of this.cameras) each.figure.classList.toggle("chosen", each === camera);
    this.#tones();
    this.#previews();
    if (camera?.figure.dataset.settled === "yes") this.#pictures();
  }

  // Looks at each picture as a bookmark says.
  look(views) {
    for (const camera of this.seen) {
      const { name } = camera;
      if (Object.hasOwn(views, name)) this.lenses.get(camera).view = views[name];
    }
  }

  toggle() {
    const { playhead } = this;
    if (playhead.playing) return playhead.pause();
    this.#rate(Math.abs(playhead.rate));
    return playhead.play();
  }

  // Plays forward (1) or backwards (-1); asked again, twice as fast.
  shuttle(by) {
    const { playhead } = this, same = playhead.playing && Math.sign(playhead.rate) === by;
    const speed = same ? Math.min(FASTEST, Math.abs(playhead.rate) * 2) : 1;
    this.#rate(by * speed);
    playhead.play();
  }

  loop() {
    const { playhead, instant } = this;
    if (playhead.loop) {
      playhead.loop = null;
      return;
    }
    const { from, to } = this.stretch() ?? {
      from: Math.max(playhead.from, playhead.time - LOOP_US),
      to: Math.min(playhead.to, playhead.time + LOOP_US),
    };
    playhead.loop = { from, to };
    $("loop").title = `Repeats from ${instant(from)} to ${instant(to)}; ends with l`;
    playhead.play();
  }

  async frame(by) {
    this.playhead.pause();
    const camera = this.chosen, there = await camera?.step(by);
    if (there) this.playhead.seek(there.time, { camera, ...there });
  }

  // The chosen picture as large as the page allows, and back.
  enlarge() {
    const views = this.chosen?.figure.parentElement;
    const on = Boolean(views) && !views.classList.contains("enlarged");
    for (const each of document.querySelectorAll(".views, .stage")) {
      each.classList.toggle("enlarged", on);
    }
    $("enlarge").setAttribute("aria-pressed", on);
    this.#previews();
  }

  // Many cameras run as previews, except one that is enlarged.
  #previews() {
    const large = document.querySelector(".views.enlarged") ? this.chosen : null;
    for (const [camera, lens] of this.lenses) {
      camera.whole = !this.many || camera === large || lens.zoom > 1;
    }
  }

  #follow() {
    const { playhead, cameras } = this;
    playhead.addEventListener("seek", ({ detail: why }) => {
      this.#tick();
      if (playhead.playing) return;
      for (const camera of cameras) {
        if (why.sights) camera.showFact(why.sights[camera.name], playhead.time);
        else if (why.camera === camera) camera.showStep(why);
        else camera.showTime(playhead.time);
      }
    });
    playhead.addEventListener("tick", () => {
      this.#tick();
      for (const camera of cameras) camera.follow();
    });
    playhead.addEventListener("play", () => { $("play").textContent = "Pause"; });
    playhead.addEventListener("pause", () => {
      $("play").textContent = "Play";
      for (const camera of cameras) camera.stop();
      playhead.seek(playhead.time);
    });
    playhead.addEventListener("loop", () => {
      this.timeline.loop(playhead.loop);
      $("loop").setAttribute("aria-pressed", Boolean(playhead.loop));
      if (!playhead.loop) $("loop").title = "Repeat a stretch: l";
    });
  }

  #tick() {
    $("clock").textContent = this.instant(this.playhead.time);
    const { time } = this.playhead;
    this.timeline.move(time);
    for (const { name, clock } of this.cameras) {
      this.timeline.within(name, time, pieceAt(clock, time).within);
    }
  }

  // The chosen camera's pictures along the timeline, once its own picture is there.
  #pictures() {
    if (!this.chosen) return;
    const path = location.pathname.replace(/^\/rounds\//, "/watch/");
    this.timeline.pictures(`${path}/strip.jpg?camera=${encodeURIComponent(this.chosen.name)}`);
  }

  #rate(rate) {
    this.playhead.rate = rate;
    $("speed").value = String(Math.abs(rate));
    $("play-back").setAttribute("aria-pressed", rate < 0);
  }

  #buttons() {
    const { acts } = this;
    $("speed").addEventListener("change", (event) => {
      this.#rate(Number(event.target.value) * Math.sign(this.playhead.rate));
    });
    for (const [id, act] of Object.entries({
      play: acts.toggle, "play-back": () => acts.shuttle(-1), loop: acts.loop,
      enlarge: acts.enlarge, "go-frame-before": () => acts.frame(-1),
      "go-frame-after": () => acts.frame(1), "zoom-in": () => acts.zoom(1.5),
      "zoom-out": () => acts.zoom(1 / 1.5), "zoom-whole": acts.whole,
      "tones-plain": () => this.lenses.get(this.chosen)?.plain(),
    })) $(id).addEventListener("click", act);
    for (const [id, x, y] of [["left", -0.2, 0], ["right", 0.2, 0], ["up", 0, -0.2], ["down", 0, 0.2]]) {
      $(`move-${id}`).addEventListener("click", () => this.lenses.get(this.chosen)?.move(x, y));
    }
    for (const field of $("tones").querySelectorAll("input")) {
      field.addEventListener("input", () => {
        this.lenses.get(this.chosen)?.tone(field.name, Number(field.value));
      });
    }
    $("transport").hidden = false;
  }

  // The fields of the chosen picture say how it is looked at.
  #tones() {
    const lens = this.lenses.get(this.chosen);
    $("tones").disabled = !lens;
    $("tones-of").textContent = this.chosen?.name ?? "no camera";
    for (const field of $("tones").querySelectorAll("input")) field.value = lens?.[field.name] ?? 1;
  }
}
