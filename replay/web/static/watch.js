// The cameras of a round and nothing of its record: for blind review.

import { bindKeys } from "./keys.js";
import { Player } from "./player.js";

const $ = (id) => document.getElementById(id);
const told = JSON.parse($("watch-data").textContent);
const player = new Player(told, told.from);
const { playhead, cameras } = player;

const go = {
  ...player.acts,
  facts(by) {
    playhead.pause();
    playhead.seek(playhead.time + by * 1e6);
  },
  phase(by) { go.facts(by * 10); },
};

for (const [id, by] of [["go-second-before", -1], ["go-second-after", 1]]) {
  $(id).addEventListener("click", () => go.facts(by));
}
bindKeys(go, $("keys-on"));
const begins = cameras.flatMap((camera) => camera.begins());
playhead.seek(begins.length ? Math.min(...begins) : told.from);
document.documentElement.dataset.ready = "yes";
