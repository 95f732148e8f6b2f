// Frames of a segment and times of a camera's clock, as the ledger counts them.

// The first frame at or after a time, as the ledger counts; else the last one.
export function frameAt(pts, us) {
  let low = 0, high = pts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pts[middle] < us) low = middle + 1; else high = middle;
  }
  return low;
}

// The time in a file to seek to for a frame, in seconds.
export function middleOf(index, frame) {
  const next = frame + 1 < index.pts.length ? index.pts[frame + 1] : index.duration;
  return (index.pts[frame] + Math.max(next, index.pts[frame] + 2)) / 2e6;
}

// The frame that a player shows, by the time it reports.
export function frameOf(pts, seconds) {
  const us = seconds * 1e6;
  const at = frameAt(pts, us);
  return at > 0 && us - pts[at - 1] < pts[at] - us ? at - 1 : at;
}

// Maps along the line of a clock's piece: from reference to camera time, or with 1, 0 back.
export function along(line, time, from = 0, to = 1) {
  let at = line.findIndex((point) => point[from] > time);
  if (at === -1) at = line.length - 1;
  const a = line[Math.max(at - 1, 0)], b = line[Math.max(at, 1)];
  return a[to] + ((time - a[from]) * (b[to] - a[to])) / (b[from] - a[from]);
}

// The piece of a clock (one fit) that holds at a reference time.
export function pieceAt(clock, time) {
  return clock.find((piece) => time < piece.to) ?? clock.at(-1);
}

// The reference times at which a clock showed a time, in the given epochs: none, one or two.
// Before its first piece and after its last one the clock is extended at the same rate.
export function shownAt(clock, cameraTime, epochs) {
  const end = clock.length - 1;
  return clock.flatMap((piece, at) => {
    const after = at === 0 || piece.line[0][1] <= cameraTime;
    const its = after && (at === end || cameraTime < piece.line.at(-1)[1]);
    return its && epochs.includes(piece.epoch) ? [along(piece.line, cameraTime, 1, 0)] : [];
  });
}
