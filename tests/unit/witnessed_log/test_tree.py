"""The Merkle tree beside vectors and laws that others wrote (RFC 6962, section 2.1)."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from ledger.witnessed_log.tree import (
    EMPTY_ROOT,
    consistency_proof,
    inclusion_proof,
    is_consistent,
    leaf_hash,
    node_hash,
    root,
    root_by_inclusion,
    root_of,
)
from tests.suite.budget import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "merkle_proofs.json").read_text())
CASES: list[dict[str, Any]] = VECTORS["cases"]


def leaves_of(count: int) -> list[bytes]:
    return [leaf_hash(str(number).encode()) for number in range(count)]


def hash_at(leaves: list[bytes]) -> Callable[[int, int], bytes]:
    def complete(level: int, index: int) -> bytes:
        part = leaves[index << level : (index + 1) << level]
        assert len(part) == 1 << level, "only complete subtrees may be asked for"
        return by_definition(part)

    return complete


def by_definition(leaves: list[bytes]) -> bytes:
    """The hash of a tree as section 2.1 defines it."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(by_definition(leaves[:split]), by_definition(leaves[split:]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_proof_holds_or_not_as_the_vectors_say(case: dict[str, Any]) -> None:
    def octets(name: str) -> bytes:
        return base64.b64decode(case[name])

    proof = [base64.b64decode(each) for each in case["proof"]]
    if "leaf" in case:
        led = root_by_inclusion(octets("leaf_hash"), case["leaf"], case["size"], proof)
        holds = led == octets("root")
    else:
        sizes = case["old_size"], case["size"]
        holds = is_consistent(*sizes, octets("old_root"), octets("root"), proof)
    assert holds is case["holds"]


def test_vectors_are_of_both_kinds_and_both_ways() -> None:
    for kind in ("leaf", "old_size"):
        assert {case["holds"] for case in CASES if kind in case} == {True, False}


def test_roots_are_those_of_the_definition() -> None:
    for count in range(70):
        leaves = leaves_of(count)
        assert root(count, hash_at(leaves)) == root_of(leaves) == by_definition(leaves)
    assert root_of([]) == EMPTY_ROOT


@examples(everyday=100, whole=2_000, size=st.integers(1, 600), chosen=st.randoms())
def test_every_leaf_is_proved_and_no_other_one(size: int, chosen: Random) -> None:
    leaves = leaves_of(size)
    at = chosen.randrange(size)
    proof = inclusion_proof(at, size, hash_at(leaves))
    whole = root_of(leaves)
    assert root_by_inclusion(leaves[at], at, size, proof) == whole
    assert root_by_inclusion(leaf_hash(b"another"), at, size, proof) != whole
    other = chosen.randrange(size)
    if other != at:
        assert root_by_inclusion(leaves[at], other, size, proof) != whole
    if proof:
        spoiled = chosen.randrange(len(proof))
        proof[spoiled] = node_hash(proof[spoiled], proof[spoiled])
        assert root_by_inclusion(leaves[at], at, size, proof) != whole


@examples(everyday=100, whole=2_000, size=st.integers(0, 600), chosen=st.randoms())
def test_growth_is_proved_and_nothing_else(size: int, chosen: Random) -> None:
    leaves = leaves_of(size)
    old_size = chosen.randrange(size + 1)
    old, new = root_of(leaves[:old_size]), root_of(leaves)
    proof = consistency_proof(old_size, size, hash_at(leaves))
    assert is_consistent(old_size, size, old, new, proof) is (old_size > 0)
    if old_size:
        edited = [*leaves[: old_size - 1], leaf_hash(b"edited")]
        assert not is_consistent(old_size, size, root_of(edited), new, proof)
    if proof:
        assert not is_consistent(old_size, size, old, new, proof[:-1])
        assert not is_consistent(old_size, size, old, new, [*proof, proof[-1]])
    assert not is_consistent(size + 1, size, new, new, [])
