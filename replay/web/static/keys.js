// Keyboard control. Character keys can be turned off, and do nothing while typing in a field.

const TYPED = "textarea, select, input:not([type=range], [type=checkbox])";
const KEPT = "round-ledger keys";

export function bindKeys(go, box) {
  box.checked = localStorage.getItem(KEPT) !== "off";
  box.addEventListener("change", () => localStorage.setItem(KEPT, box.checked ? "on" : "off"));
  const characters = {
    ",": () => go.frame(-1), ".": () => go.frame(1),
    "[": () => go.clipFrom(), "]": () => go.clipTo(), b: () => go.mark(),
    d: () => go.kind("decision", 1), D: () => go.kind("decision", -1),
    s: () => go.kind("settlement", 1), S: () => go.kind("settlement", -1),
  };
  document.addEventListener("keydown", (event) => {
    const here = event.target;
    if (!box.checked || event.altKey || event.metaKey || here.matches(TYPED)) return;
    const plays = event.key === " " && !here.closest("button, a, summary, input");
    const act = arrow(event, go) ?? (event.ctrlKey ? null : characters[event.key])
      ?? (plays ? () => go.toggle() : null);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function arrow(event, go) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return null;
  if (event.ctrlKey) return () => go.round(by);
  if (event.shiftKey) return () => go.phase(by);
  return () => go.facts(by);
}
