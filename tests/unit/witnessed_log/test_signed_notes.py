"""Signed notes and checkpoints in the published formats."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ledger.errors import Refused, Usage
from ledger.witnessed_log.checkpoints import (
    Checkpoint,
    LeafProof,
    checkpoint_from_text,
    checkpoint_text,
    proof_from_text,
    proof_text,
)
from ledger.witnessed_log.signed_notes import (
    COSIGNATURE,
    SIGNATURE,
    new_key,
    sign,
    signer_from_text,
    signer_text,
    verified,
    verifier_from_text,
)

GO_SECRET = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"  # noqa: S105 - published
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpR"
    "Zb6KE6RyyBwJnAM=\n"
)
"""A key and a note of the documentation of Go's package `sumdb/note`."""

TEXT = checkpoint_text(Checkpoint("ledger.example/record", 7, bytes(range(32))))
LOG = new_key("ledger.example/record", SIGNATURE)
WITNESS = new_key("witness.example", COSIGNATURE)
NOTE = f"{TEXT}\n{sign(TEXT, LOG)}{sign(TEXT, WITNESS, 1_700_000_000)}"


def test_the_note_of_another_implementation_is_made_and_read_alike() -> None:
    signer = signer_from_text(GO_SECRET, "here")
    assert str(signer.verifier) == GO_KEY
    text, _, _ = GO_NOTE.rpartition("\n\n")
    assert f"{text}\n\n{sign(text + chr(10), signer)}" == GO_NOTE
    _, (held,) = verified(GO_NOTE, [verifier_from_text(GO_KEY, "here")], "here")
    assert held.key.name == "PeterNeumann"


def test_a_key_is_read_back_and_its_secret_is_in_no_message() -> None:
    text = signer_text(LOG)
    assert signer_from_text(text, "here").verifier == LOG.verifier
    assert verifier_from_text(str(LOG.verifier), "here") == LOG.verifier
    secret = text.strip().split("+", 4)[-1]  # it may have a plus sign itself
    assert len(secret) == 44
    assert secret not in repr(LOG)
    with pytest.raises(Refused) as refused:
        signer_from_text(text.replace("ledger.example", "another.example"), "here")
    assert secret not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a+b", "a b", "a\nb", "a\u00a0b"])
def test_a_name_that_a_note_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(Usage):
        new_key(name, SIGNATURE)


def test_signatures_of_known_keys_hold_and_others_are_passed_over() -> None:
    _, both = verified(NOTE, [LOG.verifier, WITNESS.verifier], "here")
    assert [(each.key.name, each.time_s) for each in both] == [
        ("ledger.example/record", None),
        ("witness.example", 1_700_000_000),
    ]
    _, one = verified(NOTE, [WITNESS.verifier], "here")
    assert [each.key for each in one] == [WITNESS.verifier]
    stranger = new_key("witness.example", COSIGNATURE).verifier
    assert verified(NOTE, [stranger], "here")[1] == []


def test_a_cosignature_is_over_the_time_and_the_text() -> None:
    """The message as tlog-cosignature words it, checked with the library alone."""
    _, signature = NOTE.splitlines()[-1].rsplit(" ", 1)
    octets = base64.b64decode(signature)
    assert int.from_bytes(octets[4:12], "big") == 1_700_000_000
    message = f"cosignature/v1\ntime 1700000000\n{TEXT}".encode()
    Ed25519PublicKey.from_public_bytes(WITNESS.verifier.public).verify(octets[12:], message)


@pytest.mark.parametrize(
    ("old", "new"),
    [("\n7\n", "\n8\n"), ("ledger.example/record\n7", "ledger.example/records\n7")],
)
def test_a_changed_note_is_refused(old: str, new: str) -> None:
    with pytest.raises(Refused, match="does not hold"):
        verified(NOTE.replace(old, new, 1), [LOG.verifier], "here")


def test_another_time_of_a_cosignature_is_refused() -> None:
    line = NOTE.splitlines()[-1]
    later = sign(TEXT, WITNESS, 1_700_000_001)
    mixed = line[:40] + later[40:52] + line[52:]
    with pytest.raises(Refused):
        verified(NOTE.replace(line, mixed), [WITNESS.verifier], "here")


@pytest.mark.parametrize(
    "note",
    ["", "text\n", "text\n\n", "text\n\nno dash\n", "te\x01xt\n\n— a AAAA\n", "text\n\n— a AAAA"],
)
def test_what_is_no_note_is_refused(note: str) -> None:
    with pytest.raises(Refused, match="signed note"):
        verified(note, [LOG.verifier], "here")


def test_a_checkpoint_and_a_proof_are_read_back() -> None:
    assert checkpoint_from_text(TEXT, "here") == ("ledger.example/record", 7, bytes(range(32)))
    proof = LeafProof(3, [bytes(32), bytes(range(32))], NOTE, b"fact 3 ...")
    assert proof_from_text(proof_text(proof), "here") == proof
    alone = LeafProof(0, [], NOTE)
    assert proof_from_text(proof_text(alone), "here") == alone


@pytest.mark.parametrize(
    "text",
    ["a\n1\n", "a\n01\nAAAA\n", "a\n-1\nAAAA\n", "a\n1\nAAAA\n", "\n1\n" + "A" * 43 + "=\n"],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        checkpoint_from_text(text, "here")
