"""The second person of a paper, who signs it on the page of the first.

That person sees in words what is signed, and gives a password, a code or a passkey of their own. No
session begins, and nothing is on record before.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated

import msgspec
from fastapi import APIRouter, Depends, Request, Response

from infra.access.connections import Actor
from infra.access.users import User
from ledger.errors import Refused, Usage
from replay.approvals.people import account_of
from replay.text.papers import paper_name, paper_says
from replay.web.access import authentication
from replay.web.access.authentication import (
    SECOND_CODE,
    SECOND_PASSKEY,
    SECOND_PASSWORD,
    signed_in,
)
from replay.web.entry import papers
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.access.tries import Try
    from infra.access.users import Account
    from ledger.facts import Body

CHALLENGE = f"{papers.PATH}/second/challenge"

router = APIRouter(include_in_schema=False)
Writer = Annotated[User, Depends(signed_in("pit", "cage", "count", "finance"))]


class SecondPersonNeededError(Exception):
    """The second person has not signed yet, or not rightly: nothing is recorded."""

    def __init__(
        self, second: Account, body: Body, at: str, form: Mapping[str, str], wrong: str
    ) -> None:
        super().__init__(wrong)
        self.second, self.body, self.at, self.form, self.wrong = second, body, at, form, wrong


@router.post(CHALLENGE)
def challenge(request: Request, who: Writer) -> Response:
    """What the browser asks a device of the second person to sign, in the session of the first."""
    del who
    token = authentication.session_token(request)
    options = ports(request).sessions.passkeys.begin(token)
    return Response(options, media_type="application/json")


def second_person(request: Request, named: str, where: str = "second") -> Account:
    """The account of the second person, by credential or sign-in name.

    Raises `Usage` if nobody has it, `Refused` if it has no password to sign with.
    """
    if not named.strip():
        raise Usage("Two people are needed", where=where, hint="Give both credentials.")
    found = account_of(ports(request).users.list(), named.strip(), where)
    if not found.password:
        raise Refused(
            f"{found.name} signs in at the identity provider only",
            where=where,
            hint="Let an administrator give a password: `round-ledger users password`.",
        )
    return found


def require_signature(
    request: Request, user: User, second: Account, form: Mapping[str, str], body: Body, at: str
) -> None:
    """Take the second person's signature of a paper. Raises `SecondPersonNeededError`.

    at: the paper's place, as `p/CC-07`, or the casino alone.
    """
    tried = _tried(request, user, second, form, body, at)
    if tried is None or not tried.fits:
        raise SecondPersonNeededError(second, body, at, form, _wrong(tried, form))


async def ask(request: Request, error: Exception) -> Response:
    """The page on which the second person reads what is signed, and signs it."""
    assert isinstance(error, SecondPersonNeededError)  # noqa: S101 - it is registered for these
    sent = [each for each in error.form.items() if each[0] not in authentication.OWN_FIELDS]
    return page(
        request,
        "entry_second.html",
        401 if error.wrong else 200,
        second=error.second,
        paper=paper_name(error.body),
        says=paper_says(error.body, error.at),
        action=request.url.path,
        fields=sent,
        names=(SECOND_PASSWORD, SECOND_CODE, SECOND_PASSKEY),
        challenge=CHALLENGE if ports(request).sessions.passkeys.are_on else "",
        wrong=error.wrong,
    )


def _tried(
    request: Request, user: User, second: Account, form: Mapping[str, str], body: Body, at: str
) -> Try | None:
    """What the form signs with; None: nothing."""
    password, code, passkey = (
        form.get(name, "") for name in (SECOND_PASSWORD, SECOND_CODE, SECOND_PASSKEY)
    )
    sessions = ports(request).sessions
    actor = Actor(user.name, authentication.address(request))
    digest = hashlib.sha256(msgspec.json.encode(body)).hexdigest()
    what = f"{paper_name(body)} at {at}, SHA-256 {digest}"
    if passkey:
        token = authentication.session_token(request)
        return sessions.sign_beside_by_passkey(second.name, passkey, token, actor, what)
    return sessions.sign_beside(second.name, password, code, actor, what) if password else None


def _wrong(tried: Try | None, form: Mapping[str, str]) -> str:
    if tried is None:
        return ""
    if tried.wait_s:
        return authentication.too_many_tries(tried.wait_s)
    if form.get(SECOND_PASSKEY):
        return "The passkey was refused, or is another person\u2019s."
    return "The password or the code is wrong."
