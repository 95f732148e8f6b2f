// Sends footage in pieces: from the byte that the server names, so that a reload loses nothing.
//
// A file is read piece by piece. After a reload the browser has no file: it is chosen again, and
// goes on if its name and size are those of an upload that waits.

const $ = (id) => document.getElementById(id);
const TRIES = 5, PAUSE_MS = 2000, CONFLICT = 409;

const list = $("uploads"), csrf = $("send").dataset.csrf;
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
const count = (number) => number.toLocaleString("en-US");

function problem(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

async function ask(address, options = {}) {
  const headers = { Accept: "application/json", "X-CSRF-Token": csrf, ...options.headers };
  const answer = await fetch(address, { ...options, headers });
  const told = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
  return { ok: answer.ok, status: answer.status, told };
}

function rowOf(state) {
  const row = $("upload-row").content.firstElementChild.cloneNode(true);
  Object.assign(row.dataset, { upload: state.upload, name: state.name, size: state.size });
  row.querySelector(".name").textContent = state.name;
  row.querySelector("progress").setAttribute("aria-label", state.name);
  row.querySelector("progress").max = state.size;
  row.querySelector("a").href = row.querySelector("form").action = state.page;
  row.querySelector("a .hidden").textContent = ` of ${state.name}`;
  row.querySelector("button .hidden").textContent = ` ${state.name}`;
  list.prepend(row);
  $("none").hidden = true;
  return row;
}

function show(row, offset, more = "") {
  const size = Number(row.dataset.size), whole = offset === size;
  row.dataset.offset = offset;
  row.querySelector("progress").value = offset;
  row.querySelector(".says").textContent = more
    || (whole ? `all ${count(size)} bytes are here` : `${count(offset)} of ${count(size)} bytes are here`);
  row.querySelector("a").hidden = !whole;
}

// An upload of this name and size that waits for the rest of its bytes.
function waiting(file) {
  return [...list.children].find(({ dataset }) =>
    dataset.name === file.name && Number(dataset.size) === file.size && dataset.offset !== dataset.size
    && !dataset.sending);
}

async function begin(file) {
  const body = new URLSearchParams({ name: file.name, size: file.size });
  const { ok, told } = await ask("/import/uploads", { method: "POST", body });
  if (ok) return rowOf(told);
  problem([`${file.name}: ${told.error}`, told.hint].filter(Boolean).join(" "));
  return null;
}

async function send(file) {
  const row = waiting(file) ?? await begin(file);
  if (!row) return;
  row.dataset.sending = "yes";
  const address = `/import/uploads/${row.dataset.upload}`;
  let { told } = await ask(address), tries = 0;
  while (row.isConnected && told.offset < file.size) {
    const { offset } = told;
    const body = file.slice(offset, offset + told.piece);
    const headers = { "Content-Type": "application/octet-stream" };
    const done = await ask(`${address}?offset=${offset}`, { method: "PUT", body, headers }).catch(() => null);
    if (done?.ok) [told, tries] = [done.told, 0];
    else if (done && done.status !== CONFLICT) return stopped(row, done.told);
    else if ((tries += 1) > TRIES) return stopped(row, done?.told ?? { error: "The server does not answer." });
    else {
      await wait(PAUSE_MS);
      told = (await ask(address).catch(() => null))?.told ?? told;
    }
    show(row, told.offset ?? offset);
  }
  show(row, told.offset);
  delete row.dataset.sending;
  $("status").textContent = `${file.name} is here. Its report can be opened.`;
}

function stopped(row, { error, hint }) {
  delete row.dataset.sending;
  show(row, Number(row.dataset.offset ?? 0), [error, hint, "Choose the file again to go on."].filter(Boolean).join(" "));
}

async function sendAll(files) {
  problem("");
  for (const file of files) {
    if (file.size) await send(file);
    else problem(`${file.name} is empty.`);
  }
}

$("files").addEventListener("change", ({ target }) => {
  const files = [...target.files];
  target.value = "";
  sendAll(files).catch(() => problem("The server does not answer. Choose the file again to go on."));
});
const zone = $("dropzone");
for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => {
  event.preventDefault();
  zone.classList.add("over");
});
zone.addEventListener("dragleave", () => zone.classList.remove("over"));
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  sendAll([...event.dataTransfer.files]).catch(() => problem("The server does not answer. Choose the file again to go on."));
});
addEventListener("beforeunload", (event) => {
  if (list.querySelector("[data-sending]")) event.preventDefault();
});
document.documentElement.dataset.ready = "yes";
