"""`log`: seal the record into the witnessed log; prove and check what is in it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from consumers.registry import VIEWS
from consumers.runtime.stopping import until_signalled
from consumers.sealer import check as checking
from consumers.sealer.checkpoint_topic import CheckpointTopic, breaks_of_note
from consumers.sealer.checkpoint_topic import breaks as topic_breaks
from consumers.sealer.epochs import ended_log, epoch_entry
from consumers.sealer.metrics import SealerMetrics
from consumers.sealer.proofs import VerifiedLeaf, prove, verified_leaf
from consumers.sealer.sealer import EVERY_S, SealedLog, begin_log, load_key, seal
from consumers.sealer.views import ViewRounds
from infra.files import replace_file
from infra.metrics import metrics_server
from infra.postgres.tape import PostgresTape, one_property
from infra.tile_folder import TileFolder
from ledger.values import quantity
from ledger.witnessed_log.checkpoints import (
    Checkpoint,
    proof_text,
)
from ledger.witnessed_log.signed_notes import (
    Signed,
    SignerKey,
    VerifierKey,
    verifier_from_text,
)
from replay.approvals.desk import ApprovalDecisions
from replay.cli.approvals.approve import RequestedAct, ask
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.cli.shell.options import By, Casino, PasswordFile, Second
from replay.cli.shell.people import signed_in
from replay.shell.connections import opened_database
from replay.shell.kafka import kafka
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import Json, print_json, print_text, progress_up_to, say, show_table
from replay.shell.settings import in_force
from replay.shell.witnessed_log import known_witnesses, log_folder, read_text
from replay.text.typed import two_people, written

app = family()
group = family()
app.add_typer(group, name="log", no_args_is_help=True)

Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", help="The log's public key; else that of this machine's log."
    ),
]
AfterKey = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="That log's public key; else that of the file beside it."),
]
WitnessKeys = Annotated[
    list[str] | None,
    typer.Option("--witness", metavar="KEY", help="A witness's public key; as often as needed."),
]


@group.callback()
def log() -> None:
    """Seal the record into a log that others witness.

    Then prove that a fact is in it, and check the record against it.
    """


@group.command("begin")
def begin(
    *,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the log, unique in the world.")
    ],
    after: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The log before it, which two people have ended."),
    ] = None,
    after_key: AfterKey = None,
    json: Json = False,
) -> None:
    """Begin a log: make its key and its folder, and print its public key.

    Hand the public key to witnesses and to readers of proofs, by another way than the proofs.
    The secret key is beside the folder, for its owner only.

    With `--after` its first entry names the log before it, which `log epoch` has ended on record.

    Example: round-ledger log begin --name ledger.casino.example/record
    """
    epoch = None
    if after is not None:
        ended = TileFolder(after)
        with opened_database() as database:
            epoch = epoch_entry(database, ended, _its_key(ended, after_key))
    log = begin_log(log_folder(), name, epoch)
    _tell_key(log.key, json=json)
    say(f"The log is in {log.folder.folder}, its secret key in {log.folder.key_file}.")


@group.command("epoch")
def epoch(
    folder: Annotated[Path, typer.Argument(help="The folder of the log that ends.")],
    *,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why facts are lost for good.")],
    by: By,
    second: Second,
    key: AfterKey = None,
    password_file: PasswordFile = None,
    property_: Casino = None,
    json: Json = False,
) -> None:
    """Put on record that a log ends, since facts that it sealed are lost for good.

    It compares the log with the record, and says how many facts are kept and lost. Two people
    sign it, with a reason. Once the ledger has users, it asks --second to approve. Move the log's
    folder away first; then begin the next log with `log begin --after`.

    Example: round-ledger log epoch evidence/log --because "Disk lost, incident 14"
    --by O-3001 --second O-3002
    """
    people = two_people(by, second, "--second")
    reason = written(because, "--because")
    ended = TileFolder(folder)
    with opened_database() as database, PostgresTape(database) as tape:
        person = signed_in(database, by, password_file)
        with progress_up_to("entries") as passed:
            found = ended_log(database, ended, _its_key(ended, key), passed)
        house = one_property(database, property_)
        terms = {name: str(each) for name, each in found._asdict().items()}
        terms["because"] = reason
        if person:
            ask(database, person, RequestedAct("epoch_begin", house, terms, second), json=json)
            return
        with ApprovalDecisions(database, tape, in_force().home) as desk:
            position = desk.record("epoch_begin", house, terms, people)
    if json:
        print_json(
            {
                "log": found.log,
                "entries": found.entries,
                "root": found.root,
                "kept": found.kept,
                "lost": found.lost,
                "property": house,
                "position": position,
            }
        )
    else:
        say(
            f"{found.log} ends with {quantity(found.entries, 'entry', 'entries')}:"
            f" {quantity(found.kept, 'fact')} kept, {found.lost:,} lost, as the fact at position"
            f" {position:,} says."
        )


@group.command("key")
def key_(*, json: Json = False) -> None:
    """Print the log's public key.

    Example: round-ledger log key > log.pub
    """
    _tell_key(load_key(log_folder()), json=json)


@group.command("seal")
def seal_(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Stop once the whole record is sealed.")
    ] = False,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Seconds between two checkpoints.")
    ] = EVERY_S,
    topic: Annotated[
        bool, typer.Option("--topic", help="Publish each checkpoint on Kafka too.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="Answer /metrics, /healthz and /readyz on it; 0: a free one."
        ),
    ] = None,
) -> None:
    """Seal the record and digests of views, and have each checkpoint cosigned.

    Runs until it is stopped. One sealer writes a log; a second one ends with exit code 2. It signs
    at once when a gaming day is closed, and when 1,000 facts wait. ROUND_LEDGER_WITNESSES_FILE
    names the witnesses. It ends with exit code 2 if a witness or the topic `ledger.checkpoints.v1`
    has a longer or another log: then the record was set back or rewritten.

    Example: round-ledger log seal --once
    """
    log_to_stderr()
    folder = log_folder()
    published = CheckpointTopic(kafka()) if topic else None
    watch = SealerMetrics(in_force().ready_s)
    views = ViewRounds(VIEWS, every, watch.view_edited)
    sealed = SealedLog(folder, load_key(folder), known_witnesses(), published, views)
    with (
        opened_database(serves=not once) as database,
        until_signalled() as stop,
        _served(watch, port),
        ExitStack() as after,
    ):
        if published:
            after.callback(published.close)
        seal(
            database,
            sealed,
            stop=watch.heartbeat(stop),
            listener=watch,
            follow=not once,
            every_s=every,
        )
    _tell_checkpoint(checking.signed_checkpoint(folder, _keys(None, None)), json=False)


@group.command("checkpoint")
def checkpoint(*, witness: WitnessKeys = None, json: Json = False) -> None:
    """Print the newest checkpoint, as it was signed.

    With `--json`, what it says and whose signatures hold.

    Example: round-ledger log checkpoint > checkpoint.txt
    """
    folder = log_folder()
    signed = checking.signed_checkpoint(folder, _keys(None, witness))
    if json:
        _tell_checkpoint(signed, json=True)
    else:
        print_text((folder.checkpoint() or "").rstrip("\n"))


@group.command("prove")
def prove_(
    source: Annotated[str, typer.Argument(help="Source of the fact, e.g. /hollywood/CC-07/shoe.")],
    id_: Annotated[str, typer.Argument(metavar="ID", help="Its id.")],
    *,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof to a file.")
    ] = None,
) -> None:
    """Prove that a fact is in the newest checkpoint.

    The proof is a text that stands alone: with the log's public key anyone can check it, for years,
    without this program's database.

    Example: round-ledger log prove /hollywood/CC-01/shoe 2026-11-20-630-1 --to fact.tlog-proof
    """
    with opened_database() as database:
        text = proof_text(prove(database, log_folder(), source, id_))
    if to is None:
        print_text(text.rstrip("\n"))
    else:
        replace_file(to, text.encode())
        say(f"The proof is in {to}.")


@group.command("check")
def check(
    proof: Annotated[
        Path | None, typer.Argument(help="A proof to check, without a database.")
    ] = None,
    *,
    key: Key = None,
    witness: WitnessKeys = None,
    topic: Annotated[
        bool, typer.Option("--topic", help="Compare it with the checkpoints on Kafka too.")
    ] = False,
    kept: Annotated[
        list[Path] | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Compare it with a checkpoint that was kept, such as one on a printed report.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare the log with its checkpoint, with the record and with views, entry by entry.

    Recomputes each entry from the record's bytes, and names every fact, quarantined input, release
    and event of sign-ins that was edited, deleted or inserted since it was sealed. Names each view
    whose rows changed with no fact between. Exit code 1 if there is one. With a proof, checks that
    proof alone. Give the keys of witnesses to learn which of them vouch.

    The QR code of a printed report is such a checkpoint: save what a scanner reads as a file.

    Example: round-ledger log check --checkpoint scanned.txt
    """
    keys = _keys(key, witness)
    if proof is not None:
        _tell_leaf(verified_leaf(read_text(proof), keys, str(proof)), json=json)
        return
    with opened_database() as database, progress_up_to("entries") as passed:
        seen = checking.check(database, log_folder(), keys, passed, VIEWS)
    for path in kept or ():
        more = breaks_of_note(
            read_text(path), str(path), log_folder(), keys[0], seen.checkpoint.size
        )
        seen = seen._replace(breaks=[*seen.breaks, *more])
    if topic:
        more = topic_breaks(kafka(), log_folder(), keys[0], seen.checkpoint.size)
        seen = seen._replace(breaks=[*seen.breaks, *more])
    _tell_checked(seen, json=json)
    if seen.breaks:
        raise typer.Exit(FINDINGS)


@contextmanager
def _served(watch: SealerMetrics, port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    with metrics_server(watch, in_force().http_host, port) as bound:
        LOG.info("serving metrics", extra={"figures": {"port": bound}})
        yield


def _its_key(folder: TileFolder, given: str | None) -> VerifierKey:
    """The key of another log than this machine's: as given, or of the file beside its folder."""
    return verifier_from_text(given, "KEY") if given else load_key(folder).verifier


def _keys(log: str | None, witnesses: list[str] | None) -> list[VerifierKey]:
    """The log's key, and those of witnesses: the given ones, and those of the settings."""
    first = verifier_from_text(log, "--key") if log else load_key(log_folder()).verifier
    given = [verifier_from_text(each, "--witness") for each in witnesses or ()]
    return [first, *given, *(each.key for each in known_witnesses() if each.key not in given)]


def _tell_key(key: SignerKey, *, json: bool) -> None:
    if json:
        print_json({"name": key.verifier.name, "key": str(key.verifier)})
    else:
        print_text(str(key.verifier))


def _tell_checkpoint(signed: tuple[Checkpoint, list[Signed]], *, json: bool) -> None:
    newest, held = signed
    if json:
        print_json(_checkpoint_json(newest, held))
        return
    say(
        f"{newest.origin}: {quantity(newest.size, 'entry', 'entries')},"
        f" root {newest.root.hex()}; {_vouched(held)}."
    )


def _checkpoint_json(newest: Checkpoint, held: Sequence[Signed]) -> dict[str, object]:
    return {
        "log": newest.origin,
        "entries": newest.size,
        "root": newest.root.hex(),
        "signed": [{"key": each.key.name, "time": _time(each)} for each in held],
    }


def _tell_checked(seen: checking.CheckedLog, *, json: bool) -> None:
    if json:
        for each in seen.breaks:
            print_json({"broken": each._asdict()})
        print_json({**_checkpoint_json(seen.checkpoint, seen.signed), "breaks": len(seen.breaks)})
        return
    if seen.breaks:
        show_table("Breaks", ("kind", "number", "says"), seen.breaks, right="number")
    count = quantity(seen.checkpoint.size, "entry", "entries")
    if seen.breaks:
        say(f"{count} compared: {quantity(len(seen.breaks), 'break')}. {_KEEP}")
    else:
        say(f"{count} compared: the record is what was sealed; {_vouched(seen.signed)}.")


def _tell_leaf(seen: VerifiedLeaf, *, json: bool) -> None:
    entry, at = seen.entry, seen.checkpoint
    if json:
        told = {"kind": entry.kind, "number": entry.number, "digest": entry.digest.hex()}
        print_json({**told, "leaf": seen.leaf, **_checkpoint_json(at, seen.signed)})
        return
    say(
        f"{entry.kind.capitalize()} {entry.number:,} with digest {entry.digest.hex()} is entry"
        f" {seen.leaf:,} of {at.origin}, which had {at.size:,}; {_vouched(seen.signed)}."
    )


_KEEP = "Keep the database and the log's folder unchanged, and restore a backup."


def _vouched(held: Sequence[Signed]) -> str:
    """Who signed, in words: the log, and each witness with its time."""
    cosigned = [f"{each.key.name} at {_time(each)}" for each in held if each.time_s is not None]
    return f"cosigned by {', '.join(cosigned)}" if cosigned else "no known witness cosigned it"


def _time(signed: Signed) -> str | None:
    if signed.time_s is None:
        return None
    return datetime.fromtimestamp(signed.time_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
