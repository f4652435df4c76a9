"""Each promise, broken once."""

from collections.abc import Callable

import numpy as np
import pytest

from qospec.engine.element import BrokenPromiseError, Loss, Step
from qospec.engine.graph.promises import with_promises_checked
from qospec.engine.items.batch import FOREVER_PS, Batch, make_empty

Maker = Callable[..., Batch]
LEAST_PS = 10


def checked(*steps: Step) -> Callable[[Batch, int], Step]:
    """Return a process that gives these steps, one per call, whatever it is given."""
    following = iter(steps)
    process = with_promises_checked(lambda *_: next(following), "sw.fabric", LEAST_PS, 8)
    return lambda batch, until_ps: process((batch,), until_ps)


def loss(batch: Batch) -> Loss:
    return Loss("overflow", batch)


def test_a_step_that_keeps_all_promises_is_passed_on(batch_of: Maker) -> None:
    step = Step((batch_of([11, 12], sent_ps=[1, 2]),), (110,), (loss(batch_of([3])),))
    assert checked(step)(batch_of([1, 2, 3]), 100) is step


def test_cells_may_wait_from_one_step_to_the_next(batch_of: Maker) -> None:
    late = Step((batch_of([211]),), (FOREVER_PS,))
    process = checked(Step((make_empty(),), (110,)), late)
    process(batch_of([1]), 100)
    assert process(make_empty(), FOREVER_PS) is late


def test_cells_that_are_made_need_not_have_arrived(batch_of: Maker) -> None:
    left = batch_of([11, 11], connection=[4, 0], sent_ps=[1, 1])
    step = Step((left,), (110,), made=(left.select_range(0, 1),))
    assert checked(step)(batch_of([1]), 100) is step


def test_cells_that_are_consumed_neither_leave_nor_are_held(batch_of: Maker) -> None:
    came = batch_of([1, 2], connection=[0, 3])
    step = Step((batch_of([11]),), (FOREVER_PS,), consumed=(came.select_range(1, 2),))
    assert checked(step)(came, FOREVER_PS) is step


def test_a_cell_of_another_connection_is_one_more(batch_of: Maker) -> None:
    process = checked(Step((batch_of([12], connection=[1]),), (110,)))
    with pytest.raises(BrokenPromiseError, match="gave more cells than it took"):
        process(batch_of([1], connection=[0]), 100)


@pytest.mark.parametrize(
    ("departures", "until_ps", "breach"),
    [
        ([12, 11], 110, "out of order"),
        ([11], 109, "watermark below its least delay"),
        ([111], 110, "above its watermark"),
        ([9], 110, "sooner than its least delay"),
        ([11, 12, 13], 110, "more cells than it took"),
    ],
)
def test_a_broken_promise_names_the_element(
    batch_of: Maker, departures: list[int], until_ps: int, breach: str
) -> None:
    process = checked(Step((batch_of(departures, sent_ps=[0] * len(departures)),), (until_ps,)))
    with pytest.raises(BrokenPromiseError, match=f"`sw.fabric` .*{breach}"):
        process(batch_of([0, 1]), 100)


def test_a_cell_must_not_leave_before_its_source_sent_it(batch_of: Maker) -> None:
    process = checked(Step((batch_of([20], sent_ps=[21]),), (110,)))
    with pytest.raises(BrokenPromiseError, match="not yet sent"):
        process(batch_of([1]), 100)


def test_a_watermark_must_not_fall(batch_of: Maker) -> None:
    process = checked(Step((make_empty(),), (500,)), Step((make_empty(),), (499,)))
    process(make_empty(), 100)
    with pytest.raises(BrokenPromiseError, match="took a watermark back"):
        process(batch_of([100]), 200)


def test_a_watermark_that_was_given_is_kept(batch_of: Maker) -> None:
    process = checked(Step((make_empty(),), (500,)), Step((batch_of([499]),), (600,)))
    process(batch_of([1]), 100)
    with pytest.raises(BrokenPromiseError, match="below its watermark"):
        process(make_empty(), 200)


def test_a_cell_that_is_both_sent_and_lost_is_one_too_many(batch_of: Maker) -> None:
    one = batch_of([11], sent_ps=[1])
    process = checked(Step((one,), (110,), (loss(one),)))
    with pytest.raises(BrokenPromiseError, match="more cells than it took"):
        process(batch_of([1]), 100)


def test_nothing_may_be_kept_at_the_end(batch_of: Maker) -> None:
    process = checked(Step((make_empty(),), (FOREVER_PS,)))
    with pytest.raises(BrokenPromiseError, match="kept 2 cells"):
        process(batch_of([1, 2]), FOREVER_PS)


def test_items_have_the_size_that_was_planned(batch_of: Maker) -> None:
    step = Step((make_empty(),), (110,))
    process = with_promises_checked(lambda *_: step, "sw.fabric", 10, 5, 53)
    assert process((batch_of([1, 2]),), 100) is step
    with pytest.raises(BrokenPromiseError, match=r"`sw.fabric` was sent items of another size"):
        process((batch_of([101])._replace(size_bytes=np.array([54], np.int32)),), 200)


def test_columns_must_be_of_one_length(batch_of: Maker) -> None:
    torn = batch_of([11])._replace(marks=np.zeros(2, np.uint32))
    with pytest.raises(BrokenPromiseError, match="out of order"):
        checked(Step((torn,), (110,)))(batch_of([1]), 100)
