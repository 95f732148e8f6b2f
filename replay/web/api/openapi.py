"""The description of `POST /v1/facts` in `/openapi.json`, made from its response structs."""

from __future__ import annotations

from typing import Any

import msgspec

from replay.recording.answers import Answer

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
