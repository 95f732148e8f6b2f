// What a camera's tile says: the picture that is seen and when it was taken, or why there is none.

const NOT_MAPPED = "the camera was not mapped to this table then.";

export class Tile {
  #fact = null; #picture = null; #doubts = { says: [], ofPicture: [] };

  constructor(figure, instant) {
    this.instant = instant;
    this.why = this.#part("p", "why");
    figure.querySelector(".screen").append(this.why);
    const told = figure.querySelector("figcaption");
    this.caption = this.#part("span", "caption mono");
    this.sight = told.querySelector(".sight") ?? this.#part("span", "sight");
    this.doubtful = this.#part("span", "doubtful");
    told.append(this.caption, this.sight, this.doubtful);
    this.#show();
  }

  // The picture that is seen: its frame, and its time by the camera's clock and by the house's.
  // within: how far the house's time may be wrong; null if the clock was never checked.
  picture(seen) {
    this.#picture = seen;
    this.why.hidden = true;
    this.#show();
  }

  // No picture is seen. says: why, or nothing while one is awaited.
  nothing(says = "") {
    this.#picture = null;
    this.why.textContent = says;
    this.why.hidden = !says;
    this.#show();
  }

  // The fact that the playhead is at, as this camera has it; undefined if it was not mapped then, and
  // null between facts.
  fact(sight) {
    if (sight === this.#fact) return;
    this.#fact = sight === undefined ? { text: NOT_MAPPED } : sight;
    this.#show();
  }

  // Notes beside the picture; those of a picture alone are left out while there is none.
  doubts(says, ofPicture) {
    const all = { says, ofPicture };
    if (JSON.stringify(all) === JSON.stringify(this.#doubts)) return;
    this.#doubts = all;
    this.#show();
  }

  #show() {
    this.#put(this.caption, this.#picture ? this.#taken(this.#picture) : "");
    this.#put(this.sight, this.#ofFact());
    const told = this.why.hidden ? this.sight.textContent : this.why.textContent;
    const { says, ofPicture } = this.#doubts;
    const all = this.#picture ? [...says, ...ofPicture] : says;
    this.#put(this.doubtful, all.filter((each) => !told.includes(each)).join(" "));
  }

  // What the ledger says of the fact's picture, only beside that very picture.
  #ofFact() {
    const fact = this.#fact, seen = this.#picture;
    if (!fact || !seen) return "";
    const its = !fact.sha || fact.frame === null || (fact.sha === seen.sha && fact.frame === seen.frame);
    return its ? `This fact: ${fact.text}` : "";
  }

  #taken({ frame, of, camera, house, within, preview }) {
    const said = [`Frame ${frame} of ${of}`];
    if (camera !== null) said.push(`its clock ${this.instant(camera)}`);
    if (house !== undefined && within !== null) {
      said.push(`house ${this.instant(house)} ±${Math.ceil(within / 1000)} ms`);
    }
    if (preview) said.push("preview");
    return said.join(" · ");
  }

  #put(part, says) {
    if (part.textContent === says) return;
    part.textContent = part.title = says;
    part.hidden = !says;
  }

  #part(name, kind) {
    const part = document.createElement(name);
    part.className = kind;
    part.hidden = true;
    return part;
  }
}
