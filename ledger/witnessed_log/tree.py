"""A Merkle tree: its root, and proofs of inclusion and of consistency (RFC 6962, section 2.1).

A tree is read by `hash_at(level, index)`: the hash of one of its complete subtrees. A subtree of a
level has 2 to that power leaves, and subtrees of one level are numbered from 0.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    HashAt = Callable[[int, int], bytes]

HASH_OCTETS = 32
EMPTY_ROOT = hashlib.sha256().digest()
"""The root of a tree without leaves."""


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over its two subtrees."""
    return hashlib.sha256(b"\1" + left + right).digest()


def complete_root(hashes: Sequence[bytes]) -> bytes:
    """The root over hashes of equal subtrees. Their number is a power of two."""
    while len(hashes) > 1:
        hashes = [
            node_hash(left, right) for left, right in zip(hashes[::2], hashes[1::2], strict=True)
        ]
    return hashes[0]


def root(size: int, hash_at: HashAt) -> bytes:
    """The root of the tree of the first `size` leaves."""
    return _hash_of(0, size, hash_at) if size else EMPTY_ROOT


def root_of(hashes: Iterable[bytes]) -> bytes:
    """The root over hashes of leaves, in memory that grows by the tree's height only."""
    peaks: list[tuple[int, bytes]] = []  # complete subtrees by falling level
    for each in hashes:
        level, peak = 0, each
        while peaks and peaks[-1][0] == level:
            peak = node_hash(peaks.pop()[1], peak)
            level += 1
        peaks.append((level, peak))
    if not peaks:
        return EMPTY_ROOT
    result = peaks.pop()[1]
    while peaks:
        result = node_hash(peaks.pop()[1], result)
    return result


def inclusion_proof(index: int, size: int, hash_at: HashAt) -> list[bytes]:
    """The hashes beside the path from a leaf to the root, from the leaf's sibling up."""
    start, end, beside = 0, size, []
    while end - start > 1:
        middle = start + _largest_power_below(end - start)
        if index < middle:
            beside.append(_hash_of(middle, end, hash_at))
            end = middle
        else:
            beside.append(_hash_of(start, middle, hash_at))
            start = middle
    return beside[::-1]


def consistency_proof(old_size: int, size: int, hash_at: HashAt) -> list[bytes]:
    """The hashes that show that the tree of `old_size` leaves is the beginning of a larger one.

    Empty if either tree is the other, or if the old one has no leaves.
    """
    if old_size in (0, size):
        return []
    start, end, beside = 0, size, []
    while old_size != end:
        middle = start + _largest_power_below(end - start)
        if old_size <= middle:
            beside.append(_hash_of(middle, end, hash_at))
            end = middle
        else:
            beside.append(_hash_of(start, middle, hash_at))
            start = middle
    whole = [] if start == 0 else [_hash_of(start, end, hash_at)]
    return whole + beside[::-1]


def root_by_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """The root that a proof of inclusion leads to; None if the proof has another length.

    `leaf` is the hash of the leaf. The leaf is in a tree whose root equals the result.
    """
    if not 0 <= index < size or len(leaf) != HASH_OCTETS:
        return None
    node, last = index, size - 1
    result = leaf
    for beside in proof:
        if last == 0:
            return None
        if node & 1 or node == last:
            result = node_hash(beside, result)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            result = node_hash(result, beside)
        node, last = node >> 1, last >> 1
    return result if last == 0 else None


def is_consistent(
    old_size: int, size: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether a proof shows that the old tree is the beginning of the new one.

    An old tree without leaves is the beginning of any, and no proof says so: False.
    """
    if not 0 < old_size <= size:
        return False
    if old_size == size:
        return not proof and old_root == new_root
    if not proof:
        return False
    path = list(proof)
    node, last = old_size - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = path.pop(0) if node else old_root
    for beside in path:
        if last == 0:
            return False
        if node & 1 or node == last:
            old, new = node_hash(beside, old), node_hash(beside, new)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, beside)
        node, last = node >> 1, last >> 1
    return last == 0 and (old, new) == (old_root, new_root)


def _hash_of(start: int, end: int, hash_at: HashAt) -> bytes:
    """The hash of leaves `start` to `end - 1`; `start` is a multiple of the next power of two."""
    result = None
    while end > start:
        level = (end & -end).bit_length() - 1
        level = min(level, (end - start).bit_length() - 1)
        peak = hash_at(level, (end >> level) - 1)
        result = peak if result is None else node_hash(peak, result)
        end -= 1 << level
    if result is None:
        raise ValueError("no leaves have no hash")
    return result


def _largest_power_below(count: int) -> int:
    """The largest power of two below a number over one."""
    return 1 << ((count - 1).bit_length() - 1)
