"""What arrives is compared with what was sent: a device that garbles is found by bytes alone."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from connected import connected

from qospec.catalogue.kinds import Lifetime
from qospec.ciphers.key import Key
from qospec.dataclass import dataclass
from qospec.elements.cell_decrypt import CellDecrypt
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.elements.encapsulate import Encapsulate
from qospec.elements.esp_decrypt import AUTHENTICATES, EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.elements.line import Line
from qospec.elements.oam_insert import OamInsert
from qospec.elements.tamper import Tamper
from qospec.engine.element import Element, Loss, Step
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.contract import Contract
from qospec.engine.measure.payloads import Payloads
from qospec.engine.source.sizes import CELLS, Sizes
from qospec.payload import associations
from qospec.payload.comparison import Comparison
from qospec.payload.keystreams import Keystreams
from qospec.protocol.atm import CELL_BYTES
from qospec.secret import Secret
from qospec.traffic.constant import Constant
from qospec.units import PS_PER_S

CONNECTIONS = 3
STREAM = SimpleNamespace(
    is_tagged=False,
    answers=None,
    header_fields={
        "family": "ipv4",
        "protocol": "udp",
        "source_address": "198.18.0.9",
        "destination_address": "198.18.0.9",
        "source_port": 5,
        "destination_port": 6,
    },
)
GCM = {"encryption": "aes_128_gcm"}
CBC = {"encryption": "aes_128_cbc", "integrity": "hmac_md5_96", "mode": "transport"}


@dataclass(frozen=True)
class LoseEvery(Element):
    """Lose every n-th item, of all kinds."""

    every: int
    causes = ("lost",)

    def start(self, setting):  # noqa: ARG002
        return np.zeros(1, np.int64)

    def process(self, state, arrivals, until_ps):
        (batch,) = arrivals
        gone = (np.arange(batch.count) + state[0]) % self.every == self.every - 1
        state[0] += batch.count
        losses = (Loss("lost", batch.select(gone)),) if gone.any() else ()
        return Step((batch.select(~gone),), (until_ps,), losses)


class Careless(CellDecrypt):
    """A receiving end that discards nothing: garbled cells travel on."""

    def process(self, state, arrivals, until_ps):  # noqa: ARG002
        batch = arrivals[0]
        opened = batch.with_column("seal", np.zeros(batch.count, np.int64))
        return Step((opened,), (until_ps,))


def experiment(*elements, sizes=CELLS, oam=False):
    """Return a chain of elements behind a source of 3 connections, for 20 ms after 5 ms."""
    size_bytes = CELL_BYTES if sizes is CELLS else 0
    line = Line(Fraction(10**8), slotted=False)
    inner = [OamInsert(Fraction(400)), *elements] if oam else [*elements]
    nodes = (
        Node("line", line, line.build_clock(stamps=True), size_bytes=size_bytes),
        *(Node(f"node {n}", element, size_bytes=size_bytes) for n, element in enumerate(inner)),
    )
    count = len(nodes)
    rate = Fraction(3_000)
    return Experiment(
        *connected((Contract("cbr", rate, 0),) * CONNECTIONS, ("oam",) if oam else ()),
        (Source("f", Constant(rate), 0, CONNECTIONS, "random", sizes, 0, 0),),
        nodes,
        tuple(Wire(n, 0, n + 1 if n + 1 < count else END) for n in range(count)),
        MeasurementSpec(PS_PER_S // 200, PS_PER_S // 40, (0,) * CONNECTIONS * (1 + oam)),
        ("test", "case"),
    )


def compared(of, stream=None, **how):
    """Return how many items of each connection were errored, and what was observed."""
    comparison = Comparison(of, [SimpleNamespace(packets=stream)])
    seen = emulation.run(of, observer=comparison, **how)
    return comparison.errored.tolist(), seen


@pytest.mark.parametrize("of", [GCM, CBC])
@pytest.mark.parametrize("by_events", [False, True])
def test_esp_returns_what_entered(of, by_events):
    inside = EspEncrypt(**of), EspDecrypt(**of)
    wrapped = () if of["encryption"] == "aes_128_cbc" else (Encapsulate(24),)
    of = experiment(*wrapped, *inside, sizes=Sizes((60, 700), (2, 1)))
    errored, seen = compared(of, STREAM, by_events=by_events)
    assert errored == [0] * CONNECTIONS
    assert seen.received.sum() > 150


def test_esp_returns_what_entered_whichever_association_encrypts_it():
    inside = EspEncrypt(**GCM, rekey=Lifetime(20, "packet")), EspDecrypt(**GCM, overlap=0)
    errored, seen = compared(experiment(*inside, sizes=Sizes((100,))), STREAM)
    assert errored == [0] * CONNECTIONS
    assert seen.received.sum() > 150


def test_another_key_at_one_end_leaves_nothing_as_it_was(monkeypatch):
    opened = associations.Secured.open

    def with_another(self, packets):
        return opened(self._replace(encryption_key=Key(bytes(20))), packets)

    monkeypatch.setattr(associations.Secured, "open", with_another)
    of = experiment(EspEncrypt(**GCM), EspDecrypt(**GCM), sizes=Sizes((100,)))
    errored, seen = compared(of, STREAM)
    assert errored == seen.received.tolist()
    assert min(errored) > 50


def test_what_is_never_decrypted_is_not_what_was_sent():
    errored, seen = compared(experiment(CellEncrypt()))
    assert errored == seen.received.tolist()
    assert min(errored) > 50


def test_a_receiver_that_is_sent_nothing_encrypted_passes_on_nothing():
    errored, seen = compared(experiment(EspDecrypt(**GCM), sizes=Sizes((100,))), STREAM)
    assert errored == [0] * CONNECTIONS
    assert seen.received.sum() == 0


@pytest.mark.parametrize("every", [11, 50, 10**6])
@pytest.mark.parametrize("chunk", [7, 10**5])
@pytest.mark.parametrize("per_key", [None, 2])
def test_a_careless_device_passes_on_what_another_discards(every, chunk, per_key):
    ends = CellEncrypt(per_key), LoseEvery(every)
    errored, _ = compared(experiment(*ends, Careless(), oam=True), chunk=chunk)
    none, careful = compared(experiment(*ends, CellDecrypt(), oam=True), chunk=chunk)
    lost = careful.losses.get(("node 3", "undecipherable"), np.zeros(2 * CONNECTIONS))
    assert errored == lost.tolist()
    assert none == [0] * 2 * CONNECTIONS
    assert (sum(errored) > 0) == (every < 10**6)


@pytest.mark.parametrize("chunk", [7, 10**5])
def test_times_and_losses_are_those_without_bytes(chunk):
    ends = CellEncrypt(), LoseEvery(11), CellDecrypt()
    _, seen = compared(experiment(*ends, oam=True), chunk=chunk)
    bare = emulation.run(experiment(*ends, oam=True))
    assert (seen.delays == bare.delays).all()
    assert seen.losses.keys() == bare.losses.keys()
    assert all((seen.losses[loss] == bare.losses[loss]).all() for loss in bare.losses)
    assert (seen.histogram == bare.histogram).all()


class Credulous(EspDecrypt):
    """A receiving end that checks no integrity."""

    def start(self, setting):
        state = super().start(setting)
        state[AUTHENTICATES] = 0
        return state


@pytest.mark.parametrize("of", [GCM, CBC])
def test_what_timing_discards_as_tampered_the_check_of_its_bytes_finds(of):
    inside = EspEncrypt(**of), Tamper(first=20, every=3)
    sizes = Sizes((60, 700), (2, 1))
    errored, _ = compared(experiment(*inside, Credulous(**of), sizes=sizes), STREAM)
    none, careful = compared(experiment(*inside, EspDecrypt(**of), sizes=sizes), STREAM)
    assert errored == careful.losses["node 2", "tampered"].tolist()
    assert min(errored) > 10
    assert none == [0] * CONNECTIONS


@pytest.mark.parametrize("ends", [(), (CellEncrypt(), CellDecrypt())])
def test_a_change_in_the_clear_or_in_counter_mode_arrives(ends):
    of = experiment(*ends[:1], Tamper(first=16, every=3), *ends[1:])
    errored, seen = compared(of)
    assert [count // 3 for count in seen.received.tolist()] == errored


ONE, OTHER = Secret(bytes(range(16))), Secret(bytes(16))


@pytest.mark.parametrize(
    ("near", "far", "same"),
    [
        (ONE, ONE, True),
        (ONE, None, True),
        (ONE, OTHER, False),
        (None, ONE, False),
        (Secret(None), Secret(None), True),
    ],
)
def test_cells_are_errored_if_both_ends_have_different_keys(near, far, same):
    errored, seen = compared(experiment(CellEncrypt(key=near), CellDecrypt(key=far), oam=True))
    assert errored[:CONNECTIONS] == [0 if same else n for n in seen.received[:CONNECTIONS]]


def keyed(of, stream=None):
    """Return how many keys each connection has, how many all have, and how many were errored."""
    comparison = Comparison(of, [SimpleNamespace(packets=stream)])
    emulation.run(of, observer=comparison)
    keys = comparison.keys.list_by_connection()
    seen = Payloads(comparison.errored, keys)
    by_vc = [seen.count_keys(slice(vc, vc + 1)) for vc in range(CONNECTIONS)]
    return by_vc, seen.count_keys(slice(0, CONNECTIONS)), seen.count_errored(slice(0, CONNECTIONS))


@pytest.mark.parametrize(
    ("encrypt", "oam", "of_one", "in_all"),
    [
        (CellEncrypt(), False, 1, 3),
        (CellEncrypt(shares_key=True), False, 1, 1),
        (CellEncrypt(1), True, 9, 27),
        (CellEncrypt(4), True, 3, 9),
        (CellEncrypt(4, shares_key=True), True, 3, 3),
    ],
)
def test_keys_are_counted_by_their_bytes_within_the_window(encrypt, oam, of_one, in_all):
    # OAM cells come each 2.5 ms from 0 to 2.5 ms on: two at most ahead of the window of 20 ms.
    found, together, errored = keyed(experiment(encrypt, CellDecrypt(), oam=oam))
    assert errored == 0
    assert all(abs(keys - of_one) <= (1 if oam else 0) for keys in found)
    assert together == (in_all if not oam else max(found) if encrypt.shares_key else sum(found))


@pytest.mark.parametrize(("packets", "in_all"), [(None, 1), (60, 3)])
def test_packets_have_the_keys_of_their_association_and_its_successors(packets, in_all):
    # About 180 packets in the window, behind some 45 of the 60 of the first association.
    rekey = {} if packets is None else {"rekey": Lifetime(packets, "packet")}
    ends = EspEncrypt(**GCM, **rekey), EspDecrypt(**GCM)
    _, together, errored = keyed(experiment(*ends, sizes=Sizes((100,))), STREAM)
    assert (abs(together - in_all) <= (packets is not None), errored) == (True, 0)
    assert (together > 1) == (packets is not None)


def test_vcs_that_share_a_key_have_different_keystreams():
    of = experiment(CellEncrypt(shares_key=True), CellDecrypt())
    streams, zeros = Keystreams(of), np.zeros((2, 48), np.uint8)
    sender, vc, position = np.array([1, 1]), np.array([0, 2]), np.array([7, 7])
    made = streams.xor(sender, vc, position, zeros)
    assert made.any(axis=1).all()
    assert (made[0] != made[1]).any()
