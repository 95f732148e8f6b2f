"""A dossier made on the screen, downloaded, and checked by a stranger without the screen."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from consumers.runtime.lifecycle import up_to_date
from infra.postgres.connection import Database
from ledger.values import parse_subject
from replay.dossier.request import DossierRequest
from replay.dossier.service import VIEWS, rounds_of
from replay.rounds.reading import footage_folder
from replay.web.pages import dossiers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import httpx

    from ledger.values import RoundId
    from tests.fixtures.screen import Screened
    from tests.fixtures.web import Site


@pytest.fixture(scope="module")
def maria(screened: Screened) -> Iterator[httpx.Client]:
    with screened.client("maria") as client:
        yield client


def form(page: str, **more: str) -> dict[str, str]:
    fields = [name for name in ("csrf", "of", "kind") if f'name="{name}" value="' in page]
    told = {name: page.split(f'name="{name}" value="')[1] for name in fields}
    told = {name: rest.split('"', maxsplit=1)[0] for name, rest in told.items()}
    return told | {"because": "The patron's lawyer asked.", "pre_s": "5", "post_s": "5"} | more


@pytest.mark.long
def test_a_dossier_of_the_screen_proves_itself_offline(
    screened: Screened, maria: httpx.Client, tmp_path: Path
) -> None:
    made = screened.cli("keys", "signing", "make", "--json")
    key = (made if made.code == 0 else screened.cli("keys", "signing", "show", "--json")).json[0]
    link = maria.get(screened.round_path).text.split('href="/dossiers/new?of=')[1].split('"')[0]
    page = maria.get(f"/dossiers/new?of={unescape(link)}")
    assert page.status_code == 200
    assert key["key"] in page.text
    before = screened.told("footage_exported.v1")
    answer = maria.post("/dossiers", data=form(page.text))
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer.headers["Content-Disposition"]
    exported = screened.told("footage_exported.v1")[len(before) :]
    assert {each["by"] for each in exported} == {"S-2001"}
    assert {each["because"] for each in exported} == {"The patron's lawyer asked."}
    (tmp_path / "one.zip").write_bytes(answer.content)
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        (tmp_path / "verify.py").write_bytes(archive.read("verify.py"))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", "--key", key["public"], "one.zip"],
        cwd=tmp_path, env={}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout


@pytest.mark.long
def test_only_surveillance_has_one_made_and_only_with_a_reason(
    screened: Screened, maria: httpx.Client
) -> None:
    of = {"of": f"hollywood:{screened.subject}"}
    page = maria.get("/dossiers/new", params=of).text
    for nothing in ("", "\u200b\u2060"):
        assert maria.post("/dossiers", data=form(page, because=nothing)).status_code == 422
    assert maria.post("/dossiers", data=form(page, csrf="wrong")).status_code == 403
    assert maria.post("/dossiers", data=form(page, pre_s="86400")).status_code == 422
    for name in ("fred", "ada"):
        with screened.client(name) as other:
            assert other.get("/dossiers/new", params=of).status_code == 403
            assert other.post("/dossiers", data=form(page)).status_code == 403


@pytest.mark.long
def test_what_is_not_on_record_is_told_and_exports_nothing(
    screened: Screened, maria: httpx.Client
) -> None:
    page = maria.get("/dossiers/new", params={"of": "<script>alert(1)</script>"}).text
    assert "<script>alert" not in page
    before = screened.told("footage_exported.v1")
    for of in ("CC-99/2026-11-20/1", "D-nowhere", "../../etc/passwd"):
        answer = maria.post("/dossiers", data=form(page, of=of))
        assert answer.status_code in (404, 422), of
    assert screened.told("footage_exported.v1") == before


@pytest.mark.long
def test_a_preserved_window_is_handed_over_from_its_page_and_its_rounds_are_known_beforehand(
    screened: Screened, maria: httpx.Client, tmp_path: Path
) -> None:
    """What of a window is under blind review is refused by its rounds, as for a round itself."""
    starts = sorted(each["start"] for each in screened.told("segment_recorded.v1"))
    page = maria.get("/cases").text
    csrf = page.split('name="csrf" value="')[1].split('"', maxsplit=1)[0]
    table = screened.subject.partition("/")[0]
    asked = {"csrf": csrf, "table": table, "from": starts[0], "to": starts[-1]}
    kept = maria.post("/cases/preserve", data=asked | {"because": "A fall."})
    assert kept.status_code == 303, kept.text
    page = maria.get(kept.headers["Location"]).text
    link = page.split('href="/dossiers/new?of=')[1].split('"')[0]
    form_page = maria.get(f"/dossiers/new?of={unescape(link)}")
    answer = maria.post("/dossiers", data=form(form_page.text))
    assert answer.status_code == 200, answer.text
    (tmp_path / "one.zip").write_bytes(answer.content)
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.read("report.html").count(b"A fall.") > 0
    database = Database(screened.database_url, screened.database_url)

    def known(of: str) -> Sequence[RoundId]:
        up_to_date(database, VIEWS)
        return rounds_of(database, DossierRequest(of, "S-2001"), footage_folder(None))

    planted = parse_subject(screened.subject, "hollywood")
    assert planted in known(unquote(link.partition("&")[0]))
    assert not known("hollywood:P-20200101T000000Z-20200101T000100Z-000000")


@pytest.mark.long
def test_dossiers_are_made_one_after_the_other(
    screened: Screened, staffed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each decodes a round and writes its footage: of many at once a server does little else."""
    monkeypatch.setattr(dossiers, "WAIT_S_MAX", 0.2)
    who = staffed.browser("surveillance")
    of = {"of": screened.subject, "because": "Asked.", "csrf": who.token("/cases")}
    with dossiers._ONE:
        busy = who.post("/dossiers", data=of)
    assert (busy.status_code, "Other dossiers are being made" in busy.text) == (503, True)
    assert who.post("/dossiers", data=of).status_code == 404, (
        "no such round, and nothing in its way"
    )
