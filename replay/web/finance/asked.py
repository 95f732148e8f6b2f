"""What the address of a page of finance asks for: a casino, a gaming day, a table."""

from consumers.finance.day_facts import WinsAsked


def asked_for(
    property: str = "",  # noqa: A002 - as on the floor
    gaming_day: str = "",
    table: str = "",
) -> WinsAsked:
    """The question; what is left out is None."""
    told = (each.strip() or None for each in (property, table, gaming_day))
    return WinsAsked(*told)
