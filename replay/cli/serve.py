"""`serve`: the HTTP edge as a process that starts, drains and stops cleanly."""

import ipaddress
import socket
from contextlib import suppress
from typing import Annotated

import typer
import uvicorn

from infra.postgres import kept_running
from ledger.committer import Committer
from ledger.errors import Refused, Unavailable
from replay.cli.app import family
from replay.cli.opened import opened_tape
from replay.cli.settings import in_force
from replay.web.app import LOOPBACK, build
from replay.web.arrival import Impatient
from replay.web.logs import LOG, log_to_stderr

REQUESTS_AT_ONCE_MAX = 2_000
"""Requests under way; further ones are answered 503."""

DRAIN_S_MAX = 30
"""How long requests under way may take once the server was told to stop, seconds."""

app = family()


@app.command("serve")
def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address; see ROUND_LEDGER_HTTP_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.", max=65_535)] = None,
) -> None:
    """Take in facts over HTTP until stopped.

    `POST /v1/facts` keeps CloudEvents in structured, batch and binary mode. `/healthz`, `/readyz`
    and `/metrics` tell how the server does, `/openapi.json` what it takes. Logs are JSON Lines on
    stderr.

    Example: round-ledger serve --port 8080
    """
    settings = in_force()
    address = host or settings.http_host
    _refuse_other_hosts(address)
    log_to_stderr()
    with (
        _listening(address, settings.http_port if port is None else port) as listener,
        opened_tape() as tape,
        kept_running(settings),
        Committer(tape) as committer,
    ):
        server = uvicorn.Server(
            uvicorn.Config(
                build(tape, committer, hosts=(*LOOPBACK, address)),
                http=Impatient,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                limit_concurrency=REQUESTS_AT_ONCE_MAX,
                timeout_graceful_shutdown=DRAIN_S_MAX,
            )
        )
        where = listener.getsockname()
        LOG.info("serving", extra={"figures": {"host": where[0], "port": where[1]}})
        with suppress(KeyboardInterrupt):  # told to stop, which is how a server ends
            server.run(sockets=[listener])
    LOG.info("stopped")


def _refuse_other_hosts(host: str) -> None:
    """Without device keys anybody who reaches the port could write: only this machine may."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback:
        raise Refused(
            f"Without device keys the server is not bound to {host}",
            where="ROUND_LEDGER_HTTP_HOST or --host",
            hint="Bind it to 127.0.0.1, and let a proxy that authenticates devices pass facts on.",
        )


def _listening(host: str, port: int) -> socket.socket:
    family_ = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family_, backlog=2_048)
    except OSError as error:
        raise Unavailable(
            f"The port cannot be listened on: {error.strerror}",
            where=f"{host}:{port}",
            hint="Stop what uses it, or give another with --port.",
        ) from error
