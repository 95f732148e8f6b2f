// Marks on footage, each kept on record: bookmarks, stills, and shapes beside a frame.
//
// Each has a small form in sight. After saving, the server's list takes the place of the one here.

import { Overlay, Sketch } from "./shapes.js";

const $ = (id) => document.getElementById(id);

export class Marks {
  #forms = {}; #sketch = null; #overlays = new Map();

  constructor(player, clip, changed) {
    Object.assign(this, { player, clip, changed });
    this.box = $("marks-box");
    for (const camera of player.seen) {
      this.#overlays.set(camera, new Overlay(camera));
      camera.addEventListener("picture", () => this.#shapesOf(camera));
    }
    if (!$("marking")) return;
    $("marking").hidden = false;
    for (const [name, act] of [["bookmark", "bookmark"], ["still", "still"], ["draw", "draw"]]) {
      this.#forms[name] = this.#form(name);
      $(`mark-${name}`).addEventListener("click", () => this[act]());
    }
    $("draw-undo").addEventListener("click", () => this.#sketch?.undo());
    this.box.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send(event.target, event.target.action);
    });
  }

  // Those of the list, for the timeline.
  get all() {
    return [...(this.box?.querySelectorAll("[data-mark]") ?? [])].map(({ dataset }) => ({
      kind: dataset.mark, from: Number(dataset.from), to: Number(dataset.to),
    }));
  }

  bookmark() {
    const form = this.#forms.bookmark, { playhead, instant, lenses, seen, chosen } = this.player;
    if (!form) return;
    const from = this.clip.from ?? playhead.time, to = Math.max(this.clip.to ?? from, from);
    form.from_us.value = Math.round(from);
    form.to_us.value = Math.round(to);
    form.view.value = JSON.stringify(
      Object.fromEntries(seen.map((camera) => [camera.name, lenses.get(camera).view])),
    );
    const boxes = [...form.querySelectorAll("[name=camera]")];
    if (!boxes.some((each) => each.checked)) {
      for (const each of boxes) each.checked = each.value === chosen?.name || seen.length < 3;
    }
    const until = to > from ? ` to ${instant(to)}` : "";
    this.#open("bookmark", `${instant(from)}${until}`);
  }

  still() {
    const picture = this.#forms.still && this.#picture("save");
    if (!picture) return;
    this.#forms.still.frame.value = picture.frame;
    this.#forms.still.action = `/footage/${picture.sha}/stills`;
    this.#open("still", `${picture.name}, frame ${picture.frame}`);
  }

  async draw() {
    const picture = this.#forms.draw && this.#picture("draw beside");
    if (!picture) return;
    const camera = this.player.chosen, form = this.#forms.draw;
    const { width, height } = await camera.index(picture.sha);
    form.frame.value = picture.frame;
    form.action = `/footage/${picture.sha}/shapes`;
    this.#open("draw", `${picture.name}, frame ${picture.frame}`);
    const says = form.querySelector("[data-says]");
    const style = () => ({ kind: form.kind.value, text: form.text.value });
    this.#sketch = new Sketch(this.#overlays.get(camera), { width, height }, style, (count, at, from) => {
      const corner = from ? `, first corner ${from.join(", ")}` : "";
      says.textContent = `${picture.name}, frame ${picture.frame}: ${count} drawn; cross at ${at.join(", ")}${corner}`;
    });
    this.#sketch.of = `${picture.sha} ${picture.frame}`;
    this.#sketch.svg.focus({ preventScroll: true });
  }

  // The frame that the chosen camera shows while the playhead stands; null if it shows none.
  #picture(act) {
    const { playhead, chosen } = this.player;
    playhead.pause();
    const { sha, frame } = chosen?.figure.dataset ?? {};
    if (sha && frame !== undefined) return { sha, frame: Number(frame), name: chosen.name };
    this.player.say(`There is no picture to ${act}: choose a camera with 1 to 9.`);
    return null;
  }

  #form(name) {
    const dialog = $(`${name}-form`), form = dialog.querySelector("form");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (name === "draw") form.shapes.value = JSON.stringify(this.#sketch?.shapes ?? []);
      if (await this.#send(form, form.action)) this.#close(name);
    });
    form.querySelector("[data-cancel]").addEventListener("click", () => this.#close(name));
    dialog.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.#close(name);
    });
    return form;
  }

  #open(name, says) {
    for (const other of Object.keys(this.#forms)) if (other !== name) this.#close(other);
    const form = this.#forms[name], dialog = $(`${name}-form`);
    form.querySelector("[data-says]").textContent = says;
    form.querySelector("[data-problem]").hidden = true;
    if (!dialog.open) dialog.show();
    form.querySelector("input:not([type=hidden])").focus();
  }

  #close(name) {
    const dialog = $(`${name}-form`);
    if (!dialog.open) return;
    dialog.close();
    if (name === "draw") {
      this.#sketch?.close();
      this.#sketch = null;
      this.#shapesOf(this.player.chosen);
    } else this.#forms[name].reset();
    $(`mark-${name}`).focus({ preventScroll: true });
  }

  // Sends a form; what is refused is said in it.
  async #send(form, address) {
    const problem = form.querySelector("[data-problem]");
    const told = (says) => {
      if (problem) Object.assign(problem, { textContent: says, hidden: false });
      this.player.say(says);
      return false;
    };
    const headers = { "X-Fragment": "marks", Accept: "application/json" };
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(address, { method: "POST", body, headers }).catch(() => null);
    if (!answer) return told("The server does not answer. Nothing was saved.");
    if (!answer.ok) {
      const { error, hint } = await answer.json().catch(() => ({ error: `Not saved (${answer.status}).` }));
      return told([error, hint].filter(Boolean).join(" "));
    }
    this.box.innerHTML = await answer.text();
    this.player.say("Saved on record. It stands below, under Bookmarks and stills.");
    for (const camera of this.#overlays.keys()) this.#shapesOf(camera);
    this.changed();
    return true;
  }

  // The saved shapes of the frame that a camera shows.
  #shapesOf(camera) {
    const overlay = this.#overlays.get(camera);
    if (!overlay) return;
    const { sha, frame } = camera.figure.dataset;
    if (this.#sketch && camera === this.player.chosen) {
      if (this.#sketch.of === `${sha} ${frame}`) return;
      this.#close("draw");
      return;
    }
    const of = frame === undefined ? null
      : this.box?.querySelector(`[data-segment="${sha}"][data-frame="${frame}"] svg.shapes`);
    overlay.show(of ?? null);
  }
}
