"""The keys that sign dossiers: made once, read by their owner only, replaced, never printed."""

from __future__ import annotations

import datetime as dt
import stat
from typing import TYPE_CHECKING

import pytest
from cryptography import x509

from infra.files import replace_file
from ledger.errors import NotFound, Refused
from replay.checker.ed25519 import is_signed
from replay.dossier.signing import keys
from tests.fixtures.cli import Cli, environ

if TYPE_CHECKING:
    from pathlib import Path

NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home") / "signing"
    keys.make(folder, "Hollywood surveillance", NOW)
    return folder


def test_what_it_signs_is_good_under_the_public_half_and_no_other(folder: Path) -> None:
    signer = keys.load(folder)
    signature = signer.sign(b"a manifest")
    assert is_signed(signer.public, b"a manifest", signature)
    assert not is_signed(signer.public, b"another", signature)
    assert signer.public.hex() in keys.public_text(signer)


def test_only_the_owner_may_read_the_files_and_enter_the_folder(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_key_that_others_may_read_is_refused(folder: Path) -> None:
    (folder / keys.KEY).chmod(0o640)
    try:
        with pytest.raises(Refused, match="Other users can read"):
            keys.load(folder)
    finally:
        (folder / keys.KEY).chmod(0o600)


def test_making_a_key_where_there_is_one_changes_nothing(folder: Path) -> None:
    before = (folder / keys.KEY).read_bytes()
    with pytest.raises(Refused, match="There is a signing key already"):
        keys.make(folder, "somebody", NOW)
    assert (folder / keys.KEY).read_bytes() == before


def test_without_a_key_there_is_none_and_none_is_invented(tmp_path: Path) -> None:
    assert keys.load_if_there(tmp_path) is None
    with pytest.raises(NotFound, match="There is no signing key"):
        keys.load(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_key_is_told(tmp_path: Path) -> None:
    (tmp_path / keys.KEY).touch(mode=0o600)
    (tmp_path / keys.KEY).write_text("not a key")
    with pytest.raises(Refused, match="not a signing key of this program"):
        keys.load(tmp_path)


@pytest.mark.long
def test_a_replaced_key_leaves_its_public_half_and_no_secret(tmp_path: Path) -> None:
    first = keys.make(tmp_path / "signing", "Hollywood", NOW)
    secret = (tmp_path / "signing" / keys.KEY).read_bytes()
    old, new = keys.rotate(tmp_path / "signing", "Hollywood", NOW)
    assert old.public == first.public != new.public
    assert keys.retired_keys(tmp_path / "signing") == [first.key_id]
    kept = [path for path in (tmp_path / "signing").rglob("*") if path.is_file()]
    assert all(secret not in path.read_bytes() for path in kept)
    retired = (tmp_path / "signing" / "retired" / f"{first.key_id}.pub").read_text()
    assert first.public.hex() in retired


def test_the_certificate_of_clips_names_its_holder_and_is_of_their_key(folder: Path) -> None:
    clips = keys.load(folder).clips
    assert clips
    certificate = x509.load_der_x509_certificate(clips.certificate)
    assert certificate.subject.rfc4514_string() == "CN=Hollywood surveillance"
    assert certificate.public_key() == clips.key.public_key()
    assert clips.key.key_size >= 2048


@pytest.mark.long
def test_the_command_prints_public_halves_only(tmp_path: Path) -> None:
    cli = Cli(environ(tmp_path))
    made = cli("keys", "signing", "make", "--holder", "Hollywood", "--json")
    assert made.code == 0, made.err
    public = made.json[0]["public"]
    secret = (tmp_path / "signing" / keys.KEY).read_text().splitlines()[1]
    shown = cli("keys", "signing", "show")
    assert public in shown.out
    again = cli("keys", "signing", "make")
    assert again.code == 2
    for ran in (made, shown, again):
        assert secret not in ran.out + ran.err
    replaced = cli("keys", "signing", "rotate", "--json").json[0]
    assert replaced["retired"] == [made.json[0]["key"]]
    assert replaced["public"] != public


@pytest.mark.parametrize("made", range(3))
@pytest.mark.long
def test_making_keys_that_was_killed_can_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: int
) -> None:
    """As left by a kill after each file: what signs is there only with all that it needs."""
    left: list[Path] = []

    def kill(path: Path, octets: bytes) -> None:
        if len(left) == made:
            raise KeyboardInterrupt
        left.append(path)
        replace_file(path, octets)

    monkeypatch.setattr(keys, "replace_file", kill)
    with pytest.raises(KeyboardInterrupt):
        keys.make(tmp_path / "signing", "Hollywood", NOW)
    monkeypatch.undo()
    assert len(left) == made
    assert keys.load_if_there(tmp_path / "signing") is None
    assert keys.make(tmp_path / "signing", "Hollywood", NOW).clips


def test_an_empty_key_is_told_with_a_way_that_works(tmp_path: Path) -> None:
    (tmp_path / keys.KEY).touch(mode=0o600)
    with pytest.raises(Refused, match="not a signing key") as told:
        keys.load(tmp_path)
    assert "rotate" not in str(told.value.hint)
