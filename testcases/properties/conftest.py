"""Random elements, settings and arrivals, drawn from the declaration of each kind.

Bounds are drawn, too, so a new element is tested at them without further code.
"""

from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from connected import connected
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer, Kind
from qospec.dropping.clp_first import ClpFirst
from qospec.dropping.congested import Congested
from qospec.dropping.epd import Epd
from qospec.dropping.ppd import Ppd
from qospec.dropping.red import Red
from qospec.dropping.tail import Tail
from qospec.dropping.threshold import Threshold
from qospec.dropping.wred import Wred
from qospec.elements.aal_reassemble import AalReassemble
from qospec.elements.aal_segment import AalSegment
from qospec.elements.cell_decrypt import CellDecrypt
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.elements.fragment import Fragment
from qospec.elements.reassemble import Reassemble
from qospec.engine.element import Setting
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS, Batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.items.merge import merge_batches
from qospec.engine.items.piece import MORE_FOLLOW, note_piece
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.security.association import Association
from qospec.engine.security.seal import LARGEST_INDEX, LEAST_INDEX, build_seal, number_in, size_in
from qospec.fuzz.strategies import SLOT_PS, STM1, buffers, draw_record, draw_value
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.streams import INSERTED, KindName

ETHERNET = Encapsulation(8, 18, 64, 12)


class Example(NamedTuple):
    """An element, its setting, the arrivals at each input, and where time is cut."""

    element: Any
    setting: Setting
    arrivals: tuple[Batch, ...]
    cuts: tuple[int, ...]


MTU_BYTES = 576
"""Of packets that are reassembled."""
PIECES = (0, *[note_piece(1, 0, MORE_FOLLOW)] * 3, note_piece(1, 1, 0))
"""What is noted of cells of no frame, of those of one, and of its last."""
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


FRAMED = ("preamble", "header", "min_frame", "gap", "vlan_tags", "labels")
"""The fields of a line that packets in cells rule out."""


@st.composite
def policies(draw: st.DrawFn, limit: Buffer) -> Any:
    """Draw what a queue of this limit loses: by room, by CLP, by frame, or at random."""
    if limit.amount == 1:
        return draw(st.sampled_from([None, Tail(), ClpFirst(Fraction(0))]))
    low, high = (Buffer(min(limit.amount, n), limit.unit) for n in (1, 2))
    p, weight = draw(st.sampled_from([Fraction(1), Fraction(1, 7)])), Fraction(1, 2)
    ends = tuple(((("1", buffer),)) for buffer in (low, high))
    return draw(
        st.sampled_from(
            [
                None,
                ClpFirst(Fraction(4, 5)),
                Epd(low, partial=draw(st.booleans())),
                Ppd(),
                Threshold("clp", (("1", low),)),
                Congested("clp", (("1", Buffer(2, "cell")),)),
                Red(low, high, p, gentle=draw(st.booleans()), weight=weight),
                Wred("clp", *ends, (("1", p),), weight=weight),
            ]
        )
    )


def elements(kind: Kind) -> st.SearchStrategy[Any]:
    """Draw an element with consistent fields."""
    if kind.name == "line":
        frameless = dict.fromkeys(FRAMED, 0)
        in_cells = draw_record(kind, carries="packet", mtu=None, **frameless)
        return st.one_of(draw_record(kind, aal=None), in_cells)
    if not {"drop", "limit"} <= set(kind.parameters):
        return draw_record(kind)
    return draw_value(kind.parameters["limit"]).flatmap(
        lambda limit: policies(limit).flatmap(
            lambda drop: draw_record(kind, limit=limit, drop=drop)
        )
    )


def marks_of(kind: Kind) -> tuple[int, ...]:
    """Return what items that come are marked with: CLP, or colours."""
    return (0, 1) if "cell" in kind.carries else (0, 2, 4)


def kinds_with(inserted: tuple[KindName, ...]) -> st.SearchStrategy[tuple[KindName, ...]]:
    """Draw the kinds that are inserted: those of which the element inserts cells are."""
    more = st.sets(st.sampled_from(INSERTED))
    return more.map(lambda some: tuple(k for k in INSERTED if k in {*inserted, *some}))


@st.composite
def found(draw: st.DrawFn, kind: Kind, element: Any) -> Setting:
    """Draw what the element finds when a trial starts."""
    agreed = tuple(draw(st.lists(contracts, min_size=1, max_size=3)))
    _, streams = together = connected(agreed, draw(kinds_with(element.inserts)))
    setting = Setting(*together, Draws(("test",)), watched=True)
    if kind.duty == "line":
        return setting._replace(clock=element.build_clock(stamps=False))
    if kind.duty in ("queue", "scheduler"):
        slotted, delay_ps = draw(st.booleans()), draw(st.sampled_from([0, 10**6]))
        framed = None if slotted else draw(st.sampled_from([None, ETHERNET, Encapsulation()]))
        clock = Clock(STM1, slotted, delay_ps, encapsulation=framed)
        several = len(element.outputs) > 1
        served = {"clocks": (clock,) * len(element.outputs)} if several else {"clock": clock}
        setting = setting._replace(**served)
    if kind.duty == "scheduler":
        queues = (Waiting(name, draw(st.none() | buffers)) for name in element.inputs)
        setting = setting._replace(queues=tuple(queues))
    if kind.duty in ("router", "classifier"):
        ways = st.integers(0, len(element.outputs) - 1)
        shape = (streams.indices, len(marks_of(kind)))
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
    return build_batch(
        at_ps=at_ps,
        sent_ps=np.arange(first, first + count),
        connection=np.array(draw(_column(range(indices), count)), np.int32),
        size_bytes=np.array(sizes, np.int32),
        marks=np.array(draw(_column(marks, count)), np.uint32),
    ).with_column("seal", np.arange(first, first + count) % 3)


def encrypted(element: EspDecrypt, setting: Setting, batch: Batch, order: list[int]) -> Batch:
    """Return packets as they arrive from the other end, overtaken by each other on the way.

    Of each four one comes in the clear, and one has another index. If associations are replaced,
    each has three packets.
    """
    other = LARGEST_INDEX if element.spi < LARGEST_INDEX else LEAST_INDEX
    made = []
    agreed = {field.name: getattr(element, field.name) for field in fields(Association)}
    for spi in (element.spi, other):
        sender = EspEncrypt(**agreed | {"spi": spi})
        (left,) = build_process(sender, setting)((batch,), FOREVER_PS).departures
        made.append(left)
    seal, again = _rekeyed(element, made[0].read_column("seal")), np.arange(batch.count) % 7 == 6
    seal = np.where(
        np.arange(batch.count) % 4 == 3,
        made[1].read_column("seal"),
        np.where(again, seal[:1], seal),
    )
    size_bytes = np.where(again, made[0].size_bytes[:1], made[0].size_bytes)
    batch = batch.with_column("seal", seal[order]).with_sizes(size_bytes[order].astype(np.int32))
    clear = np.arange(batch.count) % 5 == 4
    return batch.with_column("seal", np.where(clear, 0, batch.read_column("seal")))


def fragmented(setting: Setting, batch: Batch, order: list[int]) -> Batch:
    """Return packets in fragments as they arrive: some are missing, some overtake others."""
    if "fragments" not in setting.streams.kinds:
        return batch
    batch = batch._replace(
        sent_ps=batch.sent_ps * 1_000,
        connection=batch.connection % np.int32(setting.streams.count),
    )
    cut = build_process(Fragment(MTU_BYTES), setting)((batch,), FOREVER_PS).departures[0]
    came = cut.select(np.array([n for n in order if n < cut.count], np.int64)).select_range(
        0, batch.count
    )
    return came.with_times(batch.at_ps[: came.count])


def adapted(element: AalReassemble, setting: Setting, batch: Batch, lost: set[int]) -> Batch:
    """Return the cells of packets as they arrive, without some, each with another kind's behind."""
    if "cells" not in setting.streams.kinds:
        return batch.select_range(0, 0)
    user = batch._replace(
        sent_ps=batch.sent_ps * 1_000,
        connection=batch.connection % np.int32(setting.streams.count),
        size_bytes=np.minimum(batch.size_bytes * np.int32(3), np.int32(element.mtu_bytes)),
    )
    sender = AalSegment(element.aal, element.encapsulation, element.mtu)
    cells = build_process(sender, setting)((user,), FOREVER_PS).departures[0]
    kept = np.array([n for n in range(cells.count) if n not in lost], np.int64)
    cells = cells.select(kept)
    others = batch.select(batch.connection >= np.int32(setting.streams.count))
    is_cell = np.isin(others.connection, list(setting.streams.list_indices("cells")))
    others = others.select(~is_cell).with_times(
        others.at_ps[~is_cell], -1 - others.sent_ps[~is_cell]
    )
    return merge_batches((cells, others))


def _rekeyed(element: EspDecrypt, seal: Any) -> Any:
    """Return the seals of packets of which each three have an association of their own."""
    indices, last = element.indices, len(element.indices) - 1
    found = [
        build_seal(number_in(sealed), indices[min(n // 3, last)], size_in(sealed))
        for n, sealed in enumerate(seal.tolist())
    ]
    return np.array(found, np.int64)


def encrypted_cells(setting: Setting, batch: Batch, sent: list[int]) -> Batch:
    """Return cells as they arrive from the other end: of each `sent` ones like it, the last."""
    sender, all_sent = CellEncrypt(), batch.select(np.repeat(np.arange(batch.count), sent))
    (left,) = build_process(sender, setting)((all_sent,), FOREVER_PS).departures
    return batch.with_column("seal", left.read_column("seal")[np.cumsum(sent, dtype=np.int64) - 1])


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
        indices = setting.streams.indices
        batch = draw(coming(indices, setting.clock, first, marks))
        if kind.duty == "queue":
            noted = draw(_column(PIECES, batch.count))
            batch = batch.with_column("frame", np.array(noted, np.int64))
        if len(arrivals) == len(element.inputs) - 1 and getattr(element, "hears_at", ""):
            for name in ("number", "flags"):  # of pause frames: how long, and for which priorities
                said = draw(_column([0, 2, 40], batch.count))
                batch = batch.with_column(name, np.array(said, np.int64))
        if isinstance(element, Reassemble):
            batch = fragmented(setting, batch, draw(st.permutations(range(60))))
        if isinstance(element, AalReassemble):
            batch = adapted(element, setting, batch, draw(st.sets(st.integers(0, 80))))
        if isinstance(element, EspDecrypt):
            batch = encrypted(element, setting, batch, draw(st.permutations(range(batch.count))))
        if isinstance(element, CellDecrypt):
            batch = encrypted_cells(setting, batch, draw(_column([1, 1, 1, 2], batch.count)))
        arrivals.append(batch)
    last_ps = (
        max(int(batch.at_ps[-1]) for batch in arrivals if batch.count)
        if any(batch.count for batch in arrivals)
        else 0
    )
    cuts = draw(st.lists(st.integers(0, last_ps + 1), max_size=6))
    if element.down_ps:
        told = draw(st.lists(st.integers(0, last_ps + 1), max_size=3))
        setting = setting._replace(restarts_ps=tuple(sorted(told)))
    return Example(element, setting, tuple(arrivals), tuple(sorted(cuts)))


class Drawing:
    """What is drawn: values of a field, an element of a kind, and one with all that it meets."""

    values = staticmethod(draw_value)
    elements = staticmethod(elements)
    examples = staticmethod(examples)
    marks_of = staticmethod(marks_of)


@pytest.fixture(scope="session")
def drawing() -> Drawing:
    """Return what draws."""
    return Drawing()
