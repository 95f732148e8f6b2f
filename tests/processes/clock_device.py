"""A device with its own clock: facts come in as lines, and go out with new times.

`python -m tests.processes.clock_device MANNER`: `utc`; `local`, with its place's offset from
UTC (`TZ`); `careless`, which takes the time on the wall for UTC.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime


def main(manner: str) -> None:
    for line in sys.stdin:
        now = datetime.now(UTC)
        if manner != "utc":
            now = now.astimezone()
        if manner == "careless":
            now = now.replace(tzinfo=UTC)
        sys.stdout.write(json.dumps(json.loads(line) | {"time": now.isoformat()}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
