"""The mutant of `ingest --follow` that the tests must notice: `FILE URL`.

It keeps its place before the lines are taken: killed, or cut off, it passes facts over.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from replay.cli.record import follow
from replay.devices import forwarding

if TYPE_CHECKING:
    from replay.devices.file_tail import Block
    from replay.devices.forwarding import Manner, Send


def main(file: str, url: str) -> None:
    answers = forwarding._answers
    path = follow._one([file])

    def early(block: Block, send: Send, manner: Manner) -> list[object] | None:
        forwarding.keep_place(path, block.after)
        return answers(block, send, manner)

    forwarding._answers = early
    follow.follow_file([file], url, None, json=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
