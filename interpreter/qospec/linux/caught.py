"""What programs have sent, and when it was seen where: from the file `caught` of a job.

A packet is known at each place by all of it that is not changed on the way; those that are alike
byte for byte are taken in order. So counts are exact, and of packets that are alike and of which
some are lost the delays may be those of others.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import build_batch
from qospec.linux.traffic import PS_PER_NS, Planned, Sightings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.engine.arrays import Truths, Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch
    from qospec.linux.layout import Layout
    from qospec.linux.programs import Placed

CAUGHT = np.dtype(
    [
        *(("at_ns", "<i8"), ("hash", "<u8"), ("connection", "<u4"), ("size", "<u2")),
        *(("point", "<u2"), ("tos", "u1"), ("unused", "u1", 7)),
    ]
)
LONG_AGO_NS = 10**18
"""Times of what was taken before a trial had begun are of the clock, and above this."""


class _Seen(NamedTuple):
    """What was seen of the packets of a program: arrays over all that it has sent.

    Attributes:
        size: Their bytes.
        early: Whether they were sent ahead of the trial.
        at_ns: By interface, when they were there; -1: never.
        tos: Likewise, the octet with the DSCP.
        came: Likewise, whether they were there at all.
    """

    size: Whole
    early: Truths
    at_ns: Mapping[str, Whole]
    tos: Mapping[str, Whole]
    came: Mapping[str, Truths]


class Caught(NamedTuple):
    """A trial with what programs have sent.

    Attributes:
        planned: All that was sent.
        sightings: When it was seen where.
        sent: By connection of a program, how many packets it has sent in all.
        lost_ahead: By path, how many packets were lost there that were sent ahead of the trial.
    """

    planned: Planned
    sightings: Sightings
    sent: Mapping[int, int]
    lost_ahead: Mapping[str, int]


def add_caught(
    written: bytes,
    seen: tuple[Planned, Sightings],
    placed: Sequence[Placed],
    watched: Sequence[str],
    experiment: Experiment,
    layout: Layout,
) -> Caught:
    """Return a trial with what was caught of programs; `seen` is what was planned, and seen."""
    records: Any = np.frombuffer(written, CAUGHT)
    found = {one.connection: _match(records, one, watched) for one in placed}
    planned, sightings = seen
    parts: dict[str, list[Whole]] = {name: [at] for name, at in sightings.at_ns.items()}
    octets: dict[str, list[Whole]] = {name: [tos] for name, tos in sightings.tos.items()}
    batches, firsts, total = list(planned.batches), list(planned.first), planned.packets
    lost: Counter[str] = Counter()
    for number, source in enumerate(experiment.sources):
        its = found.get(source.first)
        if its is None:
            continue
        kept = ~its.early
        batches[number] = _build_batch(its, kept, source.first, source.marks)
        firsts[number] = total
        total += batches[number].count
        for name, times in parts.items():
            times.append(its.at_ns[name][kept])
            octets[name].append(its.tos[name][kept])
    for one in placed:
        lost.update(_count_lost_ahead(found[one.connection], one, experiment, layout))
    return Caught(
        Planned(tuple(batches), tuple(firsts), drawn=True),
        Sightings(
            {name: np.concatenate(times) for name, times in parts.items()},
            {name: np.concatenate(its_tos) for name, its_tos in octets.items()},
        ),
        {connection: len(its.size) for connection, its in found.items()},
        lost,
    )


def _build_batch(its: _Seen, kept: Truths, connection: int, marks: int) -> Batch:
    at_ps = its.at_ns["begun"][kept] * PS_PER_NS
    return build_batch(
        at_ps=at_ps,
        sent_ps=at_ps.copy(),
        connection=np.full(len(at_ps), connection, np.int32),
        size_bytes=its.size[kept].astype(np.int32),
        marks=np.full(len(at_ps), marks, np.uint32),
    )


def _match(records: Any, one: Placed, watched: Sequence[str]) -> _Seen:
    """Return what was seen of the packets of a program."""
    mine = records[records["connection"] == one.connection]
    begun = mine[mine["point"] == watched.index(one.end)]
    places = {key: number for number, key in enumerate(_list_keys(begun))}
    times = {"begun": begun["at_ns"].copy()}
    octets = {"begun": begun["tos"].astype(np.int64)}
    came = {"begun": np.ones(len(begun), np.bool_)}
    for point, name in enumerate(watched):
        there = mine[mine["point"] == point]
        at = np.array([places.get(key, -1) for key in _list_keys(there)], np.int64)
        if (at < 0).any():
            raise ValueError(f"a packet passed {name} that `{one.flow}` has not sent")
        times[name] = np.full(len(begun), -1, np.int64)
        octets[name] = np.zeros(len(begun), np.int64)
        times[name][at], octets[name][at] = there["at_ns"], there["tos"]
        came[name] = np.zeros(len(begun), np.bool_)
        came[name][at] = True
    at_ns = times["begun"]
    return _Seen(begun["size"], (at_ns < 0) | (at_ns > LONG_AGO_NS), times, octets, came)


def _list_keys(records: Any) -> list[tuple[int, int]]:
    """Return what packets are known by: what they are, and how many alike came before."""
    before: Counter[int] = Counter()
    keys = []
    for digest in records["hash"].tolist():
        keys.append((digest, before[digest]))
        before[digest] += 1
    return keys


def _count_lost_ahead(
    its: _Seen, one: Placed, experiment: Experiment, layout: Layout
) -> Counter[str]:
    """Return by path how many packets were lost there that were sent ahead of the trial."""
    lost: Counter[str] = Counter()
    left = its.early
    for step in one.way.steps:
        there = left & its.came[layout.far[step.node]]
        lost[experiment.nodes[step.node].path] += int(np.count_nonzero(left & ~there))
        left = there
    return lost
