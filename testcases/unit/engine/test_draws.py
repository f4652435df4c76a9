"""Streams of random numbers: each name has its own, and the same for ever."""

import pytest

from qospec.engine.random import Draws


def numbers(draws: Draws) -> list[int]:
    return draws.open_stream().integers(0, 2**62, 4).tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "bc"), ("ab", "c")),
        (("a", "b"), ("ab",)),
        (("a", "b"), ("b", "a")),
        (("a", ""), ("a",)),
        (("", "a"), ("a",)),
        (("a.b",), ("a", "b")),
        (("a/b",), ("a", "b")),
        (("seed", "1", "1"), ("seed", "11")),
    ],
)
def test_streams_of_different_names_share_nothing(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert not set(numbers(Draws(one))) & set(numbers(Draws(other)))


def test_a_name_s_stream_begins_anew_and_follows_from_the_name_alone() -> None:
    draws = Draws(("seed", "flow"))
    draws.derive("other").open_stream().integers(0, 9, 100)
    assert numbers(draws) == numbers(draws) == numbers(Draws(("seed",)).derive("flow"))


def test_numbers_are_the_same_on_every_machine_and_in_every_version() -> None:
    """A record's seed means these numbers; if they change, so does every result."""
    found = Draws(("0", "case", "1")).open_stream().integers(0, 10**6, 4)
    assert found.tolist() == [976732, 250010, 166647, 443338]


def test_streams_are_asked_for_below_one_seed_or_not_at_all() -> None:
    draws = Draws(("seed",))
    draws.derive("flow", "phases")
    assert not draws.opened
    draws.derive("flow").derive("phases").open_stream()
    assert draws.opened
    assert draws == Draws(("seed",))
