"""What a trial shows by each driver, and a program that compares them over many networks.

python testcases/drivers.py 20000
"""

import argparse
import sys
from collections import Counter
from typing import Any, NamedTuple

import pytest
from definition import ReferenceComponent, kernels_as_python
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from networks import networks

from qospec.catalogue.kinds import discover
from qospec.engine.element import Loss
from qospec.engine.experiment import Experiment
from qospec.engine.graph import cycle, emulation
from qospec.engine.items.batch import COLUMNS, Batch
from qospec.engine.measure.ledger import Ledger
from qospec.engine.measure.observation import Observation, Recorder

NOT_DRAWN = {"merge", "processor", "remark", "decapsulate"}
"""Elements of several inputs, and those for which the packets of these networks may not fit."""
LONGEST_PS = 10**10
COUNTED = ("planned", "sent", "carried", "received", "consumed", "delays")
"""What an observation counts by connection."""
KINDS = discover(("qospec.elements",)).select_role("element").values()
SCHEDULERS = [kind for kind in KINDS if kind.duty == "scheduler"]
MIDDLE = [
    kind
    for kind in KINDS
    if kind.duty == "element"
    and "packet" in kind.carries
    and kind.build.build_transition is not None
    and not kind.build.inserts  # these networks have the kind of user items only
    and kind.name not in NOT_DRAWN
]


class Sums(NamedTuple):
    """All that a trial counts."""

    counts: dict[str, list[Any]]
    volumes: tuple[list[Any], list[Any]] | None
    histogram: tuple[int, list[Any]]
    ledger: Ledger
    occupancies: dict[str, Any]
    passed: dict[str, Any]


class Seen(NamedTuple):
    """All that a trial shows."""

    arrived: dict[tuple[str, int], list[tuple[int, ...]]]
    made: Counter[tuple[int, ...]]
    sent: Counter[tuple[int, ...]]
    lost: Counter[tuple[Any, ...]]
    sums: Sums


def seen(experiment: Experiment, chunk: int, *, by_events: bool) -> Seen:
    """Return what a trial shows, each item by itself."""
    arrived: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    made: Counter[tuple[int, ...]] = Counter()
    sent: Counter[tuple[int, ...]] = Counter()
    lost: Counter[tuple[Any, ...]] = Counter()

    class Noting(Recorder):
        counters = None  # else the event loop would count what is to be noted here

        def __init__(self, fused: Experiment, *others: Any) -> None:
            super().__init__(fused, *others)
            self.ends = [(fused.nodes[wire.node].path, wire.output) for wire in fused.wires]

        def count_arrived(self, batch: Batch, point: int) -> None:
            arrived.setdefault(self.ends[point], []).extend(rows(batch))
            super().count_arrived(batch, point)

        def count_made(self, batch: Batch) -> None:
            made.update(rows(batch))
            super().count_made(batch)

        def count_sent(self, batch: Batch) -> None:
            sent.update(rows(batch))
            super().count_sent(batch)

        def count_lost(self, path: str, loss: Loss) -> None:
            cells = zip(loss.batch.connection.tolist(), loss.batch.sent_ps.tolist(), strict=True)
            lost.update((path, loss.element, loss.cause, *cell) for cell in cells)
            super().count_lost(path, loss)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulation, "Recorder", Noting)
        found = emulation.run(experiment, chunk=chunk, by_events=by_events)
    return Seen(arrived, made, sent, lost, sums(experiment, found))


def sums(experiment: Experiment, found: Observation) -> Sums:
    """Return all that an observation counts."""
    assert not found.ledger.imbalance
    assert found.passages is not None
    passed = {
        tap.place: found.passages.pool(tap.place, slice(None), packets=True).volume
        for tap in experiment.measurement.taps
    }
    counts = {name: getattr(found, name).tolist() for name in COUNTED}
    of_packets = found.volumes
    volumes = of_packets and (of_packets.sent_bytes.tolist(), of_packets.carried_bytes.tolist())
    histogram = found.first_bucket, found.histogram.tolist()
    return Sums(counts, volumes, histogram, found.ledger, found.occupancies, passed)


def counted(experiment: Experiment) -> Sums:
    """Return what it shows if the event loop counts whatever it can by itself."""
    return sums(experiment, emulation.run(experiment, by_events=True))


def rows(batch: Batch) -> list[tuple[int, ...]]:
    columns = (*batch[:5], *(batch.read_column(name) for name in COLUMNS))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def by_definition(experiment: Experiment) -> Seen:
    """Return what it shows if all is done event by event, in Python."""
    with pytest.MonkeyPatch.context() as patch, kernels_as_python():
        patch.setattr(cycle, "Component", ReferenceComponent)
        return seen(experiment, 10**6, by_events=True)


def drawn_networks(elements: Any) -> st.SearchStrategy[Experiment]:
    """Return networks with elements, by a strategy for those of a kind; no delay is of years."""
    some = st.sampled_from(MIDDLE).flatmap(elements)
    return networks(
        lambda: some.filter(delays_briefly),
        lambda: st.sampled_from(SCHEDULERS).flatmap(elements),
    )


def delays_briefly(element: Any) -> bool:
    """Return whether it holds nothing for years, in which a processor is interrupted too often."""
    return max(element.find_lookahead_ps(None), getattr(element, "time", 0)) < LONGEST_PS


def compare(count: int) -> None:
    """Draw so many networks, and print how many there were and how many differ."""
    from properties.conftest import elements

    found: Counter[str] = Counter()

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn_networks(elements))
    def each(experiment: Experiment) -> None:
        batches = seen(experiment, 10**6, by_events=False)
        others = seen(experiment, 7, by_events=True), by_definition(experiment)
        found["networks"] += 1
        found["with cycles"] += bool(emulation.on_cycles(experiment))
        exchanges = [stream for stream in experiment.streams if stream.kind == "exchanges"]
        found["with endpoints"] += bool(exchanges)
        found["items"] += sum(batches.sent.values())
        found["lost"] += sum(batches.lost.values())
        for stream in exchanges:
            whole = slice(stream.first, stream.stop)
            found["begun"] += sum(batches.sums.counts["sent"][whole])
            found["answered"] += sum(batches.sums.counts["received"][whole])
        differ = any(other != batches for other in others)
        found["differ"] += differ or counted(experiment) != batches.sums

    each()
    words = (
        *(f"{found[noun]:,} {noun}" for noun in ("networks", "with cycles", "with endpoints")),
        f"{found['items']:,} items sent",
        f"{found['lost']:,} lost",
        f"{found['answered']:,} of {found['begun']:,} exchanges answered",
    )
    print(f"{', '.join(words)}: compared, {found['differ']} differ")
    sys.exit(found["differ"] > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the drivers over many networks.")
    parser.add_argument("networks", type=int)
    compare(parser.parse_args().networks)
