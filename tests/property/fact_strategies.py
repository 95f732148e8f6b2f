"""Hypothesis strategies built from the structs of the facts, so that a new fact needs none."""

from __future__ import annotations

import string
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from ledger.facts import FACTS, Body
from ledger.facts.vocabulary import _END

MOMENTS = {"start", "camera_time", "reference_time", "due"}
TEXT = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
DAYS = st.dates().map(str)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(TEXT, max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(TEXT, max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def moments() -> st.SearchStrategy[str]:
    """RFC 3339 times with some offset."""
    return st.builds(
        "{}T{}{}".format,
        st.dates(),
        st.times().map(lambda time: time.isoformat("microseconds")),
        st.sampled_from(["Z", "+01:00", "-05:00"]),
    )


def of_type(  # noqa: C901, PLR0911, PLR0912 - one case a type, and nothing else
    kind: inspect.Type,
) -> st.SearchStrategy[Any]:
    """Values that a msgspec type accepts."""
    match kind:
        case inspect.Metadata(type=inner):
            return of_type(inner)
        case inspect.IntType(ge=low, le=high):
            return st.integers(low if low is not None else -9, high if high is not None else 9)
        case inspect.StrType(pattern=None, min_length=low, max_length=high):
            return st.text(TEXT, min_size=low or 0, max_size=min(high or 9, 9))
        case inspect.StrType(pattern=pattern):
            if "d{4}" in str(pattern):
                return DAYS
            return st.from_regex(
                str(pattern).replace(_END, ""), fullmatch=True, alphabet=string.printable
            )
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.UnionType(types=types):
            return st.one_of([of_type(part) for part in types])
        case inspect.VarTupleType(item_type=item, min_length=low):
            return st.lists(of_type(item), min_size=low or 0, max_size=4).map(tuple)
        case inspect.TupleType(item_types=items):
            return st.tuples(*map(of_type, items))
        case inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(of_type(key), of_type(value), max_size=3)
        case inspect.StructType(cls=struct):
            return structs(struct)
        case inspect.AnyType():
            return JSON
    raise TypeError(f"no strategy for {kind}")


def structs(struct: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Structs of one class, optional fields present or not."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    spans = struct.__name__.startswith(("Footage", "Watched", "Bookmark", "LogEntry"))
    fields = {
        field.name: moments()
        if field.name in MOMENTS or (spans and field.name in ("from_", "to"))
        else of_type(field.type)
        for field in info.fields
    }
    required = {field.name for field in info.fields if field.required}
    return st.fixed_dictionaries(
        {name: fields[name] for name in fields if name in required},
        optional={name: fields[name] for name in fields if name not in required},
    ).map(lambda told: struct(**_placed(struct.__name__, told)))


def _placed(name: str, told: dict[str, Any]) -> dict[str, Any]:
    """The same fields, with what one of them asks of another."""
    if told.get("to") == "player" and name not in ("DecisionMade", "IrregularityCalled"):
        told["position"] = told.get("position") or 1
    if name == "CardsTurned" and told.get("at") is not None:
        told["from_"] = None
        told["at"] = tuple(range(len(told["cards"])))
    if name == "DiceThrown":
        if told.get("dice"):
            told["offensive"] = told["defensive"] = None
        else:
            told |= {"dice": None, "offensive": told.get("offensive") or (1, 2), "defensive": 3}
    return told


def bodies(name: str) -> st.SearchStrategy[Body]:
    """Facts of one stored name."""
    return structs(FACTS[name])


def any_body() -> st.SearchStrategy[Body]:
    """Facts of any kind."""
    return st.sampled_from(sorted(FACTS)).flatmap(bodies)
