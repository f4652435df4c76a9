"""The check of integrity apart from decryption: what it discards, and what that costs."""

import numpy as np
import pytest

from qospec.catalogue.kinds import Buffer
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.elements.esp_verify import EspVerify
from qospec.elements.processor import Processor
from qospec.elements.tamper import Tamper
from qospec.engine.items.batch import join_batches

GCM, CBC = ("aes_128_gcm",), ("aes_128_cbc",)
SECOND = Tamper(first=2)


def through(lab, batch, *elements):
    """Return what left the last of some elements, and all causes of loss with the items."""
    lost = []
    for element in elements:
        outcome = lab.carry(element, lab.setting(), batch, cuts=[2])
        lost += [(type(element), cause, item) for cause, *_, item in outcome.lost]
        (batch,) = outcome.departures
    return batch, lost


def test_what_was_changed_is_discarded_behind_the_decryptor(lab):
    cells = lab.cells(range(4), size_bytes=[100] * 4)
    open_, check = EspDecrypt(*GCM, verify=False), EspVerify()
    left, lost = through(lab, cells, EspEncrypt(*GCM), SECOND, open_, check)
    assert left.at_ps.tolist() == [0, 2, 3]
    assert lost == [(EspVerify, "tampered", 1)]
    assert not left.read_column("seal").any()


def test_a_changed_packet_takes_as_long_as_a_genuine_one(lab):
    """Four packets of 100 us each, the second changed: the third and the fourth wait for it."""
    cells = lab.cells([0] * 4, size_bytes=[100] * 4)
    cpu = Processor(per_packet=10**8, limit=Buffer(4, "packet"))
    ahead = EspEncrypt(*GCM), SECOND
    left, _ = through(lab, cells, *ahead, EspDecrypt(*GCM, verify=False), cpu, EspVerify())
    assert left.at_ps.tolist() == [10**8, 3 * 10**8, 4 * 10**8]
    left, _ = through(lab, cells, *ahead, EspDecrypt(*GCM), cpu)
    assert left.at_ps.tolist() == [10**8, 2 * 10**8, 3 * 10**8]


def test_a_changed_packet_has_its_size_without_the_tunnel(lab):
    cells = lab.cells(range(4), size_bytes=[100, 200, 300, 400])
    left, lost = through(lab, cells, EspEncrypt(*GCM), SECOND, EspDecrypt(*GCM, verify=False))
    assert not lost
    assert left.size_bytes.tolist() == [100, 200, 300, 400]


def test_what_nothing_authenticates_passes(lab):
    cells = lab.cells(range(4), size_bytes=[100] * 4)
    open_, check = EspDecrypt(*CBC, verify=False), EspVerify()
    left, lost = through(lab, cells, EspEncrypt(*CBC), SECOND, open_, check)
    assert not lost
    assert (left.read_column("seal") < 0).tolist() == [False, True, False, False]


def test_a_changed_packet_is_no_reason_to_refuse_the_genuine_one(lab):
    """RFC 4303, 3.4.3: the window is updated only if the packet is genuine."""
    (sealed,) = lab.carry(EspEncrypt(*GCM), lab.setting(), lab.cells([0])).departures
    (changed,) = lab.carry(Tamper(first=1), lab.setting(), sealed).departures
    both = join_batches(changed, sealed).with_times(np.array([5, 5]))
    left, lost = through(lab, both, EspDecrypt(*GCM, verify=False), EspVerify())
    assert [cause for _, cause, _ in lost] == ["tampered"]
    assert left.count == 1


@pytest.mark.parametrize("verify", [False, True])
def test_a_replay_is_refused_by_its_header(lab, verify):
    (sealed,) = lab.carry(EspEncrypt(*GCM), lab.setting(), lab.cells([0, 1])).departures
    again = join_batches(sealed, sealed).with_times(np.arange(4))
    _, lost = through(lab, again, EspDecrypt(*GCM, verify=verify), EspVerify())
    assert [(of, cause) for of, cause, _ in lost] == [(EspDecrypt, "replayed")] * 2
