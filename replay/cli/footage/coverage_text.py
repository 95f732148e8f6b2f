"""A statement of coverage to read and to pipe."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from rich.markup import escape

from ledger.games import games
from replay.cameras.statement import CameraCover, Cover, Statement
from replay.shell.output import printable, say, show_table
from replay.text.times import length, span


def draw_statement(stated: Statement, zone: ZoneInfo) -> None:
    """Each open stretch with its cameras and gaps; of rounds those that lack footage."""
    if not stated.looked:
        say("No footage is at hand here: what facts record is told as recorded.")
    rounds = [each for each in stated.stretches if each.name != "open"]
    whole = rounds if len(rounds) == len(stated.stretches) else _open(stated)
    for each in whole:
        _draw(stated, each, zone)
    if whole is not rounds:
        _draw_rounds(rounds)


def _open(stated: Statement) -> list[Cover]:
    return [each for each in stated.stretches if each.name == "open"]


def _draw(stated: Statement, cover: Cover, zone: ZoneInfo) -> None:
    game = games().get(cover.game)
    what = "open" if cover.name == "open" else cover.name
    title = f"{stated.table} · {what} · {game.title if game else cover.game or 'game not told'}"
    show_table(
        escape(printable(title)),
        ("camera", "covers", "kind", "recorded", "of", "clock", "frames a second", "size"),
        (_row(each) for each in cover.cameras),
        right="recorded of",
    )
    say(f"{span(cover.from_us, cover.to_us, zone)}{'' if cover.ended else ', and not closed yet'}")
    say(_verdict(cover))
    gaps = list(_gaps(cover, zone))
    if gaps:
        show_table("Without footage", ("camera", "state", "when", "why"), gaps)
    ails = [
        (each.camera, of.fault, span(of.from_us, of.to_us, zone), of.says)
        for each in cover.cameras
        for of in each.findings
    ]
    if ails:
        title = "What its pictures show, counted as recorded all the same"
        show_table(title, ("camera", "finding", "when", "what"), ails)
    say(_pictured(cover))


def _row(each: CameraCover) -> tuple[object, ...]:
    rate = None if each.fps_min is None else f"{each.fps_min:g} to {each.fps_max:g}"
    known = f"{rate} ({each.looked_at} of {each.segments} files)" if rate else None
    doubt_ms = None if each.plus_minus_us is None else -(-each.plus_minus_us // 1000)
    clock = "never checked" if doubt_ms is None else f"±{doubt_ms} ms"
    clock += ", not checked within" if each.unchecked_us else ""
    locked = f", {length(each.locked_us)} locked" if each.locked_us else ""
    return (
        each.camera,
        " ".join(each.covers),
        each.kind,
        f"{length(each.recorded_us)}{locked}",
        length(each.mapped_us),
        clock,
        known,
        " ".join(each.sizes) or None,
    )


def _verdict(cover: Cover) -> str:
    if cover.due is None:
        return "465a.9(c)(2) prints no figure for this game: nothing is judged."
    lacking = cover.to_us - cover.from_us - (cover.covered_us or 0)
    due = f"{cover.section}: stationary cameras due: {cover.due}."
    if cover.met:
        return f"{due} Met throughout."
    return f"{due} Not met for {length(lacking)} of {length(cover.to_us - cover.from_us)}."


def _pictured(cover: Cover) -> str:
    """Of how much of the footage anybody has looked at a picture."""
    segments = sum(each.segments for each in cover.cameras)
    seen = sum(each.pictured for each in cover.cameras)
    told = f"Pictures of {seen:,} of {segments:,} segments were looked at"
    found = sum(len(each.findings) for each in cover.cameras)
    says = f"{told}: {found} findings." if seen else f"{told}."
    return says if seen == segments else f"{says} `footage health` looks at all that are at hand."


def _gaps(cover: Cover, zone: ZoneInfo) -> Iterator[tuple[str, str, str, str]]:
    for each in cover.cameras:
        for piece in each.pieces:
            if piece.state not in ("recorded", "locked"):
                when = span(piece.from_us, piece.to_us, zone)
                yield each.camera, piece.state.replace("_", " "), when, piece.says
    if not cover.cameras:
        yield "none", "no camera mapped", span(cover.from_us, cover.to_us, zone), "No camera."


def _draw_rounds(rounds: list[Cover]) -> None:
    """The rounds that lack footage, or that none does."""
    short = [each for each in rounds if each.met is False]
    judged = sum(each.met is not None for each in rounds)
    say(f"Rounds: {len(rounds)}; with the cameras due throughout: {judged - len(short)}.")
    if short:
        show_table(
            "Rounds without all of the footage due",
            ("round", "lacking", "of", "why"),
            (
                (
                    each.name,
                    length(each.to_us - each.from_us - (each.covered_us or 0)),
                    length(each.to_us - each.from_us),
                    "; ".join(dict.fromkeys(piece.says for piece in each.short)),
                )
                for each in short
            ),
            right="lacking of",
        )
    ails = [
        (each.name, camera.camera, ", ".join(dict.fromkeys(of.fault for of in camera.findings)))
        for each in rounds
        for camera in each.cameras
        if camera.findings
    ]
    if ails:
        title = "Rounds whose pictures do not show what they should"
        show_table(title, ("round", "camera", "findings"), ails)
