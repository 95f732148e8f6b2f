"""A broken link of the documentation fails `make check` and `make site`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILDS = re.findall(r"/mkdocs (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

SETTINGS = f"""
INHERIT: {ROOT / "mkdocs.yml"}
docs_dir: pages
site_dir: site
hooks: []
plugins: []
not_in_nav: ""
nav: [index.md, other.md]
theme:
  name: null
  custom_dir: theme
"""


def test_every_build_is_the_same_strict_one() -> None:
    assert len(BUILDS) == 2
    assert set(BUILDS) == {"build --strict"}, "with --quiet warnings count for nothing"


@pytest.mark.long
@pytest.mark.parametrize(
    ("link", "code"),
    [
        ("other.md", 0),
        ("other.md#a-heading", 0),
        ("nowhere.md", 1),
        ("other.md#no-such-heading", 1),
        ("/docs/other.html", 1),
    ],
)
def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path, link: str, code: int) -> None:
    """With the settings of the site, on two pages."""
    for folder in ("pages", "theme"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mkdocs.yml").write_text(SETTINGS)
    (tmp_path / "theme" / "main.html").write_text("{{ page.content }}")
    (tmp_path / "pages" / "index.md").write_text(f"# Start\n\n[a link]({link})\n")
    (tmp_path / "pages" / "other.md").write_text("# Other\n\n## A heading\n")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *BUILDS[0].split()],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert (link in done.stderr) == (code == 1)
