"""The kinds of alert: each declared once, with its words, thresholds and condition."""

from consumers.alerts.kinds import (
    cameras,
    dead_letters,
    door,
    payout,
    refusals,
    rulings,
    strays,
    tables,
    views,
)

KINDS = (
    payout.PAYOUT,
    rulings.FINDING,
    rulings.PROCEDURE,
    tables.DEVICE_SILENT,
    tables.TABLE_QUIET,
    cameras.CAMERA_LOST,
    cameras.CLOCK_OFF,
    views.LAG,
    views.PARKED,
    dead_letters.DEAD_LETTERS,
    refusals.RELAY_REFUSED,
    strays.STRAYS,
    door.DOOR_REFUSED,
)
"""In the order of the settings and of the documentation."""

BY_NAME = {kind.name: kind for kind in KINDS}
"""Every kind by its name."""

THRESHOLDS = tuple(threshold for kind in KINDS for threshold in kind.thresholds)
"""What the settings read besides their own table."""
