"""Codes of an authenticator app against the test vectors of RFC 6238, appendix B."""

from __future__ import annotations

import pytest

from infra.access.second_factor import _totp, matching_step

SECRET = b"12345678901234567890"
VECTORS = {
    59: "94287082",
    1111111109: "07081804",
    1111111111: "14050471",
    1234567890: "89005924",
    2000000000: "69279037",
    20000000000: "65353130",
}
"""By seconds since 1970, the code of eight digits by SHA-1; one of six is its end."""


@pytest.mark.parametrize("at_s", VECTORS)
def test_the_codes_are_those_of_rfc_6238(at_s: int) -> None:
    code = VECTORS[at_s][-6:]
    assert matching_step(_totp(SECRET), code, at_s) == at_s // 30
    assert matching_step(_totp(SECRET), code[:-1], at_s) is None
    assert matching_step(_totp(bytes(20)), code, at_s) is None, "of another secret"
    assert matching_step(_totp(SECRET), code, at_s, after=at_s // 30) is None, "used"
