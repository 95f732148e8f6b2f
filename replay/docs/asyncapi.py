"""`docs/asyncapi.json`: the feed as an AsyncAPI 3.0 document, for teams that build on it.

Made from the topics that are declared, the facts there are and the structs that views tell, so that
it cannot say otherwise than the program. It holds all that it refers to, so that it can be handed
on alone.
"""

from __future__ import annotations

import inspect
import json
import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

from consumers.rulings.rulings import OfRound, OfTable
from consumers.sealer.checkpoint_topic import CHECKPOINTS
from infra.kafka import topics
from infra.kafka.clients import DEFAULT_BOOTSTRAP
from infra.kafka.dead_letters import HEADERS as LETTER_HEADERS
from infra.kafka.records import (
    DIGEST,
    HASH,
    OUTBOX,
    POSITION,
    PREVIOUS,
    QUARANTINE_ID,
    RECEIVED_AT,
    REPUBLISHED,
    TABLE_SEQ,
)
from ledger.facts import FACTS, SUBJECT_REQUIRED, UPCASTERS, schemas
from ledger.record.kinds import WIRE_PREFIX
from replay.docs.messages import AS_IT_CAME, CARRIED

if TYPE_CHECKING:
    from msgspec import Struct

    from infra.kafka.topics import Topic
    from replay.docs.messages import Carried

Schema = dict[str, Any]

_COMPONENTS = "#/components/schemas"
_JSON = "application/schema+json;version=draft-2020-12"
_LETTER = "dead_letter"
_BINDING = {"bindingVersion": "0.5.0"}
_ADDRESS = {
    "host": "{brokers}",
    "variables": {
        "brokers": {
            "default": DEFAULT_BOOTSTRAP,
            "description": "The brokers of ROUND_LEDGER_KAFKA_BOOTSTRAP, one of them as host:port.",
        }
    },
    "bindings": {"kafka": _BINDING},
}
_SERVERS = {
    "plain": {
        **_ADDRESS,
        "protocol": "kafka",
        "description": "Brokers without TLS and login, as `round-ledger services up` runs them.",
    },
    "secure": {
        **_ADDRESS,
        "protocol": "kafka-secure",
        "description": "Brokers with TLS and a login by SCRAM-SHA-512.",
        "security": [{"$ref": "#/components/securitySchemes/scram"}],
    },
}
_SCRAM = {"type": "scramSha512", "description": "Each login needs its own rights on topics only."}
_KEY_PARTS = {"<gaming day>": r"\d{4}-\d{2}-\d{2}", "<entry>": ".+", "<log>": ".+"}
"""The pattern of a part of a key, if it is not any text without a slash."""


def page() -> str:
    """The document."""
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Round Ledger feed",
            "version": version("round-ledger"),
            "description": "CloudEvents 1.0 on Kafka in binary mode: attributes are `ce_*` headers,"
            " the value is JSON. Batches are compressed with zstd (`kafka-python[zstd]`)."
            " Topics may have a prefix (ROUND_LEDGER_TOPIC_PREFIX). What a reader may rely on"
            " stands in feed.md.",
        },
        "defaultContentType": "application/json",
        "servers": _SERVERS,
        "channels": {topic.name: _channel(topic) for topic in topics.declared()},
        "operations": {
            _name(topic.name): {
                "action": "send",
                "channel": {"$ref": f"#/channels/{_pointer(topic.name)}"},
                "summary": topic.says,
            }
            for topic in topics.declared()
        },
        "components": {
            "messages": {name: _bound(name, told) for name, told in _messages().items()},
            "schemas": _schemas(),
            "securitySchemes": {"scram": _SCRAM},
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _bound(name: str, message: Schema) -> Schema:
    """A message with the keys of its topic."""
    (topic,) = (each for each in topics.declared() if name in _names(each))
    return {**message, "bindings": {"kafka": {"key": _key(topic), **_BINDING}}}


def _key(topic: Topic) -> Schema:
    """The schema of a topic's keys."""
    if topic.name in AS_IT_CAME:
        return {"type": ["string", "null"], "description": "The key of the record as it came."}
    parts = re.split("(<[^>]+>)", topic.key)
    pattern = "".join(
        _KEY_PARTS.get(each, "[^/]+") if each.startswith("<") else re.escape(each) for each in parts
    )
    return {"type": "string", "pattern": f"^{pattern}$", "description": f"{topic.key}, in UTF-8."}


def _names(topic: Topic) -> list[str]:
    """The messages of a topic."""
    names = [_carried_name(each) for each in CARRIED if each.topic == topic.name]
    if topic.name == topics.FACTS:
        names += [*FACTS, *UPCASTERS]
    if topic.name in AS_IT_CAME:
        names += [_LETTER]
    if topic.is_compacted:
        names += [_taken_back(each) for each in CARRIED if each.topic == topic.name]
    return names


def _channel(topic: Topic) -> Schema:
    """One topic, what it is keyed by, and which records it carries."""
    names = _names(topic)
    return {
        "address": topic.name,
        "description": f"{topic.says} Keyed by {topic.key}.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": {
                    "cleanup.policy": topic.settings["cleanup.policy"].split(","),
                    "retention.ms": int(topic.settings["retention.ms"]),
                },
                **_BINDING,
            }
        },
    }


def _messages() -> dict[str, Schema]:
    """Every kind of record."""
    structs = {**FACTS, **{name: old for name, (old, _) in UPCASTERS.items()}}
    facts = {
        name: {
            "name": WIRE_PREFIX + name,
            "summary": _first_line(struct),
            "headers": {
                "$ref": f"{_COMPONENTS}/{'round' if name in SUBJECT_REQUIRED else 'fact'}_headers"
            },
            "payload": _payload(f"{_COMPONENTS}/{name}"),
        }
        for name, struct in structs.items()
    }
    told = {
        _carried_name(each): {
            "name": each.name,
            "summary": _first_line(each.value),
            "headers": {"$ref": f"{_COMPONENTS}/{_headers_of(each)}"},
            "payload": _payload(f"{_COMPONENTS}/{_carried_name(each)}"),
        }
        for each in CARRIED
    }
    taken_back = {
        _taken_back(each): {
            "name": each.name,
            "summary": "A tombstone: there is no such row any more. It has a key and no value.",
            "headers": {"$ref": f"{_COMPONENTS}/tombstone_headers"},
            "payload": _payload(f"{_COMPONENTS}/tombstone"),
        }
        for each in CARRIED
        if topics.topic(each.topic).is_compacted
    }
    letter = {
        "name": _LETTER,
        "summary": "A record that could not be handled: its key, headers and bytes as they came.",
        "description": "The value is whatever came, cut where it was large; it need not be JSON.",
        "contentType": "application/octet-stream",
        "headers": {"$ref": f"{_COMPONENTS}/letter_headers"},
        "payload": _payload(f"{_COMPONENTS}/octets"),
    }
    return facts | told | taken_back | {_LETTER: letter}


def _schemas() -> dict[str, Schema]:
    """The value and the headers of each kind of record."""
    values_ = [each.value for each in CARRIED]
    first = [each.first for each in CARRIED if each.first]
    _, parts = msgspec.json.schema_components(
        [*values_, *first], ref_template=_COMPONENTS + "/{name}"
    )
    values = {_carried_name(each): _value(each, parts) for each in CARRIED}
    used = {each.__name__ for each in (*values_, *first)}
    beside = {name: part for name, part in parts.items() if name not in used or name == "Ruling"}
    bare: dict[str, Schema] = {"tombstone": {"type": "null"}, "octets": {}}
    return dict(sorted({**beside, **values, **_headers(), **bare, **_facts()}.items()))


def _facts() -> dict[str, Schema]:
    """The kept schema of each fact; what it alone refers to stands beside it."""
    found: dict[str, Schema] = {}
    for file, text in schemas.generate().items():
        name = file.removesuffix(".json")
        schema = json.loads(text.replace("#/$defs/", f"{_COMPONENTS}/{name}."))
        parts = schema.pop("$defs", {})
        found |= {f"{name}.{part}": told for part, told in parts.items()}
        found[name] = {key: told for key, told in schema.items() if key not in ("$schema", "$id")}
    return found


def _value(each: Carried, parts: dict[str, Schema]) -> Schema:
    schema = dict(parts[each.value.__name__])
    if each.first:
        first = parts[each.first.__name__]
        schema["properties"] = first["properties"] | schema["properties"]
        schema["required"] = ["version", *schema["required"]]
    return schema


def _headers() -> dict[str, Schema]:
    """What stands in headers, all of it as text."""
    number, hexadecimal = r"^[0-9]+$", r"^[0-9a-f]{64}$"
    events = {
        "ce_specversion": {"const": "1.0"},
        "ce_type": {"type": "string"},
        "ce_source": {"type": "string"},
        "ce_id": {"type": "string"},
        "ce_time": {"type": "string", "format": "date-time"},
    }
    every = {"content-type": {"const": "application/json"}} | events
    record = {
        POSITION: {"type": "string", "pattern": number},
        TABLE_SEQ: {"type": "string", "pattern": number},
        RECEIVED_AT: {"type": "string", "pattern": number},
        HASH: {"type": "string", "pattern": hexadecimal},
        PREVIOUS: {"type": "string", "pattern": hexadecimal},
    }
    sometimes = {
        "ce_subject": {"type": "string"},
        "ce_sequence": {"type": "string"},
        "ce_boot": {"type": "string"},
        REPUBLISHED: {"const": "1"},
    }
    aside = {
        QUARANTINE_ID: {"type": "string", "pattern": number},
        DIGEST: {"type": "string", "pattern": hexadecimal},
    }
    view = {
        OUTBOX: {"type": "string", "pattern": number},
        POSITION: {"type": "string", "pattern": number},
    }
    of_ruling = {
        "ce_property": {"type": "string"},
        "ce_gamingday": {"type": "string", "format": "date"},
        "ce_roundstart": {"type": "string", "format": "date-time"},
        "ce_roundend": {"type": "string", "format": "date-time"},
    }
    of_finding = {"ce_property": of_ruling["ce_property"]}
    its_day = {"ce_gamingday": of_ruling["ce_gamingday"]}
    return {
        "fact_headers": _object(every | record, sometimes),
        "round_headers": _object(every | record | {"ce_subject": {"type": "string"}}, sometimes),
        "quarantine_headers": _object(every | aside, {}),
        "view_headers": _object(every | view, {}),
        "ruling_headers": _object(every | view | of_ruling, {}),
        "finding_headers": _object(every | view | of_finding, its_day),
        "checkpoint_headers": _object(
            {name: schema for name, schema in every.items() if name != "ce_time"}, {}
        ),
        "tombstone_headers": _object(events | view, {}),
        "letter_headers": _object({name: {"type": "string"} for name in LETTER_HEADERS}, {}),
    }


def _headers_of(each: Carried) -> str:
    if each.topic == topics.QUARANTINE:
        return "quarantine_headers"
    if each.topic == CHECKPOINTS:
        return "checkpoint_headers"
    of = {OfRound: "ruling_headers", OfTable: "finding_headers"}
    return of[each.first] if each.first else "view_headers"


def _object(required: dict[str, Schema], optional: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": optional | required, "required": list(required)}


def _payload(ref: str) -> Schema:
    return {"schemaFormat": _JSON, "schema": {"$ref": ref}}


def _first_line(struct: type[Struct]) -> str:
    return (inspect.getdoc(struct) or "").partition("\n")[0]


def _carried_name(each: Carried) -> str:
    """As the fact's: `round_adjudicated.v1`; of two kinds of one type, the second by its struct."""
    name = each.name.removeprefix(WIRE_PREFIX)
    first = next(other for other in CARRIED if other.name == each.name)
    return name if first is each else f"{name}.{each.value.__name__}"


def _taken_back(each: Carried) -> str:
    return f"{_carried_name(each)}.Tombstone"


def _name(topic: str) -> str:
    """An operation's name: letters, digits, dots and dashes are what the specification takes."""
    return f"publish.{topic.removeprefix('ledger.')}"


def _pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
