"""What was done to a copy of the record is found and named, at the first place it shows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.errors import Usage
from ledger.record.later_breaks import verify_every
from ledger.record.tape import GENESIS, Head, TapeRow, chain_hash
from ledger.record.verify import Expected, Known, heads_from_json, heads_to_json, verify
from ledger.record.verify_parts import VerifiedPart, joined, stretches, verify_part
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.record.verify import Verified

PLACES = ("CC-01", "CC-02", "cage")


class Copy(NamedTuple):
    """A record as a list, with what it says of itself."""

    rows: list[TapeRow]
    known: dict[tuple[str, str], Known]
    heads: list[Head]
    tip: int

    def verified(self, kept: list[Head] | None = None, *, listed: bool = True) -> Verified:
        rows = sorted(self.rows, key=lambda row: row.position)
        beside = [(row, self.known.get((row.source, row.id)) if listed else None) for row in rows]
        expected = Expected(self.tip, self.heads, len(self.known), kept or [])
        seen = verify(beside, expected, identities_listed=listed)
        if listed and not any(row.position > self.tip for row in rows):  # it is looked for apart
            for count in (1, 2, 3, self.tip):
                parts = joined(self.parts(count, kept or []), expected)
                assert parts == (seen if seen.broken is None else None), f"{count} parts say more"
        return seen

    def every(self, kept: list[Head] | None = None, *, listed: bool = True) -> Verified:
        """As `verified`, with the breaks after the first."""
        rows = sorted(self.rows, key=lambda row: row.position)
        expected = Expected(self.tip, self.heads, len(self.known), kept or [])

        def again(after: int) -> list[tuple[TapeRow, Known | None]]:
            return [
                (row, self.known.get((row.source, row.id)) if listed else None)
                for row in rows
                if row.position > after
            ]

        return verify_every(again, expected, identities_listed=listed)

    def parts(self, count: int, kept: list[Head]) -> list[VerifiedPart | None]:
        """The record verified in so many parts, each by itself."""
        rows = sorted(self.rows, key=lambda row: row.position)
        stored = {(row.tape, row.table_seq): row.hash for row in rows}
        return [
            verify_part(
                [
                    (row, self.known.get((row.source, row.id)))
                    for row in rows
                    if each.after < row.position <= each.until
                ],
                each,
                lambda tape, seq: stored.get((tape, seq)),
                kept,
            )
            for each in stretches(self.tip, max(count, 1))
        ]

    def at(self, position: int) -> TapeRow:
        return next(row for row in self.rows if row.position == position)

    def put(self, row: TapeRow, position: int | None = None) -> None:
        self.rows.remove(self.at(position or row.position))
        self.rows.append(row)

    def rechained(self) -> Copy:
        """Everything recomputed, as somebody with every right would."""
        return chained([row._replace(hash=b"") for row in self.rows])


def chained(rows: list[TapeRow]) -> Copy:
    newest: dict[str, TapeRow] = {}
    out = []
    for position, row in enumerate(sorted(rows, key=lambda row: row.position), start=1):
        before = newest.get(row.tape)
        placed = row._replace(position=position, table_seq=before.table_seq + 1 if before else 1)
        row_hash = chain_hash(before.hash if before else GENESIS, placed)
        newest[row.tape] = placed._replace(hash=row_hash)
        out.append(newest[row.tape])
    known = {
        (row.source, row.id): Known(row.position, hashlib.sha256(row.data).digest()[:8])
        for row in out
    }
    heads = [Head(r.tape, r.table_seq, r.position, r.hash) for r in newest.values()]
    return Copy(out, known, sorted(heads), len(out))


def unplaced(number: int, place: str) -> TapeRow:
    one = fact(number, place=place, boot="b1")
    return TapeRow(
        number, one.tape, 0, one.type, one.source, one.id, one.time_us, one.subject,
        1_795_000_000_000_000 + number, one.attributes, one.data, b"",
    )  # fmt: skip


def whole(size: int = 12) -> Copy:
    return chained([unplaced(n, PLACES[n % 3 if n % 4 else 0]) for n in range(1, size + 1)])


def test_an_untouched_record_verifies_and_gives_its_heads() -> None:
    copy = whole()
    seen = copy.verified(kept=copy.heads)
    assert seen.broken is None
    assert (seen.rows, seen.heads) == (12, copy.heads)


def test_an_empty_record_verifies() -> None:
    assert verify([], Expected(0, [], 0)).broken is None


def edited_payload(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(data=b'{"cards":["2c","2d"]}'))


def edited_type(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(type="cards_turned.v1"))


def edited_time(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(time_us=1))


def edited_received_at(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(received_at_us=1))


def edited_subject(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(subject="CC-01/2026-11-21/1"))


def edited_attribute_without_a_column(copy: Copy) -> None:
    row = copy.at(5)
    copy.put(row._replace(attributes=row.attributes.replace(b"b1", b"b2")))


def edited_sequence(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(table_seq=40))


def edited_hash(copy: Copy) -> None:
    copy.put(copy.at(5)._replace(hash=bytes(32)))


def deleted_in_the_middle(copy: Copy) -> None:
    copy.rows.remove(copy.at(5))


def deleted_and_renumbered(copy: Copy) -> None:
    shift(copy, 5, -1)


def deleted_with_its_identity_and_renumbered(copy: Copy) -> None:
    gone = copy.at(5)
    del copy.known[gone.source, gone.id]
    shift(copy, 5, -1, identities=True)


def shift(copy: Copy, at: int, by: int, *, identities: bool = False) -> None:
    """Renumber what stands after position `at`; taking out or making room for one row."""
    moved = copy.at(at)
    if by < 0:
        copy.rows.remove(moved)
    first = at if by > 0 else at + 1
    for n, row in enumerate(copy.rows):
        if row.position >= first:
            seq = row.table_seq + by if row.tape == moved.tape else row.table_seq
            copy.rows[n] = row._replace(position=row.position + by, table_seq=seq)
            if identities:
                listed = copy.known[row.source, row.id]
                copy.known[row.source, row.id] = listed._replace(position=listed.position + by)


def stranger(copy: Copy, at: int) -> TapeRow:
    """A row that was never appended, correctly chained into the place it claims."""
    there = copy.at(at)
    before = [row for row in copy.rows if row.tape == there.tape and row.position < at]
    newest = max(before, key=lambda row: row.position, default=None)
    row = unplaced(99, there.tape.split("/")[1])
    row = row._replace(position=at, table_seq=newest.table_seq + 1 if newest else 1)
    return row._replace(hash=chain_hash(newest.hash if newest else GENESIS, row))


def inserted_in_the_middle(copy: Copy) -> None:
    row = stranger(copy, 5)
    shift(copy, 5, 1)
    copy.rows.append(row)


def inserted_with_an_identity(copy: Copy) -> None:
    row = stranger(copy, 5)
    shift(copy, 5, 1, identities=True)
    copy.rows.append(row)
    copy.known[row.source, row.id] = Known(5, hashlib.sha256(row.data).digest()[:8])


def inserted_with_a_wrong_hash(copy: Copy) -> None:
    row = stranger(copy, 5)._replace(hash=bytes(32))
    shift(copy, 5, 1, identities=True)
    copy.rows.append(row)
    copy.known[row.source, row.id] = Known(5, hashlib.sha256(row.data).digest()[:8])


def swapped_positions(copy: Copy) -> None:
    one, other = copy.at(5), copy.at(8)
    copy.rows[copy.rows.index(one)] = one._replace(position=8)
    copy.rows[copy.rows.index(other)] = other._replace(position=5)


def swapped_contents(copy: Copy) -> None:
    one, other = copy.at(5), copy.at(8)
    placed = ("position", "tape", "table_seq", "hash")
    for row, content in ((one, other), (other, one)):
        stays = {name: getattr(row, name) for name in placed}
        copy.rows[copy.rows.index(row)] = content._replace(**stays)


def swapped_contents_and_identities(copy: Copy) -> None:
    swapped_contents(copy)
    one, other = copy.at(5), copy.at(8)
    keys = (one.source, one.id), (other.source, other.id)
    copy.known[keys[0]] = copy.known[keys[0]]._replace(position=5)
    copy.known[keys[1]] = copy.known[keys[1]]._replace(position=8)


def swapped_sequences(copy: Copy) -> None:
    one = copy.at(5)
    other = next(row for row in copy.rows if row.tape == one.tape and row.position > 5)
    copy.put(one._replace(table_seq=other.table_seq))
    copy.put(other._replace(table_seq=one.table_seq))


def identity_removed(copy: Copy) -> None:
    row = copy.at(5)
    del copy.known[row.source, row.id]


TAMPERINGS: list[tuple[Callable[[Copy], None], str]] = [
    (edited_payload, "edited payload"),
    (edited_type, "edited header"),
    (edited_time, "edited header"),
    (edited_received_at, "edited header"),
    (edited_subject, "edited header"),
    (edited_attribute_without_a_column, "edited header"),
    (edited_sequence, "edited header"),
    (edited_hash, "edited header"),
    (deleted_in_the_middle, "deleted"),
    (deleted_and_renumbered, "deleted"),
    (deleted_with_its_identity_and_renumbered, "deleted"),
    (inserted_in_the_middle, "inserted"),
    (inserted_with_an_identity, "inserted"),
    (inserted_with_a_wrong_hash, "inserted"),
    (swapped_positions, "swapped"),
    (swapped_contents, "swapped"),
    (swapped_contents_and_identities, "swapped"),
    (swapped_sequences, "swapped"),
    (identity_removed, "identity missing"),
]


@pytest.mark.parametrize(("tamper", "kind"), TAMPERINGS)
def test_each_kind_of_tampering_is_named_where_it_was_done(
    tamper: Callable[[Copy], None], kind: str
) -> None:
    copy = whole()
    tamper(copy)
    seen = copy.verified()
    assert seen.broken is not None
    assert (seen.broken.kind, seen.broken.position) == (kind, 5), seen.broken


@pytest.mark.parametrize(("tamper", "kind"), TAMPERINGS)
@pytest.mark.parametrize("listed", [True, False])
def test_one_tampering_is_one_break_and_an_exchange_three_at_most(
    tamper: Callable[[Copy], None], kind: str, *, listed: bool
) -> None:
    copy = whole(40)
    tamper(copy)
    breaks = copy.every(listed=listed).breaks
    if listed:
        assert breaks[0] == copy.verified().broken
        assert breaks[0].kind == kind
    most = 3 if kind == "swapped" else 1  # both rows, and the tape that lacks one
    assert len(breaks) <= most, breaks


@pytest.mark.parametrize(("tamper", "_"), TAMPERINGS)
@pytest.mark.parametrize("later", [20, 21, 22, 30])
def test_each_tampering_leaves_a_later_one_named(
    tamper: Callable[[Copy], None], _: str, later: int
) -> None:
    copy = whole(40)
    copy.put(copy.at(later)._replace(data=b"{}"))
    edited = copy.at(later)
    tamper(copy)
    now = next(row for row in copy.rows if row.id == edited.id)
    alone = whole(40)
    tamper(alone)
    breaks = copy.every().breaks
    assert ("edited payload", now.position) in [(each.kind, each.position) for each in breaks]
    assert len(breaks) == len(alone.every().breaks) + 1, breaks


def test_a_row_that_contradicts_its_signed_attributes_does_not_end_the_verification() -> None:
    copy = whole(40)
    for position in (5, 17, 23):
        row = copy.at(position)
        forged = row._replace(subject="CC-09/2026-11-21/1")
        copy.put(forged._replace(hash=row.hash))
    copy.rows.remove(copy.at(40))
    breaks = copy.every().breaks
    assert [(each.kind, each.position) for each in breaks] == [
        ("edited header", 5),
        ("edited header", 17),
        ("edited header", 23),
        ("truncated", 40),
    ]
    assert copy.verified().broken == breaks[0], "the first alone, as before"


def test_two_deletions_with_renumbering_are_two_breaks() -> None:
    copy = whole(40)
    shift(copy, 20, -1)
    shift(copy, 5, -1)
    assert [(each.kind, each.position) for each in copy.every().breaks] == [
        ("deleted", 5),
        ("deleted", 19),
    ]


@given(st.sets(st.integers(1, 40), min_size=1, max_size=12))
def test_every_edited_row_is_named_and_no_other(positions: set[int]) -> None:
    copy = whole(40)
    for position in positions:
        copy.put(copy.at(position)._replace(data=b"{}"))
    assert [each.position for each in copy.every().breaks] == sorted(positions)


@given(st.sets(st.integers(1, 40), max_size=12))
def test_every_tape_that_lacks_rows_is_named(positions: set[int]) -> None:
    copy = whole(40)
    gone = {copy.at(position).tape for position in positions}
    for position in positions:
        copy.rows.remove(copy.at(position))
    breaks = copy.every().breaks
    assert {each.tape for each in breaks if each.tape} == gone
    assert {each.kind for each in breaks} <= {"deleted", "truncated"}, breaks


def test_every_wrong_digest_is_named_once() -> None:
    copy = whole()
    for position in (3, 5):
        row = copy.at(position)
        copy.known[row.source, row.id] = Known(position, b"rewrittn")
    assert [each.position for each in copy.every().breaks] == [3, 5]
    copy.put(copy.at(7)._replace(data=b"{}"))
    assert sorted(each.position or 0 for each in copy.every().breaks) == [3, 5, 7]


@pytest.mark.parametrize("tamper", [deleted_in_the_middle, deleted_and_renumbered])
def test_a_deleted_row_is_named_by_tape_and_sequence(tamper: Callable[[Copy], None]) -> None:
    copy = whole()
    gone = copy.at(5)
    tamper(copy)
    broken = copy.verified().broken
    assert broken is not None
    assert (broken.tape, broken.table_seq) == (gone.tape, gone.table_seq)


@pytest.mark.parametrize(
    ("tamper", "kind"),
    [
        (edited_payload, "edited payload"),
        (deleted_in_the_middle, "deleted"),
        (inserted_in_the_middle, "inserted"),
        (swapped_positions, "swapped"),
        (swapped_contents, "swapped"),
    ],
)
def test_a_copy_without_its_identities_is_verified_too(
    tamper: Callable[[Copy], None], kind: str
) -> None:
    copy = whole()
    assert copy.verified(listed=False).broken is None
    tamper(copy)
    broken = copy.verified(listed=False).broken
    assert broken is not None
    assert (broken.kind, broken.position) == (kind, 5)


def test_a_truncated_record_is_found_by_its_own_heads() -> None:
    copy = whole()
    for position in (11, 12):
        copy.rows.remove(copy.at(position))
    broken = copy.verified().broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("truncated", 11)


def test_a_truncated_tape_at_the_end_is_found_by_the_figures_alone() -> None:
    copy = whole()
    copy.rows.remove(copy.at(12))
    broken = copy._replace(heads=[]).verified().broken
    assert broken is not None
    assert broken.kind == "truncated"


def test_a_truncated_record_that_hides_it_is_found_by_a_head_kept_elsewhere() -> None:
    kept = whole().heads
    shorter = chained(whole().rows[:10])
    assert shorter.verified().broken is None
    broken = shorter.verified(kept).broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("truncated", 11)


def test_leftover_identities_tell_that_rows_are_gone() -> None:
    copy, full = chained(whole().rows[:10]), whole()
    broken = copy._replace(known=full.known).verified().broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("truncated", 11)


def test_a_chain_wholly_recomputed_is_found_by_a_head_kept_elsewhere_only() -> None:
    copy = whole()
    kept = copy.heads
    copy.put(copy.at(5)._replace(data=b"{}"))
    forged = copy.rechained()
    assert forged.verified().broken is None
    broken = forged.verified(kept).broken
    assert broken is not None
    assert (broken.kind, broken.tape) == ("recomputed", copy.at(5).tape)


def test_a_head_kept_before_the_forgery_narrows_it_down() -> None:
    copy = whole()
    earlier = chained(copy.rows[:4]).heads
    copy.put(copy.at(5)._replace(data=b"{}"))
    assert copy.rechained().verified(earlier).broken is None


def test_a_chain_recomputed_beside_its_stored_heads_contradicts_them() -> None:
    copy = whole()
    copy.put(copy.at(5)._replace(data=b"{}"))
    forged = copy.rechained()._replace(heads=copy.heads)
    broken = forged.verified().broken
    assert broken is not None
    assert broken.kind == "recomputed"


def test_an_identity_whose_digest_was_rewritten_is_named_by_its_row() -> None:
    copy = whole()
    row = copy.at(5)
    copy.known[row.source, row.id] = Known(5, b"rewrittn")
    seen = copy.verified()
    assert seen.broken is not None
    assert (seen.rows, seen.broken.kind, seen.broken.position) == (12, "identity edited", 5)
    assert copy.verified(listed=False).broken is None


def test_a_recomputed_chain_whose_identities_were_forgotten_is_found_inside_the_database() -> None:
    copy = whole()
    copy.put(copy.at(5)._replace(data=b"{}"))
    forged = copy.rechained()._replace(known=copy.known)
    broken = forged.verified().broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("identity edited", 5)
    kept = forged.verified(copy.heads).broken
    assert kept is not None
    assert kept.kind == "recomputed", "a head kept elsewhere names it better"


def test_a_row_beyond_what_the_record_counts_was_inserted() -> None:
    copy = whole()
    row = unplaced(99, "CC-02")
    head = next(head for head in copy.heads if head.tape == row.tape)
    row = row._replace(position=13, table_seq=head.table_seq + 1)
    copy.rows.append(row._replace(hash=chain_hash(head.hash, row)))
    copy.known[row.source, row.id] = Known(13, hashlib.sha256(row.data).digest()[:8])
    broken = copy.verified().broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("inserted", 13)


@example(position=12, field="position", noise=b"\0")
@given(st.integers(1, 12), st.sampled_from(TapeRow._fields), st.binary(min_size=1, max_size=9))
def test_no_field_of_any_row_changes_unnoticed(position: int, field: str, noise: bytes) -> None:
    copy = whole()
    value = getattr(copy.at(position), field)
    if isinstance(value, int):
        changed: object = value + 1 + int.from_bytes(noise, "big") % 2**40
    else:
        changed = value + (noise.hex() if isinstance(value, str) else noise)
    copy.put(copy.at(position)._replace(**{field: changed}), position)
    broken = copy.verified().broken
    assert broken is not None
    assert broken.position <= position


@given(st.sets(st.integers(1, 12), min_size=1))
def test_no_rows_disappear_unnoticed(positions: set[int]) -> None:
    copy = whole()
    for position in positions:
        copy.rows.remove(copy.at(position))
    broken = copy.verified().broken
    assert broken is not None
    assert (broken.kind in ("deleted", "truncated"), broken.position) == (True, min(positions))


def test_parts_that_fit_alone_and_not_together_are_seen() -> None:
    """A tape whose third row stands before its second, with every hash recomputed."""
    tape, (one, two, three) = "hollywood/CC-01", (unplaced(n, "CC-01") for n in (1, 2, 3))
    one = rehashed(one, GENESIS, 1, 1)
    two = rehashed(two, one.hash, 3, 2)
    three = rehashed(three, two.hash, 2, 3)
    known = {
        (row.source, row.id): Known(row.position, hashlib.sha256(row.data).digest()[:8])
        for row in (one, two, three)
    }
    copy = Copy([one, three, two], known, [Head(tape, 2, 3, two.hash)], 3)
    assert copy.verified().broken is not None
    parts = [part for part in copy.parts(3, []) if part]
    assert len(parts) == 3, "each fits by itself"
    expected = Expected(copy.tip, copy.heads, len(known))
    assert joined(parts, expected) is None
    careless = [part._replace(believed={}) for part in parts]
    assert joined(careless, expected) is not None, "what a part believes has to be compared"


def rehashed(row: TapeRow, before: bytes, position: int, table_seq: int) -> TapeRow:
    placed = row._replace(position=position, table_seq=table_seq)
    return placed._replace(hash=chain_hash(before, placed))


def test_progress_is_told_on_the_way_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    copy = whole(5_001)
    beside = [(row, copy.known[row.source, row.id]) for row in copy.rows]
    verify(beside, Expected(5_001, copy.heads), lambda done, of: told.append((done, of)))
    assert told == [(5_000, 5_001), (5_001, 5_001)]


def test_heads_written_are_read_back() -> None:
    heads = whole().heads
    assert heads_from_json(["", *heads_to_json(heads), "\n"]) == heads


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"place":"a/b"}', '{"place":"a/b","sequence":1,"position":1,"hash":"00"}'],
)
def test_a_line_that_is_no_head_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(Usage, match="line 2"):
        heads_from_json(["", line], "heads.jsonl")
