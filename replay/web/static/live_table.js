// One table now: its live pictures, 30 s back, and the money of its round.

import { LivePicture } from "./live_picture.js";

const EVERY_MS = 2000;
const $ = (id) => document.getElementById(id);
const back = Number($("live-table").dataset.back) || null;
const pictures = [...document.querySelectorAll(".picture")].map((place) => {
  const picture = new LivePicture(place.dataset.property, place.dataset.camera, back);
  place.replaceChildren(picture.element);
  picture.start();
  return picture;
});

function pause(paused) {
  $("go-pause").setAttribute("aria-pressed", String(paused));
  for (const { video } of pictures) paused ? video.pause() : video.play().catch(() => {});
}

if (pictures.length) {
  $("go-back").addEventListener("click", ({ currentTarget }) => location.assign(currentTarget.dataset.href));
  $("go-live").addEventListener("click", () => {
    for (const picture of pictures) picture.from(null);
    $("go-live").setAttribute("aria-pressed", "true");
    pause(false);
  });
  $("go-pause").addEventListener("click", () => pause($("go-pause").getAttribute("aria-pressed") === "false"));
}

async function money() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { "X-Fragment": "money" }, signal: AbortSignal.timeout(10000) });
    if (answer.status === 401) location.reload();
    if (!answer.ok) return;
    const html = await answer.text();
    if ($("live-money").dataset.shown !== html) $("live-money").innerHTML = $("live-money").dataset.shown = html;
  } catch { /* the pictures say that the server does not answer */ }
}

setInterval(money, EVERY_MS);
