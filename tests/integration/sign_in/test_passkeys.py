"""Passkeys: password and code in one, signed by a device for this server and this browser alone.

The device is the test's own, written from the text of WebAuthn level 3 (sections 6.1 and 6.5), and
signs whatever a test wants it to.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from concurrent.futures import Future, ThreadPoolExecutor
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from infra.access import sessions
from infra.access.connections import Actor
from infra.access.passkeys import CHALLENGE_S, PASSKEYS_MAX
from infra.access.second_factor import RECOVERY_CODES
from infra.access.sessions import FRESH_S
from infra.access.tries import NAMES_MAX, TRIES_MAX
from replay.web.access.authentication import FORM, PENDING, SECOND_PASSKEY, SESSION
from replay.web.entry.second_person import CHALLENGE
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres import copied, waits_for_a_lock
from tests.fixtures.web import ACTOR, PASSWORD, opened_site
from tests.scenes.table_days import day_lines
from tests.scenes.view_feeds import received
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

    from infra.access.connections import Event
    from infra.postgres.connection import AnyConnection
    from tests.fixtures.web import Browser, Site

pytestmark = pytest.mark.usefixtures("quick_hashes")

HOST, NAME = "ledger.example", "finance"
ORIGIN = f"https://{HOST}"
PRESENT, VERIFIED, ATTESTED = 1, 4, 64
APPROVAL = "/approvals/hollywood/06522a1b4c3d80-9f01ab"
_US = 1_000_000


def b64(octets: bytes) -> str:
    return urlsafe_b64encode(octets).decode().rstrip("=")


def unb64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Signs(NamedTuple):
    """How a device signs; every field is one that a hostile device or page may choose."""

    origin: str = ORIGIN
    host: str = HOST
    flags: int = PRESENT | VERIFIED
    challenge: str = ""  # empty: the one that was asked for
    handle: bytes | None = None  # None: the one it was made with
    count: int | None = None  # None: one more
    kind: str = ""  # empty: the usual one
    crosses: bool = False


RIGHT = Signs()


class Device:
    """A device with one passkey."""

    def __init__(self, algorithm: str = "ES256", count: int = 0) -> None:
        self.id, self.handle, self.count = secrets.token_bytes(16), b"", count
        self.key: Any
        if algorithm == "ES256":
            self.key = ec.generate_private_key(ec.SECP256R1())
            numbers = self.key.public_key().public_numbers()
            point = [each.to_bytes(32, "big") for each in (numbers.x, numbers.y)]
            self.cose: dict[int, object] = {1: 2, 3: -7, -1: 1, -2: point[0], -3: point[1]}
        elif algorithm == "EdDSA":
            self.key = ed25519.Ed25519PrivateKey.generate()
            self.cose = {1: 1, 3: -8, -1: 6, -2: self.key.public_key().public_bytes_raw()}
        elif algorithm == "RS256":
            self.key = rsa.generate_private_key(65_537, 2_048)
            public = self.key.public_key().public_numbers()
            self.cose = {1: 3, 3: -257, -1: public.n.to_bytes(256, "big"), -2: b"\1\0\1"}
        else:
            assert algorithm == "ES512"
            self.key = ec.generate_private_key(ec.SECP521R1())
            numbers = self.key.public_key().public_numbers()
            point = [each.to_bytes(66, "big") for each in (numbers.x, numbers.y)]
            self.cose = {1: 2, 3: -36, -1: 3, -2: point[0], -3: point[1]}

    def make(self, options: dict[str, Any], how: Signs = RIGHT) -> str:
        """The browser's answer to a request to make a passkey."""
        self.handle = unb64(options["user"]["id"])
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor2.dumps(self.cose)
        data = self._data(how._replace(flags=how.flags | ATTESTED)) + attested
        said = self._client(options, how, "webauthn.create")
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer({"clientDataJSON": b64(said), "attestationObject": b64(made)})

    def sign(self, options: dict[str, Any], how: Signs = RIGHT) -> str:
        """The browser's answer to a request to sign."""
        self.count = self.count + 1 if how.count is None else how.count
        data = self._data(how)
        said = self._client(options, how, "webauthn.get")
        signed = data + hashlib.sha256(said).digest()
        if isinstance(self.key, ec.EllipticCurvePrivateKey):
            octets = self.key.sign(signed, ec.ECDSA(SHA256()))
        elif isinstance(self.key, rsa.RSAPrivateKey):
            octets = self.key.sign(signed, padding.PKCS1v15(), SHA256())
        else:
            octets = self.key.sign(signed)
        handle = self.handle if how.handle is None else how.handle
        parts = {"clientDataJSON": said, "authenticatorData": data, "signature": octets}
        if handle:
            parts["userHandle"] = handle
        return self._answer({name: b64(each) for name, each in parts.items()})

    def _data(self, how: Signs) -> bytes:
        digest = hashlib.sha256(how.host.encode()).digest()
        return digest + bytes([how.flags]) + struct.pack(">I", self.count)

    def _client(self, options: dict[str, Any], how: Signs, kind: str) -> bytes:
        said = {
            "type": how.kind or kind,
            "challenge": how.challenge or options["challenge"],
            "origin": how.origin,
            "crossOrigin": how.crosses,
        }
        return json.dumps(said).encode()

    def _answer(self, response: dict[str, str]) -> str:
        name = b64(self.id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})


@pytest.fixture
def house(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of a house whose public address allows passkeys."""
    with opened_site(copied(postgres_url, web_template), tmp_path, PUBLIC_URL=ORIGIN) as opened:
        yield opened


def owner(site: Site, statement: str, *given: object) -> None:
    with site.database.connect("ledger_owner") as connection:
        connection.execute(statement.encode(), given)


def no_tries(site: Site) -> None:
    owner(site, "DELETE FROM access.tries")


def grown_old(site: Site) -> None:
    """As if every session had begun 15 minutes ago."""
    owner(site, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
    owner(site, "UPDATE access.sessions SET proven_at_us = NULL")


def events(site: Site, what: str) -> list[Event]:
    return [each for each in site.ports.access.events(1_000) if each.what == what]


def creation(who: Browser) -> dict[str, Any]:
    """What the page asks the browser for, to make a passkey."""
    page = who.post("/account/passkeys/new", data={"csrf": who.csrf})
    found = re.search(r'data-options="([^"]+)"', page.text)
    assert found, page.text
    made: dict[str, Any] = json.loads(unescape(found[1]))
    return made


def added(who: Browser, device: Device, how: Signs = RIGHT, label: str = "phone") -> httpx.Response:
    form = {"csrf": who.csrf, "passkey": device.make(creation(who), how), "label": label}
    return who.post("/account/passkeys", data=form)


def enrolled(site: Site, name: str = NAME, algorithm: str = "ES256", count: int = 0) -> Device:
    """A user's device whose passkey is added."""
    device = Device(algorithm, count)
    assert added(site.browser(name), device).status_code in (200, 303)
    return device


def request_to_sign(browser: Browser) -> dict[str, Any]:
    """What the browser is asked for before sign-in."""
    token = browser.token("/sign-in")
    answer = browser.post("/sign-in/passkey/challenge", headers={"X-CSRF-Token": token})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def sent(browser: Browser, answer: str, then: str = "/account") -> httpx.Response:
    form = {"csrf": browser.token("/sign-in"), "passkey": answer, "next": then}
    return browser.post("/sign-in/passkey", data=form)


def signs_in(site: Site, device: Device, how: Signs = RIGHT) -> httpx.Response:
    """What a new browser is answered that signs in with this device."""
    browser = site.browser()
    return sent(browser, device.sign(request_to_sign(browser), how))


def to_show_again(who: Browser) -> dict[str, Any]:
    headers = {"X-CSRF-Token": who.csrf}
    told: dict[str, Any] = who.post("/session/passkey/challenge", headers=headers).json()
    return told


def approves(who: Browser, answer: str = "") -> int:
    """The status of an approval with this; 404: it goes on, and there is no such request."""
    form = {"csrf": who.csrf, "step": "approve"} | ({"passkey_again": answer} if answer else {})
    return who.post(APPROVAL, data=form).status_code


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "RS256"])
def test_a_passkey_signs_in_at_once(house: Site, algorithm: str) -> None:
    device = enrolled(house, algorithm=algorithm)
    browser = house.browser()
    asked = request_to_sign(browser)
    assert (asked["rpId"], asked["userVerification"]) == (HOST, "required")
    assert not asked.get("allowCredentials"), "the device says whose it is"
    answer = sent(browser, device.sign(asked))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    page = browser.get("/account").text
    assert ("signs in as <b>finance</b>" in page, ">phone</td>" in page) == (True, True)
    assert approves(browser) == 404, "it is fresh"
    assert events(house, "signed_in")[0].detail == "passkey"


def test_it_is_asked_for_as_the_standard_has_it(house: Site) -> None:
    who, other = house.browser(NAME), house.browser(NAME)
    asked = creation(who)
    assert asked["rp"] == {"name": "Round Ledger", "id": HOST}
    assert [each["alg"] for each in asked["pubKeyCredParams"]] == [-8, -7, -257]
    wants = asked["authenticatorSelection"]
    assert (wants["residentKey"], wants["userVerification"]) == ("required", "required")
    assert asked["attestation"] == "none"
    assert len(unb64(asked["challenge"])) == 32
    assert NAME.encode() not in unb64(asked["user"]["id"])
    device = Device()
    form = {"csrf": who.csrf, "passkey": device.make(asked), "label": "phone"}
    page = who.post("/account/passkeys", data=form).text
    assert len(re.findall(r"<li><code>", page)) == RECOVERY_CODES, "it is the first factor"
    assert other.get("/account").status_code == 303, "other sessions have ended"
    again = creation(who)
    assert [each["id"] for each in again["excludeCredentials"]] == [b64(device.id)]
    assert again["user"]["id"] == asked["user"]["id"]
    assert added(who, Device(), label="key").status_code == 303, "no codes for the second"
    assert [(each.actor, each.detail) for each in events(house, "passkey_added")] == [
        (NAME, "key"), (NAME, "phone"),
    ]  # fmt: skip


WRONG = {
    "another origin": Signs(origin="https://ledger.example.evil.example"),
    "another port": Signs(origin=f"{ORIGIN}:8443"),
    "plain HTTP": Signs(origin=f"http://{HOST}"),
    "another host": Signs(host="evil.example"),
    "no user verification": Signs(flags=PRESENT),
    "nobody present": Signs(flags=VERIFIED),
    "another challenge": Signs(challenge=b64(bytes(32))),
    "no challenge": Signs(challenge="AA"),
    "the other ceremony": Signs(kind="webauthn.create"),
    "another user's handle": Signs(handle=bytes(64)),
    "no handle": Signs(handle=b""),
    "a frame of another site": Signs(crosses=True),
}


@pytest.mark.parametrize("how", WRONG.values(), ids=WRONG)
def test_what_is_signed_otherwise_signs_nobody_in(house: Site, how: Signs) -> None:
    device = enrolled(house)
    refused = signs_in(house, device, how)
    assert (refused.status_code, "passkey was refused" in refused.text) == (401, True)
    assert SESSION not in refused.cookies
    [event] = events(house, "sign_in_failed")
    assert (event.name, event.actor, event.detail) == (NAME, "", "passkey")
    assert signs_in(house, device).status_code == 303, "the control"


ADDED_WRONG = {
    name: how for name, how in WRONG.items() if "handle" not in name and "frame" not in name
} | {"the other ceremony": Signs(kind="webauthn.get")}


@pytest.mark.parametrize("how", ADDED_WRONG.values(), ids=ADDED_WRONG)
def test_what_is_made_otherwise_is_no_passkey(house: Site, how: Signs) -> None:
    who, device = house.browser(NAME), Device()
    refused = added(who, device, how)
    assert (refused.status_code, "makes no passkey here" in refused.text) == (422, True)
    assert house.ports.sessions.passkeys.of(NAME) == []
    assert added(who, device).status_code == 200, "the control"


def test_an_algorithm_that_was_not_asked_for_is_refused(house: Site) -> None:
    assert added(house.browser(NAME), Device("ES512")).status_code == 422
    assert added(house.browser(NAME), Device()).status_code == 200, "the control"


JUNK = ("", "{}", "[]", "null", "\0", "{", '{"id": 1}', "9" * 5_000, '"' + "a" * 60_000 + '"')


def test_an_answer_that_is_none_is_refused(house: Site) -> None:
    device = enrolled(house)
    browser, who = house.browser(), house.browser(NAME)
    right = json.loads(device.sign(request_to_sign(browser)))
    broken = [
        *JUNK,
        json.dumps({**right, "rawId": "AAAA"}),
        json.dumps({**right, "type": "password"}),
        *(json.dumps({**right, "response": {**right["response"], name: value}})
          for name in right["response"] for value in ("", "AAAA", 1, None, "\N{SNOWMAN}")
          if (name, value) != ("userHandle", None)),
    ]  # fmt: skip
    for text in broken:
        no_tries(house)
        request_to_sign(browser)
        assert sent(browser, text).status_code == 401, text[:80]
        creation(who)
        form = {"csrf": who.csrf, "passkey": text, "label": "x"}
        assert who.post("/account/passkeys", data=form).status_code == 422, text[:80]
    assert signs_in(house, device).status_code == 303, "the control"


def test_an_answer_counts_once(house: Site) -> None:
    device = enrolled(house)
    browser = house.browser()
    asked = request_to_sign(browser)
    answer = device.sign(asked)
    assert sent(browser, answer).status_code == 303
    browser.cookies.delete(SESSION)
    assert sent(browser, answer).status_code == 401, "the form is another one by now"
    thief = house.browser()
    request_to_sign(thief)
    assert sent(thief, answer).status_code == 401, "it is bound to the browser that asked"
    assert signs_in(house, device).status_code == 303, "the control"


def test_a_challenge_is_used_by_a_wrong_answer_too(house: Site) -> None:
    """Even with the same form, and a device that counts nothing."""
    device = enrolled(house)
    browser = house.browser()
    asked = request_to_sign(browser)
    assert sent(browser, device.sign(asked, Signs(flags=PRESENT, count=0))).status_code == 401
    assert sent(browser, device.sign(asked, Signs(count=0))).status_code == 401
    assert sent(browser, device.sign(request_to_sign(browser), Signs(count=0))).status_code == 303


def test_of_two_answers_at_once_one_counts(house: Site) -> None:
    device = enrolled(house)
    browser = house.browser()
    asked = request_to_sign(browser)
    form = {"csrf": browser.token("/sign-in"), "next": "/account"}
    answers = [device.sign(asked, Signs(count=0)) for _ in range(2)]
    cookies = {FORM: browser.cookies[FORM]}

    def send(answer: str) -> int:
        other = house.browser()
        other.cookies.update(cookies)
        return other.post("/sign-in/passkey", data={**form, "passkey": answer}).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(send, answers)) == [303, 401]


def test_a_challenge_lasts_for_minutes(house: Site) -> None:
    device = enrolled(house)
    for old_s, status in ((CHALLENGE_S, 401), (CHALLENGE_S - 60, 303)):
        browser = house.browser()
        asked = request_to_sign(browser)
        owner(
            house, "UPDATE access.passkey_challenges SET made_at_us = made_at_us - %s", old_s * _US
        )
        assert sent(browser, device.sign(asked)).status_code == status


def test_a_challenge_of_one_purpose_is_of_no_use_for_another(house: Site) -> None:
    device = enrolled(house)
    who = house.browser(NAME)
    grown_old(house)
    asked = to_show_again(who)
    browser = house.browser()
    request_to_sign(browser)
    assert sent(browser, device.sign(asked)).status_code == 401
    assert approves(who, device.sign(request_to_sign(house.browser()))) == 401
    assert approves(who, device.sign(to_show_again(who))) == 404, "the control"


@pytest.mark.parametrize("count", [0, 1, 6, 7])
def test_a_count_that_goes_back_is_refused_and_logged(house: Site, count: int) -> None:
    device = enrolled(house, count=5)
    assert signs_in(house, device, Signs(count=7)).status_code == 303
    assert signs_in(house, device, Signs(count=count)).status_code == 401
    assert [(each.name, each.detail) for each in events(house, "sign_in_failed")] == [
        (NAME, "passkey counter")
    ]
    assert signs_in(house, device, Signs(count=8)).status_code == 303, "the control"


def test_a_count_that_nobody_signed_is_not_logged_as_one(house: Site) -> None:
    device, thief = enrolled(house, count=5), Device()
    thief.id, thief.handle = device.id, device.handle
    assert signs_in(house, thief, Signs(count=1)).status_code == 401
    assert [each.detail for each in events(house, "sign_in_failed")] == ["passkey"]


def test_a_device_that_counts_nothing_signs_in_again_and_again(house: Site) -> None:
    device = enrolled(house)
    assert [signs_in(house, device, Signs(count=0)).status_code for _ in range(3)] == [303] * 3


def test_an_approval_takes_a_passkey_of_its_user_alone(house: Site) -> None:
    device, stranger = enrolled(house), enrolled(house, "ops")
    who, other = house.browser(NAME), house.browser(NAME)
    grown_old(house)
    form = {"csrf": who.csrf, "step": "approve"}
    page = who.post(APPROVAL, data=form)
    assert (page.status_code, "Use a passkey" in page.text) == (401, True)
    asked = to_show_again(who)
    assert [each["id"] for each in asked["allowCredentials"]] == [b64(device.id)]
    assert approves(who, stranger.sign(asked)) == 401
    assert approves(who, device.sign(to_show_again(who), Signs(flags=PRESENT))) == 401
    assert approves(who, device.sign(to_show_again(other))) == 401, "of another session"
    assert [each.name for each in events(house, "sign_in_failed")] == [NAME] * 3
    answer = device.sign(to_show_again(who), Signs(handle=b""))
    assert approves(who, answer) == 404, "a device need not say whose it is here"
    assert approves(other) == 401, "the other session is not fresh"
    grown_old(house)
    assert approves(who, answer) == 401, "the answer counts once"
    assert [each.name for each in events(house, "passkey_shown")] == [NAME]


def test_a_password_no_longer_signs_in_alone(house: Site) -> None:
    page = added(house.browser(NAME), Device()).text
    codes = re.findall(r"<li><code>([A-Z2-7 ]+)</code>", page)
    browser = house.browser()
    assert browser.sign_in(NAME).headers["Location"].startswith("/sign-in/code?next=")
    assert SESSION not in browser.cookies
    asked = browser.get("/sign-in/code").text
    assert ("Recovery code" in asked, "Use a passkey" in asked) == (True, True)
    form = {"csrf": browser.token("/sign-in/code"), "code": codes[0], "next": "/account"}
    assert browser.post("/sign-in/code", data=form).status_code == 303
    assert "You have 9 recovery codes left" in browser.get("/account").text
    assert house.browser().sign_in("ops").headers["Location"] == "/live", "the control"


def test_after_the_password_a_passkey_signs_in_too(house: Site) -> None:
    device = enrolled(house)
    browser = house.browser()
    browser.sign_in(NAME)
    pending = browser.cookies[PENDING]
    assert sent(browser, device.sign(request_to_sign(browser))).status_code == 303
    assert (PENDING in browser.cookies, bool(pending)) == (False, True)


def test_a_new_password_is_set_by_a_passkey(house: Site) -> None:
    device = enrolled(house)
    who = house.browser(NAME)
    form = {"csrf": who.csrf, "new": "seven quiet harbours"}
    path = "/account/password"
    assert who.post(path, data={**form, "password_again": PASSWORD}).status_code == 401
    no_tries(house)
    told = who.post(path, data={**form, "passkey_again": Device().sign(to_show_again(who))})
    assert (told.status_code, "passkey was refused" in told.text) == (401, True)
    right = {**form, "passkey_again": device.sign(to_show_again(who))}
    assert who.post(path, data=right).status_code == 303


def test_a_removed_passkey_signs_nobody_in(house: Site) -> None:
    device, kept = enrolled(house), enrolled(house)
    who, other = house.browser(NAME), house.browser(NAME)
    first, second = re.findall(r'name="passkey" value="(\w+)"', who.get("/account").text)
    path = "/account/passkeys/remove"
    grown_old(house)
    form = {"csrf": who.csrf, "passkey": first}
    assert who.post(path, data=form).status_code == 401, "it asks for the password or a passkey"
    shown = {**form, "passkey_again": kept.sign(to_show_again(who))}
    assert who.post(path, data=shown).status_code == 303
    assert other.get("/account").status_code == 303, "other sessions have ended"
    assert signs_in(house, device).status_code == 401
    assert signs_in(house, kept).status_code == 303, "the control"
    assert who.post(path, data=form).status_code == 404
    stranger = house.browser("ops")
    theirs = stranger.post(path, data={"csrf": stranger.csrf, "passkey": second})
    assert theirs.status_code == 404
    assert "You have 10 recovery codes left" in who.get("/account").text
    assert who.post(path, data={**form, "passkey": second}).status_code == 303
    assert house.browser().sign_in(NAME).status_code == 303
    page = who.get("/account").text
    assert ("the password alone" in page, "You have 0" in page) == (True, False)
    assert house.ports.sessions.factors.recovery_codes_left(NAME) == 0
    assert [each.actor for each in events(house, "passkey_removed")] == [NAME] * 2


@pytest.fixture
def strict(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The same house, where a second factor is required."""
    database, more = copied(postgres_url, web_template), {"SECOND_FACTOR": "required"}
    with opened_site(database, tmp_path, PUBLIC_URL=ORIGIN, **more) as opened:
        yield opened


def test_the_only_factor_stays_where_one_is_required(strict: Site) -> None:
    device = enrolled(strict)
    who = strict.browser(NAME)
    page = who.get("/account").text
    [only] = [each.digest for each in strict.ports.sessions.passkeys.of(NAME)]
    assert ("the only factor" in page, only in page) == (True, False)
    form = {"csrf": who.csrf, "passkey": only}
    refused = who.post("/account/passkeys/remove", data=form)
    assert (refused.status_code, "your only one" in refused.text) == (422, True)
    assert signs_in(strict, device).status_code == 303, "it is still there, and is enough"
    assert added(who, Device()).status_code == 303
    assert who.post("/account/passkeys/remove", data=form).status_code == 303, "the control"


def test_an_administrator_removes_a_users_passkeys(house: Site, tmp_path: Path) -> None:
    device, other = enrolled(house), enrolled(house, "ops")
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=house.database.url))
    who, stranger = house.browser(NAME), house.browser("ops")
    [listed] = [
        json.loads(each) for each in cli("users", "passkeys", NAME, "--json").out.splitlines()
    ]
    assert (listed["passkey"], listed["last_used"]) == ("phone", None)
    assert signs_in(house, device).status_code == 303, "listing changes nothing"
    done = cli("users", "passkeys", NAME, "--remove")
    assert (done.code, "1 passkey of finance removed" in done.err) == (0, True)
    assert [each.get("/account").status_code for each in (who, stranger)] == [303, 200]
    assert signs_in(house, device).status_code == 401
    assert signs_in(house, other).status_code == 303, "the control"
    assert house.browser().sign_in(NAME).headers["Location"] != "/sign-in/code?next=/"
    [event] = events(house, "passkey_removed")
    assert (event.name, event.actor.startswith("os:"), event.detail) == (NAME, True, "phone")
    assert "has no passkey" in cli("users", "passkeys", NAME).err
    assert cli("users", "passkeys", "nobody").code == 2


def test_a_disabled_user_signs_in_with_none(house: Site) -> None:
    device = enrolled(house)
    owner(house, "UPDATE access.users SET disabled_at_us = 1 WHERE name = %s", NAME)
    assert signs_in(house, device).status_code == 401
    owner(house, "UPDATE access.users SET disabled_at_us = NULL WHERE name = %s", NAME)
    assert signs_in(house, device).status_code == 303, "the control"


@pytest.mark.parametrize("change", ["password", "removal"])
def test_what_changes_while_a_session_begins_ends_it(
    house: Site, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The change waits for the sign-in, and then finds its session."""
    device, doors, noted = enrolled(house), house.ports, sessions.note
    owner(house, "DELETE FROM access.sessions")
    changes: list[Future[object]] = []
    acts: dict[str, Callable[[], object]] = {
        "password": lambda: doors.users.set_password(NAME, PASSWORD, ACTOR),
        "removal": lambda: doors.sessions.passkeys.remove_all(NAME, ACTOR),
    }
    with ThreadPoolExecutor(1) as pool:

        def note(connection: AnyConnection, what: str, *rest: object) -> None:
            if what == "signed_in":
                changes.append(pool.submit(acts[change]))
                until(lambda: changes[0].done() or waits_for_a_lock(house.database))
            noted(connection, what, *rest)

        monkeypatch.setattr(sessions, "note", note)
        signs_in(house, device)
    changes[0].result()
    assert doors.sessions.running(NAME) == []
    monkeypatch.undo()
    assert signs_in(house, device).status_code == (303 if change == "password" else 401)


def test_they_are_for_who_signs_in_with_a_password(house: Site) -> None:
    """A user whom the identity provider shut out comes in by no other door."""
    device = enrolled(house)
    owner(house, "UPDATE access.users SET password = NULL, subject = 'x' WHERE name = %s", NAME)
    assert signs_in(house, device).status_code == 401
    who = house.browser(NAME)
    assert "Passkeys" not in who.get("/account").text
    assert who.post("/account/passkeys/new", data={"csrf": who.csrf}).status_code == 403


def test_tries_are_limited_as_those_of_passwords(house: Site) -> None:
    device, other, who = enrolled(house), enrolled(house, "ops"), house.browser(NAME)
    for _ in range(TRIES_MAX):
        assert signs_in(house, device, Signs(flags=PRESENT)).status_code == 401
    refused = signs_in(house, device)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "900")
    assert signs_in(house, other).status_code == 303, "another user may"
    grown_old(house)
    assert approves(who, device.sign(to_show_again(who))) == 401
    no_tries(house)
    for _ in range(NAMES_MAX):
        assert signs_in(house, Device()).status_code == 401
    assert signs_in(house, other).status_code == 429, "unknown passkeys count by client"


def test_a_user_has_so_many_and_no_more(house: Site) -> None:
    who = house.browser(NAME)
    for number in range(PASSKEYS_MAX):
        owner(
            house,
            "INSERT INTO access.passkeys VALUES (1, NULL, 0, %s, 'x', %s, '')",
            NAME,
            bytes([number]),
        )
    answer = who.post("/account/passkeys/new", data={"csrf": who.csrf})
    assert (answer.status_code, f"You have {PASSKEYS_MAX} passkeys" in answer.text) == (422, True)


@pytest.mark.parametrize("label", ["", "  ", "x" * 65, "a\nb"])
def test_a_passkey_has_a_name_that_can_be_shown(house: Site, label: str) -> None:
    who = house.browser(NAME)
    assert added(who, Device(), label=label).status_code == 422
    page = added(who, Device(), label="<b>x")
    assert (page.status_code, "&lt;b&gt;x" in who.get("/account").text) == (200, True)


def test_the_same_passkey_is_not_added_twice(house: Site) -> None:
    device = enrolled(house)
    refused = added(house.browser("ops"), device)
    assert (refused.status_code, "known already" in refused.text) == (422, True)


def test_an_app_set_up_later_brings_new_recovery_codes(house: Site) -> None:
    enrolled(house)
    factors = house.ports.sessions.factors
    with house.ports.access.open() as connection:
        [(before, *_), *_] = connection.execute("TABLE access.recovery_codes").fetchall()
    assert before == NAME
    factors.begin(NAME)
    owner(house, "UPDATE access.second_factors SET confirmed_at_us = 1")
    assert factors.has_app(NAME)
    assert factors.remove(NAME, Actor(NAME), "second_factor_off")
    assert factors.recovery_codes_left(NAME) == RECOVERY_CODES, "the passkey needs them"
    assert factors.is_on(NAME)


OFF = (
    None,
    "http://ledger.example",
    "https://192.0.2.7",
    "https://[2001:db8::1]",
    "http://127.0.0.1",
)


@pytest.mark.parametrize("url", OFF)
def test_without_a_public_address_they_are_off_and_say_so(
    postgres_url: str, web_template: str, tmp_path: Path, url: str | None
) -> None:
    more = {} if url is None else {"PUBLIC_URL": url}
    with opened_site(copied(postgres_url, web_template), tmp_path, **more) as site:
        who, browser = site.browser(NAME), site.browser()
        page = who.get("/account").text
        assert ("Passkeys are off" in page, "Add a passkey" in page) == (True, False)
        assert "passkey" not in browser.get("/sign-in").text
        for path in ("/account/passkeys/new", "/account/passkeys", "/session/passkey/challenge"):
            answer = who.post(path, data={"csrf": who.csrf, "label": "x", "passkey": "{}"})
            assert (answer.status_code, "are off" in answer.text) == (422, True), path
        headers = {"X-CSRF-Token": browser.token("/sign-in")}
        assert browser.post("/sign-in/passkey/challenge", headers=headers).status_code == 422
        assert sent(browser, "{}").status_code == 401
        owner(site, "INSERT INTO access.passkeys VALUES (1, NULL, 0, %s, 'x', 'x', '')", NAME)
        [digest] = re.findall(r'name="passkey" value="(\w+)"', who.get("/account").text)
        form = {"csrf": who.csrf, "passkey": digest}
        assert who.post("/account/passkeys/remove", data=form).status_code == 303, "removed anyway"


def test_no_form_of_them_is_taken_from_another_site(house: Site) -> None:
    device = enrolled(house)
    browser = house.browser()
    answer = device.sign(request_to_sign(browser))
    form = {"csrf": browser.token("/sign-in"), "passkey": answer, "next": "/account"}
    there = {"Origin": "https://elsewhere.example"}
    for path in ("/sign-in/passkey", "/sign-in/passkey/challenge"):
        assert browser.post(path, data=form, headers=there).status_code == 403
        assert browser.post(path, data={**form, "csrf": "x"}).status_code == 403
    assert browser.post("/sign-in/passkey", data=form).status_code == 303, "the control"
    assert browser.get("/account").status_code == 200


def test_a_second_person_signs_a_paper_with_a_passkey_of_their_own(house: Site) -> None:
    """On the page of the first, whose own passkey signs for nobody else."""
    house.add("second", "finance")
    own, others = enrolled(house), enrolled(house, "second")
    who = house.browser(NAME)
    house.take_in([received(json.dumps(each).encode()) for each in day_lines()])
    form = {
        "csrf": who.csrf, "property": "p", "key": "0" * 16, "book": "1", "second": "S-second",
        "check_from": "K-1", "check_to": "K-9",
    }  # fmt: skip
    path = "/entry/forms/check_book_signed_out"
    assert f'data-path="{CHALLENGE}"' in who.post(path, data=form).text

    def signed(device: Device, how: Signs = RIGHT) -> int:
        asked = who.post(CHALLENGE, headers={"X-CSRF-Token": who.csrf}).json()
        assert not asked.get("allowCredentials"), "it does not say who has a passkey"
        return who.post(path, data=form | {SECOND_PASSKEY: device.sign(asked, how)}).status_code

    assert signed(own) == 401, "of the first person"
    assert signed(others, WRONG["another challenge"]) == 401
    assert signed(others, WRONG["another origin"]) == 401
    asked = to_show_again(who)
    shown = who.post(path, data=form | {SECOND_PASSKEY: own.sign(asked)})
    assert shown.status_code == 401, "the challenge that shows one's own again"
    assert events(house, "paper_signed") == []
    assert signed(others) == 303, "the control"
    [event] = events(house, "paper_signed")
    assert (event.name, event.actor) == ("second", NAME)
