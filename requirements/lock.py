"""Writes the lock files beside it: what each part of the program needs, by version and SHA-256.

`make lock` runs it, with `uv` on the path, after a change of pyproject.toml or constraints.txt. A
file has what its part adds to the files that it includes, so no package stands twice.
"""

import re
import subprocess
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent

INCLUDES: dict[str, tuple[str, ...]] = {
    "build": (),
    "device": (),
    "sign": ("device",),
    "opencv": (),
    "headless": (),
    "server": ("sign", "opencv"),
    "oidc": ("server",),
    "reports": ("server",),
    "video": ("server",),
    "site": ("server", "build"),
    "dev": ("oidc", "reports", "video", "site"),
}
"""The files, and those that each one includes.

A server without graphics libraries copies `headless` over `opencv`.
"""


ENVIRONMENTS = [
    {
        "sys_platform": platform,
        "platform_system": system,
        "python_version": version,
        "python_full_version": f"{version}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    for platform, system in (("linux", "Linux"), ("darwin", "Darwin"))
    for version in ("3.11", "3.12", "3.13")
]
"""What the program is installed on: the systems and Python versions of docs/how-to/install.md."""


def wanted(project: dict) -> dict[str, list[str]]:
    """The requirements of each part, as pyproject.toml has them."""
    extras = project["project"]["optional-dependencies"]
    plain = {
        name: [each for each in needed if not each.startswith("round-ledger[")]
        for name, needed in extras.items()
    }
    (opencv,) = (each for each in plain["server"] if each.startswith("opencv-python"))
    return {
        "opencv": [opencv],
        "headless": [opencv.replace("opencv-python", "opencv-python-headless")],
        "build": project["build-system"]["requires"],
        "device": project["project"]["dependencies"],
        "site": [each for each in plain["dev"] if each.startswith("mkdocs")],
        **plain,
    }


def parts_of(name: str) -> list[str]:
    """A part and all that it includes, each once."""
    every = [name, *(other for each in INCLUDES[name] for other in parts_of(each))]
    return list(dict.fromkeys(every))


def blocks(text: str) -> dict[str, str]:
    """The pins in uv's answer by the name of the package, each with its hashes.

    A marker stays only if it tells the environments apart. What none of them needs is left out.
    """
    found: dict[str, str] = {}
    for block in re.findall(r"^[A-Za-z0-9](?:.*\\\n)*.*\n", text, re.MULTILINE):
        head, hashes = block.split(" \\\n", maxsplit=1)
        pin = Requirement(head)
        if pin.marker:
            needed = {pin.marker.evaluate(each) for each in ENVIRONMENTS}
            if needed == {False}:
                continue
            if needed == {True}:
                head = head.partition(" ;")[0]
        found[pin.name] = f"{head} \\\n{hashes}"
    return found


def locked(requirements: list[str]) -> dict[str, str]:
    """These requirements and all that they need, for every system and Python version."""
    done = subprocess.run(  # noqa: S603 - the requirements are the project's own
        [
            *("uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
            *("--generate-hashes", "--no-annotate", "--no-header"),
            *("--constraints", str(ROOT / "constraints.txt"), "-"),
        ],
        input="\n".join(requirements),
        capture_output=True,
        check=True,
        text=True,
    )
    return blocks(done.stdout)


def main() -> None:
    """Write every file."""
    parts = wanted(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    pins: dict[str, dict[str, str]] = {}
    for name, includes in INCLUDES.items():
        needed = [each for part in parts_of(name) for each in parts[part]]
        there = {block for part in parts_of(name)[1:] for block in pins[part].values()}
        pins[name] = {
            package: block for package, block in locked(needed).items() if block not in there
        }
        head = "".join(f"-r {each}.txt\n" for each in includes)
        (FOLDER / f"{name}.txt").write_text(head + "".join(pins[name].values()))


if __name__ == "__main__":
    main()
