"""Money as people read it, beside `ledger.values.dollars`, which tells every cent."""

from ledger.values import dollars


def money(cents: int) -> str:
    """Dollars for a crowded picture: whole ones without their cents."""
    return dollars(cents).removesuffix(".00")
