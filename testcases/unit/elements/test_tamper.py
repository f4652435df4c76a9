"""Changes that a test injects: which items they hit, and what finds them."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.elements.cell_decrypt import CellDecrypt
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.elements.tamper import Tamper
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import join_batches

SECOND = Tamper(first=2)


def through(lab, batch, *elements):
    """Return what left the last of some elements, and all causes of loss with the items."""
    lost = []
    for element in elements:
        outcome = lab.carry(element, lab.setting(), batch, cuts=[2])
        lost += [(cause, item) for cause, *_, item in outcome.lost]
        (batch,) = outcome.departures
    return batch, lost


@pytest.mark.parametrize(
    ("transforms", "accepted"),
    [
        (("aes_128_gcm",), [0, 2, 3]),
        (("aes_128_cbc", "hmac_md5_96"), [0, 2, 3]),
        (("aes_128_cbc",), [0, 1, 2, 3]),
    ],
)
def test_an_integrity_check_finds_what_was_changed(lab, transforms, accepted):
    cells = lab.cells(range(4), size_bytes=[100] * 4)
    left, lost = through(lab, cells, EspEncrypt(*transforms), SECOND, EspDecrypt(*transforms))
    assert left.at_ps.tolist() == accepted
    assert lost == ([] if 1 in accepted else [("tampered", 1)])
    assert (left.read_column("seal") < 0).tolist() == [item == 1 for item in accepted]


def test_a_changed_packet_is_no_reason_to_refuse_the_genuine_one(lab):
    (sealed,) = lab.carry(EspEncrypt("aes_128_gcm"), lab.setting(), lab.cells([0])).departures
    (changed,) = lab.carry(Tamper(first=1), lab.setting(), sealed).departures
    both = join_batches(changed, sealed).with_times(np.array([5, 5]))
    outcome = lab.carry(EspDecrypt("aes_128_gcm"), lab.setting(), both)
    assert [cause for cause, *_ in outcome.lost] == ["tampered"]
    assert outcome.departures[0].count == 1


def test_counter_mode_passes_on_what_was_changed(lab):
    left, lost = through(lab, lab.cells(range(4)), CellEncrypt(), SECOND, CellDecrypt())
    assert not lost
    assert (left.read_column("seal") < 0).tolist() == [False, True, False, False]


def test_what_is_in_the_clear_stays_so(lab):
    left, lost = through(
        lab, lab.cells(range(3)), Tamper(probability=Fraction(1)), EspDecrypt("aes_128_gcm")
    )
    assert left.count == 0
    assert lost == [("unprotected", item) for item in range(3)]


def test_what_is_not_hit_passes_as_it_is(lab):
    batch = lab.cells(range(4))
    step = build_process(Tamper(first=5), lab.setting())((batch,), 10)
    assert step.departures[0] is batch
