// Refreshes the floor every two seconds while the page is visible. If the server does not answer,
// the page says since when, and tries again.

const EVERY_MS = 2000;
const floor = document.getElementById("floor");
const state = document.getElementById("state");
const pause = document.getElementById("pause");
let paused = false;
let under_way = false;
let said = "";
let last = new Date();

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
});
document.addEventListener("visibilitychange", look);
setInterval(look, EVERY_MS);
