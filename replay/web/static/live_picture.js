// One camera's live picture: fragments of a film, fetched again and again and played as they come.
// It says how late its picture is, or why there is none.

const EVERY_MS = 400, REFUSED_MS = 5000, WAIT_MS = 10000;
const KEPT_S = 60; // seconds behind the playhead that the browser keeps
const EDGE_S = 0.4; // how far before the newest picture it begins
const LATE_S = 3; // later than this it jumps to the newest picture
const Source = globalThis.MediaSource ?? globalThis.ManagedMediaSource; // a phone may have the second only

export class LivePicture {
  #film = ""; #number = 0; #source = null; #buffer = null; #waiting = []; #newest = null;
  #timer = null; #generation = 0; #back; #began = false;

  constructor(property, camera, back = null) {
    this.name = new URLSearchParams({ property, camera });
    this.#back = back;
    this.element = document.createElement("div");
    this.element.className = "shown";
    this.video = document.createElement("video");
    Object.assign(this.video, { muted: true, playsInline: true, disablePictureInPicture: true, disableRemotePlayback: true });
    this.video.setAttribute("aria-label", `Live picture of camera ${camera}`);
    this.says = document.createElement("p");
    this.says.className = "says";
    this.element.append(this.video, this.says);
    this.#say("connecting", false);
  }

  start() {
    if (this.#timer === null) this.#turn(++this.#generation);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#generation += 1;
  }

  // Begins again: so many seconds before now, or live.
  from(back) {
    this.#back = back;
    this.#drop();
    this.stop();
    this.start();
  }

  get late() {
    if (!this.#newest || !this.#began) return null;
    const { at, age, got } = this.#newest;
    return Math.max(0, at - this.video.currentTime + age + (performance.now() - got) / 1000);
  }

  async #turn(generation) {
    this.#timer = 0;
    const again = await this.#fetch(generation);
    if (generation === this.#generation) this.#timer = setTimeout(() => this.#turn(generation), again);
  }

  async #fetch(generation) {
    if (document.hidden) return EVERY_MS;
    const asked = new URLSearchParams(this.name);
    asked.set("film", this.#film);
    asked.set("after", this.#number);
    if (this.#back !== null && !this.#film) asked.set("back", this.#back);
    try {
      const answer = await fetch(`/live/picture?${asked}`, { signal: AbortSignal.timeout(WAIT_MS) });
      if (answer.status === 401) {
        location.assign("/live");
        return REFUSED_MS;
      }
      if (!answer.ok) {
        this.#say(`No picture: ${(await answer.json()).error}`, false);
        return REFUSED_MS;
      }
      const octets = answer.status === 204 ? null : await answer.arrayBuffer();
      if (generation === this.#generation) this.#take(answer.headers, octets);
    } catch {
      if (generation === this.#generation) this.#say("No picture: the server does not answer.", false);
    }
    return EVERY_MS;
  }

  #take(headers, octets) {
    const why = headers.get("X-Live-Says");
    if (octets) {
      const number = (name) => Number(headers.get(name));
      if (headers.get("X-Live-Begins") === "yes") this.#begin(headers.get("X-Live-Codec"));
      this.#film = headers.get("X-Live-Film");
      this.#number = number("X-Live-Number");
      this.#newest = { at: number("X-Live-Newest-US") / 1e6, age: number("X-Live-Age-MS") / 1000, got: performance.now() };
      this.#waiting.push(octets);
      this.#append();
    }
    if (why) this.#say(why === "connecting" ? why : `No picture: ${why}.`, this.#began);
    else this.#tell();
  }

  #tell() {
    const late = this.late;
    if (late === null) return;
    if (this.#back === null && late > LATE_S && !this.video.paused) this.#toEdge();
    const words = late < 10 ? late.toFixed(1) : Math.round(late);
    this.#say(this.#back === null ? `Live, ${words} s late` : `${words} s back`, true);
  }

  #begin(codec) {
    this.#drop();
    const type = `video/mp4; codecs="${codec}"`;
    if (!Source?.isTypeSupported(type)) {
      this.#say("No picture: this browser does not play H.264.", false);
      return;
    }
    const source = new Source();
    this.#source = source;
    this.video.src = URL.createObjectURL(source);
    source.addEventListener("sourceopen", () => {
      if (source !== this.#source) return;
      URL.revokeObjectURL(this.video.src);
      this.#buffer = source.addSourceBuffer(type);
      this.#buffer.addEventListener("updateend", () => this.#appended());
      this.#append();
    }, { once: true });
  }

  #drop() {
    this.#film = "";
    this.#number = 0;
    this.#source = this.#buffer = this.#newest = null;
    this.#waiting = [];
    this.#began = false;
  }

  #append() {
    if (!this.#buffer || this.#buffer.updating || this.#source.readyState !== "open") return;
    const octets = this.#waiting.shift();
    try {
      if (octets) this.#buffer.appendBuffer(octets);
    } catch {
      this.#drop(); // the browser kept too much, or the film is broken: it begins anew
    }
  }

  #appended() {
    const { buffered } = this.video;
    if (buffered.length && !this.#began) {
      this.#began = true;
      if (this.#back === null) this.#toEdge();
      else this.video.currentTime = buffered.start(0);
      this.video.play().catch(() => {});
    }
    const until = this.video.currentTime - KEPT_S;
    if (buffered.length && buffered.start(0) < until - KEPT_S && !this.#buffer.updating) {
      this.#buffer.remove(0, until);
      return;
    }
    this.#append();
  }

  #toEdge() {
    const { buffered } = this.video;
    if (!buffered.length) return;
    const last = buffered.length - 1;
    this.video.currentTime = Math.max(buffered.start(last), buffered.end(last) - EDGE_S);
  }

  #say(text, seen) {
    if (this.says.textContent !== text) this.says.textContent = text;
    this.element.classList.toggle("seen", seen);
  }
}
