"""The report of a shift on paper."""

import re

from consumers.review.shifts import Shift
from replay.reports.shift_paper import shift_pdf
from replay.review.shift_report import LINES_MAX, WORDS_MAX

SHIFT = Shift("hollywood", "SH-2026-11-20-1", "S-1", 1, "S-1", 2, "S-2", "0" * 64)


def pages(octets: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", octets))


def test_the_longest_report_fits_one_sheet() -> None:
    line = "L-2026-11-20-1: 2026-11-20 21:00:00 -05:00, CC-07: " + "seven " * (WORDS_MAX // 6)
    lists = "\n\n".join("\n".join(["A part", "a", "b", *[line] * LINES_MAX]) for _ in range(5))
    rest = "\n\n".join(["A part\na\nb\nc\nd"] * 2)
    assert pages(shift_pdf(SHIFT, f"{lists}\n\n{rest}")) == 1
    assert pages(shift_pdf(SHIFT, f"{lists}\n\n{lists}")) == 2, "the control"


def test_a_report_without_its_text_says_so() -> None:
    assert pages(shift_pdf(SHIFT, None)) == 1
