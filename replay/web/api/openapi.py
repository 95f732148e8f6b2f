"""The description of the HTTP API in `/openapi.json`, made from the structs that it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from ledger.finance.groups import By
from ledger.finance.journal import JournalEntry
from ledger.finance.win import TableWin
from replay.recording.answers import Answer
from replay.text.journal import JournalFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]

EVENT: Schema = {
    "type": "object",
    "description": "A CloudEvents 1.0 event. `data` is described by the schema of its `type`.",
    "required": ["specversion", "type", "source", "id", "time", "data"],
    "properties": {
        "specversion": {"const": "1.0"},
        "type": {"type": "string", "examples": ["roundledger.wager_placed.v1"]},
        "source": {"type": "string", "examples": ["/hollywood/CC-07/layout"]},
        "id": {"type": "string", "minLength": 1, "maxLength": 256},
        "time": {"type": "string", "format": "date-time"},
        "subject": {"type": "string", "examples": ["CC-07/2026-11-20/231"]},
        "sequence": {"type": "string", "pattern": "^[0-9]{1,18}$"},
        "boot": {"type": "string"},
        "data": {"type": "object"},
    },
}

REFUSAL: Schema = {
    "type": "object",
    "required": ["error", "hint", "kept"],
    "properties": {
        "error": {"type": "string"},
        "hint": {"type": "string"},
        "kept": {"const": False},
    },
}

_NOT_KEPT = {
    401: "A device key is required; the request has no known one.",
    403: "A web page sent it, or a fact has a source that the key is not valid for.",
    408: "The body took too long to arrive.",
    413: "The body is over 8 MiB, or a batch has over 10,000 events.",
    422: "The record cannot hold one of its facts.",
    429: "Too many requests are waiting; see Retry-After.",
    503: "The database does not answer; see Retry-After.",
}
_RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def answer_schema() -> Schema:
    """The JSON Schema of one answer."""
    (_,), components = msgspec.json.schema_components([Answer])
    schema: Schema = components["Answer"]
    return schema


def request_body() -> Schema:
    """The three modes."""
    return {
        "required": True,
        "content": {
            "application/cloudevents+json": {"schema": EVENT},
            "application/cloudevents-batch+json": {"schema": {"type": "array", "items": EVENT}},
            "application/json": {
                "schema": {
                    "type": "object",
                    "description": "Binary mode: `data`; the attributes as `ce-` headers.",
                }
            },
        },
    }


def responses() -> dict[int | str, Schema]:
    """Every possible status."""
    one = answer_schema()
    kept = {"schema": {"oneOf": [one, {"type": "array", "items": one}]}}
    answered: dict[int | str, Schema] = {
        200: {
            "description": "Kept, whatever the verdict: one answer, or a list for a batch.",
            "content": {"application/json": kept},
        }
    }
    for status, says in _NOT_KEPT.items():
        answered[status] = {
            "description": f"Nothing was kept. {says}",
            "content": {"application/json": {"schema": REFUSAL}},
        }
        if "Retry-After" in says:
            answered[status]["headers"] = _RETRY
    return answered


# -- finance -------------------------------------------------------------------------------------

Feed = Literal["win", "journal"]

JSON_LINES, PROBLEM = "application/x-ndjson", "application/problem+json"
"""Media types: of objects one a line, and of a refusal (RFC 9457)."""

_OBJECTS: Mapping[Feed, type] = {"win": TableWin, "journal": JournalEntry}

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}

_REFUSED = {
    401: "A reader key is required; the request has no known one.",
    403: "A web page sent the request.",
    404: "No fact on record is of the property or table, or the day has no such version.",
    422: "A parameter is not known or not valid, or a text journal would be of several casinos.",
    429: "Other answers are being worked out; see Retry-After.",
    503: "The database does not answer; see Retry-After.",
}
_FILTERS = {
    "property": ({"type": "string"}, "Only this casino, such as hollywood."),
    "gaming_day": ({"type": "string", "format": "date"}, "Only this gaming day."),
    "table": ({"type": "string"}, "Only this table, such as CC-07."),
}
_GROUP: Mapping[str, tuple[Schema, str]] = {
    "by": (
        {"type": "string", "enum": list(get_args(By)), "default": "table"},
        "An object for each table, or the sums of a shift, game, pit or house.",
    ),
    "version": (
        {"type": "integer", "minimum": 1},
        "What this version of a closed day said. It needs `gaming_day`.",
    ),
}
_FORMAT = {
    "format": (
        {"type": "string", "enum": list(get_args(JournalFormat)), "default": "json"},
        "Objects, or the text that hledger or Beancount reads.",
    )
}
_BEHIND = {
    "Facts-Behind": {
        "description": "Facts on record that the answer does not have yet; usually 0.",
        "schema": {"type": "integer", "minimum": 0},
    }
}


def feed_parameters(feed: Feed) -> Schema:
    """The parameters of a feed."""
    named = {**_FILTERS, **(_FORMAT if feed == "journal" else _GROUP)}
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "description": says, "schema": schema}
            for name, (schema, says) in named.items()
        ]
    }


def feed_responses(feed: Feed) -> dict[int | str, Schema]:
    """Every possible status of a feed. The schema is of one line."""
    content: Schema = {JSON_LINES: {"schema": _whole(_OBJECTS[feed])}}
    if feed == "journal":
        content["text/plain"] = {"schema": {"type": "string"}}
    answered: dict[int | str, Schema] = {
        200: {
            "description": "An object a line; no line if nothing is on record.",
            "headers": _BEHIND,
            "content": content,
        }
    }
    for status, says in _REFUSED.items():
        answered[status] = {
            "description": says,
            "content": {PROBLEM: {"schema": PROBLEM_SCHEMA}},
        }
        if "Retry-After" in says:
            answered[status]["headers"] = _RETRY
    return answered


def _whole(struct: type) -> Schema:
    """The schema of a struct with those of its parts in their places: it has no references."""
    (_,), components = msgspec.json.schema_components([struct])

    def placed(schema: Any) -> Any:  # noqa: ANN401 - any part of a JSON Schema
        if isinstance(schema, list):
            return [placed(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            return placed(components[schema["$ref"].rpartition("/")[2]])
        return {key: placed(each) for key, each in schema.items()}

    found: Schema = placed(components[struct.__name__])
    return found
