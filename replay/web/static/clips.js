// The start and end of a clip, and marked moments.

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

// Marks stay in this browser window; each has links that attach it to the round's cases.
export class Marks {
  constructor(address, instant, changed, go) {
    this.key = `marks ${address}`;
    this.instant = instant;
    this.changed = changed;
    this.go = go;
    this.all = JSON.parse(sessionStorage.getItem(this.key) ?? "[]");
    this.#show();
  }

  add(mark) {
    this.all.push(mark);
    sessionStorage.setItem(this.key, JSON.stringify(this.all));
    document.dispatchEvent(new CustomEvent("round:mark", { detail: mark }));
    this.#show();
    this.changed();
  }

  // A link to each case about this round; its form for notes then has fact and time filled in.
  #attaching(mark) {
    return [...document.querySelectorAll("[data-case]")].flatMap((its) => {
      const link = document.createElement("a");
      const time = Math.round(mark.time);
      link.href = `${its.getAttribute("href")}?fact=${mark.fact}&time=${time}#note`;
      link.textContent = `attach to ${its.dataset.case}`;
      return [" ", link];
    });
  }

  #show() {
    $("marks-box").hidden = this.all.length === 0;
    $("marks").replaceChildren(...this.all.map((mark) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = `${this.instant(mark.time)} · fact ${mark.fact}`;
      button.addEventListener("click", () => this.go(mark));
      item.append(button, ...this.#attaching(mark));
      return item;
    }));
  }
}
