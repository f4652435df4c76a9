"""Packets with CE: none arrived, or marks were not read, is no data."""

import pytest

from qospec.metrics.ce_marked import CeMarked


@pytest.mark.parametrize(
    ("received", "marked", "expected"),
    [(5, {}, 0), (5, {0: 1, 3 << 23: 2, 2 << 23: 2}, 2), (5, None, None), (0, {}, None)],
)
def test_without_arrivals_or_marks_there_is_no_data(tally, received, marked, expected):
    assert CeMarked().measure(tally(received=received, marked=marked)) == expected
