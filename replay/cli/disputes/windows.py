"""`dispute windows`: what was preserved without a dispute, with the name a dossier asks for."""

from consumers.cameras.cameras import CAMERAS
from infra.postgres.tape import PostgresTape
from ledger.values import format_time
from replay.cameras.retention import policy_from
from replay.cli.disputes.group import Property, dispute
from replay.disputes.preserved_windows import Window
from replay.disputes.windows import windows_of
from replay.rounds.reading import opened_views
from replay.shell.output import Json, print_lines, say, show_table
from replay.shell.settings import in_force
from replay.text.local_time import span


@dispute.command("windows")
def windows(*, property_: Property = None, json: Json = False) -> None:
    """List what was preserved without a dispute, the window put last first.

    Each has the name by which `round-ledger dossier` hands it over and `footage release --window`
    lets go of it. Where nothing locks it any more, who released it and why is told.

    Example: round-ledger dispute windows
    """
    policy = policy_from(in_force().retention_file)
    with opened_views([CAMERAS]) as base, PostgresTape(base) as tape:
        found = windows_of(base, tape, policy, property_)
    if json:
        print_lines(map(_as_json, found))
        return
    zone = in_force().time_zone
    show_table(
        "Preserved windows",
        ("window", "table", "when", "cameras", "by", "because", "state", "kept until"),
        (
            (
                each.name,
                each.table,
                span(each.from_us, each.to_us, zone),
                len(each.locks),
                each.by,
                each.because,
                each.status.replace("_", " "),
                _until(each),
            )
            for each in found
        ),
        right="cameras",
        whole="window",
    )
    if not found:
        say("No window was preserved.")


def _until(window: Window) -> str | None:
    """Until when it is kept, by the day; None: it is past its keeping."""
    if window.status == "locked":
        return "released"
    return None if window.expires_us is None else format_time(window.expires_us)[:10]


def _as_json(window: Window) -> dict[str, object]:
    """A window as it is printed to pipe; of footage by each camera's own clock."""
    times = {"from": format_time(window.from_us), "to": format_time(window.to_us)}
    return {
        **window._asdict(),
        **times,
        "cameras": sorted(each.camera for each in window.locks),
        "locks": [each._asdict() for each in window.locks],
        "released": [each._asdict() for each in window.released],
        "expires": None if window.expires_us is None else format_time(window.expires_us),
    }
