"""What is run at night only, since it repeats on many files what a few have shown."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from hypothesis import settings

ONE_IN = 4
MOST_CASES = 8
"""Of each test of a suite."""
MOST_OF = {
    "data_plane": 2,
    "connections_at_random": 1,
    "interoperability": 3,
    "bursts_behind": 2,
    "two_to_1": 2,
    "three_to_1": 1,
    **dict.fromkeys(("c_jitter_case_1", "c_jitter_case_2", "c_jitter_case_3"), 2),
    "c_jitter_by_size": 1,
}
"""Of those whose cases take seconds each, as do a hundred repeats, or a minute of four ports, 20
million cells."""
FIFTH = 5

Item = TypeVar("Item")


def is_night() -> bool:
    """Return whether all is to be tested; not known before pytest has read its options."""
    return settings().max_examples >= 2_000


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many items, spread evenly: the first and the last stay."""
    if len(items) <= most:
        return list(items)
    return [items[number * (len(items) - 1) // max(1, most - 1)] for number in range(most)]


def shorten(count: int) -> int:
    """Return a fifth of what makes an input large, which takes as much less time; at night all."""
    return count if is_night() else count // FIFTH


def sample_cases(names: Iterable[str]) -> list[str]:
    """Return of the cases of each test, `test:choices`, a few; at night all."""
    tests: dict[str, list[str]] = {}
    for name in names:
        tests.setdefault(name.partition(":")[0], []).append(name)
    if is_night():
        return [name for its in tests.values() for name in its]
    return [
        name for test, its in tests.items() for name in spread(its, MOST_OF.get(test, MOST_CASES))
    ]


def sample_files(paths: Sequence[Path]) -> list[Path]:
    """Return files, but outside the library only the first and each fourth; at night all."""
    others = [path for path in paths if "stdlib" not in path.parts]
    left_out = set() if is_night() else set(others) - set(others[::ONE_IN])
    return [path for path in paths if path not in left_out]
