"""Dossiers broken in every way we could think of, each caught with a message of its own.

The forger here is thorough. He makes sums and lists again, and if it helps him, signs the list
again with a key of his own. The intact one passes.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ledger.record.tape import chain_hash, payload_hash
from replay.checker.reading import canonical
from tests.scenes.dossiers import HOUSE, OTHER, SEGMENT, record, redone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fixtures.dossier import Made


def lines(folder: Path, name: str) -> list[bytes]:
    return (folder / name).read_bytes().splitlines()


def write(folder: Path, name: str, of: list[bytes]) -> None:
    (folder / name).write_bytes(b"".join(each + b"\n" for each in of))


def swap(folder: Path, name: str, old: bytes, new: bytes) -> None:
    octets = (folder / name).read_bytes()
    assert octets.count(old) >= 1
    (folder / name).write_bytes(octets.replace(old, new, 1))


def a_payment(folder: Path) -> int:
    return next(n for n, each in enumerate(lines(folder, "facts.jsonl")) if b"wager_paid" in each)


def edit_a_payment(folder: Path) -> None:
    facts = lines(folder, "facts.jsonl")
    at = a_payment(folder)
    facts[at] = re.sub(rb'"amount":\d+', b'"amount":99900', facts[at])
    write(folder, "facts.jsonl", facts)


def edit_a_payment_and_the_sums(folder: Path) -> None:
    edit_a_payment(folder)
    redone(folder)


def drop_a_fact(folder: Path) -> None:
    facts = lines(folder, "facts.jsonl")
    del facts[a_payment(folder)]
    write(folder, "facts.jsonl", facts)
    redone(folder, facts=len(facts), fact_files=fact_files(folder))


def drop_a_fact_and_its_row(folder: Path) -> None:
    facts, proofs = lines(folder, "facts.jsonl"), lines(folder, "proof.jsonl")
    gone = json.loads(facts.pop(a_payment(folder)))
    write(folder, "facts.jsonl", facts)
    write(folder, "proof.jsonl", [e for e in proofs if json.loads(e)["id"] != gone["id"]])
    redone(folder, facts=len(facts), fact_files=fact_files(folder))


def fact_files(folder: Path) -> dict[str, int]:
    told: dict[str, int] = json.loads((folder / "manifest.json").read_bytes())["fact_files"]
    return {name: len(lines(folder, name)) for name in told}


def add_a_fact(folder: Path) -> None:
    facts = lines(folder, "facts.jsonl")
    facts.append(re.sub(rb'"id":"[^"]+"', b'"id":"made-up-1"', facts[a_payment(folder)], count=1))
    write(folder, "facts.jsonl", facts)
    redone(folder, facts=len(facts), fact_files=fact_files(folder))


def repeat_a_fact(folder: Path) -> None:
    facts = lines(folder, "facts.jsonl")
    write(folder, "facts.jsonl", [*facts, facts[a_payment(folder)]])
    redone(folder, facts=len(facts) + 1, fact_files=fact_files(folder))


def tell_of_more_facts(folder: Path) -> None:
    redone(folder, facts=len(lines(folder, "facts.jsonl")) + 1)


def reorder_facts(folder: Path) -> None:
    facts = lines(folder, "facts.jsonl")
    facts[2], facts[7] = facts[7], facts[2]
    write(folder, "facts.jsonl", facts)
    redone(folder)


def hidden_in(name: str) -> Callable[[Path], None]:
    """A fact of the round is put among other facts, and its row says so."""

    def hide(folder: Path) -> None:
        others = lines(folder, name)
        moved = moved_out(folder, name, len(others) + 1)
        write(folder, name, [*others, moved])
        redone(folder, facts=len(lines(folder, "facts.jsonl")), fact_files=fact_files(folder))

    return hide


def hide_a_fact_where_no_facts_are(folder: Path) -> None:
    moved_out(folder, "README.txt", 1)
    redone(folder, facts=len(lines(folder, "facts.jsonl")), fact_files=fact_files(folder))


def moved_out(folder: Path, to: str, line: int) -> bytes:
    """A payment, taken out of the facts; its row says that it is elsewhere."""
    facts = lines(folder, "facts.jsonl")
    moved = facts.pop(a_payment(folder))
    write(folder, "facts.jsonl", facts)
    where = {json.loads(e)["id"]: ("facts.jsonl", n) for n, e in enumerate(facts, 1)}
    where[json.loads(moved)["id"]] = (to, line)
    proofs = [json.loads(each) for each in lines(folder, "proof.jsonl")]
    for each in proofs:
        if each["file"] and each["id"] in where:
            each["file"], each["line"] = where[each["id"]]
    write(folder, "proof.jsonl", [canonical(each) for each in proofs])
    return moved


def place_beyond_all(folder: Path) -> None:
    proofs = lines(folder, "proof.jsonl")
    proofs[0] = re.sub(rb'"position":\d+', b'"position":10000000000000000000', proofs[0])
    write(folder, "proof.jsonl", proofs)
    redone(folder)


def forget_a_payment(folder: Path) -> None:
    ruling = json.loads((folder / "ruling.json").read_bytes())
    line = next(each for each in ruling["paid_beside_owed"] if each["paid"])
    line |= {"facts": [], "paid": 0, "collected": 0, "returned": 0}
    (folder / "ruling.json").write_bytes(json.dumps(ruling).encode())
    redone(folder)


def truncate_the_chain(folder: Path) -> None:
    proofs = [json.loads(each) for each in lines(folder, "proof.jsonl")]
    facts = lines(folder, "facts.jsonl")
    last = {json.loads(each)["id"] for each in facts[-3:]}
    write(folder, "facts.jsonl", facts[:-3])
    write(folder, "proof.jsonl", [canonical(e) for e in proofs if e["id"] not in last])
    redone(folder, facts=len(facts) - 3, fact_files=fact_files(folder))


def recompute_the_chain(folder: Path) -> None:
    """What somebody does who knows how the chain is made: all fits, but for the signature."""
    facts = lines(folder, "facts.jsonl")
    at = a_payment(folder)
    facts[at] = re.sub(rb'"amount":\d+', b'"amount":99900', facts[at])
    write(folder, "facts.jsonl", facts)
    rows = [row for row in record()[0].rows if row.tape == "hollywood/CC-01"]
    wrong = json.loads(facts[at])
    known = {
        (each["tape"], each["table_seq"]): each
        for each in map(json.loads, lines(folder, "proof.jsonl"))
    }
    before = None
    anew: dict[tuple[str, int], Any] = {}
    for row in rows:
        if row.id == wrong["id"]:
            row = row._replace(data=re.sub(rb'"amount":\d+', b'"amount":99900', row.data))  # noqa: PLW2901 - the edited row
        previous = before or record()[0].previous[row.tape, row.table_seq]
        before = chain_hash(previous, row)
        anew[row.tape, row.table_seq] = (previous, before, row)
    for place, each in known.items():
        if place in anew:
            previous, own, row = anew[place]
            each |= {"previous": previous.hex(), "hash": own.hex()}
            each["payload"] = payload_hash(row.attributes, row.data).hex()
    write(folder, "proof.jsonl", [canonical(each) for each in known.values()])
    assert before
    heads = [json.loads(each) for each in lines(folder, "heads.jsonl")]
    for head in heads:
        if head["place"] == "hollywood/CC-01":
            head["hash"] = before.hex()
    write(folder, "heads.jsonl", [canonical(each) for each in heads])
    swap_ruling(folder, wrong, 99_900)
    redone(folder, heads=heads)


def swap_ruling(folder: Path, fact: dict[str, Any], amount: int) -> None:
    """Let ruling.json say what the edited payment would have been."""
    told = json.loads((folder / "ruling.json").read_bytes())
    for each in told["paid_beside_owed"]:
        if {"source": fact["source"], "id": fact["id"]} in each["facts"]:
            each["paid"] = amount
    (folder / "ruling.json").write_bytes(canonical(told) + b"\n")


def resign(folder: Path) -> None:
    edit_a_payment(folder)
    redone(folder, by=OTHER)


def resign_in_the_houses_name(folder: Path) -> None:
    """The house's public key beside a signature that another key made."""
    redone(folder, by=OTHER)
    statement = json.loads((folder / "manifest.sig").read_bytes())
    statement |= {"public_key": HOUSE.public.hex(), "key_id": HOUSE.key_id}
    (folder / "manifest.sig").write_bytes(canonical(statement) + b"\n")


def edit_the_manifest(folder: Path) -> None:
    told = json.loads((folder / "manifest.json").read_bytes())
    told["making"]["by"] = "S-9999"
    (folder / "manifest.json").write_bytes(canonical(told) + b"\n")


def edit_the_manifest_and_the_statement(folder: Path) -> None:
    edit_the_manifest(folder)
    redone(folder)
    statement = json.loads((folder / "manifest.sig").read_bytes())
    octets = (folder / "manifest.json").read_bytes()
    statement["manifest_sha256"] = hashlib.sha256(octets).hexdigest()
    (folder / "manifest.sig").write_bytes(canonical(statement) + b"\n")


def date_the_signature_back(folder: Path) -> None:
    statement = json.loads((folder / "manifest.sig").read_bytes())
    statement["signed_at"] = "2020-01-01T00:00:00Z"
    (folder / "manifest.sig").write_bytes(canonical(statement) + b"\n")


def change_a_head(folder: Path) -> None:
    heads = [json.loads(each) for each in lines(folder, "heads.jsonl")]
    heads[0]["hash"] = "00" * 32
    write(folder, "heads.jsonl", [canonical(each) for each in heads])
    redone(folder)


def set_a_head_back(folder: Path) -> None:
    heads = [json.loads(each) for each in lines(folder, "heads.jsonl")]
    next(each for each in heads if each["place"] == "hollywood/CC-01")["sequence"] = 10
    write(folder, "heads.jsonl", [canonical(each) for each in heads])
    redone(folder, heads=heads)


def swap_the_submission(folder: Path) -> None:
    swap(folder, "submission.jsonl", b'"effective_from":"2', b'"effective_from":"1')
    redone(folder)


def name_another_submission(folder: Path) -> None:
    redone(folder, submission={"source": "/hollywood/office/desk", "id": "another"})


def change_a_clock_reading(folder: Path) -> None:
    swap(folder, "clocks.csv", b",40,", b",4,")
    redone(folder)


def drop_a_clock_reading(folder: Path) -> None:
    table = lines(folder, "clocks.csv")
    write(folder, "clocks.csv", table[:-1])
    redone(folder)


def swap_a_segment(folder: Path) -> None:
    next((folder / "footage").iterdir()).write_bytes(SEGMENT[::-1])
    redone(folder)


def truncate_a_segment(folder: Path) -> None:
    next((folder / "footage").iterdir()).write_bytes(SEGMENT[:-100])
    redone(folder)


def call_a_clip_original(folder: Path) -> None:
    footage = json.loads((folder / "manifest.json").read_bytes())["footage"]
    next(each for each in footage if each["kind"] == "clip")["kind"] = "original"
    redone(folder, footage=footage)


def make_a_frame_of_nothing(folder: Path) -> None:
    footage = json.loads((folder / "manifest.json").read_bytes())["footage"]
    next(each for each in footage if each["kind"] == "frame")["of"] = ["00" * 32]
    redone(folder, footage=footage)


def bring_a_clip_of_ones_own(folder: Path) -> None:
    (folder / "clips" / "other.mp4").write_bytes(b"another film")
    redone(folder)


def say_another_sum(folder: Path) -> None:
    _change_a_sum(folder, lambda paid: paid + 500)


def say_a_sum_in_words(folder: Path) -> None:
    _change_a_sum(folder, lambda _: "a lot")


def _change_a_sum(folder: Path, changed: Callable[[int], object]) -> None:
    told = json.loads((folder / "ruling.json").read_bytes())
    of = next(each for each in told["paid_beside_owed"] if each["paid"])
    of["paid"] = changed(of["paid"])
    (folder / "ruling.json").write_bytes(canonical(told) + b"\n")
    redone(folder)


def file_of_another_round(folder: Path) -> None:
    redone(folder, round="hollywood:CC-01/2026-11-20/9999")


def swap_a_frame(folder: Path) -> None:
    min((folder / "frames").iterdir()).write_bytes(b"PNG")


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def with_(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: put(folder / name, text.encode())


def swapped(name: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    return lambda folder: swap(folder, name, old, new)


def put(path: Path, octets: bytes) -> None:
    path.write_bytes(octets)


def custody_edited(folder: Path) -> None:
    octets = (folder / "custody.csv").read_bytes()
    (folder / "custody.csv").write_bytes(octets.replace(b"S-2001", b"S-2002"))
    redone(folder, by=HOUSE)


def custody_left_out(folder: Path) -> None:
    write(folder, "custody.csv", lines(folder, "custody.csv")[:1])
    redone(folder, by=HOUSE)


def another_dispute(folder: Path) -> None:
    redone(folder, by=HOUSE, dispute="D-99")


def more_after_the_last_fact(folder: Path) -> None:
    octets = (folder / "facts.jsonl").read_bytes()
    (folder / "facts.jsonl").write_bytes(octets + b'{"not":"a fact"}')
    redone(folder, by=HOUSE)


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "edited fact": (
        edit_a_payment,
        r"facts.jsonl line \d+ was edited: its hash is not that of the fact received",
    ),
    "another number of facts": (
        tell_of_more_facts,
        r"The manifest counts \d+ facts, but facts.jsonl has \d+\.",
    ),
    "edited fact, sums anew": (
        edit_a_payment_and_the_sums,
        r"was edited: its hash is not",
    ),
    "dropped fact": (drop_a_fact, r"A fact was removed from facts.jsonl: /hollywood"),
    "dropped fact and row": (drop_a_fact_and_its_row, r"lacks sequence \d+: a row was removed"),
    "added fact": (add_a_fact, r"was added: no row of the chain has /hollywood\S+ made-up-1"),
    "repeated fact": (repeat_a_fact, r"repeats an earlier line"),
    "reordered facts": (reorder_facts, r"facts.jsonl is out of order: facts were moved"),
    **{
        f"fact hidden in {name}": (hidden_in(name), r"is a fact of this round, but is not")
        for name in ("between.jsonl", "camera-facts.jsonl", "custody.jsonl", "submission.jsonl")
    },
    "fact hidden elsewhere": (
        hide_a_fact_where_no_facts_are,
        r"A fact was removed: /hollywood.* should be in README.txt, which is not a file of",
    ),
    "place beyond all": (place_beyond_all, r"proof.jsonl line 1 does not give a fact's place"),
    "payment forgotten": (
        forget_a_payment,
        r"Facts of this dossier that move chips, but that no ruling names: \d+",
    ),
    "truncated chain": (truncate_the_chain, r"is cut off: it ends before sequence \d+, and should"),
    "recomputed chain": (recompute_the_chain, r"manifest.json was changed after it was signed"),
    "re-signed by another": (resign, rf"Another key signed it: {OTHER.key_id}. Your key is"),
    "re-signed in our name": (resign_in_the_houses_name, r"your key did not sign this statement"),
    "manifest edited": (edit_the_manifest, r"manifest.json was changed after it was signed"),
    "manifest and statement": (edit_the_manifest_and_the_statement, r"The signature is not valid"),
    "manifest by hand": (
        swapped("manifest.json", b'"facts":', b'"facts": '),
        r"manifest.json is not in its canonical form: it was edited by hand",
    ),
    "signature dated back": (date_the_signature_back, r"your key did not sign this statement"),
    "signature removed": (without("manifest.sig"), r"The signature is missing"),
    "signature of nothing": (
        with_("manifest.sig", "signed, honestly"),
        r"manifest.sig is not a signature of a dossier",
    ),
    "manifest removed": (without("manifest.json"), r"There is no manifest.json"),
    "extra file": (
        with_("note.txt", "also this"),
        r"note.txt is not listed: it was added",
    ),
    "missing file": (without("replay.txt"), r"replay.txt is missing"),
    "missing facts": (without("facts.jsonl"), r"facts.jsonl is missing"),
    "missing proof": (without("proof.jsonl"), r"proof.jsonl is missing"),
    "swapped clip": (
        swapped("clips/CC-01-ovh-cut.mp4", b"recorder", b"RECORDER"),
        r"clips/CC-01-ovh-cut.mp4 was changed: its SHA-256 differs",
    ),
    "swapped frame": (
        swap_a_frame,
        r"frames/\S+.png was changed: it has 3 bytes",
    ),
    "swapped segment": (swap_a_segment, r"does not have the bytes of a segment recorded"),
    "truncated segment": (
        truncate_a_segment,
        r"does not have the bytes of a segment recorded",
    ),
    "clip called original": (call_a_clip_original, r"cut.mp4 does not have the bytes of a segment"),
    "frame of nothing": (
        make_a_frame_of_nothing,
        r"does not name the recorded segment it is made",
    ),
    "clip of one's own": (bring_a_clip_of_ones_own, r"other.mp4 is footage, but is listed neither"),
    "head changed": (
        change_a_head,
        r"heads.jsonl differs from manifest.json: a head was changed",
    ),
    "head set back": (set_a_head_back, r"comes after the pinned head of its tape"),
    "submission swapped": (swap_the_submission, r"submission.jsonl line 1 was edited"),
    "submission renamed": (name_another_submission, r"in submission.jsonl is not the one named"),
    "clock reading changed": (
        change_a_clock_reading,
        r"No fact has this clock reading of clocks.csv",
    ),
    "clock reading dropped": (drop_a_clock_reading, r"clocks.csv lacks a clock reading"),
    "another sum": (
        say_another_sum,
        r"has \$[\d,]+\.\d\d paid at position \d .*; the facts add up to \$[\d,]+\.\d\d\.",
    ),
    "a sum in words": (say_a_sum_in_words, r"ruling.json has a lot paid at position"),
    "another round": (file_of_another_round, r"is not a fact of this round"),
    "custody edited": (custody_edited, r"No fact has this entry of custody.csv: locked"),
    "custody left out": (
        custody_left_out,
        r"custody.csv lacks an entry that a fact records",
    ),
    "another dispute": (another_dispute, r"No fact in case.jsonl belongs to dispute D-99"),
    "octets after the last fact": (
        more_after_the_last_fact,
        r"facts.jsonl has an unfinished last line",
    ),
    "sums edited": (
        with_("SHA256SUMS", "00  verify.py\n"),
        r"SHA256SUMS differs from manifest.json",
    ),
}


def test_the_intact_dossier_holds_as_a_folder_and_as_a_zip(made: Made) -> None:
    for place in (made.folder, made.zip):
        code, said = made.checked(place)
        assert code == 0, said
        assert "BROKEN" not in said
        assert said.rstrip().endswith("HOLDS: all checks passed.")
        assert "This cannot show" in said


def test_a_dossier_with_its_list_made_anew_as_it_is_holds_but_for_the_signature(
    made: Made, tmp_path: Path
) -> None:
    """The control of every case here: making the list again breaks nothing by itself."""
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    redone(folder, by=HOUSE)
    assert made.checked(folder)[0] == 0


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_dossier_is_caught_and_told_how(name: str, made: Made, tmp_path: Path) -> None:
    breaking, expected = BROKEN[name]
    folder = tmp_path / "dossier"
    shutil.copytree(made.folder, folder)
    breaking(folder)
    code, said = made.checked(folder)
    assert re.search(expected, said), said
    assert code == (2 if said.startswith("NOT CHECKED") else 1)
    assert "HOLDS: all" not in said


def test_each_way_of_breaking_one_has_a_message_that_the_intact_one_does_not_give(
    made: Made,
) -> None:
    said = made.checked(made.folder)[1]
    assert [name for name, (_, expected) in BROKEN.items() if re.search(expected, said)] == []
