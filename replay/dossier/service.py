"""Finds, gathers and writes the dossier of a round, a dispute or a preserved window.

The command, the page and the demonstration share it. The export is recorded before anything is
written. If the requester did not know the claim, the record notes that it was shown to them.
"""

from collections.abc import Sequence
from pathlib import Path

from consumers.disputes import disputes
from consumers.review import footage_marks
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.connection import Database
from infra.postgres.view_tables import ViewStore, reading
from infra.tile_folder import TileFolder
from ledger.errors import LedgerError, NotFound, Refused, Usage
from ledger.record.tape import TapeRow
from ledger.values import RoundId, parse_subject
from replay.checker.window import span_of
from replay.disputes.dispute import DisputeDecisions
from replay.dossier import EvidenceText, Filed, Kind
from replay.dossier.gathering.clips import cut
from replay.dossier.gathering.evidence import Wanted, gathered, rounds_told
from replay.dossier.gathering.found import Gathered, cuts_of, found_window, frames_for, of_round
from replay.dossier.request import POST_S, PRE_S, DossierRequest
from replay.dossier.signing.keys import keys_folder, load_if_there
from replay.dossier.writing.making import write_dossier
from replay.dossier.writing.package import beside, refuse_what_is_there
from replay.footage.library.index import FootageIndex
from replay.rounds.reading import ROUND_VIEWS, LoadedRound, load_round
from replay.text.file_names import file_name

VIEWS = (*ROUND_VIEWS, disputes.VIEW, footage_marks.VIEW)
"""The views that a dossier reads."""


def rounds_of(
    database: Database, asked: DossierRequest, footage: Path | FootageIndex | None
) -> list[RoundId]:
    """The rounds that a dossier would disclose; none if its name is unknown.

    `hand_over` reports an unknown name. The views `VIEWS` must be at the end of the record.
    """
    try:
        found, wanted = found_for(database, asked.of, footage, asked.kind)
    except LedgerError:
        return []
    return rounds_told(database, found, wanted._replace(pre_s=asked.pre_s, post_s=asked.post_s))


def hand_over(
    database: Database,
    asked: DossierRequest,
    out: Path | None,
    footage: Path | FootageIndex | None,
    *,
    zipped: bool,
) -> tuple[Path, list[Filed]]:
    """Write the requested dossier; the path and its files. The default name is its subject's.

    The views `VIEWS` must be at the end of the record. Raises `NotFound`, `Usage`, `Refused`.
    """
    found, wanted = found_for(database, asked.of, footage, asked.kind)
    wanted = wanted._replace(
        by=asked.by,
        because=asked.because or wanted.because,
        pre_s=asked.pre_s,
        post_s=asked.post_s,
    )
    place = out or Path(_name_for(wanted, found) + (".zip" if zipped else ""))
    refuse_what_is_there(place)
    if wanted.dispute:
        rows = _shown_the_claim(database, found.place, wanted.dispute, wanted)
        wanted = wanted._replace(case_rows=rows)
    library = footage if isinstance(footage, FootageIndex) else None
    filed = write_found(
        database, found, place, wanted, keys_folder(), library=library, zipped=zipped
    )
    return place, filed


def write_found(
    database: Database,
    found: Gathered,
    out: Path,
    wanted: Wanted,
    keys: Path,
    *,
    library: FootageIndex | None = None,
    log: TileFolder | None = None,
    zipped: bool = False,
) -> list[Filed]:
    """Write the dossier of a found subject, signed if the folder `keys` has a key.

    log: the witnessed log; None: that of this home.

    Clips are cut if there is a `library`. Raises `Refused` if it cannot be made. If that is known
    beforehand, no export is recorded.
    """
    refuse_what_is_there(out)
    signer = load_if_there(keys)
    try:
        with beside(out) as folder:
            evidence = gathered(database, found, frames_for(found, folder), wanted, library, log)
            if library and evidence.making:
                cuts = cuts_of(found, wanted.pre_s, wanted.post_s)
                place, rows = found.place, found.camera_rows
                made, lacking = cut(library, place, rows, cuts, evidence.making, signer, folder)
                told = EvidenceText([*evidence.coverage.words, *lacking], evidence.coverage.table)
                evidence = evidence._replace(clips=made, coverage=told)
            return write_dossier(evidence, out, signer=signer, zipped=zipped)
    except OSError as error:
        raise Refused(
            f"The dossier cannot be written: {error.strerror}",
            where=str(out),
            hint="Name a folder that you may write to.",
        ) from error


def wanted_for(found: LoadedRound, by: str) -> Wanted:
    """The request for the dossier of a round."""
    return Wanted(by, f"Dossier of round {found.story.round}.", PRE_S, POST_S)


def found_for(
    database: Database, name: str, footage: Path | FootageIndex | None, kind: Kind | None = None
) -> tuple[Gathered, Wanted]:
    """The named round or window, or the round of the named dispute. Raises `NotFound`, `Usage`."""
    kind = kind or _kind(database, name)
    if kind == "round":
        story = load_round(database, name, footage)
        return of_round(story), wanted_for(story, "")
    if kind == "window":
        because = f"Dossier of window {name.rpartition(':')[2]}."
        return found_window(database, name, footage), Wanted("", because, PRE_S, POST_S)
    return _of_dispute(database, name, footage)


def _kind(database: Database, name: str) -> Kind:
    """What a name is by its form. Raises `Usage` if a dispute has the name of a round."""
    plain = name.rpartition(":")[2]
    reads: Kind = "round" if parse_subject(plain, "") else "window" if span_of(plain) else "dispute"
    if reads == "dispute":
        return reads
    with reading(database, [disputes.DISPUTES.name]) as store:
        if _cases_named(store, name):
            raise Usage(
                f"A dispute is named like a {reads}",
                where=name,
                hint=f"Choose with --of {reads} or --of dispute.",
            )
    return reads


def _of_dispute(
    database: Database, name: str, footage: Path | FootageIndex | None
) -> tuple[Gathered, Wanted]:
    """The round of a dispute, and the request for its dossier."""
    with reading(database, [disputes.DISPUTES.name, disputes.FACTS.name]) as store:
        cases = _cases_named(store, name)
        if len(cases) > 1:
            names = ", ".join(f"{each.property}:{each.dispute}" for each in cases)
            raise Usage(f"{len(cases)} properties have it", where=name, hint=f"Name one: {names}.")
        if not cases:
            raise NotFound(
                f"There is no dispute {name}",
                where="view disputes",
                hint="Name a round as [property:]table/gaming day/number, a dispute or a window.",
            )
        dispute = cases[0].dispute
        rows = disputes.facts_about(store, cases[0].property, dispute)
    if cases[0].round is None:
        raise Refused(
            f"The round of dispute {dispute} is not on record",
            where="view disputes",
            hint="Name the round instead.",
        )
    story = load_round(database, str(cases[0].round), footage)
    wanted = wanted_for(story, "")._replace(
        because=f"Dossier of dispute {dispute}.", dispute=dispute, case_rows=rows
    )
    return of_round(story), wanted


def _cases_named(store: ViewStore, name: str) -> list[disputes.DisputeRow]:
    """The disputes that `[property:]name` can mean; a name may contain a colon, too."""
    property_, colon, dispute = name.partition(":")
    found = disputes.named(store, dispute, property_) if colon else []
    return found or disputes.named(store, name)


def _shown_the_claim(
    database: Database, property_: str, dispute: str, wanted: Wanted
) -> Sequence[TapeRow]:
    """The dispute's facts, after recording that the dossier shows the requester the claim."""
    with DisputeDecisions(database) as decisions:
        case = decisions.case(property_, dispute)
        if case.knows(wanted.by):
            return wanted.case_rows
        decisions.decide(case, case.reveal(wanted.by))
    up_to_date(database, [disputes.VIEW])
    with reading(database, [disputes.FACTS.name]) as store:
        return disputes.facts_about(store, property_, dispute)


def _name_for(wanted: Wanted, found: Gathered) -> str:
    if found.window:
        return f"dossier-{found.window.name}"
    round_ = found.stories[0].round
    return file_name(f"dossier-{wanted.dispute or round_.subject}", blank="-")
