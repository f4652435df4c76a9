"""A classifier before one scheduler partitions no batch, and the results are the same."""

from fractions import Fraction

import numpy as np
import pytest
from connected import connected
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.red import Red
from qospec.elements.classify import Classify
from qospec.elements.drr import Drr
from qospec.elements.line import Line
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.graph.fusion import fuse_classifiers
from qospec.engine.items.contract import Contract
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.combined import Combined
from qospec.engine.source.sizes import Sizes

STOP_PS = 1_000_000
LINE = Line(Fraction(8 * 10**9), carries="packet")
SHARES = (("af", Fraction(3)), ("be", Fraction(1)))
SCHEDULERS = [
    Strict(("ef", "af", "be")),
    Scfq((("ef", Fraction(1)), *SHARES)),
    Combined(Strict(("ef", "rest")), (None, Drr(SHARES, quantum=60))),
]
EARLY = Red(Buffer(0, "cell"), Buffer(2, "cell"), Fraction(1, 2), weight=Fraction(1))
SIZES = Sizes((50, 90), (1, 1))
CLASSES = ("ef", "af", "be")
WIRES = (*(Wire(0, n, 1, n) for n in range(3)), Wire(1, 0, END))


def experiment(listed, scheduler, arrivals, *, queues=(), recorded=(), wires=WIRES):
    """Return three sources at a classifier, the n-th of class n, and a scheduler behind it."""
    contract = Contract("packets", Fraction(1_000), 0)
    waiting = tuple(Waiting(name, Buffer(2, "cell"), *queues) for name in CLASSES)
    nodes = (
        Node(
            "classes",
            Classify(CLASSES),
            outputs=np.arange(3, dtype=np.uint8)[:, None],
            columns=(0,),
        ),
        Node("top", scheduler, LINE.build_clock(stamps=False), waiting),
    )
    sources = tuple(
        Source(
            name,
            listed([(at_ps, 0) for at_ps in times]),
            n,
            1,
            "even",
            Sizes((50, 90), (1, 1)),
            0,
            0,
        )
        for n, (name, times) in enumerate(zip(CLASSES, arrivals, strict=True))
    )
    seen = MeasurementSpec(0, STOP_PS, (0, 1, 2), queues=recorded)
    connections = connected((contract,) * 3)
    return Experiment(*connections, sources, nodes, wires, seen, ("s",))


def counted(seen):
    """Return all that was seen of each flow, as plain values."""
    lost = {name: counts.tolist() for name, counts in seen.losses.items()}
    return lost, [seen.pool(n, n + 1) for n in range(3)], seen.ledger


TIMES = st.lists(st.integers(0, 400_000), min_size=1, max_size=15, unique=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrivals=st.tuples(TIMES, TIMES, TIMES),
    scheduler=st.sampled_from(SCHEDULERS),
    chunk=st.sampled_from([3, 1_000]),
    drop=st.sampled_from([(), (EARLY,)]),
)
def test_what_is_seen_is_the_same(listed, arrivals, scheduler, chunk, drop):
    trial = experiment(listed, scheduler, arrivals, queues=drop)
    assert len(fuse_classifiers(trial).wires) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QOS_CHECK", "1")
        whole = emulation.run(trial, chunk=chunk)
        patch.setattr(emulation, "fuse_classifiers", lambda known, _: known)
        parted = emulation.run(trial, chunk=chunk)
    assert counted(whole) == counted(parted)
    assert np.array_equal(whole.histogram, parted.histogram)


@pytest.mark.parametrize(
    ("wires", "recorded"),
    [
        (WIRES, ("af",)),
        ((Wire(0, 0, 1, 0), Wire(0, 1, 1, 0), Wire(0, 2, 1, 2), Wire(1, 0, END)), ()),
        ((Wire(0, 0, 1, 0), Wire(0, 1, 1, 1), Wire(0, 2, END), Wire(1, 0, END)), ()),
    ],
    ids=["each queue is observed", "two classes share a queue", "one goes elsewhere"],
)
def test_a_batch_is_partitioned_where_fusion_is_impossible(listed, wires, recorded):
    trial = experiment(listed, SCHEDULERS[0], ([1], [2], [3]), wires=wires, recorded=recorded)
    assert fuse_classifiers(trial) == trial


def test_a_scheduler_that_something_else_feeds_gets_a_batch_per_input(listed):
    trial = experiment(listed, SCHEDULERS[0], ([1], [2], [3]))
    beside = trial.sources[0]._replace(name="beside", node=1)
    fed = trial._replace(sources=(*trial.sources, beside))
    assert fuse_classifiers(fed) == fed


@pytest.mark.parametrize("wired", [1, 2])
def test_a_class_that_is_not_wired_is_still_refused(listed, wired):
    wires = (*(Wire(0, n, 1, n) for n in range(wired)), Wire(1, 0, END))
    trial = experiment(listed, SCHEDULERS[0], ([1], [2], [3]), wires=wires)
    with pytest.raises(ValueError, match=r"left by output classes\.\w+, which is not connected"):
        emulation.run(trial)


def test_an_output_that_is_wired_twice_is_still_refused(listed):
    trial = experiment(listed, SCHEDULERS[0], ([1], [2], [3]), wires=(*WIRES, Wire(0, 0, 1, 1)))
    with pytest.raises(ValueError, match="an output is wired twice at classes"):
        emulation.run(trial)


def test_a_scheduler_of_more_inputs_than_a_table_can_name_gets_a_batch_per_input(listed):
    names = (*CLASSES, *(f"q{n}" for n in range(300)))
    trial = experiment(listed, Strict(names), ([1], [2], [3]))
    top = trial.nodes[1]._replace(queues=tuple(Waiting(name, Buffer(2, "cell")) for name in names))
    trial = trial._replace(nodes=(trial.nodes[0], top))
    assert fuse_classifiers(trial) == trial
    assert emulation.run(trial).carried.sum() == 3
