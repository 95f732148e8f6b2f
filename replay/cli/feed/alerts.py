"""`consume alerts`: what operations should look at now, raised and delivered until stopped."""

from contextlib import ExitStack

from consumers.alerts.metrics import AlertMetrics
from consumers.alerts.process import run
from consumers.registry import install
from consumers.runtime.lifecycle import until_signalled
from infra.metrics import metrics_server
from infra.postgres.connection import kept_running
from replay.shell.connections import opened_database
from replay.shell.kafka import kafka
from replay.shell.logs import LOG, log_to_stderr
from replay.shell.output import print_json, say
from replay.shell.settings import in_force


def raise_alerts(*, follow: bool, port: int | None, json: bool) -> None:
    """Raise alerts as settings say; without `follow`, from all that is there now."""
    settings = in_force()
    log_to_stderr()
    with opened_database() as base, until_signalled() as stop, ExitStack() as open_:
        install(base)
        watch = AlertMetrics(base, ready_s=settings.ready_s)
        if follow:
            open_.enter_context(kept_running(settings))
        if port is not None:
            bound = open_.enter_context(metrics_server(watch, settings.http_host, port))
            LOG.info("serving figures", extra={"figures": {"port": bound}})
        tally = run(
            base, kafka(), settings, stop=watch.heartbeat(stop), follow=follow, tally=watch.take
        )
    if json:
        names = ("read", "raised", "dead", "too_old", "delivered", "failed")
        print_json({name: getattr(tally, name) for name in names})
    else:
        say(
            f"{tally.read:,} records read: {tally.raised:,} alerts raised,"
            f" {tally.delivered:,} deliveries, {tally.failed:,} failed tries,"
            f" {tally.dead:,} dead letters, {tally.too_old:,} alerts too old to be raised."
        )
