"""Every element of the catalogue keeps every promise of `engine/element.py`.

`conftest.py` draws elements, settings and arrivals; a new element is tested here without further
code.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from bounded import bounded
from definition import kernels_as_python
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from night import is_night

from qospec.catalogue.form import Form
from qospec.catalogue.kinds import REQUIRED, Buffer, Domain, Load, Parameter, discover
from qospec.elements.aal_reassemble import AalReassemble
from qospec.elements.encapsulate import Encapsulate
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.gcra import Gcra
from qospec.elements.reassemble import Reassemble
from qospec.elements.shape import Shape
from qospec.engine.element import BrokenPromiseError, Element, Loss, Setting
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.event.transition import DONE, send
from qospec.engine.items.batch import FOREVER_PS, Batch, join_batches, make_empty
from qospec.engine.items.contract import Contract
from qospec.engine.kernel import kernel
from qospec.engine.line import transmission
from qospec.protocol.fragments import list_fragment_bytes
from qospec.protocol.marks import ALL

ELEMENTS = discover(("qospec.elements",)).select_role("element")
DOMAINS = re.split(r", ", " ".join(re.findall(r"is one of: ([^.]+)\.", Domain.__doc__)[0].split()))

slowly = settings(
    max_examples=settings().max_examples // 6, suppress_health_check=[HealthCheck.too_slow]
)
every_kind = pytest.mark.parametrize("kind", ELEMENTS.values(), ids=ELEMENTS)


class Outcome(NamedTuple):
    """All that an element gave.

    Attributes:
        departures: By output.
        losses: By element and cause, (connection, item).
        waits: When each that waited came, and until when it did.
        services: When it began to work on each, and when it ended.
        made: (connection, item) of those that it made.
        held: What it kept at the end.
        overdrawn: What it gave before it came, or more often, after some step.
        held_bytes: By connection index, the bytes that it kept at the end, or less than 0.
    """

    departures: tuple[Batch, ...]
    losses: dict[tuple[str, str], list[tuple[int, int]]]
    waits: list[tuple[int, int]]
    services: list[tuple[int, int]]
    made: Counter[tuple[int, int]]
    held: Counter[tuple[int, int]]
    overdrawn: set[tuple[int, int]]
    held_bytes: dict[int, int]


# ---- how an element is driven


def by_events(element: Element, setting: Setting) -> Any:
    """Return how an element works event by event, whatever else it can."""
    return EventProcess(element, setting).process


def outcome(
    example: Any,
    cuts: tuple[int, ...] = (),
    driver: Callable[[Element, Setting], Any] = build_process,
) -> Outcome:
    """Return what the element gives, and hold it to its watermarks and times on the way."""
    element = example.element
    process = driver(element, example.setting)
    departures = [make_empty() for _ in element.outputs]
    before = [0] * len(element.outputs)
    losses: dict[tuple[str, str], list[tuple[int, int]]] = {}
    waits: list[tuple[int, int]] = []
    services: list[tuple[int, int]] = []
    made: Counter[tuple[int, int]] = Counter()
    held: Counter[tuple[int, int]] = Counter()
    overdrawn: set[tuple[int, int]] = set()
    held_bytes: Counter[int] = Counter()
    came_ps: dict[tuple[int, int], int] = {}
    done = [0] * len(example.arrivals)
    for until_ps in (*cuts, FOREVER_PS):
        stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in example.arrivals]
        parts = zip(example.arrivals, done, stops, strict=True)
        arrivals = tuple(b.select_range(i, j) for b, i, j in parts)
        held.update(names(arrivals))
        note_times(came_ps, arrivals)  # before the element writes departures over them
        step = process(arrivals, until_ps)
        note_times(came_ps, step.made)
        made.update(names(step.made))
        held.update(names(step.made))
        lost = [loss.batch for loss in step.losses]
        held.subtract(Counter(names((*step.departures, *lost, *step.consumed))))
        before_and_after = tuple(zip(*step.resized, strict=True)) or ((), ())
        count_bytes(held_bytes, (*arrivals, *step.made, *before_and_after[1]), 1)
        count_bytes(held_bytes, (*step.departures, *lost, *step.consumed, *before_and_after[0]), -1)
        overdrawn |= {item for item, count in held.items() if count < 0}
        for number, left in enumerate(step.departures):
            now_ps = step.until_ps[number]
            least_ps = until_ps + element.find_lookahead_ps(example.setting.clock)
            assert now_ps >= max(min(least_ps, FOREVER_PS), before[number]), "a watermark too low"
            hold_to_watermarks(left, before[number], now_ps)
            departures[number] = join_batches(departures[number], left)
            before[number] = now_ps
        note_losses(losses, step.losses, came_ps, until_ps)
        for times in (step.waits or {}).values():
            waits += zip(*(column.tolist() for column in times), strict=True)
        services += zip(*(times.tolist() for times in step.services or ()), strict=True)
        done = stops
    kept = {index: amount for index, amount in held_bytes.items() if amount}
    return Outcome(tuple(departures), losses, waits, services, made, +held, overdrawn, kept)


def hold_to_watermarks(left: Batch, before_ps: int, now_ps: int) -> None:
    """Hold the departures of a step to those of the step before and of this one."""
    assert (np.diff(left.at_ps) >= 0).all(), "leaving times fall"
    assert not left.count or before_ps <= left.at_ps[0], "below its watermark"
    assert not left.count or left.at_ps[-1] < now_ps, "above its watermark"


def note_times(came_ps: dict[tuple[int, int], int], some: Iterable[Batch]) -> None:
    """Note when the items of batches came first."""
    for batch in some:
        for name, at_ps in zip(names((batch,)), batch.at_ps.tolist(), strict=True):
            came_ps.setdefault(name, at_ps)


def note_losses(
    losses: dict[tuple[str, str], list[tuple[int, int]]],
    some: Iterable[Loss],
    came_ps: dict[tuple[int, int], int],
    until_ps: int,
) -> None:
    """Note what was lost in a step, and hold it to a time since it came."""
    for loss in some:
        lost = list(names((loss.batch,)))
        for name, at_ps in zip(lost, loss.batch.at_ps.tolist(), strict=True):
            assert came_ps[name] <= at_ps < until_ps, f"lost at {at_ps}, not in this step"
        losses.setdefault((loss.element, loss.cause), []).extend(lost)


def count_bytes(held_bytes: Counter[int], some: Iterable[Batch], sign: int) -> None:
    """Add the bytes of batches, or subtract them, by connection index."""
    for batch in some:
        for index, size in zip(batch.connection.tolist(), batch.size_bytes.tolist(), strict=True):
            held_bytes[index] += sign * size


def names(some: Iterable[Batch]) -> Iterator[tuple[int, int]]:
    """Yield (connection, item) of batches; an item is known by its `sent_ps`."""
    for batch in some:
        yield from zip(batch.connection.tolist(), batch.sent_ps.tolist(), strict=True)


def equal(first: Outcome, second: Outcome) -> bool:
    """Return whether two outcomes are the same, bit for bit."""
    same = all(a.equals(b) for a, b in zip(first.departures, second.departures, strict=True))
    return same and first[1:4] == second[1:4]


def copied(batch: Batch) -> Batch:
    return batch._make(column.copy() for column in batch)


class Item(NamedTuple):
    """An item at a port of an element."""

    port: int
    connection: int
    at_ps: int
    marks: int
    size_bytes: int


def passages(example: Any, given: Outcome) -> Iterator[tuple[Item, Item]]:
    """Yield each item that came and left again, as it came and as it left."""
    came = dict(items(example.arrivals))
    for name, left in items(given.departures):
        if not may_insert(example, left.connection):
            yield came[name], left


def items(batches: tuple[Batch, ...]) -> Iterator[tuple[int, Item]]:
    """Yield the items of batches, one for each port, by name."""
    for port, batch in enumerate(batches):
        columns = (batch.sent_ps, batch.connection, batch.at_ps, batch.marks, batch.size_bytes)
        for name, *item in zip(*(column.tolist() for column in columns), strict=True):
            yield name, Item(port, *item)


# ---- the promises


def keeps_chunks(example: Any) -> None:
    whole = outcome(example)
    times = {int(t) + 1 for batch in example.arrivals for t in batch.at_ps}
    for cuts in (example.cuts, tuple(sorted(times))):
        assert equal(outcome(example, cuts), whole), f"the result depends on the cuts at {cuts}"


def keeps_purity(example: Any) -> None:
    arrivals = tuple(map(copied, example.arrivals))
    first = outcome(example)
    unchanged = all(a.equals(b) for a, b in zip(arrivals, example.arrivals, strict=True))
    assert unchanged, "the arrivals were changed"
    assert equal(outcome(example), first), "a second run differs"


def keeps_causality(example: Any) -> None:
    least_ps = example.element.find_lookahead_ps(example.setting.clock)
    for came, left in passages(example, outcome(example)):
        assert left.at_ps >= came.at_ps + least_ps, f"too early: {came} left as {left}"


def keeps_conservation(example: Any) -> None:
    """The ledger balances after each step: what came or was made left, ended or is held."""
    times = {int(t) + 1 for batch in example.arrivals for t in batch.at_ps}
    for cuts in ((), example.cuts, tuple(sorted(times))):
        given = outcome(example, cuts)
        gone, more = sorted(given.held), sorted(given.overdrawn)
        assert not gone, f"neither left nor reported as lost: (connection, item) {gone}"
        assert not more, f"left or lost more often than they came: (connection, item) {more}"
        assert not given.held_bytes, f"bytes that do not balance: {given.held_bytes}"
        made = [item for item in given.made if not may_insert(example, item[0])]
        assert not made, f"made of a kind that it does not state: (connection, item) {made}"


def keeps_account(example: Any) -> None:
    """What holds items reports, in order, those that waited: all that came behind another.

    What waits for a line is reported by events: all that came while another waited in that queue.
    What serves items reports when it worked, on one item after the other.
    """
    element, setting = example.element, example.setting
    has_line = setting.clock is not None or bool(setting.clocks)
    came = {name: item.at_ps for name, item in items(example.arrivals)}
    given = outcome(example, driver=by_events if has_line else build_process)
    assert not given.services or element.serves, "it does not state that it serves items"
    times = [time for service in given.services for time in service]
    assert times == sorted(times), f"it works on two items at once: {given.services}"
    if element.serves:
        left = sum(batch.count for batch in given.departures)
        assert len(given.services) >= left, "it works on fewer items than leave"
    if not element.holds and not has_line:
        assert not given.waits, "it reports waits, and does not state that it holds items"
        return
    left = [(came[name], item.at_ps) for name, item in items(given.departures)]
    spans = given.waits if has_line else left
    behind = Counter(
        at for at, _ in left if any(ahead < at < until for ahead, until in spans if ahead < at)
    )
    reported = Counter(at for at, _ in given.waits)
    if len(element.inputs) == 1 or element.holds:
        assert not behind - reported, f"waited, and not reported: {sorted(behind - reported)}"
        for times in [*zip(*given.waits, strict=True)][: 1 + element.keeps_order]:
            assert sorted(times) == [*times], "waits are out of order"
    assert reported <= Counter(came.values()), "more waited than came"
    assert all(at < until for at, until in given.waits), f"no wait: {given.waits}"


def keeps_facts(example: Any) -> None:
    """Causes, outputs, times, marks and sizes are those that the element states."""
    element, setting = example.element, example.setting
    given, shifts_ps = outcome(example), set()
    may_change = functools.reduce(int.__or__, (ALL[name].mask for name in element.marks_written), 0)
    causes = {cause for path, cause in given.losses if not path}
    assert causes <= {*element.discards_for}, "items are lost for a cause that it does not state"
    assert {*element.discards_for} <= {*element.causes}, "`discards_for` is beyond `causes`"
    for came, left in passages(example, given):
        contract = setting.contracts[setting.streams.find_connection(came.connection)]
        kind = setting.streams.find_kind(came.connection)
        assert left.marks in element.predict_marks(came.marks, contract)
        assert (came.marks ^ left.marks) & ~may_change == 0, "it states other `marks_written`"
        assert element.concerns(contract) or came[1:] == left[1:]
        cuts = not element.cuts or kind == "user"  # of others, the planner lets none be too large
        sizes = sizes_after(element, came.size_bytes) if cuts else {came.size_bytes}
        assert left.size_bytes in sizes, f"not one of its `sizes_after`: {came} left as {left}"
        if example.setting.outputs is None:
            assert left.port == element.predict_output(came.port, kind=kind)
        shifts_ps.add(left.at_ps - came.at_ps)
    assert len(shifts_ps) < 2 or not element.keeps_spacing


def sizes_after(element: Any, size_bytes: int) -> set[int]:
    """Return the sizes that items of a size may have behind an element."""
    forms = [Form(element.accepts[0], ((size_bytes, 1),))]
    if isinstance(element, EspDecrypt):
        inside = (
            Form("packet", ((size, 1),)).seal(element.esp, keys=element.keys)
            for size in range(size_bytes)
        )
        forms = [form for form in inside if form.largest_bytes == size_bytes]
    if isinstance(element, AalReassemble):
        fit = range(20, min(element.mtu_bytes, 4_500) + 1)
        made = (Form("packet", ((size, 1),)) for size in fit)
        forms = [form.cut_into_cells(element.adaptation, element.mtu_bytes) for form in made]
    if isinstance(element, Reassemble):
        sizes = (size for size in range(1_501) if list_fragment_bytes(size, 576)[0] == size_bytes)
        forms += [Form("packet", ((size, 1),)) for size in sizes]
    try:
        return {size for form in forms for size, _ in element.predict_form(form).sizes}
    except ValueError:  # the planner lets no such item arrive
        reject()


def may_insert(example: Any, index: int) -> bool:
    """Return whether the element may make cells of a connection index of itself."""
    return example.setting.streams.find_kind(index) in example.element.inserts


def keeps_agreement(example: Any) -> None:
    """Batches, compiled events and events as Python are one, at any cut, whether watched or not."""
    watching, found = compare_drivers(example)
    with kernels_as_python():  # once, of the last: it takes longer than all others together
        as_python = outcome(watching, watching.cuts, by_events)
    assert equal(found, as_python), "compiled events differ"


def compare_drivers(example: Any) -> tuple[Any, Outcome]:
    """Batches and compiled events are one; return the last example, and what it gave."""
    for watched in (False, True):
        watching = example._replace(setting=example.setting._replace(watched=watched))
        expected = regardless_of_order(watching, outcome(watching))
        for cuts in ((), watching.cuts):
            found = outcome(watching, cuts, by_events)
            assert regardless_of_order(watching, found) == expected, f"events differ, cut at {cuts}"
    return watching, found


def regardless_of_order(example: Any, given: Outcome) -> Any:
    """Return an outcome to compare: losses in any order; waits where batches report them, too."""
    departures = [
        list(zip(*(c.tolist() for c in (*left[:5], left.read_column("seal"))), strict=True))
        for left in given.departures
    ]
    losses = {cause: sorted(items) for cause, items in given.losses.items()}
    waits = given.waits if example.element.holds or example.element.process is None else []
    return departures, losses, waits, given.services, given.held_bytes


def keeps_bounds(example: Any) -> None:
    """No kernel has an index beyond an array, which compiled code would not notice."""
    with kernels_as_python(bounded):
        for driver in (build_process, by_events):
            outcome(example, example.cuts, driver)


PROMISES = (
    keeps_chunks,
    keeps_purity,
    keeps_causality,
    keeps_conservation,
    keeps_account,
    keeps_agreement,
    keeps_facts,  # may reject an example, so it is the last
)


@every_kind
@slowly
@given(data=st.data())
def test_an_element_keeps_its_promises(drawing, kind, data):
    example = data.draw(drawing.examples(kind))
    for promise in PROMISES:
        promise(example)


CROWD = 300
"""More than an element has places for at first, and than it may answer at once."""


@every_kind
@settings(slowly, max_examples=3 if is_night() else 2)  # the first is the simplest there is
@given(data=st.data())
def test_both_drivers_agree_about_a_crowd(drawing, kind, data):
    example = data.draw(drawing.examples(kind))
    indices, marks = example.setting.streams.indices, drawing.marks_of(kind)
    numbers = np.arange(CROWD)
    crowd = make_empty()._replace(
        at_ps=numbers // (CROWD // 2),
        connection=(numbers % indices).astype(np.int32),
        size_bytes=np.full(CROWD, 53, np.int32),
        marks=np.array(marks, np.uint32)[numbers % len(marks)],
    )
    arrivals = [crowd._replace(sent_ps=numbers + CROWD * n) for n in range(len(example.arrivals))]
    example = example._replace(arrivals=tuple(arrivals), cuts=(1,))
    if is_night():
        keeps_agreement(example)
    else:  # as Python such a crowd takes four times as long as all else
        compare_drivers(example)


@every_kind
@slowly
@given(data=st.data())
def test_a_compiled_kernel_equals_its_python_self(drawing, kind, data):
    example = data.draw(drawing.examples(kind))
    compiled = outcome(example, example.cuts)
    with kernels_as_python():
        as_python = outcome(example, example.cuts)
    assert equal(compiled, as_python)


@every_kind
@settings(slowly, max_examples=max(2, slowly.max_examples // 5))  # the first is the simplest
@given(data=st.data())
def test_no_kernel_has_an_index_beyond_an_array(drawing, kind, data):
    keeps_bounds(data.draw(drawing.examples(kind)))


@every_kind
@slowly
@given(data=st.data())
def test_an_element_is_a_value(drawing, kind, data):
    """Equal parameters make equal elements, which can go to another process."""
    element = data.draw(drawing.elements(kind))
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
    """A shaper that does not report what waits."""

    def build_transition(self, setting: Setting) -> Any:
        return super().build_transition(setting)._replace(queues=())


class Denying(Gcra):
    """A policer that does not state that it loses anything."""

    causes = ()


class Unsized(Encapsulate):
    """A tunnel that does not state what it does to sizes."""

    predict_form = Element.predict_form


class Swelling(Encapsulate):
    """A tunnel that does not account for the sizes that it changes."""

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Any:
        return super().process(state, arrivals, until_ps)._replace(resized=())


class Lenient(Gcra):
    """A policer that lets all cells pass where it is on a cycle."""

    def build_transition(self, setting: Setting) -> Any:
        return Gcra(police=()).build_transition(setting)


@kernel
def _backwards(state, items, item, port, now_ps, out):  # noqa: ARG001
    send(out, 0, item, now_ps + state[-1])
    return DONE


class Backwards(Gcra):
    """A policer that counts from the end."""

    def build_transition(self, setting: Setting) -> Any:
        return super().build_transition(setting)._replace(arrive=_backwards)


class Unmarking(Gcra):
    """A policer that does not state that it tags."""

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return super().predict_marks(marks, contract)[:1]


@pytest.mark.parametrize(
    ("kind", "element", "promise", "message"),
    [
        ("gcra", Forgetful(), keeps_chunks, "the result depends on the cuts"),
        ("gcra", Scribbler(), keeps_purity, "the arrivals were changed"),
        ("gcra", Swallower(), keeps_conservation, "neither left nor reported as lost"),
        ("gcra", Denying(), keeps_facts, "for a cause that it does not state"),
        ("gcra", Unmarking("tag"), keeps_facts, "predict_marks"),
        ("gcra", Lenient(), keeps_agreement, "events differ"),
        ("gcra", Backwards(), keeps_bounds, "-1 is beyond an array"),
        ("encapsulate", Unsized(20), keeps_facts, "sizes_after"),
        ("encapsulate", Swelling(20), keeps_conservation, "bytes that do not balance"),
        (
            "shape",
            Silent(Load(Fraction(8_000), "ip"), Buffer(64, "byte"), Buffer(100, "packet")),
            keeps_account,
            "waited, and not reported",
        ),
    ],
)
def test_a_broken_promise_is_found(drawing, kind, element, promise, message):
    # Not made smaller, which takes ten times as long as to find it; nor is another one looked for.
    @settings(
        slowly,
        database=None,
        derandomize=True,
        max_examples=25,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
    )
    @given(data=st.data())
    def searched(data):
        example = data.draw(drawing.examples(ELEMENTS[kind]))
        promise(example._replace(element=element))

    with pytest.raises((AssertionError, BrokenPromiseError), match=message):
        searched()


@pytest.mark.parametrize("name", DOMAINS)
@slowly
@given(data=st.data())
def test_a_field_may_be_of_any_domain(drawing, name, data):
    """It has values, and all can be fields of an element, which is hashable."""
    domain = Domain(name, 1, 4, choices=("a", "b"))
    hash(data.draw(drawing.values(Parameter("field", domain, REQUIRED))))


def test_bounds_are_among_the_values(drawing):
    rate = ELEMENTS["line"].parameters["rate"]
    seen: set[Fraction] = set()

    @settings(slowly, database=None, derandomize=True, max_examples=100)
    @given(drawing.values(rate))
    def look(value):
        seen.add(value)

    look()
    assert {Fraction(transmission.LOWEST_BIT_RATE), Fraction(transmission.HIGHEST_BIT_RATE)} <= seen
