"""The house's zone of each property: the setting's, else the offset that its devices use."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from infra.postgres.tape import NewestFact
from ledger.record.tape import frame_attributes
from replay.shell.zones import DIFFERENT, Zones, devices_offsets, zones
from replay.text.times import zone_name

EAST, ARIZONA = ZoneInfo("America/New_York"), ZoneInfo("America/Phoenix")
FIVE_BEHIND, SIX_BEHIND = (timezone(timedelta(hours=hours)) for hours in (-5, -6))


def fact(time: str, property_: str = "hollywood", *, of_table: bool = True) -> NewestFact:
    return NewestFact(property_, of_table, frame_attributes({"time": time}))


def test_a_property_without_a_named_zone_has_the_offset_of_its_own_devices() -> None:
    facts = [
        fact("2026-11-20T21:00:00Z"),  # one device of five sends UTC, and sent last
        *[fact("2026-11-20T16:00:00-05:00")] * 4,
        *[fact("2026-11-20T21:00:00Z", of_table=False)] * 9,  # recorders, and this program
        fact("2026-11-20T15:00:00-06:00", "desert"),
        fact("2026-11-20T21:00:00Z", "office", of_table=False),
    ]
    assert devices_offsets(facts) == {"hollywood": FIVE_BEHIND, "desert": SIX_BEHIND, "office": UTC}
    found = zones({}, lambda _: facts[:14])
    assert found.of("hollywood") == found.of(None) == FIVE_BEHIND
    assert found.of("elsewhere") == UTC


def test_a_named_zone_holds_for_its_property_and_one_without_a_property_for_the_others() -> None:
    def unread(_: int) -> list[NewestFact]:
        pytest.fail("the record was read for nothing")

    both = zones({"desert": ARIZONA, "": EAST}, unread)
    assert [both.of(name) for name in ("desert", "hollywood", None)] == [ARIZONA, EAST, EAST]
    one = zones({"desert": ARIZONA}, lambda _: [fact("2026-11-20T16:00:00-05:00")])
    assert [one.of(name) for name in ("desert", "hollywood")] == [ARIZONA, FIVE_BEHIND]


def test_a_recorded_time_has_its_own_offset_unless_a_zone_is_named_or_it_is_utc() -> None:
    """A day on which clocks are set back has two offsets."""
    devices = Zones({}, {"hollywood": FIVE_BEHIND})
    times = ("2026-10-31T06:00:00-06:00", "2026-11-01T06:00:00-05:00", "2026-11-01T11:00:00Z", "")
    assert [devices.at("hollywood", each) for each in times] == [
        *(SIX_BEHIND, FIVE_BEHIND, FIVE_BEHIND, FIVE_BEHIND)
    ]
    named = Zones({"hollywood": EAST}, {"hollywood": FIVE_BEHIND})
    assert {named.at("hollywood", each) for each in times} == {EAST}


def test_times_of_several_properties_are_in_utc_and_say_why_if_their_zones_differ() -> None:
    differ = Zones({"desert": ARIZONA, "hollywood": EAST}, {})
    assert differ.of(None) == DIFFERENT
    assert zone_name(differ.of(None)) == "UTC, as properties differ"
    assert Zones({"one": EAST, "two": EAST}, {}).of(None) == EAST
    assert Zones({}, {}).of(None) == UTC
