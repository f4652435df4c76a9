"""A router that tells sources by which size packets fit, and a sender of TCP that heeds it."""

from dataclasses import replace

import pytest
from definition import ReferenceComponent, kernels_as_python
from tcp_path import HEADERS, MS, RTT, S, observe

from qospec.catalogue.form import Form
from qospec.elements.tell_mtu import TellMtu
from qospec.engine.graph import cycle
from qospec.engine.items.contract import Contract
from qospec.protocol.path_mtu import list_plateaus
from qospec.traffic.tcp import Tcp

SEEKS = Tcp(mss=1_460, ack_every=1, path_mtu_discovery=True)
TELLS = TellMtu(1_400)
NOTICE = 56


def list_data(probe, headers=HEADERS):
    """Return when segments passed, their first bytes, from 0, and how much data they had."""
    return [(at, number - 1, size - headers) for at, number, size, _ in probe.seen if number > 0]


def list_notices(probe):
    """Return when notices passed on their way back, and what they said: an MTU, and a size."""
    sizes = [size for _, _, size, _ in probe.seen]
    return [found for found, size in zip(probe.windows, sizes, strict=True) if size == NOTICE]


def test_what_is_too_large_is_cut_anew_from_the_first_byte():
    """Ten segments of 1,460 bytes are lost; 14,600 bytes are then eleven of 1,360, the last short.

    The first leaves as the first notice comes, the others as that is acknowledged, in an equal
    window.
    """
    seen, there, back = observe(SEEKS, 4 * RTT, tells=[TELLS])
    data = list_data(there)
    assert [start for _, start, _ in data[:11]] == [1_360 * k for k in range(11)]
    assert [size for *_, size in data[:11]] == [1_360] * 10 + [1_000]
    begun = data[0][0]
    assert begun - 2 * RTT < MS  # SYN, half a trip to the router and half back, and there again
    assert all(RTT <= at - begun < RTT + MS for at, *_ in data[1:11])
    assert {size for *_, size in data[11:]} == {1_360}
    notices = list_notices(back)
    assert [said for _, *said in notices] == [[1_400, 1_500]] * 10
    assert seen.ledger.lost["tell 0", "fragmentation_needed"] == 10


def test_notices_of_one_flight_lead_to_one_repetition():
    """RFC 1191, 6.4: a burst of notices does not let the same be sent several times."""
    _, there, _ = observe(SEEKS, 4 * RTT, tells=[TELLS])
    numbers = [start for _, start, _ in list_data(there)]
    assert len(numbers) == len({*numbers})


@pytest.mark.parametrize("sack", [False, True])
@pytest.mark.parametrize("stamps", [False, True])
def test_each_byte_arrives_once_and_is_acknowledged(sack, stamps):
    seeks = replace(SEEKS, mss=1_448, transfer=100_000, sack=sack, time_stamps=stamps, ack_every=2)
    _seen, there, _back = observe(seeks, 2 * S, tells=[TELLS])
    headers = HEADERS + 12 * stamps
    data = list_data(there, headers)
    assert max(size for *_, size in data) == 1_400 - headers
    assert sum(size for *_, size in data) == 100_000
    assert data[-1][0] < S  # before a timeout could expire


def test_of_old_routers_plateaus_are_tried():
    """RFC 1191, 7: 1,492, then 1,006, of which each step loses one segment more."""
    _seen, there, back = observe(SEEKS, 6 * RTT, tells=[TellMtu(1_400, next_hop_mtu=False)])
    assert {size for *_, size in list_data(there)[:14]} == {1_006 - HEADERS}
    assert [said for _, *said in list_notices(back)] == [[0, 1_500]] * 10 + [[0, 1_492]]


def test_routers_with_ever_smaller_links_are_found_one_by_one():
    tells = [TellMtu(1_480), TellMtu(1_300), TellMtu(576)]
    _, there, back = observe(SEEKS, 8 * RTT, tells=tells)
    assert {size for *_, size in list_data(there)[:20]} == {536}
    told = [mtu for _, mtu, _ in list_notices(back)]
    assert told == [1_480] * 10 + [1_300, 576]


def test_the_congestion_window_stays():
    """RFC 1191, 6.4: in the round trip after the first one all that was under way is sent again."""
    _, there, _ = observe(replace(SEEKS, initial_window=40), 4 * RTT, tells=[TELLS])
    data = list_data(there)
    second = [at for at, *_ in data if RTT <= at - data[0][0] < RTT + 10 * MS]
    # 40 segments of 1,460 are 43 of 1,360, of which one has gone and lets two new ones go.
    assert len(second) == 42 + 2


def test_larger_segments_are_tried_again():
    """RFC 1191, 6.3: what was learnt is old after a time; then the first flight is lost again."""
    seeks = replace(SEEKS, rediscover_after=S, send_buffer=8 * 1_460, initial_window=8)
    _, there, back = observe(seeks, 3 * S, tells=[TELLS])
    told = [at for at, *_ in list_notices(back)]
    begun = [at for at, before in zip(told[1:], told, strict=False) if at - before > 10 * MS]
    assert len(begun) == 2
    assert all(
        S <= at - before <= S + 2 * RTT
        for at, before in zip(begun, [told[0], *begun], strict=False)
    )
    assert max(size for *_, size in list_data(there)) == 1_360


def test_windows_of_time_and_the_definition_in_python_give_the_same(monkeypatch):
    seeks = replace(SEEKS, mss=1_448, transfer=20_000, sack=True, time_stamps=True, ack_every=2)

    def show(chunk):
        tells = [TellMtu(1_480), TellMtu(1_300, next_hop_mtu=False)]
        seen, *probes = observe(seeks, S, tells=tells, chunk=chunk)
        rows = [(probe.seen, probe.windows, probe.blocks, probe.stamps) for probe in probes]
        return seen.ledger, rows

    whole = show(10**9)
    assert show(10**7) == whole
    with kernels_as_python():
        monkeypatch.setattr(cycle, "Component", ReferenceComponent)
        assert show(10**9) == whole


def test_without_discovery_nothing_is_told_and_nothing_arrives():
    _seen, there, back = observe(replace(SEEKS, path_mtu_discovery=False), 4 * S, tells=[TELLS])
    assert (list_data(there), list_notices(back)) == ([], [])


def test_a_notice_that_is_lost_leaves_a_hole_where_nothing_arrives():
    """RFC 2923, 2.1: the handshake succeeds, and then nothing arrives."""
    seeks = replace(SEEKS, retries=2)
    first = 1  # behind the answer to the SYN, all that comes back are notices
    _seen, there, back = observe(seeks, 8 * S, back=range(first, 100), tells=[TELLS])
    assert list_data(there) == []
    assert len(list_notices(back)) == 12  # ten segments, and one for each timeout


@pytest.mark.parametrize(
    ("largest", "mtu", "tried"),
    [
        (1_500, 1_400, (1_492, 1_006)),
        (1_500, 1_492, (1_492,)),
        (65_535, 576, (32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508)),
        (300, 68, (296, 68)),
    ],
)
def test_plateaus_are_those_of_rfc_1191(largest, mtu, tried):
    assert list_plateaus(largest, mtu) == tried
    assert TellMtu(mtu, next_hop_mtu=False).list_told_bytes(largest) == tried
    assert TellMtu(mtu).list_told_bytes(largest) == (mtu,)
    assert TellMtu(mtu).list_told_bytes(mtu) == ()


def test_what_leaves_it_fits():
    form = Form("packet", ((40, 1), (1_400, 1), (1_500, 1)))
    assert TELLS.predict_form(form).sizes == ((40, 1), (1_400, 1))
    small = Form("packet", ((40, 1), (1_300, 1)))
    assert TELLS.predict_form(small) is small
    assert TELLS.predict_form(small.with_header(24)).sizes == ((64, 1), (1_324, 1))
    with pytest.raises(ValueError, match="goes to its beginning"):
        TELLS.predict_form(form.with_header(24))


def test_other_packets_that_are_too_large_are_lost_untold(lab):
    setting = lab.setting(contracts=[Contract("packets", 1, 0)] * 2, inserted=("notices",))
    packets = lab.cells([0, 10, 20], size_bytes=[1_400, 1_401, 60], connection=[0, 1, 0])
    outcome = lab.carry(TELLS, setting, packets, lab.cells([5]))
    assert outcome.departures[0].size_bytes.tolist() == [1_400, 60]
    assert outcome.departures[1].at_ps.tolist() == [5]
    assert [(cause, at) for cause, *_, at in outcome.lost] == [("fragmentation_needed", 1)]
