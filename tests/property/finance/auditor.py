"""An auditor's model of the three wins, from the contract alone: plain JSON in, figures out.

It imports nothing of the program. `lines` are facts as they stand in a feed; `rulings` are the
objects that `adjudicate --json` prints for them.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from fractions import Fraction
from typing import Any

POKER = ("omaha_5", "triple_draw", "badeucey", "badacey", "badugi")
BOX = ("cash", "foreign", "counter_checks", "vouchers", "chips")

Figures = dict[str, Any]


def audit(lines: list[dict[str, Any]], rulings: list[dict[str, Any]]) -> dict[Any, Figures]:
    """Each figure by property, gaming day and table."""
    return audited(corrected(lines), rulings)


def corrected(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The facts with their corrections: of several the latest; a fact without data is left out."""
    made: dict[Any, dict[str, Any]] = {}
    for each in sorted(lines, key=_order):
        if _name(each) == "fact_corrected":
            of = each["data"]["of"]
            made[of["source"], of["id"]] = each["data"]
    found = []
    for each in lines:
        correction = made.get((each["source"], each["id"]))
        if correction is None:
            found.append(each)
        elif correction.get("data") is not None:
            found.append({**each, "data": correction["data"]})
    return found


def _name(fact: dict[str, Any]) -> str:
    return str(fact["type"]).split(".")[1]


def _time(fact: dict[str, Any]) -> float:
    return datetime.fromisoformat(fact["time"]).timestamp()


def _order(fact: dict[str, Any]) -> tuple[float, str, str]:
    return (_time(fact), fact["source"], fact["id"])


def _round(fact: dict[str, Any]) -> tuple[str, str] | None:
    parts = (fact.get("subject") or "").split("/")
    return (parts[0], parts[1]) if len(parts) == 3 else None


def _table(fact: dict[str, Any]) -> str:
    of_round = _round(fact)
    return of_round[0] if of_round else fact["data"].get("table") or fact["source"].split("/")[2]


def audited(facts: list[dict[str, Any]], rulings: list[dict[str, Any]]) -> dict[Any, Figures]:
    """The figures of facts that are corrected already."""
    tables = defaultdict(list)
    for fact in sorted(facts, key=_order):
        tables[fact["source"].split("/")[1], _table(fact)].append(fact)
    days: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for (casino, table), told in tables.items():
        day = None
        for fact in told:
            if _name(fact) in ("table_opened", "drop_box_attached"):
                day = fact["data"]["gaming_day"]
            of_round = _round(fact)
            own = of_round[1] if of_round else fact["data"].get("gaming_day")
            days[casino, own or day, table].append(fact)
    owed: dict[Any, int] = defaultdict(int)
    for ruling in rulings:
        if ruling["round"]:
            table, day, _ = ruling["round"].split("/")
            for each in ruling["settlements"]:
                if each["paid_from"] == "table" and each["wager"] != "pot":
                    owed[ruling["property"], day, table] -= each["net"]
    return {key: _figures(days[key], owed[key]) for key in days if key[1] and _is_money(days[key])}


_MONEY = {
    *("inventory_counted", "fill_accepted", "credit_accepted", "cash_bought_in", "table_opened"),
    *("voucher_bought_in", "counter_check_issued", "chips_exchanged", "drop_box_attached"),
    *("drop_box_removed", "drop_box_counted", "adjustment_paid", "round_started"),
}


def _is_money(facts: list[dict[str, Any]]) -> bool:
    return any(_name(fact) in _MONEY for fact in facts)


def _figures(facts: list[dict[str, Any]], owed: int) -> Figures:
    of: dict[str, list[Any]] = defaultdict(list)
    for fact in facts:
        of[_name(fact)].append(fact["data"])
    counts = of["inventory_counted"]
    opener = next((each["total"] for each in counts if each["kind"] == "open"), None)
    closer = next((each["total"] for each in counts[::-1] if each["kind"] != "open"), None)
    fills = sum({each["slip"]: each["total"] for each in of["fill_accepted"][::-1]}.values())
    credits_ = sum({each["slip"]: each["total"] for each in of["credit_accepted"][::-1]}.values())
    drop, missing = _drop(of, _stays(facts), played=any(map(_round, facts)))
    poker = any(each["game"].startswith(POKER) for each in of["round_started"])
    adjusted = sum(e["amount"] for e in of["adjustment_paid"] if e["paid_from"] == "table")
    cage = sum(e["amount"] for e in of["adjustment_paid"] if e["paid_from"] == "cage")
    paid = [(each["amount"], each.get("paid_from", "table")) for each in of["wager_paid"]]
    moved = sum(each["amount"] for each in (*of["wager_collected"], *of["fee_paid"]))
    moved -= sum(amount for amount, payer in paid if payer == "table") + adjusted
    counted: int | None = None
    if poker:
        moved = sum(each["amount"] for each in of["rake_taken"])
        counted = drop["chips"]
    elif None not in (opener, closer, drop["total"]):
        counted = (closer or 0) + credits_ + (drop["total"] or 0) - (opener or 0) - fills
    return {
        "opener": opener,
        "closer": closer,
        "fills": fills,
        "credits": credits_,
        "drop": drop,
        "counted": counted,
        "moved": moved,
        "owed": None if poker else owed,
        "cage_paid": cage + sum(amount for amount, payer in paid if payer == "cage"),
        "count_gap": None if counted is None else counted - moved,
        "pay_gap": None if poker else moved - owed,
        "handle": _handle(of),
        "missing": missing,
    }


def _stays(facts: list[dict[str, Any]]) -> list[tuple[str, list[Any]]]:
    """Each stay of a box at its table, by number: its counts. It was emptied to come back."""
    found: dict[str, list[list[Any]]] = {}
    seen = set()
    for fact in facts:
        name, body = _name(fact), fact["data"]
        if name.startswith("drop_box_"):
            stays = found.setdefault(body["box"], [[]])
            if name == "drop_box_attached" and body["box"] in seen:
                stays.append([])
            if name == "drop_box_counted":
                stays[-1].append(body)
            else:
                seen.add(body["box"])
    return [(box, counts) for box, stays in found.items() for counts in stays]


def _drop(
    of: dict[str, list[Any]], boxes: list[tuple[str, list[Any]]], *, played: bool
) -> tuple[dict[str, int | None], list[str]]:
    """The content of the boxes by their last counts, and the boxes without one."""
    known = {each["voucher"]: each["amount"] for each in of["voucher_bought_in"]}
    last = [max(its[::-1], key=lambda each: int(each["count"])) for _, its in boxes if its]
    missing = sorted({f"box:{box}" for box, its in boxes if not its})
    bought = ("cash_bought_in", "voucher_bought_in", "counter_check_issued")
    if not boxes and (played or any(of[name] for name in bought)):
        missing = ["box"]
    total: dict[str, int | None] = dict.fromkeys(BOX, 0)
    for count in last:
        amounts = (
            _value(count["currency"]),
            sum(int(_value(e["notes"]) * Fraction(e["rate"])) for e in count.get("foreign", ())),
            sum(check["amount"] for check in count["counter_checks"]),
            sum(known[v] if isinstance(v, str) else v["amount"] for v in count["vouchers"]),
            _value(count.get("chips") or {}),
        )
        for kind, amount in zip(BOX, amounts, strict=True):
            total[kind] = (total[kind] or 0) + amount
    if missing:
        total = dict.fromkeys(BOX)
    return {**total, "total": None if missing else sum(a or 0 for a in total.values())}, missing


def _value(pieces: dict[str, int]) -> int:
    return sum(int(cents) * count for cents, count in pieces.items())


def _handle(of: dict[str, list[Any]]) -> int:
    put = sum(each["amount"] for each in of["wager_placed"])
    put -= sum(each["amount"] for each in of["wager_withdrawn"])
    bets = (e for e in of["decision_made"] if e["decision"] in ("call", "bet", "raise"))
    return put + sum(each.get("amount") or 0 for each in bets)
