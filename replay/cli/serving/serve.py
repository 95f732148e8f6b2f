"""`serve`: the process that serves the pages and the HTTP API, and stops cleanly."""

import ipaddress
import socket
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import typer
from fastapi import FastAPI

from consumers.registry import install as install_views
from infra.access.connections import AccessDatabase
from infra.access.keys import Keys
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from ledger.errors import Refused, Unavailable, Usage
from ledger.record.group_commit import Committer
from replay.cli.serving.view_thread import views_kept
from replay.cli.shell.app import family
from replay.disputes.service import lock_margins, locks_kept
from replay.shell.connections import opened_database
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import print_drawn
from replay.shell.settings import in_force
from replay.shell.witnessed_log import require_newest_record
from replay.text.extras import install
from replay.web.access.device_keys import Keyring
from replay.web.access.quotas import Quota
from replay.web.app import LOOPBACK, build
from replay.web.ports import Address, opened_ports
from replay.web.routes import add_oidc, add_pages
from replay.web.sign_in.pages import LINK_S, SetUp
from replay.web.workers.pages_server import PagesServer
from replay.web.workers.pool import PROCESSES_MAX, Place, Workers

app = family()


@app.command("serve")
def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address; see ROUND_LEDGER_HTTP_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="Port; 0 picks a free one.")
    ] = None,
    views: Annotated[
        bool,
        typer.Option(
            help=("Keep views up to date, too; --no-views leaves it to `consume --follow`.")
        ),
    ] = True,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=PROCESSES_MAX, help="Processes that receive facts; the first has the pages."
        ),
    ] = 1,
) -> None:
    """Serve the pages and receive facts.

    People sign in at the printed address. If there is no user yet, it prints a link that creates
    the first one, for this machine only. `POST /v1/facts` receives CloudEvents in structured, batch
    and binary mode. Devices send a key once the first key exists (`keys add`). Without any key it
    answers only this machine, and no proxy.

    `/healthz`, `/readyz` and `/metrics` report its state, `/openapi.json` describes the API, and
    `/docs/` has the documentation. Logs are JSON Lines on stderr. It also keeps views up to date,
    with at most half of its time.

    Several `--workers` receive facts side by side on one port; pages and views stay with one.

    Example: round-ledger serve --port 8080
    """
    settings = in_force()
    address = host or settings.http_host
    log_to_stderr()
    with opened_database(serves=True) as database:
        _refuse_without_keys(database, settings, address)
        require_newest_record(database)
        install_views(database)  # pages and locks read views, with --no-views too
        with (
            _listening(address, settings.http_port if port is None else port) as listener,
            PostgresTape(database) as tape,
            Committer(tape) as committer,
            views_kept(database) if views else nullcontext(),
            locks_kept(database, lock_margins(settings)),
        ):
            _run(_Record(database, tape, committer), settings, listener, address, workers)
    LOG.info("stopped")


class _Record(NamedTuple):
    """The open record."""

    database: Database
    tape: PostgresTape
    committer: Committer


def _run(
    record: _Record, settings: Settings, listener: socket.socket, address: str, processes: int
) -> None:
    """Answer requests until stopped."""
    database, tape, committer = record
    bound = listener.getsockname()
    reached = _reached(settings, address, bound[1])
    names = [*LOOPBACK, address, urlsplit(reached.url).hostname or address]
    quota = Quota(settings.key_facts_a_minute, settings.key_mib_a_minute * 2**20)
    secure = reached.secure
    with (
        opened_ports(database, tape, reached, settings) as ports,
        Workers(processes - 1, Place(database, names, listener, quota, secure)) as workers,
    ):
        keys = Keyring(Keys(ports.access))
        others = workers if processes > 1 else None
        web = build(tape, committer, hosts=names, keys=keys, quota=quota, others=others)
        if secure:
            web.serve_over_tls()
        set_up = add_pages(web, ports)
        _add_oidc(web, settings)
        LOG.info("serving", extra={"figures": {"host": bound[0], "port": bound[1]}})
        _tell(f"Pages: {reached.url}/")
        if not ports.users.any():
            _tell(_first_user(reached, set_up, address))
        server = PagesServer(web, workers)
        with suppress(KeyboardInterrupt):  # a signal to stop is the normal end
            server.run(sockets=[listener])


def _first_user(reached: Address, set_up: SetUp, address: str) -> str:
    """How the first user is added."""
    if not _loopback(address):
        return "There is no user yet. Add one: round-ledger users add NAME"
    return (
        "There is no user yet. This link creates the first one, once, within"
        f" {LINK_S // 60} minutes:\n  {reached.url}/setup?link={set_up.link()}"
    )


def _add_oidc(web: FastAPI, settings: Settings) -> None:
    """Add sign-in at an identity provider, if one is set. Raises `Usage`, `Unavailable`."""
    if settings.oidc_issuer is None:
        return
    if settings.oidc_client_id is None:
        raise Usage(
            "The client id for the identity provider is not set",
            where="ROUND_LEDGER_OIDC_CLIENT_ID",
            hint="Set it to the client id that the provider gave this server.",
        )
    try:
        from replay.web.sign_in.oidc import Client, is_safe  # noqa: PLC0415 - only with the extra `oidc`
    except ImportError as error:
        raise Unavailable(
            f"Sign-in at an identity provider needs {error.name}",
            where="ROUND_LEDGER_OIDC_ISSUER",
            hint=f"Install it: {install('oidc')}",
        ) from error
    issuer = settings.oidc_issuer
    if not is_safe(issuer):
        raise Usage(
            f"{issuer} does not use TLS",
            where="ROUND_LEDGER_OIDC_ISSUER",
            hint="Give the provider's https:// address.",
        )
    add_oidc(
        web,
        Client(
            issuer,
            settings.oidc_client_id,
            _secret(settings.oidc_client_secret_file),
            settings.oidc_claim,
            urlsplit(issuer).hostname or issuer,
        ),
    )


def _secret(file: Path | None) -> str | None:
    """The text of a file, stripped. Raises `Usage`."""
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(
            "The client's secret cannot be read",
            where="ROUND_LEDGER_OIDC_CLIENT_SECRET_FILE",
            hint=f"{error}.",
        ) from error


def _reached(settings: Settings, address: str, port: int) -> Address:
    """How browsers reach the server: by the setting, else by the bound address."""
    name = f"[{address}]" if ":" in address else address
    url = settings.public_url or f"http://{name}:{port}"
    host = urlsplit(url).hostname or ""
    secure = url.startswith("https:") or not _loopback(host)
    return Address(url, secure=secure, proxies=settings.trusted_proxies)


def _tell(text: str) -> None:
    """Print a line to the terminal; it must not be in the log, which may be kept."""
    print_drawn(f"{text}\n")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refuse_without_keys(database: Database, settings: Settings, address: str) -> None:
    """Raise `Usage` for a public address without device keys: anyone could send facts."""
    public = urlsplit(settings.public_url or "").hostname or address
    others = [host for host in (address, public) if not _loopback(host)]
    if not others:
        return
    with closing(AccessDatabase(database)) as access:
        if Keys(access).any():
            return
    raise Refused(
        f"Without device keys the server answers this machine only, not {others[0]}",
        where="ROUND_LEDGER_HTTP_HOST, --host or ROUND_LEDGER_PUBLIC_URL",
        hint="Make keys with `round-ledger keys add`, or use 127.0.0.1.",
    )


def _listening(host: str, port: int) -> socket.socket:
    family_ = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family_, backlog=2_048)
    except OSError as error:
        raise Unavailable(
            f"The server cannot listen on the port: {error.strerror}",
            where=f"{host}:{port}",
            hint="Stop the program that uses it, or give another with --port.",
        ) from error
