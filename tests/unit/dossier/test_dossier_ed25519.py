"""The checker's own Ed25519: the RFC's vectors, a library, and signatures made to deceive."""

from __future__ import annotations

import random

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from replay.checker.ed25519 import ORDER, PRIME, is_signed

# RFC 8032, section 7.1: public key, message, signature.
VECTORS = {
    "TEST 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    "TEST 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    "TEST 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
    "TEST SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        (
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
            "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    ),
}
# Points of small order, and encodings of a coordinate not below the prime (Chalkias and others,
# "Taming the many EdDSAs", 2020, lists them).
SMALL_ORDER = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
)
NOT_CANONICAL = (
    (PRIME).to_bytes(32, "little"),
    (PRIME + 1).to_bytes(32, "little"),
    (2**255 - 1).to_bytes(32, "little"),
    (1 | 1 << 255).to_bytes(32, "little"),  # x = 0 with its sign set
)


def keys(seed: int) -> tuple[Ed25519PrivateKey, bytes]:
    private = Ed25519PrivateKey.from_private_bytes(random.Random(seed).randbytes(32))  # noqa: S311 - repeatable
    return private, private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def library_says(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_the_rfc_are_signed(name: str) -> None:
    public, message, signature = map(bytes.fromhex, VECTORS[name])
    assert is_signed(public, message, signature)
    assert not is_signed(public, message + b"x", signature)


def test_it_agrees_with_a_library_on_random_messages_whole_and_damaged() -> None:
    chance = random.Random(8032)  # noqa: S311 - repeatable
    for seed in range(60):
        private, public = keys(seed)
        message = chance.randbytes(chance.randrange(200))
        signature = private.sign(message)
        assert is_signed(public, message, signature)
        damaged = bytearray(signature)
        damaged[chance.randrange(64)] ^= 1 << chance.randrange(8)
        assert not is_signed(public, message, bytes(damaged))
        assert not library_says(public, message, bytes(damaged))


@pytest.mark.long
def test_it_agrees_with_a_library_on_thousands_of_random_messages() -> None:
    chance = random.Random(25519)  # noqa: S311 - repeatable
    for seed in range(3_000):
        private, public = keys(10_000 + seed)
        message = chance.randbytes(chance.randrange(1_000))
        signature = bytearray(private.sign(message))
        if seed % 3:
            signature[chance.randrange(64)] ^= 1 << chance.randrange(8)
        said = is_signed(public, message, bytes(signature))
        assert said == library_says(public, message, bytes(signature)) == (seed % 3 == 0)


def test_a_signature_with_the_order_added_is_refused_though_the_equation_holds() -> None:
    private, public = keys(1)
    signature = private.sign(b"paid")
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    again = signature[:32] + scalar.to_bytes(32, "little")
    assert is_signed(public, b"paid", signature)
    assert not is_signed(public, b"paid", again)


@pytest.mark.parametrize("point", SMALL_ORDER)
def test_a_key_of_small_order_signs_nothing(point: str) -> None:
    key = bytes.fromhex(point)
    for first in (key, bytes.fromhex(SMALL_ORDER[0])):
        assert not is_signed(key, b"whatever", first + bytes(32))


def test_a_lenient_checker_would_have_been_deceived_by_a_key_of_small_order() -> None:
    neutral = bytes.fromhex(SMALL_ORDER[0])
    assert library_says(neutral, b"whatever", neutral + bytes(32))


@pytest.mark.parametrize("octets", NOT_CANONICAL)
def test_a_coordinate_not_below_the_prime_is_no_key_and_no_part_of_a_signature(
    octets: bytes,
) -> None:
    private, public = keys(2)
    signature = private.sign(b"paid")
    assert not is_signed(octets, b"paid", signature)
    assert not is_signed(public, b"paid", octets + signature[32:])


@pytest.mark.parametrize(("key", "signature"), [(31, 64), (33, 64), (32, 63), (32, 65), (0, 0)])
def test_what_has_not_the_length_of_a_key_or_a_signature_is_refused(
    key: int, signature: int
) -> None:
    assert not is_signed(bytes(key), b"", bytes(signature))
