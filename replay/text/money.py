"""Money as people read it, beside `ledger.values.dollars`, which tells every cent."""

from ledger.values import dollars


def money(cents: int) -> str:
    """Dollars for a crowded picture: whole ones without their cents."""
    return dollars(cents).removesuffix(".00")


def sums(**named: int | None) -> str:
    """`paid $25, collected $10`: amounts by what became of them, without those that are nothing."""
    return ", ".join(f"{what} {money(cents)}" for what, cents in named.items() if cents)
