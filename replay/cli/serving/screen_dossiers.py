"""What the page of dossiers asks, made from the record, the footage index and the signing key."""

from pathlib import Path

from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database
from infra.postgres.view_tables import tape_source
from ledger.errors import LedgerError
from ledger.values import RoundId
from replay.web.ports import DossierPorts, Handover


def dossiers_of(base: Database) -> DossierPorts:
    """The functions; what prints paper is imported when the first dossier is made."""

    def signed() -> str | None:
        from replay.dossier.signing.keys import keys_folder, load_if_there  # noqa: PLC0415 - only where it is asked for

        signer = load_if_there(keys_folder())
        return signer.key_id if signer else None

    def make(asked: Handover, out: Path) -> None:
        from replay.dossier.service import Asked, hand_over  # noqa: PLC0415 - as above
        from replay.rounds.reading import footage_folder  # noqa: PLC0415 - as above

        _bring_along(base)
        wanted = Asked(asked.of, asked.by, asked.because, asked.pre_s, asked.post_s, asked.kind)
        hand_over(base, wanted, out, footage_folder(None), zipped=True)

    def rounds(asked: Handover) -> list[RoundId]:
        from replay.dossier.gathering.rounds_told import rounds_told  # noqa: PLC0415 - as above
        from replay.dossier.service import found_for  # noqa: PLC0415 - as above
        from replay.rounds.reading import footage_folder  # noqa: PLC0415 - as above

        _bring_along(base)
        try:
            found, wanted = found_for(base, asked.of, footage_folder(None), asked.kind)
        except LedgerError:  # making it says what is wrong with the name
            return []
        return rounds_told(base, found, wanted._replace(pre_s=asked.pre_s, post_s=asked.post_s))

    return DossierPorts(signed, make, rounds)


def _bring_along(base: Database) -> None:
    """What a dossier is read from, at the end of the record."""
    from replay.dossier.service import VIEWS  # noqa: PLC0415 - where a dossier is asked for

    with tape_source(base) as source:
        catch_up(base, source, VIEWS)
