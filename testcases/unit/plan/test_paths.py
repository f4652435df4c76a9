"""Planning: the paths that cells take, and cells that would arrive elsewhere."""

from collections.abc import Callable

import pytest

from qospec.diagnostics import Problems
from qospec.judge.result import Repeat
from qospec.plan.plan import CasePlan

Ran = Callable[[CasePlan], Repeat]


def test_cells_arrive_where_they_are_sent(planned, star: str, ran: Ran) -> None:
    (case,) = planned(
        star
        + """
test t on star {
  flow to_c = steady(rate = 10_000 cell/s) from a to c
  flow to_b = steady(rate = 20_000 cell/s) from a to b
  run { measure = 10 ms }
  expect c: to_c.received == 100 cell
  expect b: to_b.received == 200 cell
}
"""
    )
    assert [j.verdict for j in ran(case).judgements] == ["pass", "pass"]


@pytest.mark.parametrize("arbitration", ["fixed_order", "random"])
def test_flows_that_cross_a_switch_both_ways_close_no_loop(
    planned, star: str, arbitration: str
) -> None:
    (case,) = planned(
        star.replace("latency = transit", f"latency = transit, arbitration = {arbitration}")
        + """
test t on star {
  flow there = steady(rate = 10_000 cell/s) from a to b
  flow back = steady(rate = 10_000 cell/s) from b to a
  flow beside = steady(rate = 10_000 cell/s) from c to a
  run { measure = 10 ms }
  expect e: there.lost == 0
}
"""
    )
    experiment = case.networks[""].experiment
    onward = [[w.to for w in experiment.wires if w.node == n] for n in range(len(experiment.nodes))]
    reached = {n: reachable(onward, n) for n in range(len(onward))}
    assert not [n for n in reached if n in reached[n]]


def reachable(onward: list[list[int]], start: int) -> set[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        for node in onward[waiting.pop()]:
            if node >= 0 and node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


@pytest.mark.parametrize("ends", ["a to d", "a to e", "e to a", "e to e2"])
def test_hosts_without_a_path_between_them_are_named(
    planned, problems: Problems, ends: str
) -> None:
    """At `e` and `e2` there is no link at all."""
    first, _, last = ends.split()
    text = """
topology apart {
  a, b, c, d, e, e2 = host
  link a -- b via media.stm1
  link c -- d via media.stm1
}
test t on apart {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms } from a to d
  run { measure = 1 ms }
  expect e: f.lost == 0
}
"""
    assert planned(text.replace("from a to d", f"from {ends}")) == ()
    (told,) = problems.errors
    assert (told.code, told.message) == (
        "E0308",
        f"no path for cells of `f` from `{first}` to `{last}`",
    )


PARTING = """
device parting {
  port in_, high, low: cell
  sort = classify { first = cell.clp == 0, second = otherwise }
  one = fifo { limit = 8 cell }
  two = fifo { limit = 8 cell }
  in_.rx -> sort
  sort.first -> one -> high.tx
  sort.second -> two -> low.tx
  high.rx -> discard
  low.rx -> discard
}
topology parted {
  a, b, c = host
  box = parting
  link a -- box.in_ via media.stm1
  link box.high -- b via media.stm1
  link box.low -- c via media.stm1 { rate = 2 Mbit/s @cell }
}
"""


def test_cells_that_would_arrive_elsewhere_are_reported(planned, problems: Problems) -> None:
    text = (
        PARTING
        + """
test t on parted {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms, clp = 1 } from a to b
  run { measure = 1 ms }
  expect e: f.lost == 0
}
"""
    )
    assert planned(text) == ()
    (told,) = problems.errors
    assert (told.code, "from `a` to `b`" in told.message) == ("E0308", True)


def test_a_line_that_a_class_leads_to_is_asked_only_for_that_class(planned, ran: Ran) -> None:
    text = (
        PARTING
        + """
test t on parted {
  flow f = cbr { pcr = 100_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 1 ms }
  expect e: f.received == f.sent
}
"""
    )
    assert [j.verdict for j in ran(planned(text)[0]).judgements] == ["pass"]


def test_classes_may_take_different_switches(planned, ran: Ran) -> None:
    (case,) = planned("""
device twin(transit: Time = 1 us) {
  port left, right: cell
  meter = gcra { violate = tag }
  sort = classify { kept = cell.clp == 0, tagged = otherwise }
  upper = vc_switch { ports = 1, latency = 1 us }
  lower = vc_switch { ports = 1, latency = 2 us }
  out = fifo { limit = 8 cell }
  left.rx -> meter -> sort
  sort.kept -> upper.entry[0]
  sort.tagged -> lower.entry[0]
  upper.exit[0] -> out
  lower.exit[0] -> out
  out -> right.tx
  right.rx -> discard
}
topology through {
  a, b = host
  box = twin
  link a -- box.left via media.stm1
  link box.right -- b via media.stm1
}
test t on through {
  flow f = cbr {
    pcr = 1_000 cell/s
    cdvt = 0 s
    source = constant { rate = 2_000 cell/s }
  } from a to b
  run { measure = 10 ms }
  expect all: f.received == 20 cell
  expect two_ways: f.delay.max - f.delay.min within 1 ns of 1 us
}
""")
    assert [j.verdict for j in ran(case).judgements] == ["pass", "pass"]


@pytest.mark.parametrize("police", ["cbr", "vbr_rt"])
def test_the_order_of_simultaneous_items_does_not_depend_on_what_is_left_out(
    planned, police: str, star: str, ran: Ran
) -> None:
    """The order of wires decides between `p[0]` and `p[1]`, with or without a policer between."""
    text = (
        star.replace("gcra { oam = separate }", f"gcra {{ police = [{police}] }}")
        + """
test t on star {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms, phases = even } from a to c
  flow g = cbr { pcr = 1_000 cell/s, cdvt = 1 ms, phases = even } from b to c
  run { measure = 10 ms }
  expect first: f.delay.max < g.delay.min
}
"""
    )
    assert ran(planned(text)[0]).judgements[0].verdict == "pass"


HOPS = """
device hop(transit: Time = 1 us) {
  port p[4]: cell
  fabric = vc_switch { ports = 4, latency = transit }
  for i in ORDER {
    q = fifo { limit = 8 cell }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> q -> p[i].tx
  }
}
"""


@pytest.mark.parametrize("order", ["0 .. 3", "[3, 2, 1, 0]"])
@pytest.mark.parametrize("last", [1, 3])
def test_the_shortest_path_is_taken_wherever_it_is_written(
    planned, order: str, last: int, ran: Ran
) -> None:
    """From `near` to `far`: by ports 1 to 3, two of which lead through one switch more."""
    detours = [port for port in (1, 2, 3) if port != last]
    (case,) = planned(
        HOPS.replace("ORDER", order)
        + f"""
topology detours {{
  a, b = host
  near, far, one, two = hop
  link a -- near.p[0] via media.stm1
  link near.p[{detours[0]}] -- one.p[0] via media.stm1
  link near.p[{detours[1]}] -- two.p[0] via media.stm1
  link near.p[{last}] -- far.p[1] via media.stm1
  link one.p[1] -- far.p[2] via media.stm1
  link two.p[1] -- far.p[3] via media.stm1
  link far.p[0] -- b via media.stm1
}}
test t on detours {{
  flow f = cbr {{ pcr = 1_000 cell/s, cdvt = 1 ms }} from a to b
  run {{ measure = 10 ms }}
  expect two_switches: f.delay.max < 20 us
}}
"""
    )
    assert passed(case) == {"near", "far"}
    assert ran(case).judgements[0].verdict == "pass"


@pytest.mark.parametrize(("order", "first"), [("0 .. 3", "one"), ("[3, 2, 1, 0]", "three")])
def test_the_first_of_equal_paths_is_taken(planned, order: str, first: str) -> None:
    """That is the one of which the wire is written first, whatever its output's number."""
    (case,) = planned(
        HOPS.replace("ORDER", order)
        + """
topology equal_ways {
  a, b = host
  near, far, one, two, three = hop
  link a -- near.p[0] via media.stm1
  link near.p[2] -- two.p[0] via media.stm1
  link near.p[3] -- three.p[0] via media.stm1
  link near.p[1] -- one.p[0] via media.stm1
  link one.p[1] -- far.p[1] via media.stm1
  link two.p[1] -- far.p[2] via media.stm1
  link three.p[1] -- far.p[3] via media.stm1
  link far.p[0] -- b via media.stm1
}
test t on equal_ways {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 1 ms }
  expect e: f.lost == 0
}
"""
    )
    assert passed(case) == {"near", first, "far"}


def passed(case: CasePlan) -> set[str]:
    """Return the switches that the case's cells pass."""
    paths = (node.path.partition(".fabric") for node in case.networks[""].experiment.nodes)
    return {device for device, fabric, _ in paths if fabric}
