"""Rounds as aligned text, one fact a line, and rulings as text, one settlement or finding a line.

A reviewer reads both beside the chapter. What is expected is worked out by hand from the text of
the regulation; nothing here computes a payout. Words after `|` give the device of the fact, its
time (seconds) and its number: `| by shoe at 4.1 seq 5 id x`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ledger import facts as told
from ledger.adjudication import adjudicate
from ledger.adjudication.adjudicate import RoundRecord, rule
from ledger.adjudication.submissions import FiledSubmission
from ledger.record.wire import Fact
from ledger.regulations import resolves
from ledger.rules.engine.odds import as_json
from ledger.rules.engine.order import gaps
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.rules.engine.coupons import CouponBatch
    from ledger.rules.engine.ruling import Finding, Ruling, Settlement

SECOND_US = 1_000_000


class Around(TypedDict, total=False):
    """What stands around a round; without `filed`, no Rules Submission was filed."""

    day: str  # the gaming day
    filed: dict[str, Any]  # fields of the Rules Submission, `unit` its breakage unit in cents
    gone: tuple[int, ...]  # positions whose player left
    batches: tuple[CouponBatch, ...]  # of coupons
    seats: tuple[tuple[int, ...], ...]  # the positions each player holds
    posted: tuple[int, int]  # the table's minimum and maximum, cents


def _dealt(to: str, position: int | None, words: list[str], hand: int = 1) -> told.CardsDealt:
    face = "up" if words[0] == "up" else "down"
    cards = tuple(words[1:] if face == "up" else words)
    return told.CardsDealt(to=to, position=position, hand=hand, cards=cards, face=face)


def _turned(words: list[str]) -> told.CardsTurned:
    pairs = list(zip(words[::2], words[1::2], strict=True))
    at, cards = tuple(int(index) for index, _ in pairs), tuple(card for _, card in pairs)
    return told.CardsTurned(to="community", cards=cards, at=at)


def _who(word: str) -> dict[str, Any]:
    """Whose cards: `dealer`, a hand of baccarat, a position, or one of its hands, as `1.2`.

    `dealer@1` names the dealer's cards at a position, where no device should.
    """
    if word[0].isdigit():
        return {"to": "player", **_hand(word)}
    to, _, place = word.partition("@")
    return {"to": to, **(_hand(place) if place else {})}


def _hand(word: str) -> dict[str, int]:
    """A position, and which of its hands: `1.2` is the second hand of position 1."""
    position, _, number = word.partition(".")
    return {"position": int(position), "hand": int(number or 1)}


def _called(words: list[str]) -> told.IrregularityCalled:
    """`one_card_dealt 2` names a position, `card_face_up 7c` a card."""
    kind, *rest = words
    position = int(rest.pop(0)) if rest and rest[0].isdigit() else None
    return told.IrregularityCalled(kind=kind, position=position, cards=tuple(rest) or None)


def _meter(words: list[str]) -> Any:  # noqa: ANN401 - one of three facts
    """`read straight_jack 750000`."""
    kinds = {"read": told.MeterRead, "advanced": told.MeterAdvanced, "reset": told.MeterReset}
    return kinds[words[0]](meter=words[1], amount=int(words[2]))


def _shown(who: dict[str, Any], words: list[str]) -> told.CardsTurned:
    if words[0].isdigit():
        return told.CardsTurned(**who, cards=(words[1],), at=(int(words[0]),))
    return told.CardsTurned(**who, cards=tuple(words))


def _set(who: dict[str, Any], words: list[str]) -> told.HandSet:
    """`high Kd Qh 9c low 2s 3d`: a name is a word in small letters."""
    hands: dict[str, tuple[str, ...]] = {}
    for word in words:
        if word.isalpha() and word.islower():
            name = word
            hands[name] = ()
        else:
            hands[name] += (word,)
    return told.HandSet(to=who["to"], position=who.get("position"), hands=hands)


def _moved(kind: type, words: list[str]) -> Any:  # noqa: ANN401 - one of three facts
    position, wager, amount, *more = words
    rest = dict(zip(more[::2], more[1::2], strict=True))
    values: dict[str, Any] = {"throw": int(rest["throw"])} if "throw" in rest else {}
    if "hand" in rest:
        values["hand"] = int(rest["hand"])
    if "from" in rest:
        values["paid_from"] = rest["from"]
    return kind(position=int(position), wager=wager, amount=int(amount), **values)


def _begun(method: str, *numbers: int) -> told.StartingPositionDetermined:
    """`shaker 3 4 5 2`, `random_number 3 5`, `button 2`: what was drawn, and the position."""
    *drawn, position = numbers
    values: dict[str, Any] = {"dice": tuple(drawn)} if method == "shaker" else {}
    if method == "random_number":
        values = {"number": drawn[0]}
    return told.StartingPositionDetermined(method=method, position=position, **values)  # type: ignore[arg-type]  # one of its ways


def _dice(words: list[str], **values: str) -> told.DiceThrown:
    first, second, defensive = (int(word) for word in words)
    return told.DiceThrown(offensive=(first, second), defensive=defensive, **values)


def _placed(position: int, words: list[str]) -> told.WagerPlaced:
    """`player 1000`, and `hand 2`, `coupon MP-000001:500` (serial and face)."""
    wager, amount, *more = words
    rest = dict(zip(more[::2], more[1::2], strict=True))
    serial, _, face = rest.get("coupon", "").partition(":")
    return told.WagerPlaced(
        position=position,
        wager=wager,
        amount=int(amount),
        hand=int(rest.get("hand", 1)),
        coupon=told.Coupon(serial, int(face)) if serial else None,
    )


_WORDS: dict[str, Callable[[list[str]], Any]] = {
    "nomorebets": lambda _: told.NoMoreBetsCalled(),
    "cross": lambda w: _dealt("community", None, w),
    "begin": lambda w: _begun(w[0], *map(int, w[1:])),
    "deal": lambda w: _dealt(
        _who(w[0])["to"], _who(w[0]).get("position"), w[1:], _who(w[0]).get("hand", 1)
    ),
    "turn": _turned,
    "show": lambda w: _shown(_who(w[0]), w[1:]),
    "set": lambda w: _set(_who(w[0]), w[1:]),
    "decide": lambda w: told.DecisionMade(
        **_hand(w[0]), decision=w[1], discards=tuple(w[2:]) or None
    ),
    "peek": lambda w: told.HoleCardChecked(result=w[0]),  # type: ignore[arg-type]  # `none` or `blackjack`
    "meter": _meter,
    "press": lambda w: told.DecisionMade(
        position=int(w[0]), decision="press", wager=w[1] if w[2:] else None, amount=int(w[-1])
    ),
    "exchange": lambda w: told.CardsExchanged(
        to=_who(w[0])["to"], position=_who(w[0]).get("position"), discards=tuple(w[1:])
    ),
    "locked": lambda _: told.DecisionsLockedCalled(),
    "fold": lambda w: told.DecisionMade(position=int(w[0]), decision="fold"),
    "withdraw": lambda w: told.WagerWithdrawn(position=int(w[0]), wager=w[1], amount=int(w[2])),
    "pay": lambda w: _moved(told.WagerPaid, w),
    "take": lambda w: _moved(told.WagerCollected, w),
    "back": lambda w: _moved(told.WagerReturned, w),
    "rack": lambda w: told.HandDiscarded(to="player", position=int(w[0])),
    "burn": lambda w: told.CardBurned(card=w[0] if w else None),
    "stack": lambda w: told.StackCounted(position=int(w[0]), amount=int(w[1])),
    "act": lambda w: told.DecisionMade(
        position=int(w[0]),
        decision=w[1],
        amount=int(w[2]) if w[2:] else None,
        all_in=True if w[3:] else None,
    ),
    "draw": lambda w: told.DecisionMade(
        position=int(w[0]), decision="draw", discards=tuple(w[1:]) or None
    ),
    "reshuffle": lambda w: told.DiscardsReshuffled(except_=int(w[0])),
    "hand": lambda w: told.HandShown(position=int(w[0]), cards=tuple(w[1:]) or None),
    "muck": lambda w: told.HandMucked(position=int(w[0])),
    "rake": lambda w: told.RakeTaken(amount=int(w[0]), pot=int(w[1]) if w[1:] else None),
    "pot": lambda w: told.PotAwarded(
        pot=int(w[0]), position=int(w[1]), amount=int(w[2]), share=w[3] if w[3:] else None
    ),
    "drop": lambda w: told.CouponDropped(serial=w[0], face=int(w[1])),
    "refuse": lambda w: told.CouponRefused(serial=w[0], face=int(w[1])),
    "call": _called,
    "exposed": lambda w: told.IrregularityCalled(kind="player_card_exposed", position=int(w[0])),
    "throw": _dice,
    "extra": lambda w: _dice(w, purpose="extra_point"),
    "roll": lambda w: told.DiceThrown(dice=tuple(int(word) for word in w)),
    "called": lambda w: told.WagerMarked(position=int(w[0]), wager=w[1], state=w[2]),  # type: ignore[arg-type]  # `on` or `off`
    "noroll": lambda w: told.NoRollCalled(
        reason="improper", of=told.FactRef(f"/hollywood/T-1/{w[0]}", w[1]) if w else None
    ),
    "stub": lambda w: told.StubCounted(batch="B-1", counted=int(w[0])),
    "offer": lambda w: told.DiceOffered(position=int(w[0]), accepted=w[1] == "taken"),
    "marker": lambda w: told.MarkerPlaced(marker=w[0], at=int(w[1])),
    "fee": lambda w: told.FeePaid(
        position=int(w[0]), fee=w[1], amount=int(w[2]), purpose=w[3] if w[3:] else None
    ),
    "void": lambda _: told.RoundVoided(reason="called by the floor"),
    "done": lambda _: told.RoundCompleted(),
}


def facts_of(script: str, game: str, day: str) -> list[Fact]:
    """The facts of a script, a second apart unless it says when."""
    round_ = RoundId("hollywood", "T-1", day, 231)
    found: list[Fact] = []
    time_us = 0
    for number, line in enumerate(filter(None, map(str.strip, script.splitlines())), 1):
        said, _, how = line.partition("|")
        first, *words = said.split()
        ways = how.split()
        way = dict(zip(ways[::2], ways[1::2], strict=True))
        time_us += SECOND_US
        if "at" in way:
            whole, _, part = way["at"].partition(".")
            time_us = int(whole) * SECOND_US + int(part.ljust(6, "0"))
        body: Any
        if first == "start":
            button = int(words.pop()) if words and words[-1].isdigit() else None
            dealt_from = words[0] if words else None
            body = told.RoundStarted(game=game, dealt_from=dealt_from, button=button)
        elif first.isdigit():
            body = _placed(int(first), words)
        else:
            body = _WORDS[first](words)
        sequence = int(way["seq"]) if "seq" in way else None
        source = f"/hollywood/T-1/{way.get('by', 'dealer')}"
        name = way.get("id", str(number))
        found.append(Fact(body, source, name, time_us, round_, "T-1", None, sequence))
    return found


def _opened(game: str, day: str, posted: tuple[int, int]) -> Fact:
    """The opening of the table, an hour before."""
    least, most = posted
    body = told.TableOpened(game=game, gaming_day=day, min_wager=least, max_wager=most)
    source = "/hollywood/T-1/terminal"
    return Fact(body, source, "opened", -3600 * SECOND_US, None, "T-1", None, None)


def ruling(script: str, game: str, **around: Unpack[Around]) -> Ruling:
    """The ruling of a script, and what stands around it."""
    day, filed = around.get("day", "2015-03-01"), around.get("filed")
    facts = facts_of(script, game, day)
    submissions = []
    if filed is not None:
        breakage = told.Breakage(unit=filed.get("unit", 1), mode="down")
        values = {name: value for name, value in filed.items() if name != "unit"}
        filing = told.RulesSubmissionFiled(
            game=game, effective_from="2010-01-01", breakage=breakage, **values
        )
        submissions = [FiledSubmission("hollywood", None, 0, filing)]
    of = RoundRecord(
        RoundId("hollywood", "T-1", day, 231),
        facts,
        gaps(facts),
        frozenset(around.get("gone", ())),
        around.get("seats", ()),
        around.get("batches", ()),
        opened=_opened(game, day, around["posted"]) if "posted" in around else None,
    )
    found = rule(of, submissions)
    assert found is not None
    return found


def _settlement(s: Settlement) -> str:
    row = f" {s.row}, {s.odds}" if s.odds else f" {s.row}" if s.row else ""
    throw = f" throw {s.throw}" if s.throw else ""
    exact = f" exact {s.exact_net}" if s.exact_net != str(s.net) else ""
    reading = f" [{s.reading} {s.reading_value}]" if s.reading else ""
    reading += f" from the {s.paid_from}" if s.paid_from != "table" else ""
    seat = f"{s.position}.{s.hand}" if s.hand > 1 else s.position
    return (
        f"{seat} {s.wager}{throw} {s.stake} {s.outcome} {s.net:+d}{exact} {s.section}{row}{reading}"
    )


def _finding(f: Finding) -> str:
    seat = f"{f.position}.{f.hand}" if f.hand and f.hand > 1 else f.position
    where = [seat, f.wager, f"throw {f.throw}" if f.throw else None]
    money = None if f.expected is None and f.recorded is None else f"{f.expected} / {f.recorded}"
    words = [f.code, *where, money, f.section]
    return "! " + " ".join(str(word) for word in words if word is not None)


def text(found: Ruling, *, following: bool = False) -> list[str]:
    """A ruling as lines: status, settlements, findings, and what it waits for or comes next.

    Every section it names must be printed.
    """
    step = found.next if following else found.awaiting
    for named in [*found.settlements, *found.findings, *([step] if step else [])]:
        assert named.section is None or resolves(named.section), named
    wanted = []
    if step:
        words = (step.step, step.who, step.wager, step.amount, step.section)
        wanted = ["> " + " ".join(str(word) for word in words if word is not None)]
    lines = [_settlement(s) for s in found.settlements] + [_finding(f) for f in found.findings]
    return [found.status, *lines, *wanted]


def printed(game_id: str) -> list[str]:
    """A game's tables as lines: wagers, rows of each paytable, readings, irregularities."""
    game = adjudicate.games()[game_id]
    found = [
        f"{w.id} {w.section} {w.name}{' (optional)' if w.optional else ''}" for w in game.wagers
    ]
    for table in game.paytables:
        found.append(f"[{table.section} {' '.join(table.wagers)}]")
        for row in table.rows:
            reading = f" if {row.reading[0]} is {row.reading[1]}" if row.reading else ""
            found.append(f"{row.label}: {row.odds}{reading}")
    found += [f"{r.name} {r.section}: {', '.join(map(as_json, r.values))}" for r in game.readings]
    for kind, what in game.irregularities.items():
        by = "".join(f", {way} {section}" for way, section in what.by_dealing.items())
        follows = "void" if what.void else "one only" if what.once else "play on"
        only = f" ({what.only})" if what.only else ""
        found.append(f"{kind} {what.section}{by}: {follows}{only}")
    return found


def lines(expected: str) -> list[str]:
    """Expected text with its alignment taken out."""
    return [" ".join(line.split()) for line in expected.splitlines() if line.strip()]
