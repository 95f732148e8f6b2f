"""`consume alerts`: what operations should look at now, raised and delivered until stopped."""

from contextlib import ExitStack

from consumers.alerting import run
from consumers.catalogue import install
from consumers.projection import until_signalled
from consumers.watch import AlertWatch, served
from infra.postgres import kept_running
from replay.cli.opened import opened_database
from replay.cli.output import print_json, say
from replay.cli.reached import kafka
from replay.cli.settings import in_force
from replay.web.logs import LOG, log_to_stderr


def raise_alerts(*, follow: bool, port: int | None, json: bool) -> None:
    """Raise alerts as settings say; without `follow`, from all that is there now."""
    settings = in_force()
    log_to_stderr()
    with opened_database() as base, until_signalled() as stop, ExitStack() as open_:
        install(base)
        watch = AlertWatch(base, ready_s=settings.ready_s)
        if follow:
            open_.enter_context(kept_running(settings))
        if port is not None:
            bound = open_.enter_context(served(watch, settings.http_host, port))
            LOG.info("serving figures", extra={"figures": {"port": bound}})
        tally = run(
            base, kafka(), settings, stop=watch.ticking(stop), follow=follow, tally=watch.take
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
