"""Token buckets against exact fractions: no part of a ps is lost, whatever comes and goes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.kernel import uncompiled
from qospec.engine.meter import token_bucket
from qospec.engine.meter.token_bucket import Bucket, byte_time_ps

RATES = [Fraction(8), Fraction(8 * 10**12), Fraction(10**8, 3), Fraction(10**9, 7), 49_999_999]
cost, covers, fill, take, until_covered = map(
    uncompiled,
    (
        token_bucket.cost,
        token_bucket.covers,
        token_bucket.fill,
        token_bucket.take,
        token_bucket.until_covered,
    ),
)


def tokens_of(rate, size_bytes):
    tokens = np.zeros(token_bucket.FIELDS, np.int64)
    tokens[: token_bucket.PRICES] = token_bucket.full(Bucket("cir", rate, "cbs", size_bytes))
    return tokens


def whole_and_part(time_ps, denominator):
    whole = time_ps // 1
    return whole, (time_ps - whole) * denominator


@given(st.data())
@pytest.mark.parametrize("rate", RATES)
def test_a_bucket_is_kept_exactly(rate, data):
    size_bytes = data.draw(st.sampled_from([0, 1, 40, 1_500]))
    tokens, byte_ps = tokens_of(rate, size_bytes), byte_time_ps(rate)
    denominator, full_ps = byte_ps.denominator, size_bytes * byte_ps
    level_ps, last_bytes = full_ps, 1
    parts = st.integers(0, denominator - 1).map(lambda part: Fraction(part, denominator))
    for _ in range(data.draw(st.integers(1, 8))):
        usual = st.sampled_from([Fraction(0), full_ps - level_ps, last_bytes * byte_ps])
        time_ps = max(data.draw(usual | st.integers(0, 3 * 10**4)) + data.draw(parts), Fraction(0))
        over_ps = max(level_ps + time_ps - full_ps, 0)
        level_ps += time_ps - over_ps
        passed = fill(tokens, *map(int, whole_and_part(time_ps, denominator)))
        assert passed == whole_and_part(over_ps, denominator)

        last_bytes = data.draw(st.sampled_from([1, 40, 41, 1_500]))
        price_ps = last_bytes * byte_ps
        price = cost(tokens, last_bytes)
        assert price == cost(tokens, last_bytes) == whole_and_part(price_ps, denominator)
        missing_ps = max((price_ps - level_ps) // 1, 0)
        assert until_covered(tokens, price) == missing_ps
        assert covers(tokens, price) == (missing_ps == 0)
        if covers(tokens, price):
            take(tokens, price)
            level_ps -= price_ps
        assert tuple(tokens[:2]) == whole_and_part(level_ps, denominator)
