"""Designs that are wrong in one thing, each with the laws that it must break.

What survives here is a hole in the simulation. A mutant stands for the design, not for a typing
error: where production leaves a thing to PostgreSQL or Kafka, the mutant changes the imagined one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.simulation import wrong_views as views
from tests.simulation import wrong_writers as writers

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class Mutant(NamedTuple):
    """One wrong design."""

    name: str
    breaks: tuple[str, ...]  # laws, any of them
    mutate: Callable[[pytest.MonkeyPatch], None]
    seed: int = 0  # one that shows it; at most thousands of others do not


FOLD = "a view is the fold of the record"
PUBLISHED = "all is published"
NOT_LOST = "no fact is lost on the feed"
ORDER = "order on each tape"
GAPS = "gaps are told"
BACK = "no view goes back"
TRUE = "messages are true"
DERIVED = "derived is the view"
ONCE = "answered is kept once"
BENT = "what is bent is withheld"
NO_GAP = "no gap is told that is none"
STRAY = "a stray stops nobody"


MUTANTS = (
    Mutant(
        "tracking moved before the acknowledgement",
        (PUBLISHED, NOT_LOST, ORDER),
        writers.tracking_moved_first,
    ),
    Mutant(
        "no acknowledgement awaited",
        (PUBLISHED, NOT_LOST, ORDER),
        writers.acknowledgements_not_awaited,
    ),
    Mutant(
        "the window forgotten at a restart",
        (PUBLISHED, NOT_LOST, ORDER),
        writers.window_forgotten,
        seed=2,
    ),
    Mutant("no look at the topic's real end", (NOT_LOST,), writers.no_look_at_the_end, seed=6),
    Mutant(
        "one broker's acknowledgement is enough", (NOT_LOST,), writers.one_broker_is_enough, seed=25
    ),
    Mutant("retries without idempotence", (ORDER,), writers.retries_without_idempotence, seed=16),
    Mutant("five requests under way at once", (ORDER,), writers.five_requests_at_once, seed=16),
    Mutant(
        "what was published again is the end",
        (NOT_LOST,),
        writers.copies_are_own,
        seed=451,
    ),
    Mutant(
        "what is published again kept as the last record",
        (NOT_LOST,),
        writers.copies_move_the_mark,
        seed=4629,
    ),
    Mutant(
        "the last records kept before tracking is set back",
        (NOT_LOST,),
        writers.marks_kept_before_tracking,
        seed=211,
    ),
    Mutant("a stray is a contradiction", (STRAY,), writers.strays_are_contradictions, seed=400),
    Mutant(
        "position taken outside the lock",
        (FOLD, PUBLISHED, ORDER),
        writers.position_outside_the_lock,
        seed=50,
    ),
    Mutant("kept again after a lost answer", (ONCE,), writers.kept_again_after_a_lost_answer),
    Mutant("no compare-and-set", (FOLD, BACK), views.no_compare_and_set),
    Mutant("the generation not compared", (FOLD,), views.generation_not_compared, seed=17),
    Mutant("tracking committed before the rows", (FOLD,), views.tracking_before_rows),
    Mutant("tracking committed after the rows", (FOLD, TRUE), views.tracking_after_rows),
    Mutant("duplicates taken", (FOLD, BACK, GAPS), views.duplicates_taken, seed=2),
    Mutant("the feed believed as it comes", (FOLD, BACK, GAPS), views.feed_believed),
    Mutant("gaps passed over", (FOLD, GAPS), views.gaps_passed_over, seed=1),
    Mutant("hashes not recomputed", (FOLD, GAPS), views.hash_not_recomputed, seed=1),
    Mutant(
        "healed from the feed, the record not asked",
        (FOLD, GAPS),
        views.record_not_asked,
        seed=12,
    ),
    Mutant(
        "poison forgotten before tracking has moved",
        (BENT,),
        views.poison_forgotten_at_once,
        seed=43,
    ),
    Mutant("nothing withheld", (BENT,), views.nothing_withheld, seed=1),
    Mutant(
        "poison withholds every table",
        ("a tape is withheld alone",),
        views.everything_withheld,
        seed=3,
    ),
    Mutant("what is withheld is not kept", (FOLD,), views.parked_not_kept),
    Mutant(
        "offsets of what was read, not of what is lacking",
        (NO_GAP,),
        views.offsets_of_what_was_read,
        seed=16,
    ),
    Mutant("ends asked before what is acknowledged", (NO_GAP,), views.ends_asked_first, seed=99),
    Mutant("swapped in as it is", (BACK,), views.swapped_as_it_is, seed=19),
    Mutant("the live view not held at a swap", (BACK, FOLD), views.live_view_not_held, seed=17),
    Mutant("a swap that says nothing", (DERIVED,), views.swap_unspoken, seed=17),
    Mutant(
        "what stands said again as it was read before the view was held",
        (TRUE, DERIVED),
        views.said_again_as_it_was_read_before,
        seed=78,
    ),
    Mutant("outbox outside the transaction", (TRUE,), views.outbox_outside_the_transaction),
    Mutant(
        "a message made anew at each try", ("one version of a record",), writers.message_made_anew
    ),
    Mutant(
        "a topic asked for after restating",
        (DERIVED,),
        writers.asked_for_after_restating,
        seed=85,
    ),
    Mutant(
        "what stood restated at most once",
        (DERIVED,),
        writers.what_stood_is_forgotten_by_whoever_dies,
        seed=14,
    ),
    Mutant(
        "verify without the tapes' ends",
        ("verify tells what lacks",),
        writers.verify_without_ends,
        seed=8,
    ),
)
