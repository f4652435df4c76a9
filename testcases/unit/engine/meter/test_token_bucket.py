"""Token buckets against exact fractions: no part of a ps is lost, whatever comes and goes."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.catalogue.kinds import Buffer, Load
from qospec.engine.kernel import get_function
from qospec.engine.meter import token_bucket
from qospec.engine.meter.token_bucket import Bucket

RATES = [Fraction(8), Fraction(8 * 10**12), Fraction(24 * 10**11), 49_999_999]
"""A byte takes 1 s, 1 ps, 10/3 ps, and a number of ps with a large denominator."""
cost, covers, fill, take, until_covered = map(
    get_function,
    (
        token_bucket.cost,
        token_bucket.covers,
        token_bucket.fill,
        token_bucket.take,
        token_bucket.compute_wait_ps,
    ),
)


def tokens_of(rate, size_bytes):
    tokens = np.zeros(token_bucket.FIELDS, np.int64)
    bucket = Bucket("cir", Load(Fraction(rate), "ip"), "cbs", Buffer(size_bytes, "byte"))
    tokens[: token_bucket.PRICES] = token_bucket.build_full_bucket(bucket)
    return tokens, bucket.token_ps


def whole_and_part(time_ps, denominator):
    whole = time_ps // 1
    return whole, (time_ps - whole) * denominator


@pytest.mark.parametrize("size_bytes", [0, 1, 1_500, 65_535])
@pytest.mark.parametrize("rate", RATES)
def test_a_bucket_is_kept_exactly(rate, size_bytes):
    """Fill it, often exactly to its size, and take packets from it, often all that it holds."""
    random = np.random.default_rng(1)
    tokens, byte_ps = tokens_of(rate, size_bytes)
    denominator, full_ps = byte_ps.denominator, size_bytes * byte_ps
    level_ps = full_ps
    for _ in range(50):
        gaps_ps = [Fraction(0), full_ps - level_ps, int(random.integers(0, 2 * 10**4)) * byte_ps]
        time_ps = gaps_ps[random.integers(3)]
        time_ps += Fraction(int(random.integers(denominator)), denominator) * int(
            random.integers(2)
        )
        over_ps = max(level_ps + time_ps - full_ps, 0)
        level_ps += time_ps - over_ps
        passed = fill(tokens, *map(int, whole_and_part(time_ps, denominator)))
        assert passed == whole_and_part(over_ps, denominator)

        packet_bytes = int(random.choice([1, 40, 41, 1_500, 65_535]))
        price_ps = packet_bytes * byte_ps
        price = cost(tokens, packet_bytes)
        assert price == cost(tokens, packet_bytes) == whole_and_part(price_ps, denominator)
        missing_ps = max((price_ps - level_ps) // 1, 0)
        assert until_covered(tokens, price) == missing_ps
        assert covers(tokens, price) == (missing_ps == 0)
        if covers(tokens, price):
            take(tokens, price)
            level_ps -= price_ps
        assert tuple(tokens[:2]) == whole_and_part(level_ps, denominator)
