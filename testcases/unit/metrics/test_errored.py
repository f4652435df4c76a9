"""Items that arrived with other bytes: none arrived, or none were made, is no data."""

import pytest

from qospec.metrics.errored import Errored


@pytest.mark.parametrize(
    ("received", "errored", "expected"), [(5, 0, 0), (5, 2, 2), (5, None, None), (0, 0, None)]
)
def test_without_arrivals_or_bytes_there_is_no_data(tally, received, errored, expected):
    assert Errored().measure(tally(received=received, errored=errored)) == expected
