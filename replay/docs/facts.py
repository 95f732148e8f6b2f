"""The page `facts.md` of the site: every fact with its fields."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from ledger import values
from ledger.facts import FACTS, SUBJECT_REQUIRED, UPCASTERS, vocabulary
from ledger.record.kinds import WIRE_PREFIX
from replay.docs import markdown
from replay.docs.fields.facts import meaning_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from msgspec import Struct


def page() -> str:
    """The page."""
    return markdown.page(
        "Facts",
        "A fact is one thing that happened on the floor, sent as a CloudEvents 1.0 event; in a "
        "feed one JSON object a line. `type` is "
        f"`{WIRE_PREFIX}` and the name below; (`source`, `id`) identifies it for ever. Fields not "
        "listed are kept and ignored. The JSON Schema of each is in "
        "`ledger/facts/schemas`, and inside [asyncapi.json](asyncapi.json).",
        "A fact of a round names it in `subject`, such as `CC-07/2026-11-20/231`: table, "
        "gaming day, number. A fact outside a round concerns its `table`; without that field, the "
        "place in its `source`. Names of wagers, games and paytables are on the page of each "
        "[game](reference/games.md).",
        "A fact appended by `round-ledger quarantine release ID --as` carries the attribute "
        "`quarantineid`: the number of what it stands for.",
        "## Values",
        markdown.table(("value", "is"), sorted(_meanings().items())),
        *_families(),
        "## Parts",
        *(part for struct in parts() for part in _struct(struct.__name__, struct, "###")),
        "## Earlier versions",
        "Still read, and converted to today's version.",
        markdown.table(
            ("name", "was"),
            (
                (markdown.code(name), inspect.getdoc(struct))
                for name, (struct, _) in UPCASTERS.items()
            ),
        ),
    )


def _families() -> Iterator[str]:
    """Facts under their module's first sentence, in the order they are defined."""
    modules: dict[str, list[str]] = {}
    for name, struct in FACTS.items():
        modules.setdefault(struct.__module__, []).append(name)
    for module, names in modules.items():
        doc = inspect.getdoc(sys.modules[module]) or ""
        heading, *rest = doc.split("\n\n")
        yield f"## {markdown.joined(heading).rstrip('.')}"
        yield from map(markdown.joined, rest)
        for name in names:
            yield from _struct(name, FACTS[name], "###")


def _struct(name: str, struct: type[Struct], level: str) -> Iterator[str]:
    yield f"{level} {name}"
    about = " It needs a `subject`." if name in SUBJECT_REQUIRED else ""
    yield markdown.joined(inspect.getdoc(struct) or "") + about
    yield markdown.table(
        ("field", "value", "optional", "meaning"),
        (
            (
                markdown.code(field.encode_name),
                _type(_all_hints(struct)[field.name]),
                "" if field.required else _optional(field.default),
                meaning_of(name, field.encode_name),
            )
            for field in msgspec.structs.fields(struct)
        ),
    )


def _all_hints(struct: type[Struct]) -> dict[str, Any]:
    """Annotations of a struct and what it derives from, their names not resolved away."""
    hints: dict[str, Any] = {}
    for base in reversed(struct.__mro__):
        hints |= inspect.get_annotations(base)
    return hints


def _optional(default: object) -> str:
    if default in (None, msgspec.NODEFAULT, (), ""):
        return "yes"
    shown = default if isinstance(default, str) else msgspec.json.encode(default).decode()
    return f"yes: {markdown.code(shown)} without it"


def _type(hint: Any) -> str:  # noqa: ANN401 - any annotation
    """A type in the words of `Values`."""
    named = _names().get(repr(hint)) or _PLAIN.get(hint)
    if named:
        return named
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None:
        return str(getattr(hint, "__name__", hint))
    if origin is Annotated:
        return _type(arguments[0])
    if origin is Literal:
        return " · ".join(map(markdown.code, arguments))
    return _of_others(origin, arguments)


def _of_others(origin: object, arguments: tuple[Any, ...]) -> str:
    """A union, a list, or an object of names and values."""
    first, last = arguments[0], arguments[-1]
    if origin in (Union, UnionType):
        return " or ".join(_type(each) for each in arguments if each is not NoneType)
    if origin is dict:
        return f"object of {_type(first)} to {_type(last)}"
    if last is Ellipsis or len(arguments) == 1:
        return f"list of {_type(first)}"
    return f"list of {len(arguments)}: {', '.join(map(_type, arguments))}"


_PLAIN = {str: "text", int: "whole number", bool: "true or false", Any: "anything"}
_WORDS = (values, vocabulary)


@cache
def _names() -> dict[str, str]:
    """The name of each value type by what it is."""
    return {
        repr(vars(module)[name]): name
        for module in _WORDS
        for name in _documented(module)
        if get_origin(vars(module)[name]) is not None
    }


def _meanings() -> dict[str, str]:
    """What each value type is, as said where it is defined."""
    return {
        name: says
        for module in _WORDS
        for name, says in _documented(module).items()
        if get_origin(vars(module)[name]) is not None
    }


@cache
def _documented(module: ModuleType) -> dict[str, str]:
    """The texts that stand below assignments of a module."""
    body = ast.parse(inspect.getsource(module)).body
    return {
        statement.targets[0].id: markdown.joined(after.value.value)
        for statement, after in pairwise(body)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


def parts() -> list[type[Struct]]:
    """Structs that stand within facts, by name."""
    found: dict[str, type[Struct]] = {}
    for struct in FACTS.values():
        for hint in _all_hints(struct).values():
            for inner in _structs_in(hint):
                found[inner.__name__] = inner
    return [found[name] for name in sorted(found)]


def _structs_in(hint: Any) -> Iterator[type[Struct]]:  # noqa: ANN401 - as above
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
        for inner in _all_hints(hint).values():
            yield from _structs_in(inner)
    for argument in get_args(hint):
        yield from _structs_in(argument)
