"""A thread that locks the footage of disputes raised elsewhere, beside whatever keeps views up.

Only open disputes without any lock: what somebody released is not locked again (ADR 0120).
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import LedgerError, Unavailable
from replay.disputes.service import LockContext, LockMargins, lock_pending

LOG = logging.getLogger("round_ledger.locks")

EVERY_S = 10.0
"""How often it is looked for disputes without a lock, seconds."""


@contextmanager
def locks_kept(base: Database, roll: LockMargins, *, every_s: float = EVERY_S) -> Iterator[None]:
    """Lock what is not locked yet, now and again, while the block runs and keeps views up."""
    stop = threading.Event()
    thread = threading.Thread(
        target=_keep, args=(base, roll, every_s, stop), name="locks", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(base: Database, roll: LockMargins, every_s: float, stop: threading.Event) -> None:
    """Look until told to stop. What does not answer is looked for again at the next turn."""
    with PostgresTape(base) as tape:
        while not stop.wait(every_s):
            try:
                done = lock_pending(LockContext(base, tape, roll), fresh=False)
            except Unavailable:
                continue
            except LedgerError as error:
                told = {"code": error.code, "what": error.what, "hint": error.hint}
                LOG.error("footage is not locked", extra={"figures": told})  # noqa: TRY400 - told, not traced
                continue
            for each in done:
                figures = {"dispute": each.case.dispute, "locks": len(each.locks)}
                LOG.info("footage is locked for a dispute", extra={"figures": figures})
