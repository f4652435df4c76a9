"""Planning: ways, what is left out, what does not fit, and the same draws for a control."""

import pytest

from qospec.catalogue import discover
from qospec.diagnostics import Problems
from qospec.engine import graph
from qospec.run import network, trial
from qospec.run.plan import CasePlan

STAR = """
device switch(ports: Int, transit: Time = 3 us) {
  port p[ports]: cell
  fabric = vc_switch { ways = ports, latency = transit }
  for i in 0 .. ports - 1 {
    upc = gcra { oam = separate }
    sort = classify { fast = vc.category in [cbr], slow = otherwise }
    fast = fifo { limit = 8 cell }
    slow = fifo { limit = 8 cell }
    out = strict { order = [fast, slow] }
    p[i].rx -> upc -> fabric.entry[i]
    fabric.exit[i] -> sort
    sort.fast -> fast -> out.fast
    sort.slow -> slow -> out.slow
    out -> p[i].tx
  }
}

topology star {
  a, b, c = host
  hub = switch(ports = 3)
  link a -- hub.p[0] via media.stm1
  link b -- hub.p[1] via media.stm1
  link c -- hub.p[2] via media.stm1
}

topology slow_star {
  a, b, c = host
  hub = switch(ports = 3, transit = 9 us)
  link a -- hub.p[0] via media.stm1
  link b -- hub.p[1] via media.stm1
  link c -- hub.p[2] via media.stm1
}

traffic steady(rate: CellRate) = cbr { pcr = rate, cdvt = 1 ms }
traffic random(rate: CellRate) = ubr {
  pcr = rate
  connections = 5
  source = poisson { rate = rate }
}
"""


def test_cells_arrive_where_they_are_sent(planned) -> None:
    (case,) = planned(
        STAR
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
    assert [j.verdict for j in run(case).judgements] == ["pass", "pass"]


def test_flows_that_cross_a_switch_both_ways_close_no_loop(planned) -> None:
    (case,) = planned(
        STAR
        + """
test t on star {
  flow there = steady(rate = 10_000 cell/s) from a to b
  flow back = steady(rate = 10_000 cell/s) from b to a
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


def test_what_is_left_out_changes_nothing(planned, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        STAR
        + """
test t on star {
  flow fast = steady(rate = 90_000 cell/s) from a to c
  flow slow = random(rate = 50_000 cell/s) from b to c
  run { measure = 20 ms }
  expect loss: slow.lost > 0
}
"""
    )
    lean = planned(text)
    monkeypatch.setattr(network, "_leave_out", lambda *_: None)
    whole = planned(text)
    sizes = [len(case.networks[""].experiment.nodes) for (case,) in (lean, whole)]
    assert sizes[0] < sizes[1]
    assert list(run(lean[0]).readings.all()) == list(run(whole[0]).readings.all())
    assert list(run(lean[0]).readings.losses()) == list(run(whole[0]).readings.losses())


def test_a_control_is_sent_the_same(planned) -> None:
    (case,) = planned(
        STAR
        + """
test t on slow_star {
  control quick = star
  flow f = random(rate = 10_000 cell/s) from a to c
  run { measure = 10 ms }
  expect same: f.sent == quick.f.sent
  expect switch: f.delay.mean - quick.f.delay.mean within 1 ns of 6 us
}
"""
    )
    assert case.trials == 2
    assert [j.verdict for j in run(case).judgements] == ["pass", "pass"]


def test_another_seed_draws_other_numbers(planned) -> None:
    text = (
        STAR
        + """
test t on star {
  flow f = random(rate = 10_000 cell/s) from a to c
  run { measure = 10 ms }
  report f.delay.mean
}
"""
    )
    means = [run(planned(text, seed)[0]).judgements[0].measured.value for seed in ("1", "1", "2")]
    assert means[0] == means[1] != means[2]


def test_repeats_draw_numbers_of_their_own(planned) -> None:
    (case,) = planned(
        STAR
        + """
test t on star {
  flow f = random(rate = 10_000 cell/s) from a to c
  run { measure = 10 ms, repeat = 2 }
  report f.delay.mean
}
"""
    )
    first, second = trial.run(case, discover(), lambda _: None).repeats
    assert first.judgements[0].measured.value != second.judgements[0].measured.value


def test_a_failed_require_ends_the_repeats(planned) -> None:
    (case,) = planned(
        STAR
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { measure = 1 ms, repeat = 3 }
  require r: f.sent > 1_000 cell
}
"""
    )
    assert len(trial.run(case, discover(), lambda _: None).repeats) == 1


def test_warmup_is_not_measured(planned) -> None:
    (case,) = planned(
        STAR
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { warmup = 5 ms, measure = 10 ms }
  expect e: f.sent == 100 cell
}
"""
    )
    assert run(case).judgements[0].verdict == "pass"


def test_a_member_is_measured_apart(planned) -> None:
    (case,) = planned("""
topology pairs {
  a, b = host(count = 2)
  for i in 0 .. 1 {
    link a[i] -- b[i] via media.stm1
  }
}
test t on pairs {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 10 ms }
  expect all: f.received == 20 cell
  expect one: f[1].received == 10 cell
  expect delay: f[1].delay.p99 < 3 us
}
""")
    assert [j.verdict for j in run(case).judgements] == ["pass"] * 3


@pytest.mark.parametrize(
    ("text", "code", "piece"),
    [
        (
            """
test t on star {
  flow f = random(rate = 50_000 cell/s) from a to c
  flow g = random(rate = 50_000 cell/s) from b to c
  run { measure = 1 ms }
  expect e: f.lost == 0
}
""",
            "E0305",
            "106 Mbit/s @cell, plus `f` 106 Mbit/s",
        ),
        (
            """
device wall {
  port left, right: cell
  left.rx -> discard
  right.rx -> discard
  q = fifo { limit = 1 cell }
  z = fifo { limit = 1 cell }
}
""",
            "E0403",
            "q",
        ),
    ],
)
def test_what_does_not_fit_is_told_before_anything_runs(
    planned, problems: Problems, text: str, code: str, piece: str
) -> None:
    assert planned(STAR + text) == ()
    (told, *_) = [d for d in problems.errors if d.code == code]
    assert piece in " ".join(
        (told.message, told.label, *told.notes, *(o.text for o in told.others))
    )


@pytest.mark.parametrize("ends", ["a to d", "a to e", "e to a", "e to e2"])
def test_hosts_without_a_way_between_them_are_named(planned, problems: Problems, ends: str) -> None:
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
        f"no way leads cells of `f` from `{first}` to `{last}`",
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


def test_cells_that_would_arrive_elsewhere_are_told(planned, problems: Problems) -> None:
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


def test_a_line_that_a_class_leads_to_is_asked_only_for_that_class(planned) -> None:
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
    assert [j.verdict for j in run(planned(text)[0]).judgements] == ["pass"]


def test_classes_may_take_different_switches(planned) -> None:
    (case,) = planned("""
device twin(transit: Time = 1 us) {
  port left, right: cell
  meter = gcra { violate = tag }
  sort = classify { kept = cell.clp == 0, tagged = otherwise }
  upper = vc_switch { ways = 1, latency = 1 us }
  lower = vc_switch { ways = 1, latency = 2 us }
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
    assert [j.verdict for j in run(case).judgements] == ["pass", "pass"]


@pytest.mark.parametrize("police", ["cbr", "vbr_rt"])
def test_who_goes_first_of_two_at_once_does_not_hang_on_what_is_left_out(
    planned, police: str
) -> None:
    """The order of wires decides between `p[0]` and `p[1]`, with or without a policer between."""
    text = (
        STAR.replace("gcra { oam = separate }", f"gcra {{ police = [{police}] }}")
        + """
test t on star {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms, phases = even } from a to c
  flow g = cbr { pcr = 1_000 cell/s, cdvt = 1 ms, phases = even } from b to c
  run { measure = 10 ms }
  expect first: f.delay.max < g.delay.min
}
"""
    )
    assert run(planned(text)[0]).judgements[0].verdict == "pass"


def test_a_trial_beyond_the_bound_is_refused(planned, problems: Problems) -> None:
    text = (
        STAR
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { measure = 1 s }
  expect e: f.lost == 0
}
"""
    )
    assert planned(text, most_cells=9_999) == ()
    assert problems.errors[0].code == "E0609"


def test_cells_that_go_astray_in_the_engine_are_an_error(
    planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = planned(
        STAR
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { measure = 1 ms }
  expect e: f.lost == 0
}
"""
    )
    seen = graph.run(case.networks[""].experiment)
    seen.sent[0] += 1
    monkeypatch.setattr(graph, "run", lambda *_, **__: seen)
    (error,) = trial.run(case, discover(), lambda _: None).errors
    assert "f: 11 cells sent, 10 received, 0 lost" in error


def run(case: CasePlan) -> trial.Repeat:
    result = trial.run(case, discover(), lambda _: None)
    assert result.errors == ()
    return result.repeats[0]


def test_throughput_counts_what_arrives_in_the_window(planned) -> None:
    """STM-4 into STM-1: what waits at the end has been sent, but is not carried yet."""
    cases = planned("""
device narrow {
  port left, right: cell
  out = fifo { limit = 4_096 cell }
  left.rx -> out -> right.tx
  right.rx -> discard
}
topology bottleneck {
  a, b = host
  box = narrow
  link a -- box.left via media.stm4
  link box.right -- b via media.stm1
}
test t on bottleneck {
  flow f = ubr { pcr = 1_000_000 cell/s } from a to b
  run { measure = 10 ms, overload = true }
  expect line: f.throughput <= media.stm1.rate / (53 B/cell @cell)
  expect busy: f.throughput within 1% of media.stm1.rate / (53 B/cell @cell)
  expect more: f.received > 4_000 cell + f.throughput * 10 ms
}
test u on bottleneck {
  flow f = ubr { pcr = 1_000_000 cell/s } from a to b
  run { warmup = 100 ms, measure = 10 ms, overload = true }
  expect line: f.throughput within 0.1% of media.stm1.rate / (53 B/cell @cell)
}
""")
    cold, warm = cases
    assert [j.verdict for j in run(cold).judgements] == ["pass"] * 3
    assert [j.verdict for j in run(warm).judgements] == ["pass"]
