"""Stays in a state by the log of a machine, against counting them one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.machine.stays import GOES_ON, Stays, list_intervals

ENDED, THERE = -1, -1
MINE = 1


@st.composite
def logs(draw):
    """Return changes of a few instances: (who, when, into)."""
    states = dict.fromkeys(range(draw(st.integers(0, 2))), 0)
    rows, now_ps = [(who, THERE, 0) for who in states], 0
    for _ in range(draw(st.integers(0, 12))):
        now_ps += draw(st.integers(0, 3))
        who = draw(st.integers(0, 3))
        before = states.get(who, ENDED)
        into = draw(st.sampled_from([state for state in (ENDED, 0, 1, 2) if state != before]))
        states[who] = into
        rows.append((who, now_ps, into))
    return rows


def follow(rows):
    """Return (begin, end, lasted) of each stay in MINE, in order; end None: it goes on."""
    found = []
    for place, (who, at_ps, into) in enumerate(rows):
        if into == MINE:
            later = next((row for row in rows[place + 1 :] if row[0] == who), None)
            end_ps, after = (None, None) if later is None else (later[1], later[2])
            found.append((at_ps, end_ps, after not in (None, ENDED)))
    return found


@given(rows=logs(), every_ps=st.integers(1, 9))
def test_stays_are_those_that_one_finds_one_by_one(rows, every_ps):
    stays = Stays(np.array(rows, np.int64).reshape(-1, 3).tobytes(), MINE)
    seen = follow(rows)
    assert stays.in_order_ps == [
        end_ps - begin_ps if lasted else GOES_ON for begin_ps, end_ps, lasted in seen
    ]
    intervals = list(list_intervals(2, 30, every_ps))
    assert (intervals[0][0], intervals[-1][1]) == (2, 30)
    for start_ps, stop_ps in intervals:
        ended = [
            end_ps - begin_ps
            for begin_ps, end_ps, lasted in seen
            if lasted and start_ps <= end_ps < stop_ps
        ]
        assert sorted(stays.list_ended_ps(start_ps, stop_ps)) == sorted(ended)
        entered = sum(start_ps <= begin_ps < stop_ps for begin_ps, _, _ in seen)
        assert stays.count_entered(start_ps, stop_ps) == entered
        held = sum(
            begin_ps < stop_ps and (end_ps is None or end_ps >= stop_ps)
            for begin_ps, end_ps, _ in seen
        )
        assert stays.count_at(stop_ps) == held
        assert stays.count_most(start_ps, stop_ps) >= held


def test_the_most_at_once_counts_what_comes_and_goes_within_an_interval():
    rows = [(0, THERE, 0), (1, 3, MINE), (0, 4, MINE), (1, 5, ENDED), (0, 5, 0)]
    stays = Stays(np.array(rows, np.int64).tobytes(), MINE)
    assert [stays.count_most(*pair) for pair in list_intervals(0, 8, 2)] == [0, 1, 2, 0]
    assert Stays(stays.log, 0).in_order_ps == [4, GOES_ON]
    assert Stays(stays.log, 0).count_entered(0, 9) == 1
    assert Stays(b"", MINE).in_order_ps == []
