"""The ring of live pictures: what it keeps, and what a player gets of it."""

from __future__ import annotations

from replay.footage.live import ring as rings
from replay.footage.live.ring import Ring


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def filled(seconds: int, *, kept_s: float = 60, octets_max: int = 1 << 20) -> tuple[Ring, Clock]:
    """A ring with a keyframe every second, and three pictures after each."""
    clock = Clock()
    ring = Ring(kept_s, octets_max, clock)
    ring.begin("avc1.42c015", b"begin ")
    for number in range(seconds * 4):
        clock.now_s = 100 + number / 4
        ring.add(f"{number} ".encode(), key=number % 4 == 0, at_us=number * 250_000)
    return ring, clock


def test_a_new_player_begins_with_the_newest_keyframe_and_then_goes_on() -> None:
    ring, clock = filled(5)
    clock.now_s += 0.5
    first = ring.read("", 0)
    assert first is not None
    assert first.begin + first.octets == b"begin 16 17 18 19 "
    assert (first.newest_us, first.age_s) == (19 * 250_000, 0.5)
    assert ring.read(first.film, first.number) is None
    ring.add(b"20 ", key=True, at_us=5_000_000)
    after = ring.read(first.film, first.number)
    assert after is not None
    assert (after.begin, after.octets) == (b"", b"20 ")


def test_back_begins_with_the_last_keyframe_so_long_ago_or_the_first_kept() -> None:
    ring, _ = filled(50)
    found = ring.read("", 0, back_s=30)
    assert found is not None
    assert found.octets.startswith(b"76 77 ")  # 30.75 s before the newest
    assert found.begin == b"begin "
    all_of_it = ring.read("", 0, back_s=200)
    assert all_of_it is not None
    assert all_of_it.octets.startswith(b"0 1 ")


def test_it_keeps_so_many_seconds_from_a_keyframe_on() -> None:
    ring, _ = filled(100, kept_s=10)
    found = ring.read("", 0, back_s=1000)
    assert found is not None
    assert found.octets.startswith(b"360 ")  # 9.75 s before the newest


def test_it_keeps_so_many_bytes_from_a_keyframe_on() -> None:
    ring, _ = filled(100, octets_max=100)
    found = ring.read("", 0, back_s=1000)
    assert found is not None
    assert len(found.octets) <= 100
    assert found.octets.startswith(b"376 ")


def test_a_film_without_keyframes_is_not_kept_beyond_its_limits() -> None:
    ring = Ring(60, 100, Clock())
    ring.begin("avc1.42c015", b"")
    ring.add(b"before the first", key=False, at_us=0)
    assert ring.read("", 0) is None
    ring.add(b"k", key=True, at_us=0)
    for _ in range(200):
        ring.add(b"0123456789", key=False, at_us=0)
    assert ring.read("", 0) is None


def test_who_is_too_far_behind_begins_anew_with_the_newest_keyframe() -> None:
    ring, _ = filled(5)
    first = ring.read("", 0)
    assert first is not None
    ring, clock = filled(100, kept_s=10)
    behind = ring.read("", 0)
    assert behind is not None
    again = ring.read(behind.film, 3)
    assert again is not None
    assert again.begin == b"begin "
    assert again.octets == b"396 397 398 399 "
    del clock


def test_another_film_is_begun_and_the_one_before_is_dropped() -> None:
    ring, _ = filled(5)
    first = ring.read("", 0)
    assert first is not None
    ring.begin("avc1.640028", b"other ")
    assert ring.read(first.film, first.number) is None, "nothing of it yet"
    ring.add(b"0 ", key=True, at_us=0)
    other = ring.read(first.film, first.number)
    assert other is not None
    assert (other.codec, other.begin, other.octets) == ("avc1.640028", b"other ", b"0 ")
    assert other.film != first.film


def test_an_answer_is_limited_and_the_next_one_has_the_rest() -> None:
    ring = Ring(60, 1 << 30, Clock())
    ring.begin("avc1.42c015", b"")
    part = b"x" * (rings.ANSWER_OCTETS_MAX // 4)
    for number in range(10):
        ring.add(part, key=number == 0, at_us=0)
    sizes, film, number = [], "", 0
    while (found := ring.read(film, number)) is not None:
        sizes.append(len(found.octets) // len(part))
        film, number = found.film, found.number
    assert sizes == [4, 4, 2]
