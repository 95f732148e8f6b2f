"""What alerts ask of the view `rulings`: a ruling that its record could not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from consumers import rulings
from consumers.alerts import Told
from infra.views import reading
from ledger.values import parse_subject

if TYPE_CHECKING:
    from infra.postgres import Database


class OnRecord:
    """`consumers.alerts.Rulings` in the database that the views stand in."""

    def __init__(self, base: Database) -> None:
        self._base = base

    def whole(self, cut: Told) -> Told:
        """As `Rulings`: that version, or the newest where it does not stand any more."""
        round_ = parse_subject(cut.round or "", cut.property)
        if round_ is None or cut.version is None:
            raise ValueError("it is cut, and names no round or no version")
        with reading(self._base, rulings.tables_to_read()) as store:
            ruling = rulings.version_of(store, round_, cut.version)
        return msgspec.json.decode(msgspec.json.encode(ruling), type=Told)
