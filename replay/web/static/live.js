// Refreshes the floor every two seconds while the page is visible. If the server does not answer,
// the page says since when, and tries again. Pictures of cameras stay as the floor is refreshed.

import { LivePicture } from "./live_picture.js";

const EVERY_MS = 2000;
const floor = document.getElementById("floor");
const state = document.getElementById("state");
const pause = document.getElementById("pause");
let paused = false;
let under_way = false;
let said = "";
let last = new Date();

const SHOWN_MAX = 9; // pictures that run at once
const switched = document.getElementById("pictures");
const pictures = new Map();
const inView = new Set();
const watching = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
  run();
});

// Puts every picture into its place in the floor, which may be new.
function place_pictures() {
  const shown = switched?.getAttribute("aria-pressed") === "true";
  const places = shown ? [...floor.querySelectorAll(".picture")] : [];
  const wanted = new Set();
  for (const place of places) {
    const { property, camera } = place.dataset;
    const name = `${property}/${camera}`;
    wanted.add(name);
    if (!pictures.has(name)) {
      pictures.set(name, new LivePicture(property, camera));
      watching.observe(pictures.get(name).element);
    }
    const { element } = pictures.get(name);
    if (element.parentNode !== place) place.replaceChildren(element);
  }
  for (const [name, picture] of pictures) {
    if (wanted.has(name)) continue;
    picture.stop();
    watching.unobserve(picture.element);
    inView.delete(picture.element);
    picture.element.remove();
    pictures.delete(name);
  }
  run();
}

// Only pictures in view run.
function run() {
  let running = 0;
  for (const picture of pictures.values()) {
    if (!paused && inView.has(picture.element) && running++ < SHOWN_MAX) picture.start();
    else picture.stop();
  }
}

function say(text) {
  if (text !== said) state.textContent = said = text;
}

function place(element) {
  return element.id ? `#${element.id}` : `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
}

function put(html) {
  if (floor.dataset.shown === html) return;
  const active = floor.contains(document.activeElement) ? place(document.activeElement) : null;
  const scrolled = [...floor.querySelectorAll(".told")].map((each) => each.scrollTop);
  floor.innerHTML = html;
  floor.dataset.shown = html;
  place_pictures(); // at once: a video that is out of the page for longer stops
  [...floor.querySelectorAll(".told")].forEach((each, at) => (each.scrollTop = scrolled[at] ?? 0));
  if (active) floor.querySelector(active)?.focus({ preventScroll: true });
}

async function look() {
  if (paused || under_way || document.hidden) return;
  under_way = true;
  try {
    const answer = await fetch("/live", { headers: { "X-Fragment": "floor" }, signal: AbortSignal.timeout(10000) });
    if (answer.status === 401) {
      location.assign("/live");
      return;
    }
    if (!answer.ok) throw new Error(`${answer.status}`);
    put(await answer.text());
    last = new Date();
    say("refreshed every 2 seconds");
  } catch {
    say(`no answer since ${last.toLocaleTimeString()}`);
  } finally {
    under_way = false;
  }
}

pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.textContent = paused ? "Resume" : "Pause";
  pause.setAttribute("aria-pressed", String(paused));
  if (paused) say(`paused at ${last.toLocaleTimeString()}`);
  else look();
  run();
});
if (switched) {
  switched.hidden = false;
  switched.addEventListener("click", () => {
    switched.setAttribute("aria-pressed", String(switched.getAttribute("aria-pressed") !== "true"));
    place_pictures();
  });
}
place_pictures();
document.addEventListener("visibilitychange", look);
setInterval(look, EVERY_MS);
