"""What a case's document says."""

from dataclasses import replace

import pytest

from qospec.catalogue.kinds import discover
from qospec.record.outcome import complete_outcome, describe_case
from qospec.record.statements import count_published, count_statements
from qospec.run import trial

BENCH = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}

traffic steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms }

test t on bench {
  flow f = steady from a to b
  run { measure = 1 ms }
"""


def document(planned, *statements: str):
    (case,) = planned(BENCH + "\n".join(statements) + "\n}\n")
    return describe_case(case, trial.run(case, discover(), lambda _: None))


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        (("expect sum: 1 + 1 == 2",), "inconclusive"),
        (("expect sum: 1 + 1 == 2", "report f.lost"), "inconclusive"),
        (("expect sum: 1 + 1 == 3",), "fail"),
        (("expect sum: 1 + 1 == 2", "expect f.lost == 0"), "pass"),
        (("require f.sent > 0", "expect sum: 1 + 1 == 2"), "pass"),
    ],
)
def test_a_case_that_measures_nothing_is_no_pass(planned, statements, verdict) -> None:
    found = document(planned, *statements)
    assert found["verdict"] == verdict
    unmeasured = "no criterion measures anything" in found["why"]
    assert unmeasured == (len(statements) == 1 or statements[1].startswith("report"))


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        (("report f.lost",), "measured"),
        (("report f.lost", "report f.delay.mean"), "measured"),
        (("report f.lost", "expect f.lost == 0"), "pass"),
        (("report f.lost", "require f.sent > 0"), "pass"),
        (("report f.lost", "expect f.lost > 0"), "fail"),
        ((), "inconclusive"),
    ],
)
def test_what_is_only_reported_is_measured_and_not_judged(planned, statements, verdict) -> None:
    found = document(planned, *statements)
    assert found["verdict"] == verdict
    assert ("no criterion measures anything" in found["why"]) == (not statements)


SWEPT = ("sweep n in [1, 2]", "run { measure = 1 ms }")


@pytest.fixture
def swept(planned):
    """Return a function that gives the documents of a test's two cases, for n = 1 and 2."""

    def swept(*statements: str):
        text = BENCH.replace("  run { measure = 1 ms }\n", "") + "\n".join((*SWEPT, *statements))
        cases = planned(text + "\n}\n")
        return [describe_case(c, trial.run(c, discover(), lambda _: None)) for c in cases]

    return swept


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        ("expect a: f.lost == 0 when n == 2", "it applies when n == 2"),
        ("require a: f.lost == 0 when n == 2", "it applies when n == 2"),
        ("report a: f.lost when n == 2", "it applies when n == 2"),
        ("expect a: n == 1 or f.lost == 0", "nothing that is measured decides it here"),
    ],
)
def test_what_does_not_apply_is_no_pass(swept, statement, note) -> None:
    first, second = swept(statement, "require f.sent > 0 cell")
    idle, active = first["statements"][0], second["statements"][0]
    assert (idle["verdict"], idle["note"], idle["measured"]) == ("not applicable", note, None)
    assert active["verdict"] == ("" if statement.startswith("report") else "pass")
    assert active["measured"]["text"] == "0 cell"
    assert (first["verdict"], second["verdict"]) == ("pass", "pass")


def test_a_case_to_which_nothing_applies_is_inconclusive_and_says_why(swept) -> None:
    first, second = swept("require f.lost == 0 when n == 2", "expect n == 1 or f.lost == 0")
    assert (first["verdict"], second["verdict"]) == ("inconclusive", "pass")
    assert first["why"][0] == (
        "no criterion that applies to this case measures anything:"
        " exclude it by `where` on the sweep"
    )


def test_what_makes_no_sense_where_it_does_not_apply_is_not_worked_out(swept) -> None:
    first, second = swept(
        "let table = { 2: 1 s }", "expect f.delay.max < table[n] when n == 2", "expect f.lost == 0"
    )
    assert [statement["verdict"] for statement in first["statements"]] == ["not applicable", "pass"]
    assert [statement["verdict"] for statement in second["statements"]] == ["pass", "pass"]
    assert "transfer_delay.max" in second["metrics"]["f"]


def test_criteria_are_counted_by_what_they_claim(swept) -> None:
    cases = swept(
        "expect a: f.lost == 0 as exact",
        "expect b: f.lost == 0 as shape when n == 2",
        "expect c: f.delay.max < 1 s as calibrated",
        "expect d: f.delay.max < 1 s",
        "report e: f.lost when n == 2",
    )
    assert [statement["claim"] for statement in cases[0]["statements"]] == [
        "exact", "shape", "calibrated", "", ""
    ]  # fmt: skip
    summary = complete_outcome({"tests": [], "cases": []}, cases, cases)["summary"]
    assert summary["pass"] == 2
    assert summary["criteria"] == {
        "exact": 2, "range": 0, "shape": 1, "calibrated": 2, "consistent": 0, "none": 2,
        "not applicable": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("claims", "strongest"),
    [
        (["shape", "range", "consistent"], "range"),
        (["calibrated", "exact", "exact"], "exact"),
        (["consistent", "calibrated", ""], "calibrated"),
        (["", "consistent"], "consistent"),
        ([""], "none"),
        ([], "none"),
    ],
)
def test_a_statement_counts_once_by_its_strongest_claim(claims, strongest) -> None:
    idle = {"claim": "exact", "verdict": "not applicable"}
    statements = [idle, *({"claim": claim, "verdict": "pass"} for claim in claims)]
    cases = [
        {"test": f"t{n % 2}", "statements": [statement]} for n, statement in enumerate(statements)
    ]
    tests = [{"name": "t0", "covers": ["table"]}, {"name": "t1", "covers": ["table"]}]
    found = count_statements(tests, cases)
    assert {claim for claim, count in found.items() if count} == {strongest}
    assert sum(found.values()) == 1


def test_each_statement_of_a_test_counts() -> None:
    cases = [{"test": "t", "statements": [{"claim": "shape", "verdict": "pass"}]}]
    tests = [{"name": "t", "covers": ["a", "b"]}, {"name": "u", "covers": ["b", "c"]}]
    assert count_statements(tests, cases) == {
        "exact": 0, "range": 0, "shape": 2, "calibrated": 0, "consistent": 0, "none": 1
    }  # fmt: skip


def test_a_criterion_counts_for_the_statements_that_it_names() -> None:
    named = {"claim": "exact", "verdict": "pass", "covers": ["b", "d"]}
    others = [named, {"claim": "shape", "verdict": "pass"}]
    tests = [{"name": "t", "covers": ["a", "b", "c"]}, {"name": "u", "covers": ["c"]}]
    counted = count_statements(tests, [{"test": "t", "statements": others}])
    assert (counted["exact"], counted["shape"]) == (2, 2)  # b and d; a and c
    gap = {"what": "e", "why": "a reason"}
    frame = {
        "tests": [{**tests[0], "not_reproduced": [gap]}, {**tests[1], "not_reproduced": [gap]}]
    }
    assert count_published(frame, counted) == {}
    frame["references"] = [{"statements": 7}]
    assert count_published(frame, counted) == {"statements": 7, "covered": 4, "not reproduced": 1}


def test_the_statements_of_several_references_count_together() -> None:
    parts: list[dict[str, int]] = [{"statements": 4}, {"statements": 3}]
    frame = {"tests": [], "references": parts}
    assert count_published(frame, {"exact": 2})["statements"] == 7
    assert count_published(frame, {"exact": 8}) == {}, "some are of another publication"
    frame["references"] = [*parts, {}]
    assert count_published(frame, {"exact": 2}) == {}, "nobody knows how many the third has"


def test_the_metrics_of_a_case_are_those_of_its_first_repeat(planned) -> None:
    random = BENCH.replace(
        "cbr { pcr = 10_000 cell/s, cdvt = 1 ms }",
        "ubr { pcr = 300_000 cell/s, source = poisson { rate = pcr } }",
    ).replace("measure = 1 ms", "measure = 1 ms, repeat = 3")
    (case,) = planned(random + "report f.sent\n}\n")
    ran = trial.run(case, discover(), lambda _: None)
    found = describe_case(case, ran)
    sent = [int(repeat["f"]["sent"]["value"]) for repeat in found["repeats"]]
    assert len(set(sent)) == 3
    assert found["metrics"] == found["repeats"][0]
    assert int(found["metrics"]["f"]["sent"]["value"]) == sent[0]
    first = {name: value for _, name, value, _ in ran.repeats[0].readings.list_all()}
    assert first["sent"] == sent[0]


@pytest.mark.parametrize("metric", ["lost", "received", "policed", "clr"])
def test_no_oam_cells_are_no_data(planned, metric) -> None:
    found = document(planned, f"expect f.oam.{metric} == 0", "report f.oam.sent")
    assert [statement["verdict"] for statement in found["statements"]] == ["inconclusive", ""]
    assert found["statements"][1]["measured"]["text"] == "0 cell"


def test_what_is_not_in_a_list_is_shown(planned) -> None:
    (statement,) = document(planned, "expect f.connections_up in [2, 3]")["statements"]
    assert (statement["verdict"], statement["comparison"]) == ("fail", "in")
    assert (statement["measured"]["text"], statement["bound"]["text"]) == ("1", "[2, 3]")


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("f.connections_up within 3 of 5", "fail"),
        ("f.connections_up within 4 of 5", "pass"),
        ("f.connections_up within 80% of 5", "pass"),
        ("f.connections_up within 79% of 5", "fail"),
        ("f.delay.mean within f.clr of 20 us", "fail"),
        ("f.clr within 100% of 0.05%", "pass"),
        ("f.clr within 0.1% of 0.05%", "fail"),
        ("f.clr within 0.0005 of 0.05%", "pass"),
    ],
)
def test_a_tolerance_without_unit(planned, condition, verdict) -> None:
    (statement,) = document(planned, f"expect {condition}")["statements"]
    assert (statement["verdict"], statement["comparison"]) == (verdict, "within")


PACKETS = """
topology narrow {
  a, b = host
  dut = squeeze
  link a -- dut.west via media.gige
  link dut.east -- b via media.ethernet
}

device squeeze {
  port west, east: packet
  q = fifo { limit = 2 pkt }
  west.rx -> q -> east.tx
  east.rx -> discard
}

test t on narrow {
  flow f = packets { rate = RATE, size = 1_000 B @ip } from a to b
  run { measure = 10 ms, overload = true }
  expect f.lost == 0 pkt
  expect f.received == 0 pkt
}
"""


def test_nothing_lost_before_a_scheduler_names_its_queues(planned) -> None:
    queues = """classes = classify { voice = pkt.dscp == 46, rest = otherwise }
  voice = fifo { limit = 2 pkt }
  rest = fifo { limit = 64 pkt, drop = red { low = 8 pkt, high = 32 pkt, p = 10% } }
  out = strict { order = [voice, rest] }
  west.rx -> classes
  classes.voice -> voice -> out.voice
  classes.rest -> rest -> out.rest
  out -> east.tx"""
    text = PACKETS.replace("q = fifo { limit = 2 pkt }\n  west.rx -> q -> east.tx", queues)
    also = "flow g = packets { rate = 90 pkt/s, size = 1_000 B @ip, dscp = 46 } from a to b\n  run"
    (case,) = planned(text.replace("RATE", "100 pkt/s").replace("run", also, 1))
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    why = "no packet was discarded: dut.voice (0 overflow), dut.rest (0 overflow or early)"
    assert found["why"] == [why]


def test_after_an_error_nothing_is_said_of_what_could_have_been_lost(planned) -> None:
    (case,) = planned(PACKETS.replace("RATE", "100 pkt/s"))
    result = trial.run(case, discover(), lambda _: None)
    found = describe_case(case, replace(result, errors=("it broke",)))
    assert (found["verdict"], found["why"]) == ("error", [])


@pytest.mark.parametrize(
    ("rate", "why", "lost"),
    [
        ("4_000 pkt/s", " packets of f: dut.q (overflow)", {"packet"}),
        ("100 pkt/s", "no packet was discarded: dut.q (0 overflow)", set()),
        ("0.01 pkt/s", "f sent no packet within the window", set()),
    ],
)
def test_why_counts_packets(planned, rate, why, lost) -> None:
    (case,) = planned(PACKETS.replace("RATE", rate))
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    (line,) = found["why"]
    assert line.endswith(why)
    assert {loss["carries"] for loss in found["losses"]} == lost


def test_of_machines_alone_it_is_not_said_that_nothing_was_discarded(planned) -> None:
    """Two calls are both made by 1.5 s: what became of them is not counted as cells are."""
    text = """
import std.devices.signalling
topology exchange {
  a = signalling.caller(calls = 2, begin = 2 s)
  b = signalling.answerer()
  link a.line -- b.line via media.stm1
}
test t on exchange {
  run { measure = 1_500 ms }
  expect not_yet: a.call.idle.count == 1
}
"""
    (case,) = planned(text)
    (why,) = describe_case(case, trial.run(case, discover(), lambda _: None))["why"]
    said, _, listed = why.partition(": ")
    assert said == "no flow sends anything, only machines do; at the end they are in"
    assert listed == "a.call (2 over; begun 2, latest 2)"


def test_a_quantile_may_be_held_against_what_is_counted_in_a_device(planned) -> None:
    text = BENCH.replace("a, b = host", "a, b = host\n  dut = box").replace(
        "link a -- b via media.stm1",
        "link a -- dut.x via media.stm1\n  link dut.y -- b via media.stm1",
    )
    box = """
device box {
  port x, y: cell
  q = fifo { limit = 4 cell }
  x.rx -> q -> y.tx
  y.rx -> discard
}
"""
    asked = "f.delay.p50 < (dut.q.lost + 20 cell) / (1 cell) * 1 us"
    run = "run { measure = 1 ms, repeat = 7 }"
    text = box + text.replace("run { measure = 1 ms }", run)
    (case,) = planned(text + f"  expect {asked} with 95% confidence\n}}\n")
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    assert found["statements"][0]["verdict"] == "pass"


@pytest.mark.parametrize(("field", "alike"), [("", False), (", common_draws = true", True)])
def test_cases_share_their_draws_if_asked_to(planned, field: str, *, alike: bool) -> None:
    text = BENCH.replace("= cbr { pcr = 10_000 cell/s, cdvt = 1 ms }", LAW).replace(
        "1 ms }", f"100 ms{field} }}"
    )
    cases = planned(text + "sweep _n in [1, 2]\nexpect f.lost == 0\nreport f.delay.mean\n}\n")
    first, second = (
        describe_case(case, trial.run(case, discover(), lambda _: None)) for case in cases
    )
    assert (first["metrics"] == second["metrics"]) == alike
    assert first["run"].get("common_draws", False) == alike
    assert first["metrics"]["f"]["sent"]["value"] != "0"


LAW = "= ubr { pcr = 10_000 cell/s, source = poisson { rate = pcr } }"
