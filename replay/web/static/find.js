// Results while typing: fetches the form's address for its results alone. Without this module the
// form's button does the same.

const PAUSE_MS = 200;
const form = document.getElementById("filters");
const results = document.getElementById("results");
const box = document.getElementById("ask");
const keep = document.getElementById("keep");
let waiting = 0;
let asked = null;

// The query that *Save* keeps: that of the results in sight.
function kept(where) {
  const query = keep?.elements.namedItem("query");
  if (query) query.value = where.split("?")[1] ?? "";
}

function address() {
  const given = [...new FormData(form)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  return query ? `/?${query}` : "/";
}

async function search() {
  asked?.abort();
  const mine = (asked = new AbortController());
  const where = address();
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(where, { headers: { "X-Fragment": "results" }, signal: mine.signal });
    if (answer.status === 401) {
      location.assign(where);
      return;
    }
    if (!answer.ok) throw new Error(`${answer.status}`);
    results.innerHTML = await answer.text();
    history.replaceState(null, "", where);
    kept(where);
  } catch (error) {
    if (error.name === "AbortError") return;
    const says = document.createElement("p");
    says.className = "message bad";
    says.setAttribute("role", "alert");
    says.textContent = "The server did not answer. The results below are of the last search.";
    results.querySelector(":scope > .message[role=alert]")?.remove();
    results.prepend(says);
  }
  if (asked === mine) results.removeAttribute("aria-busy");
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(search, PAUSE_MS);
}

form.addEventListener("input", soon);
box.addEventListener("input", soon);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  const asking = document.activeElement === box;
  await search();
  // Enter in the box leads to the first hit, so that a second Enter opens it.
  if (asking) results.querySelector("table.rounds tbody a, .nearest a")?.focus();
});

// A chip's links change the sentence in the box; Delete and Backspace remove the chip in focus.
results.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-ask]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  box.value = link.dataset.ask;
  box.focus();
  search();
});
results.addEventListener("keydown", (event) => {
  const chip = event.target.closest(".chip");
  if (!chip || (event.key !== "Delete" && event.key !== "Backspace")) return;
  event.preventDefault();
  chip.querySelector(".off").click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, select, textarea")) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});

// Values that were chosen before this module ran, or restored by the browser.
function changed(field) {
  if (field.options) {
    const all = [...field.options];
    return !(all.find((each) => each.defaultSelected) ?? all[0]).selected;
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}
if ([...form.elements].some(changed)) search();
