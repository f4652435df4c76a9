"""Histograms of delays in the record: exact counts, few steps, all repeats together."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import discover
from qospec.engine.arrays import np
from qospec.engine.measure import delays as kept
from qospec.record.bins import FINEST, HIGHEST, find_bin, find_bin_start_ps
from qospec.record.histograms import MAX_BINS, MAX_HISTOGRAMS, describe_histogram
from qospec.record.outcome import describe_case
from qospec.run import trial

TIMES = st.one_of(st.integers(0, 5_000), st.integers(0, 2**44))
DELAYS = st.lists(TIMES, min_size=1, max_size=60)


def delays(*times_ps):
    """Return some delays as a trial gives them."""
    rows, seen = kept.create_rows(np.zeros(1, np.int64)), kept.Histogram(1)
    at_ps = np.array(times_ps, np.int64)
    seen.add(at_ps, np.zeros(len(at_ps), np.int64), np.zeros(len(at_ps), np.int32), rows)
    return seen.build_summary(rows).pool(slice(0, 1))


def counts(document):
    return [int(count) for count in document["counts"].split()]


@given(st.integers(0, 2**62), st.sampled_from([1, 2, 8, 64, 512]))
def test_a_delay_lies_in_its_step(delay_ps, per_octave):
    step = find_bin(delay_ps, per_octave)
    assert find_bin_start_ps(step, per_octave) <= delay_ps < find_bin_start_ps(step + 1, per_octave)
    assert 0 <= step <= HIGHEST


@given(st.integers(0, 2**52))
def test_the_finest_steps_are_the_engines_buckets(delay_ps):
    assert find_bin(delay_ps, FINEST) == kept.find_bucket(delay_ps)


@given(st.lists(DELAYS, min_size=1, max_size=3))
def test_each_delay_is_counted_where_it_belongs(repeats):
    found = describe_histogram([delays(*times) for times in repeats])
    every = [time for times in repeats for time in times]
    first, fine = found["first"], found["per_octave"]
    belongs = Counter(max(find_bin(time, fine), first) for time in every)
    assert counts(found) == [belongs[first + n] for n in range(len(counts(found)))]
    assert sum(counts(found)) == len(every)
    assert len(counts(found)) <= MAX_BINS
    assert counts(found)[-1] > 0
    ends = [Fraction(found[name]["value"]) * 10**12 for name in ("least", "greatest")]
    assert ends == [min(every), max(every)]


@given(st.lists(DELAYS, min_size=1, max_size=3))
def test_above_the_least_each_is_counted_once(repeats):
    """Buckets that are moved do not begin where steps do, so each is a bucket off at most."""
    moved = [(summary := delays(*times)).reduce(summary.min_ps) for times in repeats]
    found = describe_histogram(moved)
    assert sum(counts(found)) == sum(map(len, repeats))
    assert found["least"]["value"] == "0"


def test_a_narrow_range_has_the_finest_steps_and_a_wide_one_coarse_ones():
    assert describe_histogram([delays(1_000_000, 1_010_000)])["per_octave"] == FINEST
    wide = describe_histogram([delays(1, 10**12)])
    assert wide["per_octave"] == 8
    assert counts(wide)[0] == 1, "what is far below the largest is in the first step"


BENCH = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
traffic steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms }
test t on bench {
  flow f = steady from a to b
  flow g = steady from a to b
  run { measure = 1 ms, repeat = 2 }
"""


def case(planned, *statements):
    (plan,) = planned(BENCH + "\n".join(statements) + "\n}\n")
    return describe_case(plan, trial.run(plan, discover(), lambda _: None))


@pytest.mark.parametrize(
    ("statement", "of"),
    [
        ("expect f.delay.p99 < 1 ms", [("f", "transfer_delay")]),
        ("expect f.delay.mean < g.delay.max", [("f", "transfer_delay"), ("g", "transfer_delay")]),
        ("report f.cdv_2pt.max", [("f", "cell_delay_variation_2_point")]),
        ("expect f.delay.above(1 us) <= 100%", [("f", "transfer_delay")]),
        ("expect f.lost == 0", []),
        ("expect f.delay.max < 1 ms when 1 > 2", []),
    ],
)
def test_a_record_keeps_the_delays_that_a_statement_names(planned, statement, of):
    found = case(planned, statement, "expect f.received > 0")
    assert [(delay["flow"], delay["metric"]) for delay in found["delays"]] == of


def test_repeats_are_counted_together(planned):
    found = case(planned, "expect f.delay.p99 < 1 ms")
    received = sum(int(repeat["f"]["received"]["value"]) for repeat in found["repeats"])
    assert sum(counts(found["delays"][0])) == received > 0


@pytest.mark.parametrize(
    ("statement", "measures"),
    [
        ("expect f.delay.p99 < 1 ms", ("f", "transfer_delay", "p99")),
        ("expect 1 ms > f.delay.max", ("f", "transfer_delay", "max")),
        ("report f.lost", ("f", "lost", "")),
        ("expect f.delay.p99 < 2 * g.delay.p99", None),
        ("expect f.delay.p99 + 1 us < 1 ms", None),
    ],
)
def test_a_statement_says_what_it_measures_by_itself(planned, statement, measures):
    (found,) = case(planned, statement)["statements"]
    assert tuple(found.get("measures", {}).values()) == (measures or ())


def test_each_term_says_what_it_measures(planned):
    (found,) = case(planned, "expect f.delay.p99 < 1 ms and g.lost == 0")["statements"]
    assert "measures" not in found
    assert [term["measures"]["flow"] for term in found["terms"]] == ["f", "g"]


def test_thousands_of_flows_do_not_fill_a_record(planned):
    flows = "\n".join(f"flow h{n} = one from a to b" for n in range(MAX_HISTOGRAMS + 5))
    asked = "\n".join(f"report h{n}.delay.max" for n in range(MAX_HISTOGRAMS + 5))
    text = BENCH.replace("test t", "traffic one = cbr { pcr = 1_000 cell/s, cdvt = 1 ms }\ntest t")
    (plan,) = planned(f"{text}{flows}\n{asked}\n}}\n")
    found = describe_case(plan, trial.run(plan, discover(), lambda _: None))
    assert len(found["delays"]) == MAX_HISTOGRAMS


THREE_AT_ONCE = """
device asker {
  port line: cell
  queue = fifo { limit = 16 cell }
  line.rx -> ask.line
  ask.line -> queue -> line.tx
  machine ask {
    ports = [line]
    messages = [question, answer]
    instances = 3
    state first { on begin -> asking { send = [question] } }
    state asking { on answer -> done }
    state done {}
  }
}
device server {
  port line: cell
  queue = fifo { limit = 16 cell }
  line.rx -> keys.line
  keys.line -> queue -> line.tx
  machine keys {
    ports = [line]
    messages = [question, answer]
    state free { on question -> free { after = 65 ms, send = [answer] } }
  }
}
topology pair {
  a = asker
  b = server
  link a.line -- b.line via media.stm1
}
test t on pair {
  run { measure = 1 s }
  STATEMENT
}
"""


def test_a_quantile_of_stays_keeps_how_long_they_lasted(planned):
    """Agreements of 65 ms, one after the other, of three who ask at once: EANTC 2006."""
    (case,) = planned(THREE_AT_ONCE.replace("STATEMENT", "report a.ask.asking.time.p95"))
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    (kept_times,) = found["delays"]
    assert (kept_times["flow"], kept_times["metric"]) == ("a.ask.asking", "time")
    first, fine = kept_times["first"], kept_times["per_octave"]
    in_agreements = Counter(
        round(find_bin_start_ps(first + number, fine) / 65e9)
        for number, count in enumerate(counts(kept_times))
        if count
    )
    assert in_agreements == {1: 1, 2: 1, 3: 1}
    assert sum(counts(kept_times)) == 3


@pytest.mark.parametrize(
    "statement", ["report a.ask.asking.time.max", "report a.ask.asking.time.stay_3"]
)
def test_other_statistics_of_stays_keep_none(planned, statement):
    (case,) = planned(THREE_AT_ONCE.replace("STATEMENT", statement))
    assert describe_case(case, trial.run(case, discover(), lambda _: None))["delays"] == []
