"""What a worker is to serve, sent to it when it starts."""

from typing import NamedTuple

from replay.web.access.quotas import Quota


class Task(NamedTuple):
    """What a worker serves. The URLs may hold passwords."""

    number: int
    url: str
    owner_url: str
    hosts: list[str]
    quota: Quota
    secure: bool
