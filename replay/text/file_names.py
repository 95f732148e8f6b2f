"""Parts of file names from names on record, which may hold anything."""

import re

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def plain(text: str, blank: str = "_") -> str:
    """The text in letters, digits, dots, dashes and underscores; `blank` for all else."""
    return _UNSAFE.sub(blank, text)


def file_name(text: str, *, blank: str = "_", leading: str = ".", empty: str = "_") -> str:
    """The text as part of a file's name: letters, digits, dots, dashes and underscores.

    blank: what stands for any other character; leading: characters that are taken off its
    beginning, as a dot hides a file; empty: the name where nothing is left.
    """
    return plain(text, blank).lstrip(leading) or empty
