"""Which paragraphs a module speaks of: in its strings and in its comments, ranges spelled out."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PART = r"\([a-z]+\)|\([0-9]+\)|\([A-Z]+\)"
_CITE = re.compile(
    rf"(?:(?P<chapter>\b[0-9]{{3}}a?)\.|(?<![0-9a-z]))"
    rf"(?P<section>\.?[0-9]{{1,2}})(?P<parts>(?:{_PART})+)"
    rf"(?:\s*(?:-|to)\s*(?P<last>{_PART}))?"
)
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii")


def _labels(first: str, last: str) -> list[str]:
    """`(1)` to `(3)`, `(a)` to `(c)`, `(i)` to `(iii)`, `(A)` to `(C)`, `(I)` to `(III)`."""
    low, high = first.strip("()"), last.strip("()")
    if low.isdigit():
        return [f"({number})" for number in range(int(low), int(high) + 1)]
    for numerals in (_NUMERALS, tuple(numeral.upper() for numeral in _NUMERALS)):
        if low in numerals and high in numerals and high != low:
            return [f"({n})" for n in numerals[numerals.index(low) : numerals.index(high) + 1]]
    return [f"({chr(code)})" for code in range(ord(low), ord(high) + 1)]


def spoken_of(text: str) -> set[tuple[str | None, str]]:
    """Each paragraph in a text: its chapter where one is printed before it, and its number."""
    found = set()
    for match in _CITE.finditer(text):
        section, parts = match["section"].strip("."), re.findall(_PART, match["parts"])
        lasts = _labels(parts[-1], match["last"]) if match["last"] else [parts[-1]]
        stem = section + "".join(parts[:-1])
        found |= {(match["chapter"], stem + last) for last in lasts}
    return found


def cited_in(path: str) -> set[tuple[str | None, str]]:
    """Every paragraph that a module's strings and comments speak of."""
    source = (ROOT / path).read_text(encoding="utf-8")
    kinds = (tokenize.STRING, tokenize.COMMENT)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts = [token.string for token in tokens if token.type in kinds]
    return {cite for text in texts for cite in spoken_of(text)}
