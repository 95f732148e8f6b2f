// The start and end of a clip.

const $ = (id) => document.getElementById(id);

export class Clip {
  from = null;
  to = null;

  constructor(playhead, instant, changed) {
    this.playhead = playhead;
    this.instant = instant;
    this.changed = changed;
    this.form = $("clip");
    if (!this.form) return;
    $("clip-box").hidden = false;
    $("clip-in").addEventListener("click", () => this.begin());
    $("clip-out").addEventListener("click", () => this.end());
  }

  begin() {
    this.from = this.playhead.time;
    if (this.to !== null && this.to <= this.from) this.to = null;
    this.#say();
  }

  end() {
    this.to = this.playhead.time;
    if (this.from !== null && this.from >= this.to) this.from = null;
    this.#say();
  }

  #say() {
    this.changed();
    if (!this.form) return;
    for (const [name, time] of [["from", this.from], ["to", this.to]]) {
      $(`clip-${name}`).value = time === null ? "" : Math.round(time);
      $(`clip-${name}-says`).textContent = time === null ? "not set" : this.instant(time);
    }
    $("clip-go").disabled = this.from === null || this.to === null;
  }
}
