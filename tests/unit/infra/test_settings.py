"""Settings are read once, every one is listed, and no secret is ever printed."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from infra.kafka import topics
from infra.kafka.clients import connection
from infra.settings import PREFIX, TABLE, TOPIC_PREFIX_MAX, Settings, Threshold, load, table
from ledger.errors import Usage

FILLS = Threshold("ALERT_FILLS", 3, "", "How many fills raise an alert")
SECRET = "postgresql://me:hush@db.example:5432/ledger"  # noqa: S105 - not a real one


def test_nothing_set_means_the_embedded_database_and_this_machine_only() -> None:
    settings = load({})
    assert settings.database_url is None
    assert settings.home.is_absolute()
    assert settings.http_host == "127.0.0.1"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert load({row.name: "" for row in TABLE}) == load({})


def test_every_setting_is_read_from_its_variable() -> None:
    rows = table([FILLS])
    environ = {row.name: "7" if row.default.isdecimal() else f"/given/{row.name}" for row in rows}
    environ |= {
        "ROUND_LEDGER_PUBLIC_URL": "https://ledger.example/",
        "ROUND_LEDGER_TRUSTED_PROXIES": "192.0.2.10",
        "ROUND_LEDGER_TIME_ZONE": "America/New_York",
        "ROUND_LEDGER_GAMING_DAY_BEGINS": "04:00",
        "ROUND_LEDGER_SHIFTS": "day=04:00",
        "ROUND_LEDGER_TOPIC_PREFIX": "casino-1.",
        "ROUND_LEDGER_UNCONFINED_FOOTAGE": "refuse",
        "ROUND_LEDGER_SECOND_FACTOR": "required",
    }
    read, default = load(environ, [FILLS]), load({}, [FILLS])
    for field in fields(Settings):
        assert getattr(read, field.name) != getattr(default, field.name), field.name


def test_every_field_has_a_row_and_every_row_a_purpose() -> None:
    named = {row.name.removeprefix(PREFIX).lower() for row in TABLE}
    assert named == {field.name for field in fields(Settings)} - {"thresholds"}
    assert all(row.default and row.purpose for row in TABLE)


def test_a_threshold_is_a_setting_where_it_is_declared_and_else_unknown() -> None:
    given = {"ROUND_LEDGER_ALERT_FILLS": "4"}
    assert (FILLS.of(load({}, [FILLS])), FILLS.of(load(given, [FILLS]))) == (3, 4)
    with pytest.raises(Usage, match="no setting named ROUND_LEDGER_ALERT_FILLS"):
        load(given)
    names = [row.name.removeprefix(PREFIX) for row in table([FILLS])]
    assert names.index("ALERT_FILLS") + 1 == names.index("ALERT_AGE_S")


@pytest.mark.parametrize("name", ["ALERT_FILLS", "ALERT_AGE_S"])
@pytest.mark.parametrize("text", ["soon", "0", "-1", "1.5", "٣", str(2**53 + 1)])
def test_a_threshold_is_a_whole_number_from_1(name: str, text: str) -> None:
    with pytest.raises(Usage, match="not a threshold"):
        load({f"{PREFIX}{name}": text}, [FILLS])


def test_the_migration_login_is_the_everyday_one_unless_another_is_named() -> None:
    assert load({"ROUND_LEDGER_DATABASE_URL": SECRET}).migration_url == SECRET


def test_a_secret_is_in_no_repr() -> None:
    given = {row.name: SECRET for row in TABLE if row.secret}
    assert given
    assert "hush" not in repr(load(given))


def test_a_misspelt_setting_is_refused_and_the_near_one_named() -> None:
    with pytest.raises(Usage, match="Did you mean ROUND_LEDGER_DATABASE_URL"):
        load({"ROUND_LEDGER_DATABASE_ULR": SECRET})


@pytest.mark.parametrize("seconds", ["-1", "604801", "5 minutes"])
def test_what_is_locked_around_a_round_is_seconds_up_to_a_week(seconds: str) -> None:
    with pytest.raises(Usage, match="seconds"):
        load({"ROUND_LEDGER_LOCK_AFTER_S": seconds})
    assert load({"ROUND_LEDGER_LOCK_BEFORE_S": "604800"}).lock_before_s == 604_800


@pytest.mark.parametrize("port", ["-1", "65536", "http", "8_0", "٣"])
def test_a_port_is_a_number_a_socket_knows(port: str) -> None:
    with pytest.raises(Usage, match="not a port"):
        load({"ROUND_LEDGER_HTTP_PORT": port})


@pytest.mark.parametrize("url", ["ledger.example", "https://", "https://a/b", "ftp://a"])
def test_a_public_address_is_one_of_a_web_server(url: str) -> None:
    with pytest.raises(Usage, match="not the address of a server"):
        load({"ROUND_LEDGER_PUBLIC_URL": url})


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc/localtime"])
def test_a_time_zone_is_one_that_is_known(zone: str) -> None:
    with pytest.raises(Usage, match="not a time zone"):
        load({"ROUND_LEDGER_TIME_ZONE": zone})


def test_each_property_may_have_a_time_zone_and_the_others_one() -> None:
    named = "hollywood=America/New_York, desert=America/Phoenix,UTC"
    zones = load({"ROUND_LEDGER_TIME_ZONE": named}).time_zone
    assert {name: zone.key for name, zone in zones.items()} == {
        "hollywood": "America/New_York",
        "desert": "America/Phoenix",
        "": "UTC",
    }
    assert load({}).time_zone == {}
    with pytest.raises(Usage, match="gives a property two time zones"):
        load({"ROUND_LEDGER_TIME_ZONE": "hollywood=UTC,hollywood=America/New_York"})


def test_a_house_names_when_its_day_and_its_shifts_begin() -> None:
    given = {
        "ROUND_LEDGER_GAMING_DAY_BEGINS": "4:30",
        "ROUND_LEDGER_SHIFTS": "Day=06:00, swing=14:00,3=22:00",
    }
    found = load(given)
    assert (found.gaming_day_begins, found.shifts) == (270, {"day": 360, "swing": 840, "3": 1320})
    assert (load({}).gaming_day_begins, load({}).shifts) == (360, {})


@pytest.mark.parametrize(
    ("shifts", "says"),
    [
        ("day", "not a time of day"),
        ("day=24:00", "not a time of day"),
        ("day=6 am", "not a time of day"),
        ("day=06:00,Day=14:00", "twice"),
        ("day=06:00,swing=6:00", "twice"),
        ("=06:00", "cannot be a shift's name"),
        ("d.*=06:00", "cannot be a shift's name"),
    ],
)
def test_hours_of_shifts_are_read_or_refused(shifts: str, says: str) -> None:
    with pytest.raises(Usage, match=says):
        load({"ROUND_LEDGER_SHIFTS": shifts})


def test_a_home_that_is_a_file_is_refused() -> None:
    with pytest.raises(Usage, match="not a folder"):
        load({"ROUND_LEDGER_HOME": __file__})


def test_a_home_may_be_written_with_a_tilde() -> None:
    assert load({"ROUND_LEDGER_HOME": "~/ledger"}).home == (Path.home() / "ledger").resolve()


@pytest.mark.parametrize("prefix", ["casino 1", "casino/1", "cas\u00efno", "a\n", "x" * 201])
def test_a_prefix_of_topics_is_what_kafka_takes(prefix: str) -> None:
    with pytest.raises(Usage, match="cannot be a prefix"):
        load({"ROUND_LEDGER_TOPIC_PREFIX": prefix})


def test_every_topic_and_group_fits_behind_the_longest_prefix() -> None:
    given = "aZ9._-" + "x" * (TOPIC_PREFIX_MAX - 6)
    where = connection(load({"ROUND_LEDGER_TOPIC_PREFIX": given}))
    names = [where.named(each.name) for each in topics.declared()]
    assert all(name.startswith(given) and len(name) <= 249 for name in names)
    assert [where.declared(name) for name in names] == [each.name for each in topics.declared()]
