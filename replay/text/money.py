"""Short forms of money for people; `ledger.values.dollars` has every cent."""

from ledger.values import dollars


def money(cents: int) -> str:
    """Dollars in short form: whole dollars without cents."""
    return dollars(cents).removesuffix(".00")


def sums(**named: int | None) -> str:
    """`paid $25, collected $10`: named amounts without those of zero or None."""
    return ", ".join(f"{what} {money(cents)}" for what, cents in named.items() if cents)
