// Keyboard control. Character keys can be turned off, and do nothing while typing in a field.

const TYPED = "textarea, select, input:not([type=checkbox])";
const KEPT = "round-ledger keys";

export function bindKeys(go, box) {
  box.checked = localStorage.getItem(KEPT) !== "off";
  box.addEventListener("change", () => localStorage.setItem(KEPT, box.checked ? "on" : "off"));
  const characters = {
    ",": () => go.frame(-1), ".": () => go.frame(1),
    J: () => go.shuttle(-1), K: () => go.stop(), L: () => go.shuttle(1), l: () => go.loop(),
    f: () => go.enlarge(), "+": () => go.zoom(1.5), "-": () => go.zoom(1 / 1.5), 0: () => go.whole(),
    "[": () => go.clipFrom?.(), "]": () => go.clipTo?.(), b: () => go.mark?.(),
    c: () => go.still?.(), a: () => go.draw?.(),
    n: () => go.finding?.(1), N: () => go.finding?.(-1),
    d: () => go.kind?.("decision", 1), D: () => go.kind?.("decision", -1),
    s: () => go.kind?.("settlement", 1), S: () => go.kind?.("settlement", -1),
  };
  for (let number = 1; number <= 9; number += 1) characters[number] = () => go.camera(number);
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
  if (event.ctrlKey) return () => go.round?.(by);
  if (event.shiftKey) return () => go.phase(by);
  return () => go.facts(by);
}
