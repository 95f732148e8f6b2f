"""`witness`: cosign the logs of others, as a process of its own."""

from pathlib import Path
from typing import Annotated

import typer

from ledger.witnessed_log.signed_notes import VerifierKey, verifier_from_text
from replay.cli.shell.app import family
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import Json, print_json, print_text, say
from replay.witness import store
from replay.witness.server import application, serve

app = family()
group = family()
app.add_typer(group, name="witness", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="The witness's folder.")]


@group.callback()
def witness() -> None:
    """Witness a log: cosign what continues it."""


@group.command("begin")
def begin(
    folder: Folder,
    *,
    name: Annotated[str, typer.Option(metavar="NAME", help="The witness's name.")],
    json: Json = False,
) -> None:
    """Make a witness's key, and print its public half.

    All who check a log need it. Run the witness on a machine of another administrator: it is
    worth as much as its distance from the log.

    Example: round-ledger witness begin witness --name witness.audit.example
    """
    _tell(store.begin(folder, name).verifier, json=json)
    say(f"The secret half is in {folder}. Only its owner may read it.")


@group.command("key")
def key(folder: Folder, *, json: Json = False) -> None:
    """Print the witness's public key.

    Example: round-ledger witness key witness > witness.pub
    """
    _tell(store.load_key(folder).verifier, json=json)


@group.command("serve")
def serve_(
    folder: Folder,
    *,
    log: Annotated[
        list[str],
        typer.Option(metavar="KEY", help="Public key of a log to cosign; as often as needed."),
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port; 0 picks a free one.")] = 8090,
) -> None:
    """Cosign checkpoints of logs until stopped.

    It needs no database. It keeps the newest checkpoint of each log, and cosigns only what
    continues it. A log that was rewritten or set back gets no cosignature any more.

    Example: round-ledger witness serve witness --log "$(cat log.pub)"
    """
    log_to_stderr()
    key = store.load_key(folder)
    logs = {each.name: each for each in (verifier_from_text(text, "--log") for text in log)}
    app = application(key, logs, store.SeenTrees(folder))

    def bound(address: str) -> None:
        LOG.info("witness serves", extra={"figures": {"at": address, "logs": len(logs)}})
        say(f"Witness {key.verifier.name} at {address}.")

    serve(app, host, port, bound)


def _tell(key: VerifierKey, *, json: bool) -> None:
    if json:
        print_json({"name": key.name, "key": str(key)})
    else:
        print_text(str(key))
