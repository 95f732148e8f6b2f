"""The facts are those of the contract, field for field, and their schemas are kept up to date."""

from __future__ import annotations

import inspect
from pathlib import Path

import msgspec
import pytest

from ledger import facts
from ledger.facts import schemas
from ledger.facts.upcasters import WagerPaidV0
from ledger.record import kinds, wire
from ledger.record.tape import Received

DATA = Path(__file__).parents[2] / "data"

# Copied from the contract by hand, in its order; ? marks what may be left out.
CONTRACT = """
round_started game dealt_from? batch? button?
wager_placed position wager amount hand? coupon?
wager_withdrawn position wager amount
wager_marked position wager state
no_more_bets_called
decisions_locked_called
starting_position_determined method dice? number? position
cards_dealt to position? hand? cards face
cards_turned to position? hand? cards from? at?
card_burned card?
decision_made position hand? decision discards? wager? amount? to? all_in?
cards_exchanged to position? discards
discards_reshuffled except
fee_paid position fee purpose? amount
hand_set to position? hands
hole_card_checked result
dice_thrown dice? offensive? defensive? purpose? position? called?
no_roll_called reason of?
dice_offered position accepted
marker_placed marker at
wager_paid position wager hand? throw? amount paid_from?
wager_collected position wager hand? throw? amount
wager_returned position wager hand? throw? amount
pot_awarded pot share? position amount
rake_taken amount pot?
stack_counted position amount
hand_shown position cards?
hand_mucked position cards?
irregularity_called kind position? to? cards? by?
round_voided reason
hand_discarded to position? hand?
round_completed
--
table_opened game gaming_day min_wager max_wager positions? pit?
table_closed
seat_taken positions patron?
seat_left positions patron?
rules_submission_filed game edition? effective_from offers? paytables? options? readings? limits? \
breakage? progressives?
dealer_assigned employee role
dealer_relieved employee role
floorperson_assigned employee
floorperson_relieved employee
camera_mapped camera table kind covers
camera_unmapped camera table kind covers
device_out_of_order device covered
device_restored device
decks_received batch decks cards back preshuffled
cards_removed batch cards reason by
cards_inspected batch by
inspection_verified batch by
cards_spread batch face
cards_washed batch
cards_shuffled batch method device? counted?
cards_cut batch by cards_above? cards_below?
recut_directed batch by reason
cover_card_reached to position?
stub_counted batch counted
decks_removed batch reason
dice_received set dice envelope?
dice_inspected set by observed_by alternative
dice_sealed set envelope seal_intact by
dice_opened set envelope seal_intact by
dice_removed set reason
dice_discrepancy_reported set reason
inventory_counted kind gaming_day shift? chips total slip counted_by observed_by
fill_requested slip chips total by reason?
fill_dispatched slip chips total by reason?
fill_accepted slip chips total by reason?
fill_voided slip chips total by reason?
credit_requested slip chips total by reason?
credit_dispatched slip chips total by reason?
credit_accepted slip chips total by reason?
credit_voided slip chips total by reason?
cash_bought_in position amount tendered?
voucher_bought_in position amount voucher
counter_check_issued position amount check
chips_exchanged position given received
tip_dropped amount
drop_box_attached box table gaming_day shift?
drop_box_removed box table gaming_day shift?
drop_box_counted box table gaming_day count currency counter_checks vouchers coupons chips? \
counted_by foreign?
coupons_issued serial_from serial_to face terms games expires requisition? by? to?
coupon_dropped serial face reason?
coupon_refused serial face reason?
meter_read meter amount because?
meter_advanced meter amount because?
meter_reset meter amount because?
payout_verified position wager by
jackpot_documented position wager amount
coupons_received serial_from serial_to face invoice checked_by recorded_by
coupons_requisitioned requisition face quantity needed_on prepared_by authorised_by
coupons_distributed serial_from serial_to face gaming_day by recorded_by?
coupons_returned serial_from serial_to face reason returned_by received_by
coupons_voided serials reason by
coupons_cancelled serials reason by
coupons_inventoried held by observed_by
counter_check_redeemed check amount by form?
counter_check_voided check reason? by?
check_book_signed_out book check_from check_to issued_by received_by
check_book_signed_in book check_from check_to issued_by received_by
drop_box_verified box table gaming_day total by
variance_explained table gaming_day amount because by second
tournament_entered tournament table gaming_day amount patron? by
tournament_prize_paid tournament table gaming_day amount patron? by
day_sealed gaming_day version heads rules report digest because? despite? by second
day_reopened gaming_day version because by second
segment_recorded camera path sha256 start frames duration_us
clock_checked camera camera_time reference_time reference uncertainty_ms
camera_lost camera reason
camera_restored camera reason
footage_viewed camera from to by because dispute?
footage_exported camera from to by because dispute?
footage_locked camera from to by because dispute?
footage_released camera from to by because dispute?
footage_expired camera from to by because dispute?
dispute_raised dispute round position claim by
dispute_noted dispute note by moments?
observation_recorded dispute round saw by watched?
claim_revealed dispute by
dispute_resolved dispute outcome by category?
adjustment_paid dispute position amount paid_from by?
task_set dispute task what to due by
task_done dispute task because? by
fact_corrected of data? because by second
key_enrolled key public_key source role by
key_rotated key public_key replaces signature by
key_revoked key because by
grants_set role grants because by
approval_requested act about terms digest hours by user asked?
approval_given request digest by user
approval_refused request because by user
approval_withdrawn request by user
quarantine_released quarantine of fact_sha256 because by second
patron_erased pseudonyms because by second
epoch_begun log entries root kept lost because by second
break_acknowledged kind tape? sequence? position? quarantine? row_sha256 because by second
finding_taken finding by
finding_handed finding to by
finding_closed finding outcome because by
finding_reopened finding because by
sample_drawn sample shift rounds among? seed by
bookmark_added bookmark round? cameras from to text tags view? by
bookmark_removed bookmark because by
frame_annotated camera segment frame shapes by
still_taken camera segment frame sha256 because by
log_entry_added entry from to? place what who recorded_where disposition by moments?
log_entry_corrected entry of from to? place what who recorded_where disposition because by moments?
shift_begun shift by
shift_handed_over shift to report by
shift_countersigned shift by
"""
ROUNDS, ELSEWHERE = (
    {line.split()[0]: line.split()[1:] for line in part.strip().splitlines()}
    for part in CONTRACT.split("--\n")
)


ADDED = {
    **{fact: ["window?"] for fact in ("footage_locked", "footage_released")},
    "day_sealed": ["shifts?"],
    "rules_submission_filed": ["by?"],
    "shift_handed_over": ["text?", "left_out?"],
    "variance_explained": ["unexplained?", "about?", "period?", "shift?"],
}
"""What the contract does not have yet: which window of several a stretch was kept for, the digest
of a closed day's shifts. The report of a shift, and the rounds that it says nothing of. Who filed a
Rules Submission. What an explanation leaves, and the limit, period and shift that it is of.
"""


def fields_of(struct: type[msgspec.Struct]) -> list[str]:
    return [
        field.encode_name + ("" if field.required else "?")
        for field in msgspec.structs.fields(struct)
    ]


@pytest.mark.parametrize("fact", ROUNDS | ELSEWHERE)
def test_every_fact_of_the_contract_has_its_fields_in_its_order(fact: str) -> None:
    fields = fields_of(facts.FACTS[f"{fact}.v1"])
    stated = (ROUNDS | ELSEWHERE)[fact]
    # A fact outside a round may say which table it is about, where the contract does not ask it to.
    ours = [] if "table?" in stated else ["table?"]
    told = [field for field in fields if field not in ours]
    assert told[: len(stated)] == stated
    added = told[len(stated) :]
    assert added == ADDED.get(fact, [])
    assert all(field.endswith("?") for field in added), "who knows the contract alone can tell it"


def test_a_finding_is_named_by_what_it_is_of() -> None:
    assert fields_of(facts.FindingRef) == [
        "code", "round?", "position?", "hand?", "wager?", "throw?", "table?", "gaming_day?", "of?",
    ]  # fmt: skip


def test_work_on_a_finding_that_no_ruling_has_is_recorded() -> None:
    body = {"finding": {"code": "no_such_code", "table": "X", "round": "X/2026-01-01/1"}, "by": "S"}
    kind = kinds.kind_of("roundledger.finding_taken.v1")
    assert kinds.body(kind, msgspec.json.encode(body)).finding.code == "no_such_code"


def test_a_bookmark_without_a_round_is_recorded() -> None:
    body = facts.BookmarkAdded(
        bookmark="B-1",
        cameras=("X-1",),
        from_="2026-11-20T21:00:00Z",
        to="2026-11-20T21:00:05Z",
        text="A hand over the chips.",
        tags=(),
        by="S-1",
    )
    row = wire.parse_line(wire.encode(body, "/p/surveillance/screen", "b-1", 1))
    assert isinstance(row, Received), row


def test_there_is_no_fact_beside_those_of_the_contract() -> None:
    assert {name.removesuffix(".v1") for name in facts.FACTS} == {*ROUNDS, *ELSEWHERE}


def test_the_facts_of_a_round_and_a_submission_need_a_subject() -> None:
    rounds = {f"{fact}.v1" for fact in ROUNDS}
    assert {*rounds, "wager_paid.v0"} == facts.ROUND_FACTS
    assert {*facts.ROUND_FACTS, "rules_submission_filed.v1"} == facts.SUBJECT_REQUIRED


def test_every_struct_is_named_after_its_fact_and_found_by_its_stored_name() -> None:
    for name, struct in facts.FACTS.items():
        camel = "".join(word.title() for word in name.removesuffix(".v1").split("_"))
        assert struct.__name__ == camel
        assert facts.type_name(struct) == name
        assert getattr(facts, camel) is struct


def test_every_fact_says_in_a_sentence_of_its_own_what_happened() -> None:
    summaries = [vars(struct)["__doc__"].split("\n")[0] for struct in facts.FACTS.values()]
    assert all(summary.endswith(".") for summary in summaries)
    assert len(set(summaries)) == len(summaries)


def test_facts_are_frozen() -> None:
    for struct in facts.FACTS.values():
        assert struct.__struct_config__.frozen


def test_amounts_say_that_they_are_cents() -> None:
    money = {"amount", "serial", "total", "min_wager", "max_wager", "paid_with_stake", "stake"}
    for struct in facts.FACTS.values():
        if money & set(struct.__struct_fields__):
            assert "cents" in (inspect.getdoc(struct) or ""), struct


def test_what_the_contract_calls_default_is_the_default() -> None:
    paid = facts.WagerPaid(position=3, wager="middle", amount=7500)
    assert (paid.hand, paid.throw, paid.paid_from) == (1, None, "table")
    assert facts.DiceThrown(dice=(3, 4)).purpose == "down"
    assert facts.RulesSubmissionFiled(
        game="lunar_poker", effective_from="2026-01-01"
    ).breakage == facts.tables.Breakage(unit=1, mode="down")


@pytest.mark.parametrize(
    ("turned", "expected"),
    [
        ({}, (0, 1)),
        ({"from_": 1}, (1, 2)),
        ({"at": (4, 0)}, (4, 0)),
    ],
)
def test_cards_turned_are_found_from_an_index_on_or_at_indexes(
    turned: dict[str, object], expected: tuple[int, ...]
) -> None:
    fact = facts.CardsTurned(to="community", cards=("As", "Kd"), **turned)
    assert facts.indexes(fact) == expected


@pytest.mark.parametrize(
    ("struct", "fields", "says"),
    [
        (facts.CardsDealt, {"to": "player", "cards": ("As",), "face": "up"}, "position"),
        (facts.HandSet, {"to": "player", "hands": {}}, "position"),
        (facts.HandDiscarded, {"to": "player"}, "position"),
        (facts.CardsExchanged, {"to": "player", "discards": ()}, "position"),
        (facts.CoverCardReached, {"to": "player"}, "position"),
        (facts.CardsTurned, {"to": "player", "cards": ()}, "position"),
        (facts.CardsTurned, {"to": "dealer", "cards": ("As",), "at": (0, 1)}, "one index"),
        (facts.CardsTurned, {"to": "dealer", "cards": ("As",), "at": (0,), "from_": 0}, "without"),
        (facts.DiceThrown, {}, "dice"),
        (facts.DiceThrown, {"offensive": (1, 2)}, "dice"),
        (facts.DiceThrown, {"dice": (1,), "defensive": 3}, "dice"),
        (facts.Attached, {"camera": "CC-07-1", "camera_time": "about nine"}, "RFC 3339"),
        (facts.Attached, {"reference_time": "about nine"}, "RFC 3339"),
        (facts.DropBoxAttached, {"box": "b", "table": "T", "gaming_day": "2026-02-30"}, "calendar"),
    ],
)
def test_a_fact_that_no_reader_could_place_is_not_built(
    struct: type[msgspec.Struct], fields: dict[str, object], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        struct(**fields)


def test_the_kept_schemas_are_those_the_structs_generate() -> None:
    kept = {path.name: path.read_text("utf-8") for path in schemas.FOLDER.glob("*.json")}
    assert kept == schemas.generate(), "run `python -m ledger.facts.schemas`"


def test_schemas_are_written_and_stale_ones_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone.v1.json").write_text("{}")
    assert schemas.main(tmp_path) == 0
    assert {path.name for path in tmp_path.iterdir()} == schemas.generate().keys()
    assert f"{len(facts.FACTS) + len(facts.UPCASTERS)} schemas" in capsys.readouterr().out


def test_a_schema_names_its_fact_and_its_fields() -> None:
    schema = msgspec.json.decode(schemas.generate()["wager_placed.v1.json"])
    assert schema["$id"] == "roundledger:wager_placed.v1"
    assert schema["required"] == ["position", "wager", "amount"]
    assert schema["properties"]["amount"]["maximum"] == 10**13
    assert schema["$defs"]["Coupon"]["required"] == ["serial", "face"]


def test_a_stored_version_zero_is_read_in_todays_words_and_its_bytes_stay() -> None:
    line = (DATA / "wager_paid.v0.jsonl").read_bytes().removesuffix(b"\n")
    row = wire.parse_line(line)
    assert isinstance(row, Received)
    assert row.type == "wager_paid.v0"
    assert (
        row.data == b'{"position": 3, "wager": "middle", "paid_with_stake": 10000, "stake": 2500}'
    )
    # $100.00 pushed with a $25.00 stake in it: $75.00 of winnings.
    assert wire.fact_of(row).body == facts.WagerPaid(position=3, wager="middle", amount=7500)


def test_every_upcaster_leads_to_a_fact_of_today() -> None:
    for name, (old, upcast) in facts.UPCASTERS.items():
        assert name not in facts.FACTS
        sample = (DATA / f"{name}.jsonl").read_bytes()
        data = bytes(msgspec.json.decode(sample, type=dict[str, msgspec.Raw])["data"])
        assert type(upcast(msgspec.json.decode(data, type=old))) in facts.FACTS.values()


def test_an_upcaster_refuses_what_is_not_its_own_version() -> None:
    upcast = facts.UPCASTERS["wager_paid.v0"].upcast
    with pytest.raises(TypeError, match="WagerPaidV0"):
        upcast(facts.RoundCompleted())
    old = WagerPaidV0(position=1, wager="ante", paid_with_stake=500, stake=500)
    assert upcast(old) == facts.WagerPaid(position=1, wager="ante", amount=0)
