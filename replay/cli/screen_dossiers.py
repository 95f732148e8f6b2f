"""What the page of dossiers asks, made from the record, the footage index and the signing key."""

from pathlib import Path

from consumers.disputes import DISPUTES, named
from consumers.rounds import ROUND_INDEX
from infra.postgres import Database
from infra.views import reading
from ledger.errors import LedgerError
from ledger.values import RoundId
from replay.cli.stories import which
from replay.preserved import span_of
from replay.web.ports import DossierPorts, Handover


def dossiers_of(base: Database) -> DossierPorts:
    """The functions; what prints paper is imported when the first dossier is made."""

    def signed() -> str | None:
        from replay.cli.signing import folder  # noqa: PLC0415 - only where it is asked for
        from replay.dossier.signing import load_if_there  # noqa: PLC0415 - as above

        signer = load_if_there(folder())
        return signer.key_id if signer else None

    def make(asked: Handover, out: Path) -> None:
        from replay.cli.dossier import Asked, hand_over  # noqa: PLC0415 - as above
        from replay.cli.stories import footage_folder  # noqa: PLC0415 - as above

        wanted = Asked(asked.of, asked.by, asked.because, asked.pre_s, asked.post_s)
        hand_over(base, wanted, out, footage_folder(None), zipped=True)

    def rounds(of: str) -> list[RoundId]:
        if span_of(of.rpartition(":")[2]):
            from replay.cli.dossier_window import rounds_of  # noqa: PLC0415 - as above

            try:
                return rounds_of(base, of)
            except LedgerError:  # as below
                return []
        with reading(base, [*(each.name for each in ROUND_INDEX.tables), DISPUTES.name]) as store:
            if "/" in of:
                try:
                    return [which(store, of)]
                except LedgerError:  # making it says what is wrong with the name
                    return []
            property_, _, dispute = of.rpartition(":")
            cases = named(store, dispute, property_ or None)
        return [each.round for each in cases if each.round]

    return DossierPorts(signed, make, rounds)
