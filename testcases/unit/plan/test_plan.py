"""Planning: what is left out, what does not fit, and the same draws for a control."""

from collections import Counter
from collections.abc import Callable

import pytest

from qospec.catalogue.kinds import discover
from qospec.diagnostics import Problems
from qospec.engine.graph import emulation
from qospec.judge.result import Repeat
from qospec.plan import lowering
from qospec.plan import plan as planning
from qospec.plan.plan import CasePlan
from qospec.run import trial

Ran = Callable[[CasePlan], Repeat]


def test_what_is_left_out_changes_nothing(
    planned, monkeypatch: pytest.MonkeyPatch, star: str, ran: Ran
) -> None:
    text = (
        star
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
    monkeypatch.setattr(lowering, "_remove_idle", lambda *_: None)
    whole = planned(text)
    sizes = [len(case.networks[""].experiment.nodes) for (case,) in (lean, whole)]
    assert sizes[0] < sizes[1]
    assert list(ran(lean[0]).readings.list_all()) == list(ran(whole[0]).readings.list_all())
    assert list(ran(lean[0]).readings.list_losses()) == list(ran(whole[0]).readings.list_losses())


def test_a_control_is_sent_the_same(planned, star: str, ran: Ran) -> None:
    (case,) = planned(
        star
        + """
test t on slow_star {
  control quick = star
  flow f = random(rate = 10_000 cell/s) from a to c
  run { measure = 10 ms }
  require same: f.sent == quick.f.sent
  expect switch: f.delay.mean - quick.f.delay.mean within 1 ns of 6 us
}
"""
    )
    assert case.trials == 2
    assert [j.verdict for j in ran(case).judgements] == ["pass", "pass"]


def test_another_seed_draws_other_numbers(planned, star: str, ran: Ran) -> None:
    text = (
        star
        + """
test t on star {
  flow f = random(rate = 10_000 cell/s) from a to c
  run { measure = 10 ms }
  report f.delay.mean
}
"""
    )
    means = [ran(planned(text, seed)[0]).judgements[0].measured.value for seed in ("1", "1", "2")]
    assert means[0] == means[1] != means[2]


def test_repeats_draw_numbers_of_their_own(planned, star: str) -> None:
    (case,) = planned(
        star
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


def test_a_failed_require_ends_the_repeats(planned, star: str) -> None:
    (case,) = planned(
        star
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { measure = 1 ms, repeat = 3 }
  require r: f.sent > 1_000 cell
}
"""
    )
    assert len(trial.run(case, discover(), lambda _: None).repeats) == 1


def test_warmup_is_not_measured(planned, star: str, ran: Ran) -> None:
    (case,) = planned(
        star
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { warmup = 5 ms, measure = 10 ms }
  require e: f.sent == 100 cell
}
"""
    )
    assert ran(case).judgements[0].verdict == "pass"


def test_a_member_is_measured_apart(planned, ran: Ran) -> None:
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
    assert [j.verdict for j in ran(case).judgements] == ["pass"] * 3


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
def test_what_does_not_fit_is_reported_before_anything_runs(
    planned, problems: Problems, text: str, code: str, piece: str, star: str
) -> None:
    assert planned(star + text) == ()
    (told, *_) = [d for d in problems.errors if d.code == code]
    assert piece in " ".join(
        (told.message, told.label, *told.notes, *(o.text for o in told.secondary))
    )


def test_a_trial_beyond_the_bound_is_refused(planned, problems: Problems, star: str) -> None:
    text = (
        star
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { measure = 1 s }
  expect e: f.lost == 0
}
"""
    )
    assert planned(text, most_items=9_999) == ()
    assert problems.errors[0].code == "E0609"


def test_calls_that_are_refused_count_in_a_trial(planned, problems: Problems, star: str) -> None:
    """At most 2 x 100 cells, and 10,000 calls."""
    text = (
        star
        + """
test t on star {
  flow f = cbr {
    pcr = 100 cell/s
    cdvt = 0 s
    connections = 2
    source = calls { rate = 10_000 call/s, hold = 1 s, gaps = even }
  } from a to c
  run { measure = 1 s }
  expect e: f.lost == 0
}
"""
    )
    assert planned(text, most_items=10_100) == ()
    assert (problems.errors[0].code, "cells and calls" in problems.errors[0].message) == (
        "E0609",
        True,
    )


def test_too_many_packets_of_endpoints_are_fewer_with_another_window(
    planned, problems: Problems
) -> None:
    text = """
topology pair {
  a, b = host
  link a -- b via media.fast_ethernet
}
test t on pair {
  flow f = echo { size = 512 B @ip, timeout = 1 us, window = 100 } from a to b
  run { measure = 1 s }
  expect e: f.exchanges.lost == 0
}
"""
    assert planned(text, most_items=9_999) == ()
    (error,) = problems.errors
    assert error.code == "E0609"
    assert "give a longer `timeout`, a smaller `window` or fewer `retries`" in error.help


def test_cells_that_go_astray_in_the_engine_are_an_error(
    planned, monkeypatch: pytest.MonkeyPatch, star: str
) -> None:
    (case,) = planned(
        star
        + """
test t on star {
  flow f = steady(rate = 10_000 cell/s) from a to c
  run { measure = 1 ms }
  expect e: f.lost == 0
}
"""
    )
    seen = emulation.run(case.networks[""].experiment)
    seen.sent[0] += 1
    monkeypatch.setattr(emulation, "run", lambda *_, **__: seen)
    (error,) = trial.run(case, discover(), lambda _: None).errors
    assert "f: 11 cells sent, 10 received, 0 lost" in error


def test_throughput_counts_what_arrives_in_the_window(planned, ran: Ran) -> None:
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
    assert [j.verdict for j in ran(cold).judgements] == ["pass"] * 3
    assert [j.verdict for j in ran(warm).judgements] == ["pass"]


def test_a_point_is_planned_once_and_what_depends_on_a_search_at_both_ends(
    planned, monkeypatch: pytest.MonkeyPatch, star: str
) -> None:
    """A point by itself is one trial; what else there is has one at the lowest and the highest."""
    planned_at, survey = Counter[int](), planning.survey_network

    def count(case, *others):
        planned_at[case.run.measure_ps // 10**9] += 1
        return survey(case, *others)

    monkeypatch.setattr(planning, "survey_network", count)
    text = """
test t on star {
  search pace in 1_000 cell/s .. 9_000 cell/s { goal ndr { loss = 0, trial = 30 ms } }
  point plain { measure = 10 ms, pace = 5_000 cell/s }
  point half { measure = 20 ms, pace = 50% of ndr.pace }
  flow fast = steady(rate = pace) from a to c
  expect ndr.pace >= 1_000 cell/s
}
"""
    assert len(planned(star + text)) == 1
    assert planned_at == {10: 1, 20: 2, 30: 2}
