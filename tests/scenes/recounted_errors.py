"""Dealers' errors counted once more, by a program that uses nothing of this one.

It reads a feed as it was sent and the rulings as `adjudicate --json` prints them. It is written
from docs/explanation/errors.md alone, with other means: plain dictionaries and a scan over time.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY = timedelta(days=1)
NEAR = timedelta(milliseconds=250)

PATRON = ("underpaid", "not_returned", "wrongly_collected")
HOUSE = ("overpaid", "over_returned", "not_collected")
MONEY = (*PATRON, *HOUSE, "wrong_position_paid", "wrong_payer")
DEALS = (
    "card_burned", "cards_dealt", "cards_turned", "decisions_locked_called", "discards_reshuffled",
    "hand_discarded", "hole_card_checked", "marker_placed", "no_more_bets_called", "pot_awarded",
    "rake_taken", "starting_position_determined", "wager_collected", "wager_paid",
    "wager_returned",
)  # fmt: skip
Spot = tuple[int, int, str, int | None]
PAYS = ("wager_paid", "wager_collected", "wager_returned")


class Recount:
    """The counts of a feed: by the name of a breakdown, then by group."""

    def __init__(self, feed: Iterable[bytes], rulings: Iterable[str], offset: timedelta) -> None:
        self.facts: dict[tuple[str, str], dict[str, Any]] = {}
        self.rounds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.posts: dict[str, list[tuple[datetime, int, str | None, str | None]]] = defaultdict(
            list
        )
        self.shifts: dict[tuple[str, str], list[tuple[datetime, str]]] = defaultdict(list)
        self.offset = offset
        for octets in feed:
            self._hear(json.loads(octets))
        self.counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for text in rulings:
            self._count(json.loads(text))

    def _hear(self, fact: dict[str, Any]) -> None:
        key = (fact["source"], fact["id"])
        if key in self.facts:
            return
        fact["at"] = datetime.fromisoformat(fact["time"])
        fact["name"] = fact["type"].split(".")[1]
        self.facts[key] = fact
        data, name = fact["data"], fact["name"]
        table = data.get("table") or fact["source"].split("/")[2]
        if "subject" in fact:
            self.rounds[fact["subject"]].append(fact)
        if name == "table_closed":
            self.posts[table].append((fact["at"], 0, None, None))
        elif name == "dealer_assigned":
            self.posts[table].append((fact["at"], 1, data["employee"], data["role"]))
        elif name == "dealer_relieved":
            self.posts[table].append((fact["at"], 0, data["employee"], data["role"]))
        begins = name == "drop_box_attached" or data.get("kind") == "open"
        if begins and name in ("drop_box_attached", "inventory_counted") and data.get("shift"):
            self.shifts[table, data["gaming_day"]].append((fact["at"], data["shift"]))

    def _count(self, ruling: dict[str, Any]) -> None:
        facts = self.rounds[ruling["round"]]
        ends = [f["at"] for f in facts if f["name"] in ("round_completed", "round_voided")]
        if not ends:
            return
        table, day, _ = ruling["round"].split("/")
        lines = {
            (s["position"], s["hand"], s["wager"], s["throw"]): Counter[str]()
            for s in ruling["settlements"]
        }
        late: dict[Spot, datetime] = {}
        for finding, patron, house in self._errors(ruling):
            spot = self._line(finding, lines)
            if spot is None:
                continue
            lines.setdefault(spot, Counter())
            lines[spot].update(short=patron, over=house, found=1)
            if finding["code"] not in MONEY and finding["facts"]:
                ref = finding["facts"][0]
                late[spot] = self.facts[ref["source"], ref["id"]]["at"]
        judged = not {f["code"] for f in ruling["findings"]} & {"fact_missing", "clock_skewed"}
        for spot, its in lines.items():
            at = late.get(spot) or self._paid_at(spot, facts) or max(ends)
            told: Counter[str] = Counter()
            if judged:
                told.update(settlements=1, errors=int(bool(its["found"])))
                told.update(short=its["short"], over=its["over"])
            else:
                told.update(left_out=1, left_out_errors=int(bool(its["found"])))
            for name, group in self._groups(ruling, table, day, spot, at).items():
                self.counts[name][group].update(told)

    def _groups(
        self, ruling: dict[str, Any], table: str, day: str, spot: Spot, at: datetime
    ) -> dict[str, str]:
        began = self.shifts.get((table, day)) or [(at, "")]
        began.sort()
        shift = [name for since, name in began if since <= at][-1:] or [began[0][1]]
        dealers = {who for who, role in self._there(table, at) if role == "dealer"}
        return {
            "table": table,
            "game": ruling["game"] or "",
            "wager": spot[2],
            "hour": f"{(at + self.offset).hour:02d}:00",
            "weekday": f"{datetime.fromisoformat(day):%A}",
            "shift": shift[0],
            "dealer": dealers.pop() if len(dealers) == 1 else "",
        }

    def _there(self, table: str, at: datetime) -> set[tuple[str, str]]:
        """All who stood there at one of the moments around a time."""
        posts = sorted(self.posts[table], key=lambda each: (each[0], each[1], str(each)))
        moments = [at - NEAR, *(each[0] for each in posts if at - NEAR < each[0] <= at + NEAR)]
        found: set[tuple[str, str]] = set()
        for moment in moments:
            there: dict[tuple[str, str], datetime] = {}
            for time, comes, who, role in posts:
                if time > moment:
                    break
                if who is None or role is None:
                    there = {}
                elif comes:
                    there[who, role] = time
                else:
                    there.pop((who, role), None)
            found |= {who for who, since in there.items() if moment - since < DAY}
        return found

    @staticmethod
    def _paid_at(spot: Spot, facts: list[dict[str, Any]]) -> datetime | None:
        found: dict[bool, list[datetime]] = {True: [], False: []}
        for fact in facts:
            data, its = fact["data"], None
            if fact["name"] in PAYS:
                its = (data["position"], data.get("hand", 1), data["wager"], data.get("throw"))
            elif fact["name"] == "pot_awarded":
                its = (data["position"], 1, "pot", None)
            elif fact["name"] == "fee_paid":
                its = (data["position"], 1, data["fee"], None)
            if its == spot or its == (*spot[:3], None):
                found[its == spot].append(fact["at"])
        times = found[True] or found[False]
        return max(times) if times else None

    @staticmethod
    def _line(finding: dict[str, Any], lines: dict[Spot, Any]) -> Spot | None:
        if finding["position"] is not None and finding["wager"] is not None:
            wager = (finding["wager"], finding["throw"])
            return (finding["position"], finding["hand"] or 1, *wager)
        own = [spot for spot in lines if spot[0] == finding["position"]]
        return next(iter(own or lines), None)

    def _errors(self, ruling: dict[str, Any]) -> list[tuple[dict[str, Any], int, int]]:
        costs, kept = [], None
        for f in ruling["findings"]:
            patron = house = 0
            if isinstance(f["expected"], int) and isinstance(f["recorded"], int):
                apart = abs(f["expected"] - f["recorded"])
                patron, house = apart * (f["code"] in PATRON), apart * (f["code"] in HOUSE)
            spot = (f["position"], f["hand"], f["wager"], f["throw"])
            if f["code"] == "over_returned" and kept and kept[0] == spot:
                house = max(0, house - kept[1])
            kept = (spot, house) if f["code"] == "not_collected" else None
            costs.append((patron, house))
        own = [f for f in ruling["findings"] if self._of_procedure(f)]
        if any(f["code"] == "should_have_been_void" for f in ruling["findings"]):
            return [(own[0], sum(c[0] for c in costs), sum(c[1] for c in costs))] if own else []
        return [
            (f, *cost)
            for f, cost in zip(ruling["findings"], costs, strict=True)
            if f["code"] in MONEY or f in own
        ]

    def _of_procedure(self, finding: dict[str, Any]) -> bool:
        code = finding["code"]
        if code == "out_of_turn":
            named = [self.facts.get((r["source"], r["id"])) for r in finding["facts"]]
            first = next((fact for fact in named if fact), None)
            if first is None:
                return False
            of_dealer = first["name"] == "hand_set" and first["data"]["to"] == "dealer"
            return of_dealer or first["name"] in DEALS
        if code == "hand_misset":
            return finding["position"] is None
        if code == "step_missing":
            return bool(finding["expected"] != "wager_placed")
        return code in ("misdeal", "coupon_not_dropped")
