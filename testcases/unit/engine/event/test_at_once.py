"""A loop over batches that is derived from `arrive` gives what events give."""
# ruff: noqa: ARG001 -- transitions have one signature

import numpy as np
import pytest

from qospec.elements.delay import Delay
from qospec.engine.element import BrokenPromiseError, Setting
from qospec.engine.event.at_once import AtOnceProcess
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.event.transition import (
    DONE,
    IN_SERVICE,
    MARKS,
    SEAL,
    Transition,
    consume,
    grow,
    lose,
    make,
    report_wait,
    send,
)
from qospec.engine.items.batch import FOREVER_PS, TooLateError, count_columns
from qospec.engine.kernel import kernel
from qospec.engine.random import Draws

LOST, ENDS, NAMELESS, ASTRAY, EARLY, LATE, KEPT, TWICE, NEW, LACKING, WORDY = range(11)
"""What becomes of an item by its marks: one of these, or so much later it leaves."""


@kernel
def answer(state, items, item, port, now_ps, out):
    what = items[item, MARKS]
    if what == LACKING and state[0] == 0:
        return 7
    if what > WORDY:
        report_wait(out, 1, now_ps, now_ps + 3)
        report_wait(out, 0, now_ps + 3, now_ps + what)
        grow(out, item, 7)
        items[item, MARKS] += port
        items[item, SEAL] = what
        send(out, port, item, now_ps + what)
    elif what == LOST:
        lose(out, 1, item)
    elif what == ENDS:
        consume(out, item)
    elif what == NEW:
        make(items, out, 0, 53, 0, now_ps)
    elif what != KEPT:
        leave(what, item, port, now_ps, out)
    return DONE


@kernel
def leave(what, item, port, now_ps, out):
    if what == NAMELESS:
        lose(out, 2, item)
    elif what == ASTRAY:
        send(out, 2, item, now_ps)
    elif what == EARLY:
        send(out, 0, item, now_ps - 1)
    elif what == LATE:
        send(out, 0, item, FOREVER_PS)
    else:
        for _ in range(100 if what == WORDY else 0):
            report_wait(out, 0, now_ps, now_ps + 1)
        send(out, port, item, now_ps)
    if what == TWICE:
        send(out, 0, item, now_ps)


class Answering(Delay):
    """An element of two inputs, of which the second goes first, and two outputs."""

    answers_at_once = True
    process = None
    columns = count_columns("seal")
    inputs = ("a", "b")
    outputs = ("a", "b")

    def build_transition(self, setting):
        def replenish(state, reason):
            assert reason == 7
            return np.array([1])

        queues = (IN_SERVICE, "") if setting.watched else ()
        losses = (("", "early"), ("q", "overflow"))
        return Transition(
            np.zeros(1, np.int64),
            answer,
            losses=losses,
            queues=queues,
            ports=(1, 0),
            replenish=replenish,
            columns=self.columns,
        )


def setting(vcs, *, watched=False):
    return Setting(*vcs(1), Draws(("test",)), watched=watched, path="dut.q")


def items(batch_of, at_ps, marks):
    return batch_of(at_ps, sent_ps=range(len(at_ps))).with_marks(np.array(marks, np.uint32))


def outcome(process, batches, cuts):
    """Return all that is given, in rows, step by step."""
    found, before = [], 0
    for until_ps in (*cuts, FOREVER_PS):
        came = []
        for batch in batches:
            start, stop = batch.at_ps.searchsorted([before, until_ps])
            came.append(batch.select_range(int(start), int(stop)))
        step = process(tuple(came), until_ps)
        sizes = [(int(a.size_bytes.sum()), int(b.size_bytes.sum())) for b, a in step.resized]
        found.append(
            (
                [rows(departure) for departure in step.departures],
                step.until_ps,
                [(loss.cause, loss.element, rows(loss.batch)) for loss in step.losses],
                [rows(batch) for batch in step.consumed],
                sum(after - before for after, before in sizes),
                [*zip(*(step.waits or {}).get("", ()), strict=True)],
                [*zip(*(step.services or ()), strict=True)],
            )
        )
        before = until_ps
    return found


def rows(batch):
    return list(
        zip(*(column.tolist() for column in batch.widen(count_columns("seal"))), strict=True)
    )


@pytest.mark.parametrize("cuts", [(), (5,), (1, 5, 6, 20)])
@pytest.mark.parametrize("watched", [False, True])
def test_it_gives_what_events_give(vcs, batch_of, watched, cuts):
    first = items(batch_of, [0, 5, 5, 30, 31], [12, 12, LOST, LACKING, 13])
    second = items(batch_of, [5, 5, 31], [12, ENDS, 12])
    where = setting(vcs, watched=watched)
    process = build_process(Answering(0), where)
    assert isinstance(process.__self__, AtOnceProcess)
    expected = outcome(EventProcess(Answering(0), where).process, (first, second), cuts)
    assert outcome(process, (first, second), cuts) == expected
    left = [len(rows) for departures, *_ in expected for rows in departures]
    assert sum(left) == 6, "all but one that is lost and one that ends"


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        (NAMELESS, BrokenPromiseError, "`dut.q` names a cause of loss or a queue that it does not"),
        (ASTRAY, ValueError, "`dut.q`: an item of connection 0 arrived where none was planned"),
        (EARLY, BrokenPromiseError, "`dut.q` acts in the past"),
        (LATE, TooLateError, "what waits at `dut.q` takes it more than 50 days"),
        (KEPT, BrokenPromiseError, "`dut.q` does not say of an item on arrival what becomes of it"),
        (TWICE, BrokenPromiseError, "`dut.q` does not say of an item on arrival"),
        (NEW, BrokenPromiseError, "`dut.q` does not say of an item on arrival"),
        (WORDY, BrokenPromiseError, "`dut.q` does not say of an item on arrival"),
    ],
)
def test_what_an_element_must_not_answer_is_reported(vcs, batch_of, what, error, message):
    process = build_process(Answering(0), setting(vcs))
    with pytest.raises(error) as caught:
        process((items(batch_of, [0, 5], [12, what]), items(batch_of, [], [])), FOREVER_PS)
    assert str(caught.value).startswith(message)


class Secretive(Answering):
    """One that does not say that it writes a column."""

    columns = 0


def test_a_column_is_written_only_by_who_says_so(vcs, batch_of):
    process = build_process(Secretive(0), setting(vcs))
    with pytest.raises(BrokenPromiseError, match="writes `seal` of items and does not say so"):
        process((items(batch_of, [0], [12]), items(batch_of, [], [])), FOREVER_PS)


def test_columns_that_nothing_changes_are_shared(vcs, batch_of):
    batch = items(batch_of, [0, 1], [LACKING, LACKING])
    process = build_process(Answering(0), setting(vcs))
    left, other = process((batch, items(batch_of, [], [])), FOREVER_PS).departures
    assert (left.marks.tolist(), other.count) == ([LACKING, LACKING], 0)
    assert left.size_bytes is batch.size_bytes
