"""A link whose delay follows a file, against delays and an order kept by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import ProfileFile, discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.elements.delay_trace import DelayTrace
from qospec.elements.link_trace import LinkTrace
from qospec.elements.loss_trace import LossTrace

MS, S = 10**9, 10**12
TABLE = "time [s],rate [Mbit/s],delay [ms],loss [%]\n0,8,20,0\n15,4,35.5,2.5\n"
FILE = """qos 1
import std.media
device recorded {
  port west, east: packet
  rate = link_trace { file = "leo.csv", limit = 50 pkt }
  time = delay_trace { file = "leo.csv" }
  loss = loss_trace { file = "leo.csv" }
  west.rx -> rate -> time -> loss -> east.tx
  east.rx -> west.tx
}
topology way {
  a, b = host
  dut = recorded
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test passes on way {
  flow user = packets { size = 100 B @ip, rate = 10 pkt/s } from a to b
  run { measure = 1 s }
  report user.received
}
"""


def recorded(*steps: tuple[int, int]) -> DelayTrace:
    delays = tuple((since_ps, Fraction(delay_ps, S)) for since_ps, delay_ps in steps)
    return DelayTrace(ProfileFile("leo.csv", "", "", delays))


@given(
    gaps=st.lists(st.integers(1, 3 * MS), max_size=4),
    delays=st.lists(st.sampled_from([0, 1, MS, 5 * MS]), min_size=5, max_size=5),
    times=st.lists(st.sampled_from([0, 1, MS, 4 * MS]), max_size=15),
    cuts=st.lists(st.integers(0, 60 * MS), max_size=4),
)
def test_each_item_has_the_delay_of_the_moment_and_keeps_its_place(lab, gaps, delays, times, cuts):
    steps = [(sum(gaps[:n]), delays[n]) for n in range(len(gaps) + 1)]
    at_ps = [sum(times[: n + 1]) for n in range(len(times))]
    expected = []
    for came_ps in at_ps:
        delay_ps = [delay for since_ps, delay in steps if since_ps <= came_ps][-1]
        expected.append(max([came_ps + delay_ps, *expected[-1:]]))
    (after,) = lab.carry(recorded(*steps), lab.setting(), lab.cells(at_ps), cuts=cuts).departures
    assert after.at_ps.tolist() == expected


def test_its_bounds_are_the_least_and_the_greatest_delay():
    trace = recorded((0, 20 * MS), (S, 5 * MS), (2 * S, 30 * MS))
    assert trace.find_lookahead_ps(None) == 5 * MS
    (only,) = trace.guarantee_service((), None, ()).inputs
    assert (only.least_ps, only.most_ps) == (5 * MS, 30 * MS)


def read(folder, table):
    """Return what is said of a table, and the elements that read it."""
    (folder / "leo.csv").write_text(table, encoding="utf-8")
    (folder / "a.qos").write_text(FILE, encoding="utf-8")
    problems = Problems()
    checked = check([folder / "a.qos"], discover(), problems)
    said = [problem.message for problem in problems.all if problem.code == "E0214"]
    if said:
        return said, []
    network = checked.suite.tests[0].cases[0].networks[""]
    return said, [instance.element for instance in network.elements]


def test_rate_delay_and_loss_are_columns_of_one_file(tmp_path):
    _, elements = read(tmp_path, TABLE)
    found = {type(element): element.file for element in elements if hasattr(element, "file")}
    assert found[LinkTrace].rates == ((0, 8_000_000), (15 * S, 4_000_000))
    assert found[DelayTrace].steps == ((0, Fraction(1, 50)), (15 * S, Fraction(71, 2_000)))
    assert found[LossTrace].steps == ((0, 0), (15 * S, Fraction(1, 40)))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("delay [ms]", "delay", "does not name a time and a delay with their units"),
        ("loss [%]", "loss [ms]", "does not name a time and a loss with their units"),
        (",20,0", ",-20,0", "line 2: the delay is `-20`, and no number"),
        (",2.5", ",101", "line 3: the loss is too high"),
        (",35.5,", ",999999999999,", "line 3: the delay is too high"),
    ],
)
def test_what_is_no_table_of_delays_or_losses_is_refused_at_its_line(tmp_path, old, new, said):
    assert old in TABLE
    (message,), _ = read(tmp_path, TABLE.replace(old, new))
    assert message.startswith("the profile `leo.csv`: ")
    assert said in message
