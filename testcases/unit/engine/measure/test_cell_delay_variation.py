"""The reference clock of the 1-point cell delay variation."""

from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from connected import Connected

from qospec.engine.measure import cell_delay_variation


def extremes(rows: np.ndarray) -> list[tuple[int, int]]:
    return [
        (int(row[cell_delay_variation.LARGEST]), int(row[cell_delay_variation.LEAST]))
        for row in rows
    ]


def followed(connections: Connected, at_ps: list[int], connection: list[int]) -> np.ndarray:
    rows = cell_delay_variation.create_rows(connections[0])
    cell_delay_variation.follow(np.array(at_ps, np.int64), np.array(connection, np.uint32), rows)
    return rows


def test_the_example_of_the_definition(vcs: Callable[..., Connected]) -> None:
    """T = 10, a = 0, 10, 25, 30 gives y = 0, 0, -5, 5."""
    rows = followed(vcs(1, cell_rate=10**11), [0, 10, 25, 30], [0] * 4)
    assert extremes(rows) == [(5, -5)]


def test_cells_at_the_peak_rate_vary_by_nothing(vcs: Callable[..., Connected]) -> None:
    """T is 10/3 ps: the fraction is carried, and y is rounded down to a whole ps."""
    rate = 3 * 10**11
    at_ps = [floor(k * Fraction(10, 3)) for k in range(1_000)]
    assert extremes(followed(vcs(1, cell_rate=rate), at_ps, [0] * len(at_ps))) == [(0, 0)]


@pytest.mark.parametrize("cell_rate", [10**11, 3 * 10**11, 7 * 10**10, 352_720])
def test_it_equals_the_definition_in_fractions(
    vcs: Callable[..., Connected], cell_rate: int
) -> None:
    stream = np.random.Generator(np.random.Philox(cell_rate))
    interval_ps = Fraction(10**12, cell_rate)
    gaps = stream.uniform(0, 2 * float(interval_ps), 300).astype(np.int64)
    at_ps = np.cumsum(gaps).tolist()
    clock_ps = Fraction(at_ps[0])
    early = []
    for now_ps in at_ps:
        early.append(clock_ps - now_ps)
        clock_ps = max(clock_ps, now_ps) + interval_ps
    rows = followed(vcs(1, cell_rate=cell_rate), at_ps, [0] * len(at_ps))
    assert extremes(rows) == [(floor(max(early)), floor(min(early)))]


def test_vcs_have_a_clock_each_and_oam_cells_none(vcs: Callable[..., Connected]) -> None:
    at_ps = [100, 103, 110, 111, 112, 113]
    connection = [0, 1, 0, 3, 2, 1]  # 3 and 2 are those of OAM cells
    rows = followed(vcs(2, cell_rate=10**11), at_ps, connection)
    assert extremes(rows) == [(0, 0), (0, 0)]
    assert len(rows) == 2


def test_a_cut_changes_nothing(vcs: Callable[..., Connected]) -> None:
    at_ps, connection = np.arange(0, 900, 9), np.tile(np.array([0, 1, 1], np.uint32), 34)[:100]
    whole, parts = (cell_delay_variation.create_rows(vcs(2)[0]) for _ in range(2))
    cell_delay_variation.follow(at_ps, connection, whole)
    for cut in (slice(0, 1), slice(1, 50), slice(50, 100)):
        cell_delay_variation.follow(at_ps[cut], connection[cut], parts)
    assert whole.any()
    assert np.array_equal(whole, parts)
