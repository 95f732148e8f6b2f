"""The grammar of a sentence: which tokens make one statement, and which kind of statement it is.

Every token may stand alone, so that each sentence has a reading. A word that no statement takes is
`unread`; the page and the command name it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lark import Lark

    from replay.ask.tokens import SentenceToken

GRAMMAR = Path(__file__).with_name("sentence.lark")


class Clause(NamedTuple):
    """What a sentence says of one thing: its rule, and its tokens with the rules they stand in."""

    rule: str
    tokens: tuple[tuple[str, SentenceToken], ...]

    def all(self, *kinds: str) -> list[Any]:
        """The values of its tokens of some kinds, in order."""
        return [piece.value for _, piece in self.tokens if piece.kind in kinds]

    def one(self, *kinds: str) -> Any:  # noqa: ANN401 - a value of any terminal
        """The first of these values, if there is one."""
        return next(iter(self.all(*kinds)), None)

    def kind(self, *kinds: str) -> str | None:
        """The first kind among these that it has a token of."""
        return next((piece.kind for _, piece in self.tokens if piece.kind in kinds), None)

    @property
    def start(self) -> int:
        """The begin of its words in the sentence."""
        return self.tokens[0][1].start

    @property
    def end(self) -> int:
        """The end of its words."""
        return self.tokens[-1][1].end


def statements(found: Sequence[SentenceToken]) -> list[Clause]:
    """The statements of a sentence's tokens, in their order."""
    tree: Any = _parser().parse(found)
    return [Clause(str(each.data), tuple(_leaves(each))) for each in tree.children]


def _leaves(tree: Any, rule: str = "") -> Iterator[tuple[str, SentenceToken]]:  # noqa: ANN401 - lark's tree
    for child in tree.children:
        if hasattr(child, "children"):
            yield from _leaves(child, str(child.data))
        else:
            yield rule or str(tree.data), child.value


@cache
def _parser() -> Lark:
    from lark import Lark, Token  # noqa: PLC0415 - only a sentence needs it
    from lark.lexer import Lexer  # noqa: PLC0415 - as above

    class Given(Lexer):
        """Passes tokens on that were read already."""

        def __init__(self, _conf: object) -> None:
            pass

        def lex(self, data: Sequence[SentenceToken]) -> Iterator[Token]:  # type: ignore[override]
            for piece in data:
                yield Token(piece.kind, piece)

    return Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer=Given)
