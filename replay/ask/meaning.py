"""What the statements of a sentence mean: chips, each a filter in words, and what is not read.

Pure: the same sentence, house and moment give the same chips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from consumers.rounds.search import AmountRange, Filters
from ledger.rules.engine.finding_codes import CODES
from replay.ask.moments import moments
from replay.ask.vocabulary import printed_rows
from replay.rounds.sentences import card_text, wager_of_any_game
from replay.text.money import money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from consumers.rounds.search import AmountKind
    from replay.ask.grammar import Clause
    from replay.ask.house import House

NEAR_MAX = 3
"""The most names that are offered for one that the house does not have."""

POSITION_MAX, NUMBER_MAX, DOLLARS_MAX = 99, 10**9, 10**12
TOO_MUCH = "No amount is so large."

ABOUT_SHARE = 10
"""*About* an amount: a tenth less or more."""


class Choice(Struct, frozen=True):
    """Another reading: the sentence that says it unmistakably, and what that means."""

    sentence: str
    means: str


class Chip(Struct, frozen=True):
    """One filter of a sentence.

    words: as typed. means: in plain words, with what was assumed. values: of `Filters`.
    without: the sentence without it. meant: the phrase that misspelt words were taken for.
    """

    field: str
    words: str
    means: str
    values: Mapping[str, Any] = {}
    start: int = 0
    end: int = 0
    meant: str = ""
    without: str = ""
    choices: tuple[Choice, ...] = ()


class Unread(Struct, frozen=True):
    """Words that no filter stands for, and why."""

    words: str
    why: str
    start: int = 0
    choices: tuple[Choice, ...] = ()


class SentenceReading(Struct):
    """A sentence while it is read."""

    text: str
    house: House
    now_us: int
    all: Sequence[Clause]

    def games(self) -> set[str]:
        """The games that the sentence names, or that are dealt at its table."""
        named = {id_ for each in self.all if each.rule == "game" for id_ in each.one("GAME")}
        at = {self.house.tables.get(each.one("TABLE") or "") for each in self.all}
        return named or {game for game in at if game}

    def instead(self, told: Clause, words: str) -> str:
        """The sentence with other words in place of a statement."""
        return f"{self.text[: told.start]}{words}{self.text[told.end :]}"


Meant = Chip | Unread


def meant(reading: SentenceReading) -> Iterator[Meant]:
    """What each statement means, in their order; words to be passed over mean nothing."""
    timed = moments(reading.all, reading.house, reading.now_us, reading.instead)
    for told in reading.all:
        if told.rule == "ignored":
            continue
        if told in timed:
            one = timed[told]
            values = one.values
            found: Meant = (
                Chip(one.field, "", one.means, values, choices=_choices(one.choices))
                if one.means
                else Unread("", one.why)
            )
        else:
            found = _MEANINGS[told.rule](told, reading)
        yield _placed(found, told, reading)


def _choices(given: Sequence[tuple[str, str]]) -> tuple[Choice, ...]:
    return tuple(Choice(*each) for each in given)


def _placed(found: Meant, told: Clause, reading: SentenceReading) -> Meant:
    words = reading.text[told.start : told.end]
    if isinstance(found, Unread):
        return replace(found, words=words, start=told.start)
    typos = ", ".join(piece.meant for _, piece in told.tokens if piece.meant)
    rest = f"{reading.text[: told.start].rstrip()} {reading.text[told.end :].lstrip()}".strip()
    return replace(found, words=words, start=told.start, end=told.end, meant=typos, without=rest)


def _table(told: Clause, reading: SentenceReading) -> Meant:
    numbers = told.all("NUMBER")
    if numbers:
        found = reading.house.tables_numbered(numbers[0][0])
        why = "Several tables have this number." if found else "No table has this number."
    else:
        name = told.one("TABLE")
        found = [name] if name else []
        why = "No table of this name is on record."
    if len(found) != 1:
        words = reading.text[told.start : told.end]
        names = found or ([] if numbers else _near(words.split()[-1], list(reading.house.tables)))
        return Unread("", why, choices=_others(told, reading, names, "table"))
    return Chip("table", "", f"table {found[0]}", {"table": found[0]})


def _dealer(told: Clause, reading: SentenceReading) -> Meant:
    name = told.one("DEALER")
    if name is None:
        number = told.one("NUMBER")
        name = number[1] if number else None
    if name is None:
        typed = told.one("CREDENTIAL") or f"D-{told.one('NUMBER')[0]}"
        names = _near(typed, list(reading.house.dealers))
        why = "No dealer of this number is on record."
        return Unread("", why, choices=_others(told, reading, names, "dealer"))
    return Chip("dealer", "", f"dealt by {name}", {"dealer": name})


def _position(told: Clause, _: SentenceReading) -> Meant:
    number = told.one("NUMBER")
    at = number[0] if number else told.one("ORDINAL", "BASE")
    if at > POSITION_MAX:
        return Unread("", "No table has so many positions.")
    return Chip("position", "", f"position {at}", {"position": at})


def _round(told: Clause, _: SentenceReading) -> Meant:
    name = told.one("ROUNDNAME")
    if name:
        table, day, number = name.split("/")
        if int(number[:12]) > NUMBER_MAX:
            return Unread("", "No round has such a number.")
        values = {"table": table.upper(), "gaming_day": day, "number": int(number)}
        return Chip("round", "", f"round {table.upper()}/{day}/{number}", values)
    number = told.one("NUMBER")[0]
    if number > NUMBER_MAX:
        return Unread("", "No round has such a number.")
    return Chip("round", "", f"round {number} of a gaming day", {"number": number})


def _patron(told: Clause, _: SentenceReading) -> Meant:
    token = told.one("CREDENTIAL", "UNREAD")
    return Chip("patron", "", f"patron's token {token}", {"patron": token})


def _game(told: Clause, reading: SentenceReading) -> Meant:
    found, known = told.one("GAME"), reading.house.games
    if len(found) > 1:
        names = [known[each].title for each in found]
        why = "Several games are called so."
        return Unread("", why, choices=_others(told, reading, names, "game"))
    return Chip("game", "", f"game {known[found[0]].title}", {"game": found[0]})


def _wager(told: Clause, reading: SentenceReading) -> Meant:
    found, named = told.one("WAGER"), reading.games()
    if len(found) > 1 and named:
        known = {w.id for game in named for w in reading.house.games[game].wagers}
        found = tuple(each for each in found if each in known)
    if len(found) != 1:
        names = [each.replace("_", " ") for each in found or told.one("WAGER")]
        why = "Several wagers are called so: name the game too."
        return Unread("", why, choices=_others(told, reading, names, "wager"))
    return Chip("wager", "", f"wager {wager_of_any_game(found[0])}", {"wager": found[0]})


def _hand(told: Clause, _: SentenceReading) -> Meant:
    hand = told.one("HAND")
    rows = printed_rows(hand)
    return Chip("hand", "", f"paid or pushed as {hand.replace('-', ' ')}", {"rows": rows})


def _cards(told: Clause, _: SentenceReading) -> Meant:
    found = tuple(dict.fromkeys(told.all("CARD")))
    named = " ".join(card_text(each) for each in found)
    return Chip("cards", "", f"one holder had {named}", {"cards": found})


def _error(told: Clause, _: SentenceReading) -> Meant:
    codes = told.one("ERROR", "SHORT")
    says = " or ".join(CODES[each].rstrip(".").lower() for each in codes)
    if _is_too_much(told):
        return Unread("", TOO_MUCH)
    if not told.all("MONEY", "NUMBER"):
        return Chip("finding", "", says, {"findings": codes})
    low, high, amount = _range(told)
    values = {"findings": codes, "difference_min": low, "difference_max": high}
    return Chip("finding", "", f"{says}, by {amount}", _given(values))


def _finding(told: Clause, _: SentenceReading) -> Meant:
    codes = told.one("FINDING")
    if codes == ("any",):
        return Chip("finding", "", "any finding", {"finding": "any"})
    says = " or ".join(CODES[each].rstrip(".").lower() for each in codes)
    return Chip("finding", "", says, {"findings": codes})


def _call(told: Clause, _: SentenceReading) -> Meant:
    calls = told.one("CALL")
    named = " or ".join(each.replace("_", " ") for each in calls[:3])
    more = f" or {len(calls) - 3} more" if len(calls) > 3 else ""  # noqa: PLR2004 - as above
    return Chip("call", "", f"on record: {named}{more}", {"calls": calls})


def _outcome(told: Clause, _: SentenceReading) -> Meant:
    outcome = told.one("OUTCOME")
    return Chip("outcome", "", f"a wager's outcome is {outcome}", {"outcome": outcome})


def _status(told: Clause, _: SentenceReading) -> Meant:
    status = told.one("STATUS")
    return Chip("status", "", f"the round is {status}", {"status": status})


def _dispute(told: Clause, _: SentenceReading) -> Meant:
    if told.kind("ANYDISPUTE"):
        return Chip("dispute", "", "a dispute is about it", {"dispute": "any"})
    number = told.one("NUMBER")
    name = f"D-{number[0]}" if number else told.one("CREDENTIAL")
    return Chip("dispute", "", f"dispute {name}", {"dispute": name})


def _footage(_: Clause, __: SentenceReading) -> Meant:
    return Unread("", "Rounds are not searched by footage: a round's page says what is missing.")


_AMOUNT_KINDS: Mapping[str, AmountKind] = {
    "PLACED": "placed", "PAID": "paid", "OWED": "owed", "TAKEN": "collected",
    "RETURNED": "returned", "WASPLACED": "placed", "WASPAID": "paid", "WASOWED": "owed",
    "WASTAKEN": "collected", "WASRETURNED": "returned", "PAIDOVER": "paid", "PAIDUNDER": "paid",
}  # fmt: skip


def _amount(told: Clause, _: SentenceReading) -> Meant:
    if _is_too_much(told):
        return Unread("", TOO_MUCH)
    named = told.kind(*_AMOUNT_KINDS)
    kind = _AMOUNT_KINDS[named] if named else None
    low, high, amount = _range(told)
    what = kind or "placed, paid, collected or returned"
    values = {"amounts": (AmountRange(kind, low, high),)}
    return Chip(f"amount {kind or ''}".strip(), "", f"{amount} {what} on one wager", values)


def _is_too_much(told: Clause) -> bool:
    """Whether an amount is larger than any on record can be."""
    dollars = [each[0] for each in told.all("NUMBER")]
    return any(c > 100 * DOLLARS_MAX for c in told.all("MONEY")) or any(
        each > DOLLARS_MAX for each in dollars
    )


def _range(told: Clause) -> tuple[int | None, int | None, str]:
    """The least and the most cents of an amount, and its words."""
    cents = told.one("MONEY")
    cents = told.one("NUMBER")[0] * 100 if cents is None else cents
    how = told.kind(
        "OVER", "UNDER", "ATLEAST", "ATMOST", "ABOUT", "ORMORE", "ORLESS", "PAIDOVER", "PAIDUNDER"
    )
    if how in ("OVER", "PAIDOVER"):
        return cents + 1, None, f"more than {money(cents)}"
    if how in ("UNDER", "PAIDUNDER"):
        return None, cents - 1, f"less than {money(cents)}"
    if how in ("ATLEAST", "ORMORE"):
        return cents, None, f"at least {money(cents)}"
    if how in ("ATMOST", "ORLESS"):
        return None, cents, f"at most {money(cents)}"
    if how == "ABOUT":
        by = cents // ABOUT_SHARE
        return cents - by, cents + by, f"{money(cents - by)} to {money(cents + by)}"
    return cents, cents, money(cents)


def _number(told: Clause, reading: SentenceReading) -> Meant:
    if told.kind("CREDENTIAL"):
        name = told.one("CREDENTIAL")
        names = [f"dispute {name}"]
        return Unread("", "No dealer has this number.", choices=_others(told, reading, names, ""))
    number = told.one("NUMBER", "YEAR")
    if number and number[1]:
        return Chip("dealer", "", f"dealt by {number[1]}", {"dealer": number[1]})
    figure = number[0] if number else told.one("ORDINAL")
    names = [f"seat {figure}", f"${figure}", f"round {figure}", f"table {figure}"]
    return Unread(
        "", "A number alone: say what it is of.", choices=_others(told, reading, names, "")
    )


def _unread(_: Clause, __: SentenceReading) -> Meant:
    return Unread("", "Not understood.")


_MEANINGS: Mapping[str, Callable[[Clause, SentenceReading], Meant]] = {
    "table": _table, "dealer": _dealer, "position": _position, "round": _round,
    "patron": _patron, "game": _game, "wager": _wager, "hand": _hand, "cards": _cards,
    "error": _error, "finding": _finding, "call": _call, "outcome": _outcome, "status": _status,
    "dispute": _dispute, "footage": _footage, "amount": _amount, "number": _number,
    "unread": _unread,
}  # fmt: skip


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _others(
    told: Clause, reading: SentenceReading, names: Sequence[str], what: str
) -> tuple[Choice, ...]:
    """The sentence with each of these names in place of the words."""
    return tuple(
        Choice(
            reading.instead(
                told, f"{what} {name}".strip() if what in ("table", "dealer") else name
            ),
            f"{what} {name}".strip(),
        )
        for name in names
    )


def _near(words: str, names: Sequence[str]) -> list[str]:
    """The names that are spelt nearly so."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a misspelt name needs it

    found = process.extract(
        words.upper(), names, scorer=fuzz.ratio, score_cutoff=60, limit=NEAR_MAX
    )
    return [str(each[0]) for each in found]


def filters_of(chips: Sequence[Chip], **more: Any) -> Filters:  # noqa: ANN401 - fields of `Filters`
    """The search of some chips."""
    values: dict[str, Any] = {}
    for each in chips:
        values = together(values, each.values)
    return Filters(**values, **more)


ADDED = frozenset(("findings", "cards", "amounts"))
"""Filters that several chips may add to."""


def together(values: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The values of two chips as one search."""
    added = {
        name: tuple(dict.fromkeys((*values.get(name, ()), *value)))
        for name, value in more.items()
        if name in ADDED
    }
    return {**values, **more, **added}
