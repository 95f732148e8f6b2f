"""What finance calls the amounts of a table's day."""

AMOUNTS = {
    "cash": "cash",
    "currency": "cash",
    "counter_checks": "counter checks",
    "vouchers": "vouchers",
    "coupons": "coupons",
    "coupon_count": "coupons, pieces",
    "rake": "chips: the rake at poker",
    "chips": "chips",
    "adjustments": "amends from the table",
    "box_total": "counted in the boxes",
    "opener": "opener",
    "fills": "fills",
    "credits": "credits",
    "closer": "closer",
    "handle": "handle: all wagers placed",
    "payouts": "payouts from the table",
    "payouts_cage": "payouts from the cage",
    "collected": "collected from lost wagers",
    "returned": "returned to patrons",
    "fees": "fees",
    "tips": "tips",
    "win": "moved",
}
"""The words for each amount, by its field in `--json`."""

IN_BOXES = ("cash", "counter_checks", "vouchers", "coupons", "rake")
"""What goes into the boxes of a table's day, as the table recorded it."""

COUNTED = ("currency", "counter_checks", "vouchers", "coupon_count", "chips")
"""The same as a count of a box has it."""

TRAY = ("opener", "fills", "credits", "closer")

RESULT = (
    "box_total",
    "handle",
    "payouts",
    "payouts_cage",
    "collected",
    "returned",
    "fees",
    "tips",
    "win",
)
"""What a table's day came to."""


def amount_name(field: str) -> str:
    """The words for an amount; a field without words of its own has its underscores replaced."""
    return AMOUNTS.get(field, field.replace("_", " "))
