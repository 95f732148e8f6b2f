// Extends the session while the page is used, and warns before it ends (WCAG 2.2.1). After signing
// in again in another tab the same user continues here, and typed text can still be sent.

const KEEP_S = 300;
const AGAIN_S = 15;
const box = document.getElementById("session");
const { name, warn, last } = box.dataset;
let worked = false;
let next = 0;
let looks = 0;

function state({ name: now, left_s, longest_s }) {
  if (left_s === 0) return "over";
  if (now !== name) return "other";
  if (longest_s <= last) return "shift";
  return left_s <= warn ? "idle" : "";
}

function tell(which) {
  if (box.dataset.state === which) return;
  box.dataset.state = which;
  box.hidden = which === "";
  for (const each of box.querySelectorAll("[data-when]")) each.hidden = each.dataset.when !== which;
}

async function ask(method) {
  const headers = { "X-CSRF-Token": document.querySelector("[name=csrf]").value };
  const answer = await fetch("/session", { method, headers, signal: AbortSignal.timeout(10000) });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

async function look() {
  clearTimeout(next);
  const mine = ++looks;
  let again_s = AGAIN_S;
  try {
    let told = await ask("GET");
    if (mine === looks && told.name === name) {
      for (const each of document.querySelectorAll("[name=csrf]")) each.value = told.csrf;
      if (worked) told = await ask("POST");
    }
    if (mine !== looks) return; // a later request has newer data
    worked = false;
    tell(state(told));
    const calm_s = Math.min(told.left_s - warn, told.longest_s - last, KEEP_S);
    again_s = told.left_s === 0 ? KEEP_S : Math.max(calm_s, AGAIN_S);
  } catch {
    // If the server does not answer, other parts of the page say so; here it is tried again.
  }
  if (mine !== looks) return;
  next = setTimeout(() => { if (!document.hidden) look(); }, again_s * 1000);
}

for (const what of ["input", "keydown", "pointerdown", "wheel"]) {
  addEventListener(what, () => { worked = true; }, { passive: true });
}
document.getElementById("stay").addEventListener("click", look);
document.addEventListener("visibilitychange", look);
addEventListener("focus", look);
next = setTimeout(look, KEEP_S * 1000);
