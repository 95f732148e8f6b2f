"""What a casino needs: the page's own sums, and the README, which repeats them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/explanation/sizing.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+) \| ([\d.]+)[^|]* \| ([\d.]+) \|$", re.MULTILINE)
PEAK = 1_500
EITHER = "`serve`, 50 facts a request"
"""Instead of the row above it: facts come one by one, or in batches."""


def rows() -> dict[str, tuple[int, float]]:
    """By work: the facts a second that keep a processor busy, and its share at the peak."""
    found = ROW.findall(PAGE)
    return {work: (int(rate.replace(",", "")), float(peak)) for work, rate, _, peak in found}


@pytest.mark.parametrize("work", rows())
def test_a_share_of_a_processor_follows_from_its_rate(work: str) -> None:
    rate, peak = rows()[work]
    assert peak == pytest.approx(PEAK / rate, abs=0.006)


def test_the_sum_at_the_peak_is_that_of_the_rows_and_two_processors_are_enough() -> None:
    shares = {work: peak for work, (_, peak) in rows().items()}
    assert len(shares) > 5
    whole = sum(shares.values()) - shares[EITHER]
    assert f"The sum at the peak is {whole:.1f} processors" in PAGE
    assert whole < 2
    assert "Two processors are enough for a casino of 200 tables" in PAGE
    assert f"{whole:.1f} processors busy at the peak" in README


@pytest.mark.parametrize("figure", ["200 tables", "150 facts a second", "1,500", "7.7 GB a day"])
def test_the_readme_has_the_figures_of_the_page(figure: str) -> None:
    assert figure in README
    assert figure in PAGE
