"""The two ceremonies of WebAuthn: a device makes a passkey, and signs a challenge with it.

Only this file uses the library `webauthn`. The user is always verified by the device (PIN,
fingerprint or face), and no attestation is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import webauthn
from webauthn.helpers import parse_authentication_credential_json, parse_client_data_json
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webauthn.helpers.structs import AuthenticationCredential

    from infra.access.relying_party import RelyingParty

ALGORITHMS = [
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
]
"""What keys may sign with, best first: EdDSA, ES256, RS256."""

_NAME = "Round Ledger"
_MS = 1_000


class Made(NamedTuple):
    """A passkey that a device made."""

    credential_id: bytes
    public_key: bytes  # COSE
    sign_count: int


class Assertion(NamedTuple):
    """A browser's answer with what a device signed; nothing of it is checked yet."""

    credential: AuthenticationCredential
    credential_id: bytes
    user_handle: bytes | None
    crosses_origins: bool


def creation_options(
    party: RelyingParty,
    user: str,
    handle: bytes,
    challenge: bytes,
    known: Sequence[bytes],
    seconds: int,
) -> str:
    """What the browser is asked for to make a passkey, as JSON. known: ids the user has already."""
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=_NAME,
        user_name=user,
        user_id=handle,
        challenge=challenge,
        timeout=seconds * _MS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=each) for each in known],
        supported_pub_key_algs=ALGORITHMS,
    )
    return webauthn.options_to_json(options)


def request_options(
    party: RelyingParty, challenge: bytes, known: Sequence[bytes], seconds: int
) -> str:
    """What the browser is asked for to sign, as JSON. known: ids it may use; none: any of its."""
    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        challenge=challenge,
        timeout=seconds * _MS,
        allow_credentials=[PublicKeyCredentialDescriptor(id=each) for each in known],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return webauthn.options_to_json(options)


def made(answer: str, party: RelyingParty, challenge: bytes) -> Made | None:
    """The passkey in a browser's answer; None if it is not one for this challenge and party."""
    try:
        checked = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
            supported_pub_key_algs=ALGORITHMS,
        )
    except Exception:  # noqa: BLE001 - the library raises many for an answer that was made up
        return None
    return Made(checked.credential_id, checked.credential_public_key, checked.sign_count)


def read_answer(answer: str) -> Assertion | None:
    """A browser's answer to a request; None if it is not one."""
    try:
        credential = parse_authentication_credential_json(answer)
        client = parse_client_data_json(credential.response.client_data_json)
    except Exception:  # noqa: BLE001 - as above
        return None
    crosses = bool(client.cross_origin)
    return Assertion(credential, credential.raw_id, credential.response.user_handle, crosses)


def sign_count(
    answer: Assertion, party: RelyingParty, challenge: bytes, public_key: bytes
) -> int | None:
    """The device's count in an answer that this key signed; None if it did not.

    The count is the caller's to compare: only what is signed says that it went back.
    """
    if answer.crosses_origins:
        return None
    try:
        checked = webauthn.verify_authentication_response(
            credential=answer.credential,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except Exception:  # noqa: BLE001 - as above
        return None
    return checked.new_sign_count
