"""Mutants of a game's module: one thing changed in its source, the rest as it stands.

Changed are paytable rows (odds, label, dropped, swapped with the next), comparisons, constants,
cites, branches and statements. Not changed is what only people read: titles, names, `says`, the
publication, the procedures of other chapters' making, and the list of what is not modelled.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.regulations import chapters
from tests.contract.citations import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import CodeType

    from ledger.rules.engine.game import Game

_CITE = re.compile(r"[0-9]{1,2}(\([a-zA-Z0-9]+\))+")
_ODDS = re.compile(r"([0-9]+) to ([0-9]+)")
_WORDS_READ = 9  # a longer string is prose, for people
_UNREAD = {
    "player_model",
    "not_modelled",
    "procedures",
    "rotation",
    "editions",
    "says",
    "title",
    "id",
}
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
}


class Mutant(NamedTuple):
    """One thing changed in a module of some games.

    `games` loads them, before the next mutant is asked for; none where one no longer loads.
    """

    name: str
    games: Callable[[], tuple[Game, ...]]


class _Place(NamedTuple):
    """The place of a node: it can be replaced there, and put back."""

    owner: ast.AST
    field: str
    index: int | None
    within: str  # the function or table it is part of

    def put(self, node: Any) -> None:  # noqa: ANN401 - a node, or a list of them
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node


def mutants(path: Path, chapter: str, then: Sequence[Path] = ()) -> Iterator[Mutant]:
    """Every mutant of the module at `path`, one after the other.

    `then`: modules that are loaded again upon it, those of games last; none where it is a game's.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    cites = list(chapters()[chapter].paragraphs)
    seen: Counter[str] = Counter()
    for place, node in list(_places(tree, "")):
        for changed in _changed(node, place, cites):
            place.put(changed)
            was, became = ast.unparse(node), ast.unparse(changed)
            if not became or isinstance(node, ast.operator | ast.cmpop | ast.boolop):
                was, became = type(node).__name__, type(changed).__name__
            name = f"{place.within}: {_short(was, became)}"
            seen[name] += 1
            yield Mutant(
                name if seen[name] == 1 else f"{name} #{seen[name]}",
                lambda: _load(tree, path, then),
            )
            place.put(node)


def _short(was: str, became: str) -> str:
    """Both texts without what they begin and end with alike, at word boundaries."""
    if max(len(was), len(became)) <= 60:
        return f"{was} -> {became}"
    start = 0
    while start < min(len(was), len(became)) and was[start] == became[start]:
        start += 1
    start = max(0, start - 20)
    return f"..{was[start : start + 60]} -> ..{became[start : start + 60]}"


def _load(tree: ast.Module, path: Path, then: Sequence[Path]) -> tuple[Game, ...]:
    """The games of a changed module; none where it does not load."""
    found: list[Game] = []
    ast.fix_missing_locations(tree)
    with _modules_put_back():
        for each in (path, *then):
            name = ".".join(each.relative_to(ROOT).with_suffix("").parts)
            module = ModuleType(name)
            try:
                code = _code(each) if each in then else compile(tree, each.name, "exec")
                exec(code, module.__dict__)  # noqa: S102 - our own source, changed
            except Exception:  # noqa: BLE001 - a mutant that does not load is dead, however it failed
                return ()
            if then:
                _stand_in(name, module)
            found += [module.GAME] if hasattr(module, "GAME") else []
    return tuple(found)


@cache
def _code(path: Path) -> CodeType:
    """A module as it stands, compiled."""
    return compile(path.read_text(encoding="utf-8"), path.name, "exec")


def _stand_in(name: str, module: ModuleType) -> None:
    """A changed module is what others import by its name."""
    package, _, last = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[package], last, module)


@contextmanager
def _modules_put_back() -> Iterator[None]:
    """The modules that were imported, and no changed one, when it is over."""
    before = {
        name: module
        for name, module in sys.modules.items()
        if name.startswith(("ledger.rules.", "ledger.games."))
    }
    try:
        yield
    finally:
        for name, module in before.items():
            if sys.modules[name] is not module:
                _stand_in(name, module)


def _places(node: ast.AST, within: str) -> Iterator[tuple[_Place, Any]]:
    """Every node that may change, and where it stands."""
    if isinstance(node, ast.FunctionDef):
        within = node.name
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        within = within or node.targets[0].id
    for field, value in ast.iter_fields(node):
        if _unread(node, field):
            continue
        if isinstance(value, ast.AST):
            yield _Place(node, field, None, within), value
            yield from _places(value, within)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                if not isinstance(each, ast.AST) or _prose(each):
                    continue
                if isinstance(each, ast.keyword) and each.arg in _UNREAD:
                    continue
                yield _Place(node, field, index, within), each
                yield from _places(each, within)


def _unread(node: ast.AST, field: str) -> bool:
    """Annotations, imports, targets and operators of what is unpacked: nothing to change."""
    return field in {"annotation", "returns", "bases", "decorator_list", "targets", "ctx"} or (
        isinstance(node, ast.Assign) and field == "targets"
    )


def _prose(node: ast.AST) -> bool:
    """A docstring, an import, how chance plays, or what stands for a type checker alone."""
    return (
        (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PLAYER_MODEL")
    )


def _changed(node: Any, place: _Place, cites: list[str]) -> Iterator[Any]:  # noqa: ANN401 - a node
    """What a node may become."""
    if type(node) in _OTHER:
        yield _OTHER[type(node)]()
    elif isinstance(node, ast.Constant):
        yield from (ast.Constant(value) for value in _other_values(node.value, place, cites))
    elif isinstance(node, ast.Name) and node.id == "PUSH":
        yield ast.Constant("1 to 1")
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.If):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
        yield from _without_or_swapped(node)
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Continue):
        yield ast.Pass()


def _other_values(value: object, place: _Place, cites: list[str]) -> Iterator[object]:
    """Constants beside a constant."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        odds = _ODDS.fullmatch(value)
        if odds:
            yield f"{int(odds[1]) + 1} to {odds[2]}"
            yield f"{odds[1]} to {int(odds[2]) + 1}"
        elif _CITE.fullmatch(value):
            after = cites.index(value) + 1 if value in cites else 0
            yield cites[after % len(cites)]
        elif len(value.split()) <= _WORDS_READ:
            yield f"{value}x"


def _without_or_swapped(node: ast.Tuple | ast.List) -> Iterator[ast.expr]:
    """A display without one of its elements, or with two neighbours swapped."""
    kind = type(node)
    for index in range(len(node.elts)):
        yield kind([*node.elts[:index], *node.elts[index + 1 :]], ast.Load())
    for index in range(len(node.elts) - 1):
        one, two = node.elts[index : index + 2]
        if ast.dump(one) != ast.dump(two):
            yield kind([*node.elts[:index], two, one, *node.elts[index + 2 :]], ast.Load())
