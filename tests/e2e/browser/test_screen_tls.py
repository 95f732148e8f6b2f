"""Cookies over TLS in Chromium, which holds a name with `__Host-` to what that promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from playwright.sync_api import expect

from infra.postgres.connection import Database
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.fixtures.web import PASSWORD, opened_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.fixtures.web import Site

SESSION = "__Host-round_ledger_session"


def certified(folder: Path) -> tuple[Path, Path]:
    """A key and a certificate of its own for this machine, good for an hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "key.pem", folder / "certificate.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[0].write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    paths[1].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return paths


@pytest.fixture
def safe(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages over TLS, with a user of each role."""
    name = new_name()
    copy_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path, tls=certified(tmp_path)) as opened:
        yield opened


@pytest.mark.long
def test_over_tls_a_session_begins_and_ends_with_cookies_of_this_host_alone(
    browser: Browser, safe: Site
) -> None:
    context = browser.new_context(ignore_https_errors=True)  # nobody else signed it
    try:
        page = context.new_page()
        shown = page.goto(f"{safe.url}/sign-in")
        assert shown
        assert "includeSubDomains" in shown.headers["strict-transport-security"]
        page.get_by_label("Name").fill("surveillance")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        (kept,) = context.cookies()
        assert kept["name"] == SESSION, "the cookie of the form is left over"
        assert (kept["secure"], kept["httpOnly"], kept["path"]) == (True, True, "/")
        page.goto(f"{safe.url}/cases")
        expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert SESSION not in [each["name"] for each in context.cookies()]
    finally:
        context.close()
