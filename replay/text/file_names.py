"""Parts of file names from recorded names, which may contain any character."""

import re

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def plain(text: str, blank: str = "_") -> str:
    """The text in letters, digits, dots, dashes and underscores; `blank` for other characters."""
    return _UNSAFE.sub(blank, text)


def file_name(text: str, *, blank: str = "_", leading: str = ".", empty: str = "_") -> str:
    """The text as part of a file's name: letters, digits, dots, dashes and underscores.

    blank: replaces any other character. leading: characters removed from its beginning, since a
    leading dot hides a file. empty: the name if nothing is left.
    """
    return plain(text, blank).lstrip(leading) or empty
