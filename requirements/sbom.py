"""Writes a software bill of materials (CycloneDX 1.6, JSON) from the lock files.

`make sbom` writes those of a server, an image and a device to dist/. The same lock gives the same
bytes, so a bill has no time of its own. A bill lists Python packages, not what Debian's image has.
"""

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

BILLS: dict[str, tuple[str, ...]] = {
    "server": ("video", "oidc", "reports"),
    "image": ("headless", "oidc"),
    "device": ("sign",),
}
"""By bill, the lock files that it is made of. The image has `headless` in the place of `opencv`."""

_NAMESPACE = uuid.UUID("6f1f3a0e-6a57-5d0c-9f0e-2b1f2c8d9a41")
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+?))? *\\?")


def lines_of(part: str, folder: Path = FOLDER, without: str = "") -> list[str]:
    """The lines of a lock file and of all that it includes, but the file `without`."""
    lines: list[str] = []
    for line in (folder / f"{part}.txt").read_text().splitlines():
        included = re.fullmatch(r"-r (\w+)\.txt", line)
        if not included:
            lines.append(line)
        elif included[1] != without:
            lines += lines_of(included[1], folder, without)
    return lines


def components(lines: list[str]) -> list[dict[str, Any]]:
    """A component for each package, by name, with the SHA-256 of every file of its release."""
    found: dict[str, dict[str, Any]] = {}
    files: list[dict[str, str]] = []
    for line in lines:
        if pin := _PIN.fullmatch(line):
            name = re.sub(r"[-_.]+", "-", pin[1]).lower()
            files = []
            purl = f"pkg:pypi/{name}@{pin[2]}"
            found[name] = {
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": pin[2],
                "purl": purl,
                "externalReferences": [{"type": "distribution", "url": purl, "hashes": files}],
            }
        elif digest := re.search(r"--hash=sha256:([0-9a-f]{64})", line):
            files.append({"alg": "SHA-256", "content": digest[1]})
    return [found[name] for name in sorted(found)]


def bill(parts: tuple[str, ...], folder: Path = FOLDER) -> dict[str, Any]:
    """The bill of these lock files."""
    project = tomllib.loads((folder.parent / "pyproject.toml").read_text())["project"]
    without = "opencv" if "headless" in parts else ""
    within = components([line for part in parts for line in lines_of(part, folder, without)])
    name, version = project["name"], project["version"]
    purl = f"pkg:pypi/{name}@{version}"
    said = json.dumps([parts, version, within])
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, said)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": name,
                "version": version,
                "purl": purl,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": within,
        "dependencies": [{"ref": purl, "dependsOn": [each["bom-ref"] for each in within]}],
    }


def main(folder: Path) -> None:
    """Write each bill."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in BILLS.items():
        text = json.dumps(bill(parts), indent=1) + "\n"
        (folder / f"round-ledger-{name}.cdx.json").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
