"""A processor against its definition: one packet after the other, one interruption after the other.

The book looks at each packet anew, with nothing carried but a list of what has been accepted.
"""

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.calculus.curve import bound_instants
from qospec.calculus.guarantee import bound_items
from qospec.catalogue.kinds import Buffer, Curve
from qospec.elements.processor import Processor
from qospec.engine.items.batch import FOREVER_PS

US = 10**6
MS = 10**9


# ---- the book


def after_interruptions(start_ps, work_ps, pauses):
    """Return when work begins that could at `start_ps`, and when it is done."""
    now_ps, begun_ps = start_ps, None
    while True:
        lasting = [end for begin, end in pauses if begin <= now_ps < end]
        if lasting:
            now_ps = lasting[0]
            continue
        begun_ps = now_ps if begun_ps is None else begun_ps
        ahead = min((begin for begin, _ in pauses if begin > now_ps), default=FOREVER_PS)
        if now_ps + work_ps <= ahead:
            return begun_ps, now_ps + work_ps
        work_ps -= ahead - now_ps
        now_ps = ahead


def time_ps(times, size):
    """Return the time of a size, on the line between its neighbours, to the nearest ps."""
    if isinstance(times, int):
        return times
    below = max((point for point in times.points if point[0] <= size), default=None)
    above = min((point for point in times.points if point[0] >= size), default=None)
    if below is None or above is None or below == above:
        return (below or above)[1]
    share = Fraction(size - below[0], above[0] - below[0])
    return floor(below[1] + share * (above[1] - below[1]) + Fraction(1, 2))


def cost_ps(processor, size, ahead):
    segments = -(-(size + processor.headroom) // processor.segment)
    took = time_ps(processor.per_packet, size) + processor.per_byte * size
    took += processor.per_segment * (segments - 1)
    return took + (processor.per_size_change if ahead not in (None, size) else 0)


def up_again(processor, down_ps, restarts):
    """Return when a restart ends; one that it is told during that begins it anew."""
    up_ps = down_ps + processor.restart_time
    for restart in sorted(restarts):
        up_ps = restart + processor.restart_time if down_ps <= restart < up_ps else up_ps
    return up_ps


def by_the_book(processor, packets, pauses, restarts=()):
    """Return (number, way, when done) of those that leave, causes of others, waits, services."""
    accepted, left, lost, waits, services = [], [], {}, [], []
    # Accepted since the last start: when begun, when done, way, size.
    busy_ps = watchdog_ps = None
    up_ps = 0
    for number, (now_ps, way, size) in enumerate(packets):
        while True:
            told = [restart for restart in restarts if restart >= up_ps]
            down_ps = min([*told, FOREVER_PS] if watchdog_ps is None else [*told, watchdog_ps])
            ends_ps = up_again(processor, down_ps, restarts)
            if now_ps < ends_ps:
                break
            accepted, watchdog_ps, up_ps = [(ends_ps, ends_ps, -1, None)], None, ends_ps
        if now_ps >= down_ps:
            lost[number] = "reboot"
            continue
        free_ps = accepted[-1][1] if accepted else 0
        ahead = accepted[-1][3] if accepted else None
        work_ps = cost_ps(processor, size, ahead)
        begun_ps, done_ps = after_interruptions(max(now_ps, free_ps), work_ps, pauses)
        waiting = sum(
            1 if processor.limit.unit == "packet" else its_size
            for begins, _, its_way, its_size in accepted
            if begins > now_ps and (processor.shared or its_way == way)
        )
        amount = 1 if processor.limit.unit == "packet" else size
        if begun_ps > now_ps and waiting + amount > processor.limit.amount:
            lost[number] = "overflow"
            continue
        busy_ps = now_ps if now_ps >= free_ps else busy_ps
        accepted.append((begun_ps, done_ps, way, size))
        timeout_ps = processor.watchdog_timeout
        if processor.restart_time and timeout_ps and done_ps > busy_ps + timeout_ps:
            watchdog_ps = watchdog_ps or busy_ps + timeout_ps
            down_ps = min(down_ps, watchdog_ps)
        if done_ps > down_ps:
            lost[number] = "reboot"
        else:
            left.append((number, way, done_ps))
        waits.append((now_ps, min(begun_ps, down_ps)))
        services.append((begun_ps, min(done_ps, down_ps)))
    return (
        left,
        lost,
        *([pair for pair in pairs if pair[1] > pair[0]] for pairs in (waits, services)),
    )


# ---- drawn examples


BOTH_SIDES = Curve(((64, 5 * US), (900, 9 * US + 1), (1_400, 7 * US)))
"""Packets of 1,500 bytes are beyond it."""
FALLING = Curve(((65, 8 * US), (1_501, 3 * US)))


@st.composite
def processors(draw):
    unit = draw(st.sampled_from(["packet", "byte"]))
    amounts = [1, 2, 5, 2**40] if unit == "packet" else [63, 64, 200, 1_600]
    every_ps = draw(st.sampled_from([100 * US, 137 * US]))
    return Processor(
        per_packet=draw(st.sampled_from([1, 5 * US, 7 * US + 1, BOTH_SIDES, FALLING])),
        limit=Buffer(draw(st.sampled_from(amounts)), unit),
        ports=draw(st.integers(1, 3)),
        shared=draw(st.booleans()),
        per_byte=draw(st.sampled_from([0, 1, 8_000])),
        segment=draw(st.sampled_from([64, 512, 65_535])),
        headroom=draw(st.sampled_from([0, 20])),
        per_segment=draw(st.sampled_from([0, 300_000])),
        per_size_change=draw(st.sampled_from([0, 4 * US])),
        housekeeping=draw(st.sampled_from([0, 1, 30 * US])),
        housekeeping_every=every_ps,
        housekeeping_phase=draw(st.sampled_from([0, 3 * US, 90 * US])),
        random_interruption=draw(st.sampled_from([0, 0, 30 * US])),
        random_interruption_every=110 * US,
        random_interruption_lengths=draw(st.sampled_from(["constant", "uniform", "exponential"])),
        restart_time=draw(st.sampled_from([0, 1, 50 * US])),
        watchdog_timeout=draw(st.sampled_from([0, 5 * US, 12 * US, 40 * US])),
    )


@st.composite
def packets(draw, ways):
    """Draw (when, way, size) in the order in which they are worked on."""
    gaps = st.one_of(st.sampled_from([0, 0, 0, 1, 5 * US]), st.integers(0, 12 * US))
    now_ps, found = draw(st.sampled_from([0, 50 * MS])), []
    for gap_ps in draw(st.lists(gaps, max_size=40)):
        now_ps += gap_ps
        found.append(
            (now_ps, draw(st.integers(0, ways - 1)), draw(st.sampled_from([64, 64, 777, 1_500])))
        )
    return sorted(found, key=lambda packet: packet[:2])


def pauses_of(lab, processor, until_ps):
    """Return its interruptions; those at random can only be taken from itself."""
    if processor.random_interruption:
        interruptions = processor.start(lab.setting()).interruptions
        while interruptions.until_ps < until_ps:
            interruptions.extend(0)
        return [(int(begin), int(end)) for begin, end in interruptions.known[:-1]]
    every_ps, length_ps = processor.housekeeping_every, processor.housekeeping
    begins = range(processor.housekeeping_phase, until_ps, every_ps) if length_ps else ()
    return [(begin, begin + length_ps) for begin in begins]


def carried(lab, processor, coming, cuts, restarts=(), **driver):
    """Return (number, way, when done) of those that leave, causes of others, waits, services."""
    batches = []
    for way in range(processor.ports):
        mine = [(n, t, size) for n, (t, its, size) in enumerate(coming) if its == way]
        numbers, times, sizes = zip(*mine, strict=True) if mine else ((), (), ())
        batches.append(lab.cells(times, size_bytes=sizes, sent_ps=numbers))
    setting = lab.setting(watched=True, restarts_ps=restarts)
    got = lab.carry(processor, setting, *batches, cuts=cuts, **driver)
    left = [
        (int(number), way, int(done_ps))
        for way, batch in enumerate(got.departures)
        for number, done_ps in zip(batch.sent_ps, batch.at_ps, strict=True)
    ]
    causes = {number: cause for cause, _, _, number in got.lost}
    return sorted(left), causes, got.waits, got.services


@given(data=st.data(), processor=processors())
def test_it_works_by_the_book(lab, data, processor):
    coming = data.draw(packets(processor.ports))
    first_ps = coming[0][0] if coming else 0
    cuts = data.draw(st.lists(st.integers(first_ps, first_ps + 400 * US), max_size=4))
    # What comes late meets interruptions of that time only: the book need not know the others.
    pauses = [
        pause for pause in pauses_of(lab, processor, first_ps + 4_000 * US) if pause[1] >= first_ps
    ]
    told = st.lists(
        st.integers(first_ps, first_ps + 400 * US) | st.sampled_from([0, 1]), max_size=4
    )
    restarts = tuple(sorted(data.draw(told))) if processor.restart_time else ()
    expected = by_the_book(processor, coming, pauses, restarts)
    assert carried(lab, processor, coming, cuts, restarts) == expected


@pytest.mark.parametrize("by_events", [False, True])
def test_a_queue_that_comes_round_to_its_first_places_finds_more(lab, by_events):
    """Some have left when a burst fills the places from there on, and needs twice as many again."""
    pauses = {"housekeeping": 3 * US, "housekeeping_every": 40 * US, "housekeeping_phase": 0}
    processor = Processor(
        5 * US, Buffer(40_000, "byte"), ports=2, shared=False, per_byte=1_000, **pauses
    )
    at_ps = [*(n // 4 * 40 * US for n in range(120)), *[1_500 * US] * 150]
    at_ps += [1_800 * US + n * US for n in range(50)]
    sizes = [64, 777, 1_500, 776, 65]
    coming = [(t, n % 2, sizes[n % 5]) for n, t in enumerate(at_ps)]
    coming.sort(key=lambda packet: packet[:2])
    expected = by_the_book(processor, coming, pauses_of(lab, processor, 4_000 * US))
    assert carried(lab, processor, coming, [], by_events=by_events) == expected
    assert expected[1]


# ---- by hand


def simple(**fields):
    return Processor(**{"per_packet": 10 * US, "limit": Buffer(2, "packet"), **fields})


def times(lab, processor, at_ps, restarts=(), **columns):
    setting = lab.setting(restarts_ps=restarts)
    got = lab.carry(processor, setting, lab.cells(at_ps, **columns))
    return got.departures[0].at_ps.tolist(), [cause for cause, *_ in got.lost]


def test_what_finds_no_room_is_lost(lab):
    assert times(lab, simple(), [0, 0, 0, 0]) == ([10 * US, 20 * US, 30 * US], ["overflow"])
    assert times(lab, simple(), [0, 0, 0, 10 * US])[1] == []


def test_a_limit_of_each_input_and_one_of_all(lab):
    """Of four that come at once, one is begun; each input has room for one, or all together."""
    for shared, passed in ((False, 3), (True, 2)):
        processor = simple(limit=Buffer(1, "packet"), ports=2, shared=shared)
        two = lab.cells([0, 0])
        got = lab.carry(processor, lab.setting(), two, two._replace(sent_ps=two.sent_ps + 2))
        assert sum(batch.count for batch in got.departures) == passed


def test_a_packet_costs_by_packet_byte_segment_and_change(lab):
    processor = simple(
        per_byte=1_000, segment=512, headroom=32, per_segment=US, per_size_change=3 * US
    )
    (first, second), _ = times(lab, processor, [0, MS], size_bytes=[480, 481])
    assert first == 10 * US + 480 * 1_000
    assert second - MS == 10 * US + 481 * 1_000 + US + 3 * US


def test_a_curve_is_straight_between_its_points_and_level_beyond(lab):
    """From 100 to 103 bytes are 10 ps: a third is 3.33 ps, two thirds 6.67."""
    processor = simple(per_packet=Curve(((100, 1_000), (103, 1_010), (203, 510))))
    sizes = [46, 100, 101, 102, 103, 104, 203, 1_500]
    done, _ = times(lab, processor, [n * MS for n in range(8)], size_bytes=sizes)
    took = [at_ps - n * MS for n, at_ps in enumerate(done)]
    assert took == [1_000, 1_000, 1_003, 1_007, 1_010, 1_005, 510, 510]


def test_half_a_ps_of_a_curve_is_rounded_up(lab):
    processor = simple(per_packet=Curve(((100, 7), (102, 8), (104, 7))))
    done, _ = times(lab, processor, [0, MS], size_bytes=[101, 103])
    assert done == [8, MS + 8]


def test_a_service_is_busy_with_its_interruptions_and_not_with_others(lab):
    processor = simple(housekeeping=4 * US, housekeeping_every=100 * US, housekeeping_phase=5 * US)
    got = lab.carry(processor, lab.setting(watched=True), lab.cells([0, 101 * US, 106 * US]))
    assert got.services == [(0, 14 * US), (101 * US, 115 * US), (115 * US, 125 * US)]


def test_an_interruption_suspends_work_and_goes_ahead_of_what_comes_with_it(lab):
    processor = simple(housekeeping=4 * US, housekeeping_every=100 * US, housekeeping_phase=5 * US)
    assert times(lab, processor, [0, 105 * US])[0] == [14 * US, 119 * US]


def test_what_begins_after_an_interruption_may_be_interrupted_again(lab):
    """Interruptions of 4 us each 8 us: of 10 us are 4 done until 8, 8 until 16, and all at 22."""
    processor = simple(housekeeping=4 * US, housekeeping_every=8 * US, housekeeping_phase=0)
    got = lab.carry(processor, lab.setting(watched=True), lab.cells([0]))
    assert got.departures[0].at_ps.tolist() == [22 * US]
    assert (got.waits, got.services) == ([(0, 4 * US)], [(4 * US, 22 * US)])


@pytest.mark.parametrize(("work_us", "done_us"), [(4, 4), (5, 5), (6, 10), (8, 12), (9, 13)])
def test_an_interruption_delays_what_is_not_done_when_it_begins(lab, work_us, done_us):
    pauses = {"housekeeping": 4 * US, "housekeeping_every": 100 * US, "housekeeping_phase": 5 * US}
    assert times(lab, simple(per_packet=work_us * US, **pauses), [0])[0] == [done_us * US]


def test_interruptions_are_found_span_by_span(lab):
    """The 1,024th after the first is the first of the next span, and begins as a packet comes."""
    pauses = {"housekeeping": 4 * US, "housekeeping_every": 8 * US, "housekeeping_phase": 0}
    processor = simple(per_packet=4 * US, limit=Buffer(9, "packet"), **pauses)
    start_ps = 1_024 * 8 * US
    at_ps = [start_ps - 4 * US, start_ps, 3 * start_ps, 3 * start_ps]
    done_ps = [start_ps, start_ps + 8 * US, 3 * start_ps + 8 * US, 3 * start_ps + 16 * US]
    assert times(lab, processor, at_ps)[0] == done_ps


def test_behind_a_packet_of_one_byte_the_size_changes_too(lab):
    processor = simple(per_size_change=3 * US)
    assert times(lab, processor, [0, MS], size_bytes=[1, 2])[0] == [10 * US, MS + 13 * US]


@pytest.mark.parametrize("by_watchdog", [False, True])
def test_the_packet_ahead_of_a_restart_is_not_one_of_another_size(lab, by_watchdog):
    """It restarts at 12 or 15 us; the first one behind takes 10 us, and the next one 3 us more."""
    watchdog = {"watchdog_timeout": 15 * US} if by_watchdog else {}
    processor = simple(
        per_size_change=3 * US, restart_time=100 * US, limit=Buffer(9, "packet"), **watchdog
    )
    at_ps, sizes = [0, 0, MS, 2 * MS], [64, 64, 1_518, 64]
    done, lost = times(lab, processor, at_ps, () if by_watchdog else (12 * US,), size_bytes=sizes)
    assert (done, lost) == ([10 * US, MS + 10 * US, 2 * MS + 13 * US], ["reboot"])


def test_a_packet_that_finds_no_room_is_not_ahead_of_the_next(lab):
    """Nor is one that comes while it restarts. Both are large, and those served are small."""
    processor = simple(per_size_change=3 * US, restart_time=100 * US)
    at_ps, sizes = [0, 0, 0, 0, 50 * US], [64, 64, 64, 1_518, 64]
    done, lost = times(lab, processor, at_ps, size_bytes=sizes)
    assert (done, lost) == ([10 * US, 20 * US, 30 * US, 60 * US], ["overflow"])
    at_ps, sizes = [0, 150 * US, 250 * US, MS], [64, 1_518, 64, 64]
    done, lost = times(lab, processor, at_ps, (100 * US,), size_bytes=sizes)
    assert (done, lost) == ([10 * US, 260 * US, MS + 10 * US], ["reboot"])


def test_a_watchdog_starts_it_anew_again_and_again(lab):
    processor = simple(restart_time=100 * US, watchdog_timeout=25 * US, limit=Buffer(100, "packet"))
    done, lost = times(lab, processor, [0] * 4 + [124 * US, 125 * US] + [200 * US] * 4)
    assert done == [10 * US, 20 * US, 135 * US, 210 * US, 220 * US]
    assert lost == ["reboot"] * 5


def test_one_that_is_never_overloaded_is_never_started_anew(lab):
    processor = simple(restart_time=100 * US, watchdog_timeout=10 * US)
    assert times(lab, processor, [0, 10 * US, 20 * US])[1] == []


def test_what_is_not_done_when_it_restarts_is_lost_and_what_comes_until_it_is_up_again(lab):
    """At 20 us the second is done, and leaves; the third has waited, and the fourth comes then."""
    processor = simple(restart_time=100 * US)
    at_ps = [0, 0, 0, 20 * US, 119 * US, 120 * US, 120 * US]
    done, lost = times(lab, processor, at_ps, (20 * US,))
    assert done == [10 * US, 20 * US, 130 * US, 140 * US]
    assert lost == ["reboot"] * 3


def test_what_comes_as_it_goes_down_is_not_lost_for_want_of_room(lab):
    processor = simple(restart_time=5 * US)
    for last_ps, cause in ((4 * US, "overflow"), (5 * US, "reboot")):
        setting = lab.setting(restarts_ps=(5 * US,))
        got = lab.carry(processor, setting, lab.cells([0, 0, 0, last_ps]))
        assert sorted((item, cause) for cause, *_, item in got.lost) == [
            *((item, "reboot") for item in range(3)),
            (3, cause),
        ]


def test_what_will_be_lost_takes_room_until_then_and_none_behind_it(lab):
    processor, at_ps = simple(restart_time=95 * US), [0] * 4 + [200 * US] * 4
    done, lost = times(lab, processor, at_ps, (5 * US,))
    assert done == [210 * US, 220 * US, 230 * US]
    assert sorted(lost) == ["overflow"] * 2 + ["reboot"] * 3


def test_a_restart_that_is_told_as_another_ends_begins_then(lab):
    processor = simple(restart_time=100 * US)
    done, lost = times(lab, processor, [110 * US, 209 * US, 210 * US], (10 * US, 110 * US))
    assert (done, lost) == ([220 * US], ["reboot"] * 2)


def test_a_packet_in_service_is_lost(lab):
    assert times(lab, simple(restart_time=5 * US), [0], (9 * US,)) == ([], ["reboot"])


def test_a_restart_during_a_restart_begins_it_anew(lab):
    processor = simple(restart_time=100 * US)
    done, lost = times(lab, processor, [0, 149 * US, 150 * US], (10 * US, 50 * US))
    assert (done, lost) == ([10 * US, 160 * US], ["reboot"])


def test_restarts_of_an_idle_processor_lose_nothing(lab):
    processor = simple(restart_time=100 * US)
    assert times(lab, processor, [MS], (10 * US, 200 * US, 400 * US)) == ([MS + 10 * US], [])


def test_a_watchdog_does_not_watch_what_was_before_a_restart(lab):
    """Without the restart, it would have been busy for 25 us at 25 us."""
    processor = simple(restart_time=US, watchdog_timeout=25 * US, limit=Buffer(9, "packet"))
    done, lost = times(lab, processor, [0, 0, 0, 21 * US, 21 * US], (20 * US,))
    assert (done, lost) == ([10 * US, 20 * US, 31 * US, 41 * US], ["reboot"])


def test_without_a_timeout_there_is_no_watchdog(lab):
    processor = simple(restart_time=US, limit=Buffer(9, "packet"))
    assert times(lab, processor, [0] * 9)[1] == []


def test_one_that_cannot_restart_is_not_told_to(lab):
    with pytest.raises(ValueError, match="cannot restart"):
        times(lab, simple(), [0], (US,))


@pytest.mark.parametrize(
    ("per_size_change", "longest_ps", "waiting"),
    [
        # A burst of three takes 30 us, at 7 of 10 us of time and behind 30 us of housekeeping.
        (0, 30 * US + 300 * US // 7, 3),
        (4 * US, 30 * US + 420 * US // 7, 3),
    ],
)
def test_its_delay_is_bounded_by_a_rate_and_a_latency(per_size_change, longest_ps, waiting):
    """Le Boudec and Thiran, 1.4.1: T + sigma / R."""
    processor = simple(
        per_size_change=per_size_change,
        housekeeping=30 * US,
        housekeeping_every=100 * US,
        limit=Buffer(64, "packet"),
    )
    arriving = bound_items(bound_instants([0, 0, 0]), [64])
    (found,) = processor.guarantee_service((arriving,), None, ()).inputs
    assert (found.most_ps, found.waiting) == (longest_ps, waiting)


def test_what_waits_has_come_within_the_longest_time_that_one_waits():
    """A packet of 10 us is ahead of one of 0.64 us, of which 20 come, one each us.

    The last of them to wait for it waits 10 us: in that time came it and 11 of the others. Were all
    of them as long as it, 21 would have come in 19 us, and 1.9 left.
    """
    processor = simple(per_packet=0, per_byte=US // 100, limit=Buffer(64, "packet"))
    large = bound_items(bound_instants([0]), [1_000])
    small = bound_items(bound_instants([number * US for number in range(20)]), [64])
    (found,) = processor.guarantee_service((large.add(small),), None, ()).inputs
    assert (found.most_ps, found.waiting) == (10.64 * US, 12)


def test_interruptions_that_leave_no_time_are_refused():
    with pytest.raises(ValueError, match="less than 10 %"):
        simple(housekeeping=91 * US, housekeeping_every=100 * US)


def test_a_backlog_beyond_int64_is_refused(lab):
    processor = Processor(per_packet=10**12, limit=Buffer(2**40, "packet"), per_byte=10**9)
    with pytest.raises(OverflowError, match="50 days"):
        times(lab, processor, [0] * 9_000, size_bytes=65_535)
