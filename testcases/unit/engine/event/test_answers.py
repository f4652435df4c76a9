"""The words of transitions: what each writes, where it writes, and that it never writes beyond."""

import numpy as np
import pytest

from qospec.engine.event import transition
from qospec.engine.event.transition import (
    ALARM,
    CONNECTION,
    FREE,
    MARKS,
    NEXT,
    NUMBER,
    SEAL,
    SENT,
    SIZE,
    SPARE,
    WAITED,
)
from qospec.engine.items.totals import CONSUMED, GREW, LEFT, LOST, MADE
from qospec.engine.kernel import get_function

STALE = 77
ROOM = 9
"""Rows of an answer behind the first."""
WORDS = [
    ("send", (3, 7, 50), [LEFT, 3, 7, 50]),
    ("lose", (2, 7), [LOST, 2, 7, STALE]),
    ("wake_at", (50,), [ALARM, STALE, STALE, 50]),
    ("report_wait", (1, 40, 50), [WAITED, 1, 40, 50]),
    ("grow", (7, -5), [GREW, -5, 7, STALE]),
    ("consume", (7,), [CONSUMED, 0, 7, STALE]),
]
"""Each with its arguments, and its row; what it does not say is as it was."""


def answered(count):
    """Return an answer of so many rows; all else is left of answers before."""
    out = np.full((ROOM + 1, 4), STALE)
    out[0, 0] = count
    return out


def pool():
    """Return rows of which 2 is the first that is free, and 5 the next; all else is left over."""
    items = np.full((8, transition.MORE + transition.USUAL), STALE)
    items[0, [FREE, SPARE]], items[2, NEXT] = (2, 4), 5
    return items


@pytest.mark.parametrize(("word", "arguments", "row"), WORDS)
@pytest.mark.parametrize("count", [0, 1, ROOM - 1])
def test_a_word_is_a_row_behind_the_others(word, arguments, row, count):
    out, expected = answered(count), answered(count + 1)
    expected[count + 1] = row
    get_function(getattr(transition, word))(out, *arguments)
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize(("word", "arguments", "row"), WORDS)
@pytest.mark.parametrize("count", [ROOM, ROOM + 5])
def test_what_is_too_much_is_counted_and_not_written(word, arguments, row, count):
    out = answered(count)
    get_function(getattr(transition, word))(out, *arguments)
    assert out.tolist() == answered(count + 1).tolist()
    assert row not in out.tolist()


def test_a_new_item_is_the_first_free_row_and_has_no_number_and_no_seal():
    items, out, expected = pool(), answered(1), answered(2)
    item = get_function(transition.make)(items, out, 3, 53, 9, 50)
    expected[2] = [MADE, 0, 2, STALE]
    assert (item, out.tolist()) == (2, expected.tolist())
    columns = {SENT: 50, CONNECTION: 3, SIZE: 53, MARKS: 9, SEAL: 0, NUMBER: 0}
    assert {column: items[2, column] for column in columns} == columns
    assert items[0, [FREE, SPARE]].tolist() == [5, 3]


def test_an_item_for_which_the_pool_has_no_row_is_none_and_the_answer_too_much():
    items, out = pool(), answered(1)
    items[0, SPARE] = 0
    before = items.tolist()
    assert get_function(transition.make)(items, out, 3, 53, 9, 50) == 0
    assert (items.tolist(), out[1:].tolist()) == (before, answered(1)[1:].tolist())
    assert out[0, 0] == len(out)


def test_an_item_too_many_is_none():
    items, out = pool(), answered(ROOM)
    assert get_function(transition.make)(items, out, 3, 53, 9, 50) == 0
    assert out.tolist() == answered(ROOM + 1).tolist()
    assert items.tolist() == pool().tolist()


def test_a_row_that_is_given_back_is_the_next_to_be_used():
    items = pool()
    get_function(transition.release)(items, 6)
    assert items[0, [FREE, SPARE]].tolist() == [6, 5]
    assert items[6, NEXT] == 2
