"""`make bench`: every benchmark in one run, printed as it comes and kept as JSON.

A figure means something only beside the others of its run, on the machine it names; ratios are
what to compare. `python -m tests.benchmarks [--json FILE] [NAME ...]` runs some of them; the kept
file is only replaced by a run of all, or where named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from tests.benchmarks.tools.limits import held, table
from tests.fixtures.postgres import postgres_version

FOLDER = Path(__file__).parent
KEPT = FOLDER.parents[1] / "docs" / "benchmarks.json"


def names() -> list[str]:
    """Every benchmark, by the name of its file."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cpus": os.cpu_count(),
        "memory_gib": memory // 2**30,
        "python": platform.python_version(),
        "postgresql": postgres_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def processor() -> str:
    """Its name, if the system has one."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "not told"


def shown(figures: object, depth: int = 1) -> str:
    """Figures as indented lines, a rate to whole numbers and a ratio to two places."""
    if not isinstance(figures, dict):
        return f"{figures:,.2f}" if isinstance(figures, float) else str(figures)
    lines = []
    for name, value in figures.items():
        text = shown(value, depth + 1)
        end = "\n" + text if isinstance(value, dict) else " " + text
        lines.append("  " * depth + f"{name}:" + end)
    return "\n".join(lines)


def main() -> None:
    """Run the benchmarks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *names()], help="default: all")
    parser.add_argument("--json", type=Path, help=f"default, where all run: {KEPT.name} in docs")
    asked = parser.parse_args()
    kept = asked.json or (None if asked.names else KEPT)
    results: dict[str, object] = {"machine": machine()}
    print(shown(results))  # noqa: T201 - a script's answer
    for name in asked.names or names():
        start = time.monotonic()
        results[name] = import_module(f"tests.benchmarks.bench_{name}").run()
        took = time.monotonic() - start
        print(f"{name} ({took:.0f} s)\n{shown(results[name])}", flush=True)  # noqa: T201 - as above
    if rows := held(results):
        results["limits"] = [row._asdict() for row in rows]
        print(f"figure, limit, met\n{table(rows)}")  # noqa: T201 - as above
    if kept:
        kept.write_text(json.dumps(results, indent=2) + "\n")
        print(f"kept in {kept}", file=sys.stderr)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
