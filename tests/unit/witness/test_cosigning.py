"""A witness answers as tlog-witness says, and cosigns nothing that takes something back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from ledger.witnessed_log.checkpoints import Checkpoint, checkpoint_text, hash_text
from ledger.witnessed_log.signed_notes import (
    SIGNATURE,
    SignerKey,
    new_key,
    sign,
    verified,
)
from ledger.witnessed_log.tree import consistency_proof, leaf_hash, root_of
from replay.witness.cosigning import WitnessAnswer, cosign
from replay.witness.store import SeenTrees, begin, load_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG = new_key("ledger.example/record", SIGNATURE)
LEAVES = [leaf_hash(str(number).encode()) for number in range(40)]
NOW_S = 1_700_000_000


class Asked:
    """A witness, and requests to it of a log with these leaves."""

    def __init__(self, folder: Path) -> None:
        self.key = load_key(folder)
        self.folder = folder

    def __call__(
        self, old: int, size: int, leaves: list[bytes] = LEAVES, **changed: list[bytes] | SignerKey
    ) -> WitnessAnswer:
        return self.send(request(old, size, leaves, **changed))  # type: ignore[arg-type] # by name

    def send(self, body: str) -> WitnessAnswer:
        logs = {LOG.verifier.name: LOG.verifier}
        return cosign(body, logs, self.key, SeenTrees(self.folder), NOW_S)


def request(
    old: int,
    size: int,
    leaves: list[bytes],
    *,
    key: SignerKey = LOG,
    proof: list[bytes] | None = None,
) -> str:
    if proof is None:
        proof = consistency_proof(old, size, complete(leaves)) if old <= size else []
    text = checkpoint_text(Checkpoint(key.verifier.name, size, root_of(leaves[:size])))
    lines = "".join(f"{hash_text(each)}\n" for each in proof)
    return f"old {old}\n{lines}\n{text}\n{sign(text, key)}"


def complete(leaves: list[bytes]) -> Callable[[int, int], bytes]:
    return lambda level, index: root_of(leaves[index << level : (index + 1) << level])


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    begin(tmp_path / "witness", "witness.example")
    return Asked(tmp_path / "witness")


def test_what_continues_is_cosigned_with_the_time(asked: Asked) -> None:
    for old, size in ((0, 3), (3, 3), (3, 17), (17, 40)):
        answer = asked(old, size)
        assert answer.status == 200
        text = checkpoint_text(Checkpoint(LOG.verifier.name, size, root_of(LEAVES[:size])))
        note = f"{text}\n{sign(text, LOG)}{answer.text}"
        _, held = verified(note, [asked.key.verifier], "here")
        assert [(each.key, each.time_s) for each in held] == [(asked.key.verifier, NOW_S)]
    assert SeenTrees(asked.folder).newest(LOG.verifier.name).size == 40


def test_another_old_size_is_answered_with_the_right_one(asked: Asked) -> None:
    asked(0, 20)
    for old, size in ((0, 40), (19, 40), (30, 40)):
        answer = asked(old, size)
        assert (answer.status, answer.text, answer.type) == (409, "20\n", "text/x.tlog.size")


def test_a_shorter_log_a_fork_and_a_false_proof_are_not_cosigned(asked: Asked) -> None:
    asked(0, 20)
    assert asked(20, 10).status == 400, "a log that was set back"
    other = [leaf_hash(b"another"), *LEAVES[1:]]
    assert asked(20, 40, other).status == 422, "a log that was rewritten"
    assert asked(20, 20, other).status == 422, "another log of the same size"
    assert asked(20, 40, proof=[]).status == 422
    assert asked(20, 40, proof=[bytes(32)]).status == 422
    assert SeenTrees(asked.folder).newest(LOG.verifier.name).root == root_of(LEAVES[:20])
    assert asked(20, 40).status == 200, "the true log goes on"


def test_a_proof_from_nothing_and_a_false_empty_tree_are_not_cosigned(asked: Asked) -> None:
    assert asked(0, 5, proof=[bytes(32)]).status == 422
    text = checkpoint_text(Checkpoint(LOG.verifier.name, 0, bytes(32)))
    assert asked.send(f"old 0\n\n{text}\n{sign(text, LOG)}").status == 422
    assert asked(0, 0).status == 200


def test_an_unknown_log_and_a_signature_of_another_key_are_told_apart(asked: Asked) -> None:
    assert asked(0, 5, key=new_key("another.example", SIGNATURE)).status == 404
    assert asked(0, 5, key=new_key(LOG.verifier.name, SIGNATURE)).status == 403
    body = request(0, 5, LEAVES)
    assert asked.send(body.replace("\n5\n", "\n6\n")).status == 403


@pytest.mark.parametrize("body", ["", "old 1", "old 01\n\n", "old x\n\nnote", "old 0\n\nnote\n"])
def test_what_is_no_request_is_refused(asked: Asked, body: str) -> None:
    assert asked.send(body).status == 400


def test_two_requests_at_once_never_set_a_witness_back(asked: Asked) -> None:
    """Both continue the same tree: one is cosigned, and the other one learns the new size."""
    asked(0, 10)
    start = threading.Barrier(8)
    answers: list[int] = []

    def ask(size: int) -> None:
        start.wait()
        answers.append(asked(10, size).status)

    threads = [threading.Thread(target=ask, args=(size,)) for size in range(20, 28)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(answers) == [200, *[409] * 7]


def test_a_witness_that_is_killed_before_its_answer_has_the_tree_on_disk(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other way round, it could cosign two trees of one size."""

    class KilledError(BaseException):
        pass

    def killed(*_: object) -> str:
        raise KilledError

    monkeypatch.setattr("replay.witness.cosigning.sign", killed)
    with pytest.raises(KilledError):
        asked(0, 10)
    assert SeenTrees(asked.folder).newest(LOG.verifier.name).size == 0, "nothing was signed"
    monkeypatch.undo()
    assert asked(0, 10).status == 200
    assert SeenTrees(asked.folder).newest(LOG.verifier.name).size == 10
