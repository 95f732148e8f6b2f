"""Addresses of cameras: what a file says, and that no password is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.errors import Usage
from replay.footage.live.addresses import CameraAddresses, addresses_from
from replay.shell.settings import read

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cret"  # noqa: S105 - of no camera


def file_of(folder: Path, text: str) -> Path:
    path = folder / "cameras.toml"
    path.write_text(text)
    return path


def test_a_camera_has_the_address_of_its_line_and_no_other(tmp_path: Path) -> None:
    line = f'[hollywood]\nCC-01-A = "rtsp://viewer:{SECRET}%40@192.0.2.1/a/b?c=1"\n'
    found = addresses_from(file_of(tmp_path, line), None)
    place = found.of("hollywood", "CC-01-A")
    assert place is not None
    assert (place.host, place.port) == ("192.0.2.1", 554)
    assert place.address.url == "rtsp://192.0.2.1:554/a/b?c=1"
    assert (place.address.user, place.address.password) == ("viewer", f"{SECRET}@")
    assert found.of("hollywood", "CC-01-B") is None
    assert found.of("desert", "CC-01-A") is None
    assert SECRET not in repr((found, place))


def test_a_mediamtx_has_every_other_camera_below_property_and_name(tmp_path: Path) -> None:
    file = file_of(tmp_path, '[hollywood]\nA = "rtsp://192.0.2.1/a"\n')
    found = addresses_from(file, f"rtsp://u:{SECRET}@[2001:db8::1]:8554/")
    named, other = found.of("hollywood", "A"), found.of("hollywood", "../x y?z@w")
    assert named is not None
    assert other is not None
    assert named.host == "192.0.2.1"
    assert (other.host, other.port) == ("2001:db8::1", 8554)
    assert other.address.url == "rtsp://[2001:db8::1]:8554/hollywood/..%2Fx%20y%3Fz%40w"
    assert SECRET not in repr(found)


WRONG = (
    '[hollywood]\nA = "http://192.0.2.1/a"',
    '[hollywood]\nA = "rtsps://viewer:s3cret@192.0.2.1/a"',
    '[hollywood]\nA = "rtsp://viewer:s3cret@/a"',
    '[hollywood]\nA = "rtsp://viewer:s3cret@192.0.2.1:99999/a"',
    '[hollywood]\nA = "rtsp://viewer:s3cret@192.0.2.1/a b"',
    '[hollywood]\nA = "rtsp://viewer:s3cret@192.0.2.1/a\\r\\nX: 1"',
    "[hollywood]\nA = 5 # s3cret",
    'A = "rtsp://viewer:s3cret@192.0.2.1/a"',
    "s3cret = [",
)  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_address_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(Usage) as told:
        addresses_from(file_of(tmp_path, text), None)
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None


def test_a_missing_file_or_another_scheme_of_mediamtx_is_told(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="cannot be read"):
        addresses_from(tmp_path / "none.toml", None)
    with pytest.raises(Usage, match="ROUND_LEDGER_MEDIAMTX_URL"):
        addresses_from(None, f"http://u:{SECRET}@192.0.2.1:8889")
    assert addresses_from(None, None) == CameraAddresses()


def test_the_settings_do_not_show_the_address_of_mediamtx() -> None:
    settings = read({"ROUND_LEDGER_MEDIAMTX_URL": f"rtsp://u:{SECRET}@192.0.2.1"})
    assert settings.mediamtx_url == f"rtsp://u:{SECRET}@192.0.2.1"
    assert SECRET not in repr(settings)
