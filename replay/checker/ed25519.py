"""Verification of Ed25519 signatures in Python alone, from the formulas of RFC 8032.

It takes milliseconds and its duration depends on its input. That is safe with a public key. It must
never sign: a secret key belongs in a library made for it.
"""

from __future__ import annotations

import hashlib

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, PRIME - 2, PRIME) % PRIME
_ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)
_SIGN = 1 << 255
_KEY_OCTETS, _SIGNATURE_OCTETS = 32, 64

# A point is X, Y, Z, T with x = X/Z, y = Y/Z and x * y = T/Z (RFC 8032, 5.1.4).
_NEUTRAL = (0, 1, 1, 0)


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether this key signed this message (RFC 8032, 5.1.7).

    Strict: refuses S at or above the group's order and coordinates at or above the prime. Refuses
    keys of small order too, for which one signature is valid for many messages.
    """
    if len(public) != _KEY_OCTETS or len(signature) != _SIGNATURE_OCTETS:
        return False
    key, scalar = _point(public), int.from_bytes(signature[32:], "little")
    if key is None or _point(signature[:32]) is None or scalar >= ORDER:
        return False
    if _octets(_times(8, key)) == _octets(_NEUTRAL):
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    x, y, z, t = key
    minus = (PRIME - x, y, z, PRIME - t)
    return _octets(_sum(_times(scalar, _BASE), _times(challenge, minus))) == signature[:32]


def _point(octets: bytes) -> tuple[int, int, int, int] | None:
    """The point that 32 bytes encode (RFC 8032, 5.1.3), or None if they encode none."""
    number = int.from_bytes(octets, "little")
    y = number & (_SIGN - 1)
    if y >= PRIME:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, PRIME - 2, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square:
        x = x * _ROOT_OF_MINUS_ONE % PRIME
    if x * x % PRIME != square or (x == 0 and number & _SIGN):
        return None
    if (x & 1) != number >> 255:
        x = PRIME - x
    return (x, y, 1, x * y % PRIME)


def _octets(point: tuple[int, int, int, int]) -> bytes:
    inverse = pow(point[2], PRIME - 2, PRIME)
    x, y = point[0] * inverse % PRIME, point[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _sum(
    one: tuple[int, int, int, int], other: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    """The sum of two points, equal or not, by one formula (RFC 8032, 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % PRIME
    c = 2 * one[3] * other[3] * _D % PRIME
    d = 2 * one[2] * other[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME)


def _times(scalar: int, point: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    total = _NEUTRAL
    while scalar:
        if scalar & 1:
            total = _sum(total, point)
        point = _sum(point, point)
        scalar >>= 1
    return total


def _base() -> tuple[int, int, int, int]:
    found = _point((4 * pow(5, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little"))
    if found is None:
        raise AssertionError("the base point is on the curve")
    return found


_BASE = _base()
