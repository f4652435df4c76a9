"""What arrives, compared with what was sent: payloads, encrypted and decrypted as on their way.

An observer: it sees items that leave what encrypts, and items that come to what decrypts. These
carry all that the bytes follow from, so nothing is kept but what is in flight: behind each window
of time the items that came are drawn, encrypted with what the one end holds, decrypted with what
the other end holds, and compared. Times and losses are those of the emulation, with and without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.experiment import Tap
from qospec.engine.items.batch import join_batches
from qospec.engine.security.association import Association
from qospec.engine.security.end import SecurityEnd
from qospec.payload.associations import find_encrypting
from qospec.payload.fill import Fill
from qospec.payload.flight import UNKNOWN, Flight, copy_batch, find
from qospec.payload.keys import KeysInUse
from qospec.payload.nonces import Nonces
from qospec.payload.packets import describe_flows
from qospec.payload.receivers import CellReceiver, PacketReceiver

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch
    from qospec.model.suite import Flow
    from qospec.payload.flight import Items


class Receiver(Protocol):
    """What decrypts: one node, with what it holds."""

    def find_errors(self, items: Items, sender: Whole) -> Truths:
        """Return (n,) which items are not what was encrypted; `sender` is the node that did it.

        Of items of other kinds than that of users it is False.
        """


class _Seen(NamedTuple):
    """Items by what tells them apart, and when they were sent."""

    connection: Indices
    sent_ps: Times

    @classmethod
    def from_batch(cls, batch: Batch, which: Truths | slice = slice(None)) -> _Seen:
        """Return items of a batch, as copies."""
        return cls(batch.connection[which].copy(), batch.sent_ps[which].copy())


class Comparison:
    """An observer that counts the items that arrived with other bytes than they were sent with.

    Attributes:
        taps: Where it sees items: behind what encrypts, and ahead of what decrypts.
        errored: (n,) By connection index, those of users that were sent within the window.
        keys: What encrypted those.
    """

    def __init__(self, experiment: Experiment, flows: Sequence[Flow]) -> None:
        """Begin a trial, whose seed is complete: it names all that draws depend on."""
        indices = experiment.streams.indices
        self.errored = np.zeros(indices, np.int64)
        self._experiment = experiment
        self._flight = Flight(indices)
        self._receivers = _list_receivers(experiment, flows)
        self._senders = {number: _list_senders(experiment, number) for number in self._receivers}
        self._encrypted: dict[int, Truths] = {}
        self._nonces = Nonces(experiment)
        self.keys = KeysInUse(experiment)
        self.taps = tuple(_list_taps(experiment, self._receivers.keys()))
        self._began: list[Batch] = []
        self._came: dict[int, list[Batch]] = {number: [] for number in self._receivers}
        self._ended: list[_Seen] = []
        self._arrived: list[_Seen] = []
        self._spoilt: list[_Seen] = []

    def note_start(self, batch: Batch) -> None:
        """Keep items that are sent, to number them."""
        if self._receivers:
            self._began.append(copy_batch(batch))

    def note_passage(self, place: str, batch: Batch) -> None:
        """Take note of which connections are encrypted, or keep items to be decrypted.

        Raises:
            NonceError: Something would have been encrypted twice with one key and number.
        """
        number = int(place)
        if number in self._receivers:
            self._came[number].append(copy_batch(batch))
            return
        self._nonces.claim(number, batch)
        self.keys.note_passage(number, batch)
        indices = self._experiment.streams.indices
        of = self._encrypted.setdefault(number, np.zeros(indices, np.bool_))
        of[batch.connection] = True

    def note_end(self, batch: Batch, how: str) -> None:
        """Keep which items ended; what arrives encrypted is not what was sent."""
        seen = _Seen.from_batch(batch)
        self._ended.append(seen)
        if not how:
            self._arrived.append(seen)
            is_sealed = batch.read_column("seal") != 0
            if is_sealed.any():
                self._spoilt.append(_Seen.from_batch(batch, is_sealed))

    def advance(self) -> None:
        """Decrypt what came, compare it, and count what has arrived."""
        if self._receivers:
            self._flight.add(join_batches(*self._began))
            self._began.clear()
        for number, receiver in self._receivers.items():
            came = join_batches(*self._came[number])
            self._came[number].clear()
            if came.count:
                items = self._flight.identify(came, self._experiment.nodes[number].path)
                errored = receiver.find_errors(items, self._find_sender(number, came.connection))
                self._spoilt.append(_Seen.from_batch(came, errored))
        self._count()

    def _find_sender(self, number: int, connection: Indices) -> Whole:
        """Return (n,) which node has encrypted items that came to another; -1 if none has."""
        sender = np.full(len(connection), UNKNOWN, np.int64)
        for node in self._senders[number]:
            if node in self._encrypted:
                sender[self._encrypted[node][connection]] = node
        return sender

    def _count(self) -> None:
        """Count the items that arrived and were errored, and forget all that ended."""
        arrived, spoilt = _join_all(self._arrived), _join_all(self._spoilt)
        ended = _join_all(self._ended)
        if len(spoilt.sent_ps):
            found = find(*spoilt, *arrived) != UNKNOWN
            measurement, users = self._experiment.measurement, self._experiment.streams.count
            found &= (arrived.sent_ps >= measurement.start_ps) & (arrived.connection < users)
            if not measurement.drains:
                found &= arrived.sent_ps < measurement.stop_ps
            np.add.at(self.errored, arrived.connection[found], 1)
            stays = find(*ended, *spoilt) == UNKNOWN
            self._spoilt = [_Seen(spoilt.connection[stays], spoilt.sent_ps[stays])]
        if self._receivers:
            self._flight.remove(*ended)
        self._arrived, self._ended = [], []


def _join_all(seen: Sequence[_Seen]) -> _Seen:
    if not seen:
        return _Seen.from_batch(join_batches())
    return _Seen(*(np.concatenate(parts) for parts in zip(*seen, strict=True)))


def _list_receivers(experiment: Experiment, flows: Sequence[Flow]) -> dict[int, Receiver]:
    """Return what decrypts, by node."""
    fill, found = Fill.from_seed(experiment.seed), dict[int, Receiver]()
    for number, node in enumerate(experiment.nodes):
        if not isinstance(node.element, SecurityEnd) or node.element.encrypts:
            continue
        if isinstance(node.element, Association):
            found[number] = PacketReceiver(experiment, describe_flows(experiment, flows), fill)
        else:
            found[number] = CellReceiver(experiment, number, fill)
    return found


def _list_senders(experiment: Experiment, number: int) -> list[int]:
    """Return what may have encrypted what comes to a node."""
    before = {wire.node for wire in experiment.wires if wire.to == number}
    return sorted({index for node in before for index in find_encrypting(experiment, node)})


def _list_taps(experiment: Experiment, receivers: Collection[int]) -> Iterator[Tap]:
    """Yield the outputs of what encrypts, and those that lead to what decrypts."""
    for wire in experiment.wires:
        element = experiment.nodes[wire.node].element
        if isinstance(element, SecurityEnd) and element.encrypts:
            yield Tap(str(wire.node), wire.node, wire.output)
        if wire.to in receivers:
            yield Tap(str(wire.to), wire.node, wire.output)
