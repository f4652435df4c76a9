"""When associations expire before they are replaced: what a plan says, against what is lost."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from qospec.catalogue.kinds import Lifetime
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS

MS_PS, PACKETS = 10**9, 200
SIZE_BYTES = 100
END_S = Fraction(PACKETS - 1, 1_000)
REKEY = [None, Lifetime(7, "packet"), Lifetime(1_000, "byte"), Lifetime(8_300_000_000, "time")]
NEGOTIATION_MS = [Fraction(0), Fraction(2, 5), Fraction(2), Fraction(31, 10)]
LIFETIMES = [
    *(Lifetime(count, "packet") for count in (7, 8, 9, 10, 11, 12, 198, 200)),
    *(Lifetime(count, "byte") for count in (1_000, 1_104, 1_249, 1_300)),
    *(Lifetime(int(ms * MS_PS), "time") for ms in (6.0, 6.5, 7, 8.4, 9, 10, 11.2, 13.5)),
]


def combinations():
    """Yield the elements that are not refused."""
    for rekey, lasts_ms, lifetime in itertools.product(REKEY, NEGOTIATION_MS, LIFETIMES):
        try:
            yield EspEncrypt(
                "aes_128_gcm", rekey=rekey, negotiation=int(lasts_ms * MS_PS), lifetime=lifetime
            )
        except ValueError:
            continue


@pytest.fixture
def packets(lab):
    """Return packets of one size, one each millisecond."""
    return lab.cells(np.arange(PACKETS) * MS_PS, size_bytes=SIZE_BYTES)


def test_a_gap_is_told_where_packets_expire_and_nowhere_else(lab, packets):
    found = []
    for element in combinations():
        step = build_process(element, lab.setting())((packets,), FOREVER_PS)
        expired = sum(loss.batch.count for loss in step.losses)
        byte_rate = Fraction(1_000 * element.esp.count_encrypted_bytes(SIZE_BYTES))
        gap = element.rekeying.find_gap(Fraction(1_000), byte_rate, END_S)
        found.append((gap is not None, expired > 0))
        if gap is None:
            assert not expired, element
        elif gap.replaced_s is None:
            assert expired, element
        elif not expired:  # on average there is no packet in so short a gap
            assert (gap.replaced_s - gap.expires_s) * 1_000 < 1, (element, gap)
    assert {(True, True), (False, False)} <= {*found}
    assert len(found) > 100


@pytest.mark.parametrize(("count", "lost"), [(25, 0), (24, 8), (20, 40)])
def test_so_many_associations_last_for_so_long(lab, packets, count, lost):
    element = EspEncrypt("aes_128_gcm", rekey=Lifetime(8, "packet"), spi=32_768 - count)
    step = build_process(element, lab.setting())((packets,), FOREVER_PS)
    assert sum(loss.batch.count for loss in step.losses) == lost
    used_up_s = element.rekeying.compute_used_up_s(Fraction(1_000), Fraction(116_000), count)
    assert used_up_s == Fraction(8 * count - 1, 1_000)


@pytest.mark.parametrize(
    ("end", "fields"),
    [(EspEncrypt, {"rekey": Lifetime(9, "packet")}), (EspDecrypt, {"overlap": 9})],
)
def test_the_largest_index_leaves_none_for_a_successor(end, fields):
    with pytest.raises(ValueError, match=r"spi: 32767 is the largest, and leaves none"):
        end("aes_128_gcm", spi=32_767, **fields)
