"""File names of recorded names: no separator, no quote, no hidden file, whatever was recorded."""

from __future__ import annotations

import pytest

from replay.text.file_names import file_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CC-07 left", "CC-07_left"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ('a"; filename="b.exe', "a___filename__b.exe"),
        ("a\r\nSet-Cookie: b", "a__Set-Cookie__b"),
        ("..", "_"),
        ("Tür\0", "T_r_"),
    ],
)
def test_a_recorded_name_leaves_no_folder_and_no_header(text: str, name: str) -> None:
    assert file_name(text) == name
