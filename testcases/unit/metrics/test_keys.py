"""Keys in use: no data where no bytes were made."""

import pytest

from qospec.metrics.keys import Keys


@pytest.mark.parametrize(("keys", "expected"), [(0, 0), (3, 3), (None, None)])
def test_without_bytes_there_is_no_data(tally, keys, expected):
    assert Keys().measure(tally(received=5, keys=keys)) == expected
