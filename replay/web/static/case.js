// Sends with an observation which footage of the round was watched in this browser, and shows it.

import { roundOf, watchedOf } from "./watched.js";

const field = document.querySelector("input[name=watched]");
if (field) {
  const spans = watchedOf(roundOf(field.dataset.round ?? ""));
  field.value = JSON.stringify(spans);
  const parts = Object.entries(spans).map(([camera, its]) => {
    const us = its.reduce((sum, [from, to]) => sum + to - from, 0);
    return `${(Math.floor(us / 1e5) / 10).toFixed(1)} s on ${camera}`;
  });
  const says = document.getElementById("watched-says");
  says.textContent = parts.length
    ? `You watched ${parts.join(", ")}.`
    : "You have watched no footage of this round here. The observation will say so.";
}
