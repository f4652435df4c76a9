"""Units that are none: all that may have been meant, and never a guess."""

import pytest

from qospec.check.evaluate.literals import suggest_unit
from qospec.units import find_unit, load_tables


@pytest.mark.parametrize(
    ("text", "part", "readings"),
    [
        ("Mb/s", "Mb", ("Mbit/s", "MB/s")),
        ("Kbit", "Kbit", ("kbit", "Kibit")),
        ("mbit", "mbit", ("Mbit", "Mibit")),
        ("mBit", "mBit", ("Mbit", "Mibit")),
        ("Kbps", "Kbps", ("kbit/s", "Kibit/s")),
        ("MBPS", "MBPS", ("Mbit/s", "Mibit/s", "MB/s")),
        ("mB", "mB", ("MB", "Mbit")),
        ("bits", "bits", ("bit",)),
        ("Mbits", "Mbits", ("Mbit/s", "Mbit")),
        ("Mbits/s", "Mbits", ("Mbit/s",)),
        ("usec", "usec", ("us",)),
        ("mus", "mus", ("us", "ms")),
        ("Ms", "Ms", ("ms", "us")),
        ("cell/sec", "sec", ("cell/s",)),
        ("cell/foo", "foo", ("cell/s",)),
        ("s/foo", "foo", ()),
        ("furlong/foo", "furlong", ()),
        ("pps", "pps", ("pkt/s",)),
        ("cps", "cps", ("cell/s", "call/s")),
        ("KM", "KM", ("km",)),
        ("frmae", "frmae", ("frame",)),
        ("Tcell", "Tcell", ()),
        ("furlong", "furlong", ()),
        ("bit/s/s", "bit/s/s", ()),
        ("", "", ()),
    ],
)
def test_what_is_no_unit_is_read_in_every_way_and_never_guessed(
    text: str, part: str, readings: tuple[str, ...]
) -> None:
    found = suggest_unit(text)
    assert (found.part, found.readings) == (part, readings)


def test_bits_and_bytes_are_both_offered_and_compared() -> None:
    found = suggest_unit("Mb/s")
    assert found.question == "megabits or megabytes?"
    assert found.write_help("200") == "`200 Mbit/s` or `200 MB/s` (= 1600 Mbit/s)"


@pytest.mark.parametrize(
    ("text", "number", "question", "help_"),
    [
        ("days", "3", "each is 24 h", "`72 h`"),
        ("cm", "1.5", "each is 0.01 m", "`0.015 m`"),
        ("kHz", "8", "each is 1000 Hz", "`8000 Hz`"),
        ("ps", "3", "each is 0.001 ns", "`0.003 ns`"),
        ("cell/day", "12", "each is 24 h", "`0.5 cell/h`"),
        ("cell/week", "1", "each is 168 h", ""),
    ],
)
def test_a_unit_of_another_size_is_reckoned(
    text: str, number: str, question: str, help_: str
) -> None:
    found = suggest_unit(text)
    assert (found.question, found.write_help(number)) == (question, help_)


def test_one_reading_is_sure_only_where_the_table_says_so() -> None:
    assert suggest_unit("usec").sure
    assert not suggest_unit("KM").sure
    assert not suggest_unit("Kbps").sure


def test_every_misreading_of_the_table_names_units() -> None:
    for part, row in load_tables()["misread"].items():
        assert row["units"]
        assert find_unit(part) is None
        assert all(find_unit(unit) is not None for unit in row["units"])
