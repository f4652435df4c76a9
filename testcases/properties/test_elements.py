"""Every element of the catalogue keeps every promise of `engine/element.py`.

Elements, what they find and what comes to them are drawn from what each kind declares, bounds
included; a new element is tested here without a line.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from qospec.catalogue import REQUIRED, Buffer, Kind, Parameter, discover
from qospec.dropping.clp_first import ClpFirst
from qospec.dropping.red import Red
from qospec.dropping.tail import Tail
from qospec.dropping.threshold import Threshold
from qospec.dropping.wred import Wred
from qospec.elements.gcra import Gcra
from qospec.elements.shape import Shape
from qospec.engine import kernel, transmission
from qospec.engine.batch import FOREVER_PS, Batch, empty, joined
from qospec.engine.clock import Clock
from qospec.engine.connections import Connections, Contract
from qospec.engine.draws import Draws
from qospec.engine.element import Setting, Waiting
from qospec.engine.encapsulation import Encapsulation

ELEMENTS = discover(("qospec.elements",)).of("element")
STM1 = Fraction(149_760_000)
SLOT_PS = 2_831_196
ETHERNET = Encapsulation(8, 18, 64, 12)
NAMES = ("a", "b", "c")

few = settings(
    deadline=None,
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.too_slow],
)
every_kind = pytest.mark.parametrize("kind", ELEMENTS.values(), ids=ELEMENTS)


class Example(NamedTuple):
    """An element, what it finds, what comes to each input, and where time is cut."""

    element: Any
    setting: Setting
    arrivals: tuple[Batch, ...]
    cuts: tuple[int, ...]


class Outcome(NamedTuple):
    """All that an element gave."""

    departures: tuple[Batch, ...]
    losses: dict[tuple[str, str], list[tuple[int, int]]]
    waits: list[tuple[int, int]]


# ---- examples, from declarations


def values(parameter: Parameter) -> st.SearchStrategy[Any]:  # noqa: PLR0911 -- by domain
    """Return values of a field: its bounds, and what is usual."""
    domain = parameter.domain
    if domain.choices or domain.name == "truth":
        return st.sampled_from(domain.choices or (True, False))
    if domain.name == "names":
        if parameter.default is REQUIRED:
            return st.integers(1, 3).map(lambda count: NAMES[:count])
        return st.sets(st.sampled_from(sorted(parameter.default))).map(lambda s: tuple(sorted(s)))
    if domain.name in {"weights", "counts", "sizes", "buffer"}:
        return buffers if domain.name == "buffer" else maps
    if domain.name in {"codes", "dropping"}:  # which policy fits depends on the limit: `policies`
        return codes if domain.name == "codes" else st.none()
    if domain.name == "times":
        return st.lists(st.sampled_from([0, 1, SLOT_PS, 10**9]), min_size=1, max_size=4).map(tuple)
    if domain.name == "integer":
        assert domain.low is not None
        return st.integers(int(domain.low), int(domain.low) + 3)
    usual = {
        "rate": [STM1, Fraction(44_736_000 * 84, 85)],
        "cell rate": [Fraction(1, 30), Fraction(352_720), Fraction(10**12, 7)],
        "time": [1, SLOT_PS, 10**9],
        "data": [18, 64, 1_500],
        "length": [Fraction(1), Fraction(50_000)],
        "delay per length": [Fraction(5_000), Fraction(4_897, 7)],
    }[domain.name]
    bounds = [type(usual[0])(bound) for bound in (domain.low, domain.high) if bound is not None]
    within = [each for each in usual if not bounds or bounds[0] <= each <= bounds[-1]]
    return st.sampled_from([*bounds, *within])


maps = st.integers(1, 3).flatmap(
    lambda count: st.tuples(
        *(st.tuples(st.just(name), st.sampled_from([1, 2, 5, 60, 1_500])) for name in NAMES[:count])
    )
)
codes = st.sampled_from([None, (("", 3),), (("green", 1), ("red", 2)), (("yellow", 7),)])
buffers = st.one_of(
    st.builds(Buffer, st.sampled_from([1, 2, 5, 2**40]), st.just("cell")),
    st.builds(Buffer, st.sampled_from([1, 53, 300, 2**40]), st.just("byte")),
)
contracts = st.one_of(
    st.builds(
        Contract, st.sampled_from(["cbr", "ubr"]), st.just(STM1 / 424), st.sampled_from([0, 10**7])
    ),
    st.builds(
        Contract,
        st.sampled_from(["vbr_rt", "vbr_nrt"]),
        st.just(STM1 / 848),
        st.sampled_from([0, 10**7]),
        st.just(STM1 / 3_000),
        st.integers(1, 4),
        st.sampled_from(["0", "0+1"]),
        st.booleans(),
    ),
)


@st.composite
def policies(draw: st.DrawFn, limit: Buffer) -> Any:
    """Draw what a queue of this limit loses: by room, by CLP, or at random."""
    if limit.amount == 1:
        return draw(st.sampled_from([None, Tail(), ClpFirst(Fraction(0))]))
    low, high = (Buffer(min(limit.amount, n), limit.unit) for n in (1, 2))
    p, weight = draw(st.sampled_from([Fraction(1), Fraction(1, 7)])), Fraction(1, 2)
    ends = tuple(((("1", each),)) for each in (low, high))
    return draw(
        st.sampled_from(
            [
                None,
                ClpFirst(Fraction(4, 5)),
                Threshold("clp", (("1", low),)),
                Red(low, high, p, gentle=draw(st.booleans()), weight=weight),
                Wred("clp", *ends, (("1", p),), weight=weight),
            ]
        )
    )


@st.composite
def elements(draw: st.DrawFn, kind: Kind) -> Any:
    """Draw an element whose fields do not contradict each other."""
    fields = {name: draw(values(parameter)) for name, parameter in kind.parameters.items()}
    if kind.open_fields:
        fields["classes"] = NAMES
    if "drop" in fields and "limit" in fields:
        fields["drop"] = draw(policies(fields["limit"]))
    try:
        return kind.build(**fields)
    except ValueError:
        reject()


def marks_of(kind: Kind) -> tuple[int, ...]:
    """Return what items that come are marked with: CLP, or colours."""
    return (0, 1) if "cell" in kind.carries else (0, 2, 4)


@st.composite
def found(draw: st.DrawFn, kind: Kind, element: Any) -> Setting:
    """Draw what the element finds when a trial starts."""
    agreed = tuple(draw(st.lists(contracts, min_size=1, max_size=3)))
    connections = Connections(agreed, (0,) * len(agreed), has_oam=True)
    setting = Setting(connections, Draws(("test",)), watched=True)
    if hasattr(element, "clock"):
        return setting._replace(clock=element.clock(stamps=False))
    if kind.duty in ("queue", "scheduler"):
        slotted, delay_ps = draw(st.booleans()), draw(st.sampled_from([0, 10**6]))
        framed = None if slotted else draw(st.sampled_from([None, ETHERNET, Encapsulation()]))
        setting = setting._replace(clock=Clock(STM1, slotted, delay_ps, encapsulation=framed))
    if kind.duty == "scheduler":
        queues = (Waiting(name, draw(st.none() | buffers)) for name in element.inputs)
        setting = setting._replace(queues=tuple(queues))
    if kind.duty in ("router", "classifier"):
        ways = st.integers(0, len(element.outputs) - 1)
        shape = (connections.indices, len(marks_of(kind)))
        table = draw(st.lists(ways, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
        outputs = np.array(table, np.uint8).reshape(shape)
        setting = setting._replace(outputs=outputs, columns=marks_of(kind))
    return setting


@st.composite
def coming(
    draw: st.DrawFn, indices: int, clock: Clock | None, first: int, marks: list[int]
) -> Batch:
    """Draw a batch; `sent_ps` is the cell's own number, from `first` on."""
    cell_ps = SLOT_PS if clock is None else int(clock.slot_ps) + 1
    gaps = st.one_of(st.sampled_from([0, 1, cell_ps - 1, cell_ps]), st.integers(0, 4 * cell_ps))
    at_ps = np.cumsum(draw(st.lists(gaps, max_size=25)), dtype=np.int64)
    count = len(at_ps)
    alike = draw(st.booleans()) or (clock is not None and clock.slotted)
    small = 53 if clock is None else clock.smallest_bytes
    sizes = np.full(count, 53) if alike else draw(_column([53, 53, small, 64, 1_500], count))
    return Batch(
        at_ps,
        np.arange(first, first + count),
        np.array(draw(_column(range(indices), count)), np.int32),
        np.array(sizes, np.int32),
        np.array(draw(_column(marks, count)), np.uint16),
    )


def _column(among: Any, count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(list(among)), min_size=count, max_size=count)


@st.composite
def examples(draw: st.DrawFn, kind: Kind) -> Example:
    """Draw all of it."""
    element = draw(elements(kind))
    setting = draw(found(kind, element))
    marks = list(marks_of(kind))
    arrivals: list[Batch] = []
    for _ in element.inputs:
        first = sum(batch.count for batch in arrivals)
        indices = setting.connections.indices
        arrivals.append(draw(coming(indices, setting.clock, first, marks)))
    last_ps = (
        max(int(batch.at_ps[-1]) for batch in arrivals if batch.count)
        if any(batch.count for batch in arrivals)
        else 0
    )
    cuts = draw(st.lists(st.integers(0, last_ps + 1), max_size=6))
    return Example(element, setting, tuple(arrivals), tuple(sorted(cuts)))


# ---- how an element is driven


def outcome(example: Example, cuts: tuple[int, ...] = ()) -> Outcome:
    """Return what the element gives, and hold it to its watermarks on the way."""
    element = example.element
    state = element.start(example.setting)
    departures = [empty() for _ in element.outputs]
    before = [0] * len(element.outputs)
    losses: dict[tuple[str, str], list[tuple[int, int]]] = {}
    waits: list[tuple[int, int]] = []
    done = [0] * len(example.arrivals)
    for until_ps in (*cuts, FOREVER_PS):
        stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in example.arrivals]
        parts = zip(example.arrivals, done, stops, strict=True)
        step = element.process(state, tuple(b.part(i, j) for b, i, j in parts), until_ps)
        for number, left in enumerate(step.departures):
            now_ps = step.until_ps[number]
            least_ps = until_ps + element.least_delay_ps(example.setting.clock)
            assert now_ps >= max(min(least_ps, FOREVER_PS), before[number]), "a watermark too low"
            assert (np.diff(left.at_ps) >= 0).all(), "leaving times fall"
            assert not left.count or before[number] <= left.at_ps[0], "below its watermark"
            assert not left.count or left.at_ps[-1] < now_ps, "above its watermark"
            departures[number] = joined(departures[number], left)
            before[number] = now_ps
        for loss in step.losses:
            cells = zip(loss.connection.tolist(), loss.sent_ps.tolist(), strict=True)
            losses.setdefault((loss.element, loss.cause), []).extend(cells)
        waits += zip(*(times.tolist() for times in step.waits or ()), strict=True)
        done = stops
    return Outcome(tuple(departures), losses, waits)


def equal(first: Outcome, second: Outcome) -> bool:
    """Return whether two outcomes are the same, bit for bit."""
    same = all(a.equals(b) for a, b in zip(first.departures, second.departures, strict=True))
    return same and first.losses == second.losses and first.waits == second.waits


def copied(batch: Batch) -> Batch:
    return Batch(*(column.copy() for column in batch))


# ---- the promises


def keeps_chunks(example: Example) -> bool:
    whole = outcome(example)
    times = {int(t) + 1 for batch in example.arrivals for t in batch.at_ps}
    return equal(outcome(example, example.cuts), whole) and equal(
        outcome(example, tuple(sorted(times))), whole
    )


def keeps_purity(example: Example) -> bool:
    arrivals = tuple(map(copied, example.arrivals))
    first = outcome(example)
    unchanged = all(a.equals(b) for a, b in zip(arrivals, example.arrivals, strict=True))
    return unchanged and equal(outcome(example), first)


def keeps_causality(example: Example) -> bool:
    least_ps = example.element.least_delay_ps(example.setting.clock)
    came = {
        int(name): int(t)
        for batch in example.arrivals
        for name, t in zip(batch.sent_ps, batch.at_ps, strict=True)
    }
    own = inserted_from(example)
    return all(
        int(t) >= came[int(name)] + least_ps
        for left in outcome(example).departures
        for name, t, index in zip(left.sent_ps, left.at_ps, left.connection, strict=True)
        if index < own
    )


def keeps_conservation(example: Example) -> bool:
    """Each cell leaves once or is in the ledger once; an element makes none but OAM cells."""
    own = inserted_from(example)
    given = outcome(example)
    after = Counter(
        (int(index), int(name))
        for left in given.departures
        for index, name in zip(left.connection, left.sent_ps, strict=True)
    )
    after.update(cell for cells in given.losses.values() for cell in cells)
    before = Counter(
        (int(index), int(name))
        for batch in example.arrivals
        for index, name in zip(batch.connection, batch.sent_ps, strict=True)
    )
    gone = before - after
    made = after - before
    return not gone and all(index >= own for index, _ in made)


def keeps_account(example: Example) -> bool:
    """What holds items tells, in order, who waited: at least all who came while one was ahead."""
    came = {
        int(name): int(t)
        for batch in example.arrivals
        for name, t in zip(batch.sent_ps, batch.at_ps, strict=True)
    }
    given = outcome(example)
    if not getattr(example.element, "holds", False):
        return not given.waits
    left = sorted(
        (came[int(name)], int(t))
        for batch in given.departures
        for name, t in zip(batch.sent_ps, batch.at_ps, strict=True)
    )
    behind = Counter(
        at for at, _ in left if any(ahead < at < until for ahead, until in left if ahead < at)
    )
    told = Counter(at for at, _ in given.waits)
    return (
        behind <= told <= Counter(came.values())
        and all(at < until for at, until in given.waits)
        and all(sorted(times) == list(times) for times in zip(*given.waits, strict=True))
    )


def inserted_from(example: Example) -> int:
    """Return the first index of cells that the element may make of itself."""
    connections = example.setting.connections
    return connections.count if getattr(example.element, "inserts", False) else connections.indices


PROMISES = {
    "chunks": keeps_chunks,
    "purity": keeps_purity,
    "causality": keeps_causality,
    "conservation": keeps_conservation,
    "account": keeps_account,
}


@every_kind
@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
@few
@given(data=st.data())
def test_an_element_keeps_its_promises(kind, promise, data):
    assert promise(data.draw(examples(kind)))


@every_kind
@few
@given(data=st.data())
def test_a_compiled_kernel_equals_its_python_self(kind, data):
    example = data.draw(examples(kind))
    compiled = outcome(example, example.cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            kernel._Kernel,
            "__call__",
            lambda self, *arguments: kernel.as_python(self._function)(*arguments),
        )
        as_python = outcome(example, example.cuts)
    assert equal(compiled, as_python)


@every_kind
@few
@given(data=st.data())
def test_an_element_is_a_value(kind, data):
    """Equal parameters make equal elements, which can go to another process."""
    element = data.draw(elements(kind))
    assert replace(element) == element
    assert hash(replace(element)) == hash(element)
    assert len(set(element.outputs)) == len(element.outputs)


# ---- and a broken promise is found


class Forgetful(Gcra):
    """A policer that starts anew with each batch."""

    def start(self, setting: Setting) -> Any:
        return setting

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Any:
        return super().process(super().start(state), arrivals, until_ps)


class Scribbler(Gcra):
    """A policer that writes into what it was given."""

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Any:
        arrivals[0].at_ps[:] += 1
        return super().process(state, arrivals, until_ps)


class Swallower(Gcra):
    """A policer that keeps no ledger."""

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Any:
        return super().process(state, arrivals, until_ps)._replace(losses=())


class Silent(Shape):
    """A shaper that does not tell who waits."""

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Any:
        return super().process(state, arrivals, until_ps)._replace(waits=None)


@pytest.mark.parametrize(
    ("kind", "element", "promise"),
    [
        ("gcra", Forgetful(), keeps_chunks),
        ("gcra", Scribbler(), keeps_purity),
        ("gcra", Swallower(), keeps_conservation),
        ("shape", Silent(Fraction(8_000), 64, Buffer(100, "packet")), keeps_account),
    ],
)
def test_a_broken_promise_is_found(kind, element, promise):
    @settings(few, database=None, derandomize=True, max_examples=25)
    @given(data=st.data())
    def searched(data):
        example = data.draw(examples(ELEMENTS[kind]))
        assert promise(example._replace(element=element))

    with pytest.raises((AssertionError, ExceptionGroup)):
        searched()


def test_bounds_are_among_the_values():
    rate = ELEMENTS["line"].parameters["rate"]
    seen: set[Fraction] = set()

    @settings(few, database=None, derandomize=True, max_examples=100)
    @given(values(rate))
    def look(value):
        seen.add(value)

    look()
    assert {Fraction(transmission.LOWEST_BIT_RATE), Fraction(transmission.HIGHEST_BIT_RATE)} <= seen
