// The review desk: the queue is one Tab stop, keys work on the chosen finding, and footage plays in place.

import { Camera, WHOLE_MAX } from "./camera.js";
import { clockIn } from "./clock.js";
import { Playhead } from "./playhead.js";
import { Watched } from "./watched.js";

const $ = (id) => document.getElementById(id);
const root = $("review");
const TYPED = "textarea, select, input:not([type=checkbox])";
const ON = "round-ledger keys", KEPT = "round-ledger review keys";
const ACTS = {
  next: ["Next finding", "j"], before: ["Finding before", "k"], play: ["Play or pause", " "],
  done: ["Close", "e"], raise: ["Raise a dispute", "r"], give: ["Give", "a"], take: ["Take", "t"],
  open: ["Show those alike", "o"], ask: ["Ask", "/"], keys: ["Keys", "?"],
};
const keys = { ...Object.fromEntries(Object.entries(ACTS).map(([act, [, key]]) => [act, key])),
  ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
const shown = (key) => (key === " " ? "space" : key);

const items = () => [...root.querySelectorAll("li:not([hidden]) > .item")];
const chosen = () => root.querySelector('.item[aria-current="true"]');

let asked = 0;
// Asks the server for the queue with another finding chosen, and puts it in place.
async function load(address, options = {}) {
  const turn = ++asked;
  const answer = await fetch(address, { ...options, headers: { "X-Fragment": "review" } });
  if (answer.status === 401) { location.assign("/review"); return; }
  const html = await answer.text();
  if (turn !== asked) return;
  const scrolled = $("items")?.scrollTop ?? 0;
  root.innerHTML = html;
  if ($("items")) $("items").scrollTop = scrolled;
  dress();
}

function dress() {
  const now = chosen() ?? items()[0];
  for (const item of items()) item.tabIndex = item === now ? 0 : -1;
  for (const part of root.querySelectorAll(".script")) part.hidden = false;
  const line = root.querySelector(".keysline");
  if (line) {
    const said = ["next", "before", "play", "done", "give", "raise", "keys"];
    line.textContent = said.map((act) => `${shown(keys[act])} ${ACTS[act][0].toLowerCase()}`).join(" · ");
  }
  if (now?.id !== player.name) player.close();
  document.documentElement.dataset.chosen = now?.id ?? "";
}

async function choose(item) {
  if (!item) return;
  for (const each of items()) each.removeAttribute("aria-current");
  item.setAttribute("aria-current", "true");
  await load(item.href);
  $(item.id)?.focus({ preventScroll: true });
  $(item.id)?.scrollIntoView({ block: "nearest" });
}

function move(by) {
  const all = items(), at = all.indexOf(chosen());
  return choose(all[Math.max(0, Math.min(all.length - 1, at + by))]);
}

// Sends a step, and goes on to the next finding.
async function send(form, button) {
  const fields = new FormData(form);
  if (button?.name) fields.set(button.name, button.value);
  const all = items(), at = all.indexOf(chosen());
  const names = fields.getAll("name");
  const rest = [...all.slice(at), ...all.slice(0, at).reverse()].filter((each) => !names.includes(each.id));
  const stays = ["take", "give"].includes(fields.get("step"));
  fields.set("next", stays ? names[0] : rest[0]?.id ?? "");
  await load("/review", { method: "POST", body: new URLSearchParams(fields) });
  chosen()?.focus({ preventScroll: true });
  chosen()?.scrollIntoView({ block: "nearest" });
}

class Player {
  name = ""; cameras = []; playhead = null;

  close() {
    this.playhead?.pause();
    for (const camera of this.cameras) for (const slot of camera.slots) slot.close();
    this.cameras = [];
    this.playhead = null;
    this.name = "";
    $("views").replaceChildren();
    $("player").hidden = true;
  }

  async toggle(name) {
    if (this.name !== name) return this.open(name);
    if (!this.playhead) return undefined;
    return this.playhead.playing ? this.playhead.pause() : this.playhead.play();
  }

  async open(name) {
    this.close();
    this.name = name;
    $("player").hidden = false;
    $("player-says").textContent = "";
    const answer = await fetch(`/review/footage/${name}`, { headers: { Accept: "application/json" } });
    const told = await answer.json();
    if (this.name !== name) return;
    if (!answer.ok) { $("player-says").textContent = told.error; return; }
    const instant = clockIn($("player").dataset.zone);
    this.playhead = new Playhead(told.from, told.to, told.from);
    const many = told.cameras.length > WHOLE_MAX;
    this.cameras = told.cameras.map(
      (each) => new Camera(this.#figure(each.name), each, this.playhead, instant, many));
    if (!this.cameras.length) $("player-says").textContent = "No camera was mapped to this table then.";
    new Watched(decodeURI(told.address).replace("/rounds/", ""), this.cameras);
    const playhead = this.playhead;
    playhead.addEventListener("tick", () => {
      $("clock").textContent = instant(playhead.time);
      for (const camera of this.cameras) camera.follow();
    });
    playhead.addEventListener("play", () => { $("play").textContent = "Pause"; });
    playhead.addEventListener("pause", () => {
      $("play").textContent = "Play";
      for (const camera of this.cameras) { camera.stop(); camera.showTime(playhead.time); }
    });
    playhead.play();
  }

  #figure(name) {
    const figure = document.createElement("figure");
    figure.className = "view";
    figure.dataset.camera = name;
    const screen = document.createElement("div"), caption = document.createElement("figcaption");
    screen.className = "screen";
    const label = document.createElement("b");
    label.textContent = name;
    caption.append(label, " ");
    figure.append(screen, caption);
    $("views").append(figure);
    return figure;
  }
}
const player = new Player();

const go = {
  next: () => move(1),
  before: () => move(-1),
  play: () => { if (chosen()) player.toggle(chosen().id); },
  done: () => root.querySelector(".outcomes button, #reopen")?.focus(),
  raise: () => $("raise")?.click(),
  give: () => $("to")?.focus(),
  take: () => $("take")?.click(),
  open: () => {
    const group = chosen()?.closest("li").dataset.group;
    for (const each of root.querySelectorAll(`.more[data-group="${group}"]`)) each.hidden = !each.hidden;
    dress();
  },
  ask: () => location.assign("/find#ask"),
  keys: () => $("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const here = event.target;
  if (event.altKey || event.metaKey || event.ctrlKey || $("keys").open) return;
  if (here.closest(".items")) {
    const to = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const end = { Home: 0, End: -1 }[event.key];
    if (to || end !== undefined) {
      event.preventDefault();
      if (to) move(to); else choose(items().at(end));
      return;
    }
  }
  if (here.matches(TYPED)) {
    if (event.key === "Escape") chosen()?.focus();
    return;
  }
  if (!$("keys-on").checked) return;
  const digit = here.closest(".outcomes") && root.querySelector(`[data-digit="${CSS.escape(event.key)}"]`);
  const act = Object.keys(keys).find((each) => keys[each] === event.key);
  const presses = event.key === " " && here.closest("button, summary, input");
  if (digit) digit.click();
  else if (event.key === "Escape" && here.closest(".chosen")) chosen()?.focus();
  else if (act && !presses) go[act]();
  else return;
  event.preventDefault();
});

root.addEventListener("click", (event) => {
  const item = event.target.closest?.(".item");
  if (event.target.id === "watch") go.play();
  if (event.target.id === "all-alike") {
    for (const each of root.querySelectorAll("[data-alike]")) each.disabled = !event.target.checked;
  }
  if (!item || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(item).then(() => {
    if (matchMedia("(max-width: 1000px)").matches) $("chosen").scrollIntoView();
  });
});
root.addEventListener("submit", (event) => {
  const button = event.submitter;
  const needs = ["wrong", "not_visible"].includes(button?.value) && !$("because").value.trim();
  event.preventDefault();
  if (needs) { $("because").required = true; $("because").focus(); $("because").dataset.outcome = button.value; return; }
  const fallback = $("because")?.dataset.outcome;
  const typed = document.activeElement === $("because") && fallback;
  const other = typed ? root.querySelector(`.outcomes [value="${fallback}"]`) : button;
  send(event.target, other);
});

function listKeys() {
  $("key-list").replaceChildren(...Object.entries(ACTS).flatMap(([act, [says]]) => {
    const label = document.createElement("label"), field = document.createElement("input");
    label.htmlFor = field.id = `key-${act}`;
    label.textContent = says;
    field.value = shown(keys[act]);
    field.autocomplete = "off";
    field.addEventListener("keydown", (event) => {
      if (event.key.length !== 1 || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const taken = Object.keys(keys).find((each) => keys[each] === event.key && each !== act);
      if (taken) keys[taken] = keys[act];
      keys[act] = event.key;
      localStorage.setItem(KEPT, JSON.stringify(keys));
      listKeys();
      $(`key-${act}`).focus();
      dress();
    });
    return [label, field];
  }));
}

$("keys-on").checked = localStorage.getItem(ON) !== "off";
$("keys-on").addEventListener("change", (event) => localStorage.setItem(ON, event.target.checked ? "on" : "off"));
$("keys-close").addEventListener("click", () => $("keys").close());
$("keys-usual").addEventListener("click", () => {
  for (const [act, [, key]] of Object.entries(ACTS)) keys[act] = key;
  localStorage.removeItem(KEPT);
  listKeys();
  dress();
});
$("play").addEventListener("click", () => go.play());
listKeys();
dress();
chosen()?.focus({ preventScroll: true });
document.documentElement.dataset.ready = "yes";
