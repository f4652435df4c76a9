"""What a search may cost."""

import json
import re

import pytest
from click.testing import CliRunner

from qospec.cli import qos
from qospec.search.method import count_trials_of_load

TOPOLOGY = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
traffic load(rate: CellRate) = ubr { pcr = rate }
"""

SEARCH = """
test knee on bench {
  search rate in 1_000 cell/s .. 2_000 cell/s {
    goal ndr { loss = 0 }
    goal pdr { loss = 0.5%, trial = 2 s, width = 50% }
    total = 11 s
  }
  flow user = load(rate = rate) from a to b
  run { warmup = 1 s, repeat = 3 }
  expect ndr.rate >= 1_500 cell/s
}
"""

PROPERTY = """
property sums {
  forall n in 1 .. 5
  expect n > 0
}
"""

PLAIN = """
device box {
  port west, east: cell
  west.rx -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  x = box
  link a -- x.west via media.stm1
  link b -- x.east via media.stm1
}
test small on bench {
  flow user = ubr { pcr = 10 cell/s } from a to b
  run { measure = 1 s }
  expect user.lost == 0
}
"""


@pytest.fixture
def command(tmp_path):
    """Return a function that runs `qos` on a text."""

    def invoke(name, text, *options, selection=""):
        path = tmp_path / "a.qos"
        path.write_text("qos 1\nimport std.media\n" + text, encoding="utf-8")
        where = ["--record", str(tmp_path / "records")] if name == "run" else []
        return CliRunner().invoke(qos, [name, f"{path}{selection}", *where, *options])

    return invoke


def test_a_search_is_bounded_by_range_width_goals_and_total(planned) -> None:
    (case,) = planned(TOPOLOGY + SEARCH)
    ndr, pdr = case.case.phases[0].goals
    # ln 2 / -ln 0.995 = 138.3 steps of width: eight halvings; one step of a half: none
    assert case.phases[0].loads == (6 + 8, 6)
    assert [count_trials_of_load(goal) for goal in (ndr, pdr)] == [11, 6]
    assert case.trials == 3 * (14 * 11 + 6 * 6)
    assert case.cost.emulated_ps == 3 * (14 * 11 * 2 + 6 * 6 * 3) * 10**12


def test_a_range_may_be_wider_than_a_float_is(planned) -> None:
    ends = f"{'1' + '0' * 250} .. 1{'0' * 299}"
    text = SEARCH.replace(
        "1_000 cell/s .. 2_000 cell/s", ends.replace("..", "* 1 / 1{} ..".format("0" * 299))
    )
    text = text.replace("rate = rate)", "rate = 5 cell/s * rate / rate)").replace("_500 cell/s", "")
    (case,) = planned(TOPOLOGY + text)
    assert 14 < case.phases[0].loads[0] < 34


def test_the_flows_of_a_search_are_those_of_its_greatest_load(planned) -> None:
    (case,) = planned(TOPOLOGY + SEARCH)
    assert case.case.flows[0].traffic.build_contract().peak_cell_rate == 2_000
    assert (case.case.run.overload, case.case.run.warmup_ps) == (True, 10**12)


def test_defaults_are_named(planned) -> None:
    (case,) = planned(TOPOLOGY + SEARCH)
    ndr, pdr = case.case.phases[0].goals
    assert ndr.defaults == ("trial", "exceed", "width")
    assert pdr.defaults == ("exceed",)


def test_halving_has_one_long_trial_for_each_load(planned) -> None:
    text = SEARCH.replace("total = 11 s", "method = binary").replace(", trial = 2 s", "")
    (case,) = planned(TOPOLOGY + text)
    assert [count_trials_of_load(goal) for goal in case.case.phases[0].goals] == [1, 1]
    assert {goal.trial_ps for goal in case.case.phases[0].goals} == {60 * 10**12}


def test_a_plan_prints_the_bound_and_each_default(command) -> None:
    result = command("plan", TOPOLOGY + SEARCH)
    assert result.exit_code == 0
    assert "knee: at most 570 trials" in result.output
    assert "at most 20 min 48 s emulated in total" in result.output
    assert re.search(r"goal ndr: .*trial 1 s \(default\), total 11 s, .*width 0.5 %", result.output)
    document = json.loads(command("plan", TOPOLOGY + SEARCH, "--json").stdout)
    assert [goal["name"] for goal in document["cases"][0]["phases"][0]["goals"]] == ["ndr", "pdr"]


def test_a_test_runs_beside_a_property_that_only_fuzzing_examines(command) -> None:
    result = command("run", PLAIN + PROPERTY)
    assert result.exit_code == 0
    assert "note: the property `sums` draws from a range or cells" in result.output
    assert "note" not in command("run", PLAIN + PROPERTY, selection="::small").output


BURST = """
test burst on bench {
  search n in 1 cell .. 1_000 cell {
    goal longest { loss = 0 }
    rate = 400_000 cell/s
    method = binary
    trial = n / (1 cell) * 10 us
  }
  flow user = load(rate = rate) from a to b
  report longest.n
}
"""

POINT = """
test point on bench {{
  point high {{ rate = 400_000 cell/s, measure = 1 s }}
  flow user = load(rate = rate) from a to b
  {}
  expect high.user.lost == 0
}}
"""
SEARCH_OF_SIZES = """
test of_sizes on bench {{
  sweep cells in [10 cell, {}]
  search rate in 100 frame/s .. 3_600 frame/s {{
    goal lossless {{ loss = 0 }}
    trial = 100 ms
  }}
  flow user = frames {{ cells = cells, rate = rate }} from a to b
  report lossless.rate
}}
"""
"""The line carries 353,207.5 cells/s: 3,532 frames/s of 100 cells, and 1,766 of 200."""
POINT_OF_SIZES = """
test of_sizes on bench {
  sweep cells in [100 cell, 200 cell]
  point high { rate = 3_600 frame/s, measure = 100 ms }
  flow user = frames { cells = cells, rate = rate } from a to b
  expect high.user.lost == 0
}
"""
SMALL = "let `rate` be at most 53_200 cell/s in `high`"


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        (SEARCH.replace("2_000", "400_000"), "search up to 353_200 cell/s"),
        (
            SEARCH.replace("1_000 cell/s .. 2_000", "400_000 cell/s .. 500_000"),
            "search below 353_200 cell/s, which the link carries",
        ),
        (SEARCH_OF_SIZES.format("100 cell, 200 cell, 150 cell"), "search up to 1766 frame/s"),
        (SEARCH_OF_SIZES.format("200 cell, 100 cell"), "search up to 1766 frame/s"),
        (POINT_OF_SIZES, "let `rate` be at most 1766 frame/s in `high`"),
        (BURST, "lower the load, or what it follows from: it does not depend on `n`"),
        (SEARCH.replace("2_000 cell/s", "401_000 cell/s step 200_000 cell/s"), "search up to 201_"),
        (POINT.format(""), "let `rate` be at most 353_200 cell/s in `high`"),
        (POINT.format("flow other = load(rate = 300_000 cell/s) from a to b"), SMALL),
        (POINT.format("flow other = load(rate = 360_000 cell/s) from a to b"), "send less"),
    ],
)
def test_a_load_above_the_line_is_refused_with_what_fits(tmp_path, text, help_) -> None:
    path = tmp_path / "a.qos"
    path.write_text(f"qos 1\nimport std.media\n{TOPOLOGY}{text}", encoding="utf-8")
    result = CliRunner().invoke(qos, ["check", str(path)])
    assert "E0305" in result.output
    assert f"help: {help_}" in result.output


AFTER = """
test after on bench {
  search rate in 10 cell/s .. 100_000 cell/s {
    goal ndr { loss = 0 }
    trial = 1 s
    total = 1 s
  }
  search share in 1% .. 100% {
    goal part { loss = 0 }
    rate = share * ndr.rate
    trial = LENGTH
    total = LENGTH
  }
  flow user = load(rate = rate) from a to b
  report part.share
}
"""


@pytest.mark.parametrize(("length", "codes"), [("10 ms", []), ("100 us", ["E0610"])])
def test_a_trial_after_another_search_is_too_short_only_if_it_always_is(
    planned, problems, length, codes
):
    """At a hundredth of 100,000 cells/s, which the first may find, 10 ms have ten cells."""
    planned(TOPOLOGY + AFTER.replace("LENGTH", length))
    assert [error.code for error in problems.errors] == codes


WRITTEN = """
test knee(lowest: CellRate) on bench {
  search rate in lowest .. 2_000 cell/s {
    goal ndr { loss = 0 }
    trial = 10 ms
  }
  flow user = load(rate = rate) from a to b
  report ndr.rate
}
"""


def test_a_trial_that_is_too_short_is_marked_where_its_length_is_written(planned, problems):
    alone = WRITTEN.replace("(lowest: CellRate)", "").replace("lowest", "10 cell/s")
    planned(TOPOLOGY + alone)
    [found] = problems.errors
    assert (found.code, found.span.text) == ("E0610", "10 ms")
    [phase] = found.secondary
    assert phase.span.text.startswith("search rate in 10 cell/s")


def test_of_a_template_it_is_the_argument_for_the_lowest_load(planned, problems):
    planned(TOPOLOGY + WRITTEN + "test t = knee(lowest = 10 cell/s)\n")
    [found] = problems.errors
    assert (found.code, found.span.text) == ("E0610", "lowest = 10 cell/s")
    assert found.secondary[0].span.text == "10 ms"
