// A list of links or buttons, or a toolbar, is one Tab stop: Tab leaves it, arrow keys, Home and End move in it.
// A list with a field to fill in is left alone. Without this module each link is a stop.

const LIST = "main :is(tbody, ul, ol, nav, [role=toolbar])";
const FIELD = "input, select, textarea";
const ROW = "tr, li";

function listOf(element) {
  let list = null;
  for (let at = element.closest(LIST); at; at = at.parentElement.closest(LIST)) list = at;
  return list && !list.querySelector(FIELD) ? list : null;
}

function stopsOf(list) {
  const all = [list, ...list.querySelectorAll("a[href], button, summary, [tabindex]")];
  return all.filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility());
}

function leave(list, from) {
  const others = stopsOf(list).filter((each) => each !== from).map((each) => [each, each.getAttribute("tabindex")]);
  for (const [each] of others) each.tabIndex = -1;
  setTimeout(() => {
    for (const [each, had] of others) {
      if (had === null) each.removeAttribute("tabindex");
      else each.setAttribute("tabindex", had);
    }
  });
}

// Up and down keep the place in the row; left and right stay in the row.
function next(key, stops, from) {
  if (key === "Home") return stops[0];
  if (key === "End") return stops.at(-1);
  const row = from.closest(ROW);
  const beside = row ? stops.filter((each) => each.closest(ROW) === row) : [from];
  const place = beside.indexOf(from);
  if (key === "ArrowLeft") return beside[place - 1];
  if (key === "ArrowRight") return beside[place + 1];
  const by = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (!by) return undefined;
  const edge = stops[stops.indexOf(by > 0 ? beside.at(-1) : beside[0]) + by];
  if (!edge) return undefined;
  const other = edge.closest(ROW);
  const there = other ? stops.filter((each) => each.closest(ROW) === other) : [edge];
  return there[Math.min(place, there.length - 1)];
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const from = event.target;
  const list = from.closest && listOf(from);
  if (!list) return;
  if (event.key === "Tab") {
    leave(list, from);
    return;
  }
  const stops = stopsOf(list);
  const to = event.shiftKey || stops.length < 2 ? undefined : next(event.key, stops, from);
  if (!to) return;
  event.preventDefault();
  event.stopPropagation();
  to.focus();
}, true);
