"""Compares the planted mistakes of a simulation with the findings, for the demonstration.

It reads the truth that a simulation wrote, and the record's rulings. It finds nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.rules.engine.ruling import Finding, Ruling
    from ledger.simulate import Planted
    from replay.rounds.owed import OwedLine


class AuditedMistake(NamedTuple):
    """One planted mistake, with its findings, and the expected ones that are missing."""

    planted: Planted
    found: tuple[Finding, ...]
    missed: tuple[str, ...]


class Audit(NamedTuple):
    """All planted mistakes, and findings that none of them explains."""

    checked: Sequence[AuditedMistake]
    unexplained: Sequence[tuple[str, Finding]]  # the round, or the table if it belongs to no round

    @property
    def agrees(self) -> bool:
        """Everything planted was found, and nothing else."""
        return not self.unexplained and not any(each.missed for each in self.checked)


def audit(
    planted: Iterable[Planted],
    rulings: Mapping[str, Ruling],
    of_tables: Iterable[tuple[str, Finding]] = (),
) -> Audit:
    """Compare the truth with rulings by round (as in `Planted.round`) and findings of no round."""
    checked, explained = [], dict[str, set[str]]()
    for each in planted:
        ruling = rulings.get(each.round or "")
        found = ruling.findings if ruling else []
        codes = {finding.code for finding in found}
        known = {*each.expect, *each.may}
        explained.setdefault(each.round or "", set()).update(known)
        checked.append(
            AuditedMistake(
                each,
                tuple(finding for finding in found if finding.code in known),
                tuple(code for code in each.expect if code not in codes),
            )
        )
    unexplained = [
        (round_, finding)
        for round_, ruling in rulings.items()
        for finding in ruling.findings
        if finding.code not in explained.get(round_, ())
    ]
    return Audit(checked, [*unexplained, *of_tables])


def money_at_stake(lines: Iterable[OwedLine]) -> int:
    """The sum of all wrong amounts, in either direction, in cents."""
    return sum(abs(line.difference or 0) for line in lines)
