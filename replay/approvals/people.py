"""Which account is meant by a credential or a sign-in name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import Usage
from replay.text.typed import same_people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.access.users import Account


def account_of(accounts: Sequence[Account], named: str, where: str) -> Account:
    """The account with this sign-in name, else with this credential, that is not disabled.

    Raises `Usage` if nobody or several are meant.
    """
    can = [each for each in accounts if each.disabled_at_us is None]
    found = [each for each in can if each.name == named] or [
        each for each in can if same_people([named], [each.employee])
    ]
    if len(found) != 1:
        many = "Several users have" if found else "No user has"
        raise Usage(
            f"{many} the credential {named}",
            where=where,
            hint="Give the sign-in name, as `round-ledger users list` shows it.",
        )
    return found[0]
