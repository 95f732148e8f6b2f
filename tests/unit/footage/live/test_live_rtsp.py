"""Descriptions of streams and challenges for passwords, with the examples of the RFCs."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from replay.footage.live import rtsp
from replay.footage.live.rtsp import (
    CameraConnection,
    CameraError,
    RtspSession,
    StreamAddress,
    authorization,
    challenge_of,
    stream_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

VIDEO = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 {}\r\na=control:{}\r\n"
BASE = "rtsp://192.0.2.1:554/stream2/"


@pytest.mark.parametrize(
    ("control", "whole", "address"),
    [
        ("track1", "*", f"{BASE}track1"),
        ("trackID=1", "", f"{BASE}trackID=1"),
        ("rtsp://192.0.2.1/other", "*", "rtsp://192.0.2.1/other"),
        ("track1", "rtsp://192.0.2.1/whole", "rtsp://192.0.2.1/whole/track1"),
        ("*", "*", BASE),
    ],
)
def test_a_stream_s_address_is_below_that_of_the_description(
    control: str, whole: str, address: str
) -> None:
    described = f"v=0\r\na=control:{whole}\r\n" + VIDEO.format("packetization-mode=1", control)
    assert stream_of(described, BASE).control == address


def test_parameters_are_taken_from_the_description_and_bad_ones_are_not() -> None:
    good = VIDEO.format("sprop-parameter-sets=Z0LAFQ==,aM4=;packetization-mode=1", "a")
    assert stream_of(good, BASE).parameters == [b"\x67\x42\xc0\x15", b"\x68\xce"]
    bad = VIDEO.format("sprop-parameter-sets=Z0LAFQ==,=;packetization-mode=1", "a")
    assert stream_of(bad, BASE).parameters == []


@pytest.mark.parametrize(
    ("described", "says"),
    [
        ("", "describes no picture"),
        ("v=0\r\nm=audio 0 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n", "describes no picture"),
        (VIDEO.replace("H264", "H265").format("x", "a"), "it sends H.265. Only H.264 is shown"),
        (VIDEO.replace("H264", "hevc").format("x", "a"), "it sends H.265. Only H.264 is shown"),
        (VIDEO.replace("H264", "MP4V-ES").format("x", "a"), "it sends MPEG-4 Part 2. Only"),
        (VIDEO.replace("H264", "<b>x</b>").format("x", "a"), "describes no picture"),
        (VIDEO.replace("H264", "X-OWN").format("x", "a"), "it sends another format. Only"),
        ("v=0\r\nm=video 0 RTP/AVP 26\r\n", "it sends Motion JPEG. Only"),
        (
            "m=video 0 RTP/AVP 26\r\n" + VIDEO.replace("H264", "H265").format("x", "a"),
            "it sends Motion JPEG and H.265. Only",
        ),
        (VIDEO.format("packetization-mode=2", "a"), "interleaves"),
    ],
)
def test_what_is_no_stream_that_browsers_play_is_told(described: str, says: str) -> None:
    with pytest.raises(CameraError, match=re.escape(says)):
        stream_of(described, BASE)


def test_a_password_is_answered_as_rfc_2069_has_it() -> None:
    """Without `qop`, as most recorders ask: section 2.4, with the value of its errata."""
    who = StreamAddress("", "Mufasa", "Circle Of Life")
    told = 'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"'
    challenge = challenge_of([told])
    assert challenge is not None
    answer = authorization(challenge, who, "GET", "/dir/index.html", 1)
    assert 'response="670fd8c2df070c60b045671b8b24ff02"' in answer


def test_a_password_is_answered_as_rfc_7616_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With SHA-256 and `qop`: section 3.9.1."""
    own = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    monkeypatch.setattr(rtsp.secrets, "token_hex", lambda _: own)
    told = (
        'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256,'
        ' nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"'
    )
    challenge = challenge_of([told])
    assert challenge is not None
    who = StreamAddress("", "Mufasa", "Circle of Life")
    answer = authorization(challenge, who, "GET", "/dir/index.html", 1)
    assert "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1" in answer


def test_digest_is_preferred_and_basic_is_the_last() -> None:
    assert challenge_of(['Basic realm="x"']) == {"basic": "yes"}
    assert challenge_of(['Digest realm="x", nonce="1", algorithm=SHA-512-256']) is None
    assert challenge_of(["Negotiate"]) is None
    who = StreamAddress("", "Aladdin", "open sesame")
    told = authorization({"basic": "yes"}, who, "DESCRIBE", "x", 1)
    assert told == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="  # RFC 7617, section 2


def test_an_address_does_not_show_who_asks() -> None:
    assert (
        repr(StreamAddress("rtsp://192.0.2.1/a", "viewer", "s3cret"))
        == "StreamAddress('rtsp://192.0.2.1/a')"
    )


@contextmanager
def answering(octets: bytes) -> Iterator[CameraConnection]:
    """A connection on which these bytes came; what is sent goes nowhere."""
    mine, other = os.pipe()
    os.write(other, octets)
    os.close(other)
    try:
        connection = CameraConnection(mine, silent_s_max=5)
        connection.send = lambda _: None  # type: ignore[method-assign] # a pipe has one direction
        yield connection
    finally:
        os.close(mine)


@pytest.mark.parametrize(
    ("octets", "says"),
    [
        (b"", "closed the connection"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "does not speak RTSP"),
        (b"\0" * 20_000, "does not speak RTSP"),
        (b"RTSP/1.0 200 OK\r\n" + b"A: b\r\n" * 8_000, "too long"),
        (b"RTSP/1.0 200 OK\r\nContent-Length: 999999999\r\n\r\n", "too long"),
        (b"RTSP/1.0 200 OK\r\nContent-Length: -5\r\n\r\n", "too long"),
        (
            b"RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\nRTSP/1.0 401 No\r\nCSeq: 2\r\n\r\n",
            "refuses the user",
        ),
        (b"RTSP/1.0 200 OK\r\n\r\nRTSP/1.0 404 No\r\n\r\n", "knows no stream"),
        (b"RTSP/1.0 302 Moved\r\nLocation: rtsp://192.0.2.9/\r\n\r\n", "sends to another address"),
        (b"RTSP/1.0 200 OK\r\n\r\nRTSP/1.0 418 Secret words\r\n\r\n", "with status 418"),
        (b"RTSP/1.0 200 OK\r\nCSeq: 77\r\n\r\n" * 1_200, "does not answer what was asked"),
    ],
)
def test_what_a_camera_answers_wrongly_is_told_in_words_of_ours(octets: bytes, says: str) -> None:
    with answering(octets) as connection, pytest.raises(CameraError, match=says) as told:
        RtspSession(connection, StreamAddress("rtsp://192.0.2.1:554/a")).play()
    assert "Secret" not in str(told.value)


def test_an_address_that_a_camera_names_cannot_add_to_a_request() -> None:
    described = VIDEO.format("packetization-mode=1", "a").replace("control:a", "control:a\rX: 1")
    head = f"RTSP/1.0 200 OK\r\nContent-Length: {len(described)}\r\n"
    base = "Content-Base: rtsp://192.0.2.1/a\x0bb\r\n\r\n"
    octets = f"RTSP/1.0 200 OK\r\n\r\n{head}{base}{described}".encode()
    with answering(octets) as connection, pytest.raises(CameraError):
        RtspSession(connection, StreamAddress("rtsp://192.0.2.1:554/a")).play()
