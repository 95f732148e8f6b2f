// The round page: the table, the list of facts, the timeline and every camera follow one playhead.
// Without this file the page lists the same facts and shows the table at ?at=.

import { Clip } from "./clips.js";
import { bindKeys } from "./keys.js";
import { Marks } from "./marks.js";
import { Player } from "./player.js";

const $ = (id) => document.getElementById(id);
const told = JSON.parse($("round-data").textContent);
const facts = told.facts;

// With this file a link to a fact moves the playhead; the page itself must not jump to the list.
const items = facts.map((fact) => $(`fact=${fact.n}`));
for (const item of items) item.removeAttribute("id");
addEventListener("load", () => requestAnimationFrame(() => scrollTo(0, 0)));

// What an address refers to: the number of a fact, or a time.
function pointed(name) {
  const found = new RegExp(`^#${name}=(\\d+)$`).exec(location.hash);
  return found ? Number(found[1]) : null;
}

const slider = $("timeline");
let current = facts[pointed("fact") - 1] ? pointed("fact") : Number(slider.dataset.at);
let hindsight = $("view-all").getAttribute("aria-current") === "true";
const pictures = {};
const player = new Player(told, facts[current - 1].t);
const { playhead, timeline, cameras, instant } = player;

const clip = new Clip(playhead, instant, () => timeline.show(marks.all, clip));
const marks = new Marks(player, clip, () => timeline.show(marks.all, clip));

// The last fact at or before a time; before the first fact, the first.
function factAt(time) {
  let found = 1;
  for (const fact of facts) if (fact.t <= time) found = Math.max(found, fact.n);
  return found;
}

async function pictureList() {
  const view = hindsight ? "all" : "known";
  pictures[view] ??= fetch(`${told.address}/tables?v=${told.version}&view=${view}`)
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`${answer.status}`))))
    .catch(() => { delete pictures[view]; return null; });
  return pictures[view];
}

let drawn = `${hindsight ? "all" : "known"}${slider.dataset.at}`;
async function drawTable() {
  const wanted = `${hindsight ? "all" : "known"}${current}`, number = current;
  if (wanted === drawn) return;
  const list = await pictureList();
  if (!list || number !== current) return;
  $("table").innerHTML = list[number - 1];
  drawn = wanted;
}

function tell(number, { announce }) {
  current = number;
  const fact = facts[number - 1];
  $("at-number").textContent = number;
  $("sums").textContent = fact.sums;
  $("pots").replaceChildren(...fact.pots.map((says) => {
    const item = document.createElement("li");
    item.textContent = says;
    return item;
  }));
  slider.setAttribute("aria-valuenow", number);
  const where = `Fact ${number} of ${facts.length}, ${fact.phase}, ${instant(fact.t)}`;
  slider.setAttribute("aria-valuetext", where);
  const before = document.querySelector('.fact[aria-current="step"]');
  before?.removeAttribute("aria-current");
  const item = items[number - 1];
  item.setAttribute("aria-current", "step");
  for (const [each, tabs] of [[before, -1], [item, 0]]) {
    for (const part of each?.querySelectorAll("a, summary") ?? []) part.tabIndex = tabs;
  }
  within(item, $("facts"));
  for (const figure of cameras.length ? [] : document.querySelectorAll(".view")) {
    const sight = fact.sights[figure.dataset.camera];
    figure.querySelector(".sight").textContent = sight?.text ?? "Not mapped to this table then.";
  }
  timeline.current(number);
  drawTable();
  $("now").ariaLive = announce ? "polite" : "off";
  player.say(`Fact ${number}. ${fact.says}`);
  if (!announce) return;
  const all = hindsight ? "&view=all" : "";
  history.replaceState(null, "", `${told.address}?at=${number}${all}#fact=${number}`);
  for (const [id, view] of [["view-known", ""], ["view-all", "&view=all"]]) {
    $(id).href = `${told.address}?at=${number}${view}`;
  }
}

// Scrolls an item into view in its box; the page itself does not scroll.
function within(item, box) {
  const top = item.offsetTop, below = top + item.offsetHeight;
  if (top < box.scrollTop) box.scrollTop = top - 8;
  else if (below > box.scrollTop + box.clientHeight) box.scrollTop = below - box.clientHeight + 8;
}

playhead.addEventListener("seek", ({ detail: why }) => {
  tell(why.fact ?? factAt(playhead.time), { announce: !playhead.playing });
});
playhead.addEventListener("tick", () => {
  const number = factAt(playhead.time);
  if (number !== current) tell(number, { announce: false });
});
// A dispute takes the moment over at which the player stands.
document.getElementById("raise")?.addEventListener("click", ({ currentTarget: link }) => {
  const to = new URL(link.href);
  to.searchParams.set("time", String(Math.round(playhead.time)));
  link.href = to.href;
});
player.stretch = () => (clip.from !== null && clip.to !== null ? clip : null);

export const go = {
  ...player.acts,
  fact(number) {
    const to = Math.max(1, Math.min(facts.length, number));
    playhead.pause();
    playhead.seek(facts[to - 1].t, { fact: to, sights: facts[to - 1].sights });
  },
  facts(by) { go.fact(current + by); },
  time(time) {
    playhead.pause();
    playhead.seek(time);
  },
  // Goes to the next or previous fact of a kind, if there is one.
  kind(name, by) {
    const its = facts.filter((fact) => fact.kind === name && (fact.n - current) * by > 0);
    const to = by > 0 ? its[0] : its.at(-1);
    if (to) go.fact(to.n);
    else player.say(`No ${name} ${by > 0 ? "after" : "before"} this fact.`);
  },
  finding(by) {
    const its = items.flatMap((item, at) => (item.classList.contains("flagged") ? [at + 1] : []));
    const further = its.filter((number) => (number - current) * by > 0);
    const to = by > 0 ? further[0] : further.at(-1);
    if (to) go.fact(to);
    else player.say(`No finding ${by > 0 ? "after" : "before"} this fact.`);
  },
  phase(by) {
    const here = facts[current - 1].phase;
    const begins = (fact, at) => at === 0 || facts[at - 1].phase !== fact.phase;
    const starts = facts.filter(begins).map((fact) => fact.n);
    const begun = starts.filter((n) => n <= current).at(-1);
    if (by > 0) return go.fact(starts.find((n) => n > current) ?? facts.length);
    if (current > begun && facts[begun - 1].phase === here) return go.fact(begun);
    return go.fact(starts.filter((n) => n < begun).at(-1) ?? 1);
  },
  round(by) { $(by < 0 ? "round-before" : "round-after")?.click(); },
  clipFrom() { clip.begin(); },
  clipTo() { clip.end(); },
  mark() { marks.bookmark(); },
  still() { marks.still(); },
  draw() { marks.draw(); },
};

function see(all) {
  hindsight = all;
  $(all ? "view-known" : "view-all").removeAttribute("aria-current");
  $(all ? "view-all" : "view-known").setAttribute("aria-current", "true");
  tell(current, { announce: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go], a[data-time]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest("details.jumps")?.removeAttribute("open");
  if (link.dataset.go) return go.fact(Number(link.dataset.go));
  player.look(JSON.parse(link.dataset.view ?? "{}"));
  return go.time(Number(link.dataset.time));
});
$("view-all").addEventListener("click", (event) => { event.preventDefault(); see(true); });
$("view-known").addEventListener("click", (event) => { event.preventDefault(); see(false); });
slider.addEventListener("keydown", ({ key }) => {
  const to = { Home: 1, End: facts.length, ArrowUp: current + 1, ArrowDown: current - 1 }[key];
  if (to) go.fact(to);
});
for (const [id, act] of Object.entries({
  "go-phase-before": () => go.phase(-1), "go-phase-after": () => go.phase(1),
  "go-fact-before": () => go.facts(-1), "go-fact-after": () => go.facts(1),
})) $(id).addEventListener("click", act);
addEventListener("hashchange", () => {
  if (facts[pointed("fact") - 1]) go.fact(pointed("fact"));
  else if (pointed("time") !== null) go.time(pointed("time"));
});

bindKeys(go, $("keys-on"));
const name = "Moment of the round";
for (const [key, value] of Object.entries({
  role: "slider", tabindex: 0, "aria-label": name, "aria-valuemin": 1, "aria-valuemax": facts.length,
})) slider.setAttribute(key, value);
for (const part of $("facts").querySelectorAll("a, summary")) part.tabIndex = -1;
timeline.show(marks.all, clip);
if (pointed("time") === null) go.fact(current); else go.time(pointed("time"));
pictureList();
document.documentElement.dataset.ready = "yes";
