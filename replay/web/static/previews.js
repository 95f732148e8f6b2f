// Which segments have a preview: smaller, with fewer frames, for a page on which many cameras play.

const AGAIN_MS = 2000;
const states = new Map();

// Whether there is one now. One that is not made yet is asked for, and asked after at later calls.
export function hasPreview(sha) {
  if (!states.has(sha)) ask(sha);
  return states.get(sha) === "made";
}

async function ask(sha) {
  states.set(sha, "awaited");
  const answer = await fetch(`/footage/${sha}/preview`, { headers: { Accept: "application/json" } })
    .catch(() => null);
  const { state } = answer?.ok ? await answer.json() : { state: "none" };
  states.set(sha, state);
  if (state === "awaited") setTimeout(() => states.delete(sha), AGAIN_MS);
}
