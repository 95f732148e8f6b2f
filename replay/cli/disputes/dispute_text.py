"""A dispute to read and to pipe; what is hidden from a reviewer is in neither."""

from zoneinfo import ZoneInfo

from msgspec import json, to_builtins
from rich.markup import escape

from ledger.facts import Attached
from ledger.values import dollars, format_time
from replay.disputes.comparison import CaseComparison
from replay.disputes.dispute import Dispute
from replay.disputes.preserved_windows import named_by
from replay.recording.house_facts import Noted
from replay.rounds.story_text import owed_table, signed
from replay.shell.output import printable, say, show, show_table
from replay.text.local_time import both


def case_json(case: Dispute) -> dict[str, object]:
    """A dispute as it was raised."""
    claim = case.claim
    return {
        "dispute": case.dispute,
        "property": case.property,
        "round": claim.round.subject if claim and claim.round else None,
        "position": claim.position if claim else None,
        "raised": format_time(claim.time_us) if claim else None,
    }


def sides_json(seen: CaseComparison) -> dict[str, object]:
    """One person's view of a dispute; times in UTC beside microseconds."""
    told: dict[str, object] = to_builtins(seen)
    told["raised"] = None if seen.raised_us is None else format_time(seen.raised_us)
    return told


def lock_json(lock: Noted) -> dict[str, object]:
    """A lock that was put on record; its times by the camera's own clock."""
    body = json.decode(lock.fact.data)
    window = named_by(lock.fact.id)
    return {
        **({"window": window} if window else {}),
        "camera": body["camera"],
        "from": body["from"],
        "to": body["to"],
        "by": body["by"],
        "because": body["because"],
        "position": lock.position,
    }


def draw_case(seen: CaseComparison, zone: ZoneInfo) -> None:
    """One dispute: its sides beside one another, then the money wager by wager, then its file."""
    where = f"{seen.round or 'no round'}, position {seen.position}"
    status = seen.status.replace("_", " ")
    title = escape(printable(f"Dispute {seen.dispute} · {where} · {status}"))
    show_table(title, ("", ""), _rows(seen, zone))
    if seen.hidden:
        say("Hidden until you observe: watch the footage, then `round-ledger dispute observe`.")
        return
    if seen.lines:
        show(owed_table(seen.lines))
    if seen.shown:
        show_table(
            "On record, of the position and of what all share",
            ("fact", "time by the device", "says"),
            ((each.number, each.time, each.says) for each in seen.shown),
            right="fact",
        )
    if seen.notes:
        show_table(
            "Notes",
            ("when", "by", "note", "moments"),
            (
                (both(each.time_us, zone), each.by, each.note, _moments(each.moments))
                for each in seen.notes
            ),
        )
    for says in seen.missing:
        say(f"Missing: {printable(says)}")


def _rows(seen: CaseComparison, zone: ZoneInfo) -> list[tuple[str, str]]:
    """What was claimed, seen, owed, paid and decided, one after the other."""
    rows = []
    if seen.raised_us is not None:
        rows.append(("raised", f"{both(seen.raised_us, zone)} by {seen.raised_by}"))
    if seen.hidden:
        return rows
    rows += [("claimed", f"{each.claim} ({each.by})") for each in seen.claims]
    for saw in seen.saw:
        how = "blind" if saw.blind else "knowing the claim"
        rows.append(("seen", f"{saw.saw} ({saw.by}, {how}, {both(saw.time_us, zone)})"))
    if seen.owed is not None and seen.moved is not None:
        rows.append(("owed by the ruling", signed(seen.owed)))
        rows.append(("moved by the dealer", signed(seen.moved)))
        rows.append(("difference", "n/a" if seen.difference is None else signed(seen.difference)))
    for paid in seen.adjustments:
        who = f" by {paid.by}" if paid.by else ""
        says = f"{dollars(paid.amount)} to position {paid.position} from the {paid.paid_from}{who}"
        rows.append(("adjusted", says))
    if seen.adjustments and seen.left is not None:
        rows.append(("left", signed(seen.left)))
    rows += [("claim shown to", f"{each.by}, {both(each.time_us, zone)}") for each in seen.revealed]
    if seen.outcome:
        when = both(seen.outcome.time_us, zone)
        rows.append(("decided", f"{seen.outcome.outcome} ({seen.outcome.by}, {when})"))
    return rows


def _moments(moments: tuple[Attached, ...]) -> str:
    """Moments on one line."""
    told = []
    for each in moments:
        fact = f"{each.round or 'a round'}: {each.fact.source} {each.fact.id}" if each.fact else ""
        when = f"at {each.reference_time}" if each.reference_time else ""
        at = f"{each.camera or 'a camera'} at {each.camera_time}" if each.camera_time else ""
        words = ", ".join(filter(None, (fact, when, at)))
        told.append(words or each.round or each.camera or "nothing")
    return "; ".join(told)
