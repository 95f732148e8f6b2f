// Results while typing: fetches the form's address for its results alone. Without this module the
// form's button does the same.

const PAUSE_MS = 200;
const form = document.getElementById("filters");
const results = document.getElementById("results");
let waiting = 0;
let asked = null;

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

form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, PAUSE_MS);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  search();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, select, textarea")) {
    event.preventDefault();
    form.elements.namedItem("table").focus();
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
