"""A queue that tells of congestion: watermarks, and rates by hand."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Buffer
from qospec.elements.abr_queue import AbrQueue
from qospec.engine.arrays import np
from qospec.engine.endpoint.rm_cell import (
    CONGESTED,
    EFCI,
    IS_BACKWARD,
    IS_RM,
    NO_INCREASE,
    RATE_UNITS,
)
from qospec.engine.items.batch import COLUMNS
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock

CLOCK = Clock(Fraction(424_000_000), slotted=False)
"""A cell takes a microsecond."""
US = 10**6
RATE, FLAGS, CURRENT = (COLUMNS.index(name) for name in ("window", "flags", "stamp"))
ABR = Contract("abr", Fraction(10**6), 0)
BACK = IS_RM | IS_BACKWARD


def marking(feedback, limit=30):
    return AbrQueue(Buffer(limit, "cell"), feedback, high=10, low=5)


@pytest.fixture
def carry(lab):
    """Return what carries cells and returns their flags and explicit rates, in cells/s."""

    def carry_cells(queue, at_us, flags=0, rates=0, connection=0):
        batch = lab.cells([int(us * US) for us in at_us], connection=connection)
        more = np.zeros((batch.count, len(COLUMNS)), np.int64)
        more[:, FLAGS], more[:, RATE] = flags, 10**6 * RATE_UNITS
        more[:, CURRENT] = np.multiply(rates, RATE_UNITS)
        setting = lab.setting(clock=CLOCK, contracts=(ABR,) * 3, inserted=())
        left = lab.carry(queue, setting, batch._replace(more=more))
        cells = left.departures[0].widen(len(COLUMNS))
        return cells.more[:, FLAGS].tolist(), (cells.more[:, RATE] / RATE_UNITS).tolist(), left.lost

    return carry_cells


WAITING = [0] * 16 + [8.5, 10.5, 10.5, 14.5]
"""At which times, in us: of 16 at once, the n-th from 0 finds n - 1 waiting. The last is sent from
15 us on. So 7 wait at 8.5 us, that came then and 5 others at 10.5, and one more, and 4 at 14.5."""


def test_cells_are_marked_from_above_one_watermark_down_to_the_other(carry):
    flags, _, _ = carry(marking("efci"), WAITING)
    assert flags == [0] * 12 + [EFCI] * 7 + [0]


def test_rm_cells_and_those_on_their_way_back_are_marked_as_they_are_meant(carry):
    """Above 5 that wait an RM cell has NI, above 10 CI, until no more than 5 do."""
    flags, _, _ = carry(marking("relative_rate"), WAITING, flags=IS_RM)
    given = [0] * 7 + [NO_INCREASE] * 5 + [CONGESTED] * 7 + [0]
    assert flags == [IS_RM | more for more in given]
    for other in (BACK, 0):
        assert carry(marking("relative_rate"), WAITING, flags=other)[0] == [other] * 20
    assert carry(marking("efci"), WAITING, flags=IS_RM)[0] == [IS_RM] * 20


def test_what_finds_no_room_is_lost(carry):
    _, _, lost = carry(marking("efci", limit=12), [0] * 16)
    assert [(cause, number) for cause, _, _, number in lost] == [
        ("overflow", 13),
        ("overflow", 14),
        ("overflow", 15),
    ]


def offered(carry, cells, ask):
    """Return the rates that RM cells of some connections and rates are offered in the second ms.

    `cells` of each connection come in the first, an RM cell ahead, but of those of no ABR.
    """
    queue = AbrQueue(Buffer(10_000, "cell"), "explicit_rate", target=Fraction(1))
    at_us, connection, flags = [], [], []
    for number, (count, is_abr) in enumerate(cells):
        at_us += [1] * count
        connection += [number] * count
        flags += [IS_RM * is_abr] * min(count, 1) + [0] * (count - 1)
    for number, _ in ask:
        at_us.append(1_000)
        connection.append(number)
        flags.append(IS_RM)
    rates = [0] * (len(at_us) - len(ask)) + [rate for _, rate in ask]
    return [round(rate) for rate in carry(queue, at_us, flags, rates, connection)[1][-len(ask) :]]


def test_each_is_offered_a_fair_share_or_what_it_may_keep_at_this_load(carry):
    """400 cells in a ms load a line of 1,000 by 0.4; of two connections each has 500,000 cell/s.

    At this load 300,000 cell/s might become 750,000, but first what is fair; 600,000 all there is.
    """
    assert offered(carry, [(300, True), (100, True)], [(0, 300_000), (1, 600_000)]) == [
        500_000,
        1_000_000,
    ]


def test_at_a_load_above_one_who_has_more_than_a_share_is_reduced_in_proportion(carry):
    """1,250 cells load it by 1.25: of 1,000,000 cell/s 800,000 are kept, of 250,000 the share."""
    found = offered(carry, [(1_000, True), (250, True)], [(0, 1_000_000), (1, 250_000)])
    assert found == [800_000, 500_000]


def test_who_has_less_is_offered_what_the_most_was_if_it_is_not_loaded(carry):
    """Of 900,000 cell/s 750,000 were left at a load of 1.2; at 0.8, 550,000 become as many.

    Without the other they were 550,000 / 0.8 = 687,500.
    """
    queue = AbrQueue(Buffer(10_000, "cell"), "explicit_rate", target=Fraction(1))
    at_us = [1] * 1_200 + [1_000] * 800 + [2_000]
    connection = [0] * 700 + [1] * 500 + [0] * 600 + [1] * 200 + [1]
    flags = np.zeros(2_001, np.int64)
    rms, current = [0, 700, 1_200, 1_800, 2_000], np.zeros(2_001, np.int64)
    flags[rms], current[rms] = IS_RM, [1, 1, 900_000, 300_000, 550_000]
    found = carry(queue, at_us, flags, current, connection)[1]
    assert [found[n] for n in rms[2:]] == pytest.approx([750_000, 500_000, 750_000], rel=1e-5)


def test_others_are_not_offered_anything_but_take_room(carry):
    assert offered(carry, [(400, True), (400, False)], [(0, 400_000)]) == [600_000]


def test_an_interval_in_which_nothing_comes_leaves_all_of_the_line(carry):
    queue = AbrQueue(Buffer(5_000, "cell"), "explicit_rate", target=Fraction(1))
    at_us, flags = [1] * 2_000 + [1_000, 3_000], [IS_RM] + [0] * 1_999 + [IS_RM] * 2
    rates = carry(queue, at_us, flags, [500_000] * 2_002)[1]
    assert [round(rate) for rate in rates[-2:]] == [1_000_000, 1_000_000]
    crowded = offered(carry, [(2_000, True), (2_000, True)], [(0, 500_000)])
    assert crowded == [500_000]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "high: `efci` marks above a number"),
        ({"high": 30}, "high: so many never wait"),
        ({"high": 10, "low": 11}, "low: it is above"),
    ],
)
def test_watermarks_that_do_not_fit_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        AbrQueue(Buffer(30, "cell"), "efci", **given)


def test_what_decides_nothing_is_left_out_of_a_report():
    assert marking("efci").idle_fields == {"target", "every"}
    assert AbrQueue(Buffer(30, "cell"), "explicit_rate").idle_fields == {"high", "low"}
