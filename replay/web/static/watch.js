// The cameras of a round and nothing of its record: for blind review.

import { Camera } from "./camera.js";
import { clockIn } from "./clock.js";
import { bindKeys } from "./keys.js";
import { Playhead } from "./playhead.js";
import { Timeline } from "./timeline.js";
import { Watched, roundOf } from "./watched.js";

const $ = (id) => document.getElementById(id);
const told = JSON.parse($("watch-data").textContent);
const instant = clockIn($("clock").dataset.zone);
const playhead = new Playhead(told.from, told.to, told.from);
const timeline = new Timeline(document.querySelector("#timeline svg"), playhead);
const cameras = told.cameras.map((each) => {
  const figure = document.querySelector(`[data-camera="${CSS.escape(each.name)}"]`);
  return new Camera(figure, each, playhead, instant);
});
const seen = (each) => each.segments.some((segment) => segment.plays);
let chosen = cameras.find(seen) ?? null;
new Watched(roundOf(location.pathname), cameras);

function tick() {
  $("clock").textContent = instant(playhead.time);
  timeline.move(playhead.time);
}

playhead.addEventListener("seek", (event) => {
  tick();
  if (playhead.playing) return;
  const why = event.detail;
  for (const camera of cameras) {
    if (why.camera === camera) camera.showStep(why);
    else camera.showTime(playhead.time);
  }
});
playhead.addEventListener("tick", () => {
  tick();
  for (const camera of cameras) camera.follow();
});
playhead.addEventListener("play", () => { $("play").textContent = "Pause"; });
playhead.addEventListener("pause", () => {
  $("play").textContent = "Play";
  for (const camera of cameras) camera.stop();
  playhead.seek(playhead.time);
});

const go = {
  facts(by) {
    playhead.pause();
    playhead.seek(playhead.time + by * 1e6);
  },
  phase(by) { go.facts(by * 10); },
  round() {},
  kind() {},
  async frame(by) {
    playhead.pause();
    const there = await chosen?.step(by);
    if (there) playhead.seek(there.time, { camera: chosen, ...there });
  },
  toggle() { if (playhead.playing) playhead.pause(); else playhead.play(); },
  clipFrom() {},
  clipTo() {},
  mark() {},
};

$("play").addEventListener("click", () => go.toggle());
$("speed").addEventListener("change", (event) => { playhead.rate = Number(event.target.value); });
for (const [id, act] of Object.entries({
  "go-second-before": () => go.facts(-1), "go-second-after": () => go.facts(1),
  "go-frame-before": () => go.frame(-1), "go-frame-after": () => go.frame(1),
})) $(id).addEventListener("click", act);
for (const camera of cameras) {
  camera.figure.addEventListener("pointerdown", () => { chosen = camera; });
}

bindKeys(go, $("keys-on"));
$("transport").hidden = false;
const begins = cameras.flatMap((camera) => camera.begins());
playhead.seek(begins.length ? Math.min(...begins) : told.from);
document.documentElement.dataset.ready = "yes";
