import pytest
from junitparser import Error, Failure, JUnitXml, Properties, Skipped

from qospec.report.render import render


@pytest.fixture
def junit(document, timing):
    return JUnitXml.fromstring(render(document, timing, "junit").encode())


def cases(junit):
    return {case.name: case for suite in junit for case in suite}


def test_a_file_is_a_suite_and_a_case_a_test_case(junit):
    assert [suite.name for suite in junit] == [
        "testcases/suites/eantc/data_plane.qos",
        "testcases/suites/eantc/traffic_management.qos",
    ]
    first = next(iter(junit))
    assert (first.tests, first.failures, first.errors, first.skipped) == (6, 1, 1, 0)
    assert (junit.tests, junit.failures, junit.errors, junit.skipped) == (10, 3, 1, 1)
    assert cases(junit)["data_plane:scenario=1,pvcs=4_000"].classname == "data_plane"


def test_a_pass_has_no_result(junit):
    assert cases(junit)["data_plane:scenario=1,pvcs=4_000"].result == []


@pytest.mark.parametrize(
    ("name", "kind", "type_", "message"),
    [
        (
            "cdvt:tolerance=4us,switch=switches.forerunner_le155",
            Failure,
            "expect",
            "no_loss: 1320 cell, needed = 0 cell",
        ),
        (
            "repeated",
            Failure,
            "inconclusive",
            "enough_sent: 9000 cell, needed ≥ 10_000 cell; tail: no data, needed < 80 us",
        ),
        ("crashes", Error, "error", "x < y && <b>: no data, needed x < y && <b>"),
        ("skipped", Skipped, None, "no such switch: `LE155|B` @team"),
    ],
)
def test_a_verdict_is_what_build_servers_know(junit, name, kind, type_, message):
    (result,) = cases(junit)[name].result
    assert isinstance(result, kind)
    assert (result.type, result.message) == (type_, message)


def test_a_case_that_only_reports_has_passed_and_prints_what_it_measured(document):
    case = next(case for case in document["cases"] if case["name"] == "repeated")
    case["verdict"] = "measured"
    case["statements"] = [
        {**case["statements"][0], "kind": "report", "verdict": "", "label": "sent", "bound": None}
    ]
    junit = JUnitXml.fromstring(render(document, {}, "junit").encode())
    assert (junit.tests, junit.failures, junit.errors, junit.skipped) == (10, 2, 1, 1)
    measured = cases(junit)["repeated"]
    assert measured.result == []
    assert measured.system_out.split("\n") == ["measured, not judged", "sent = 9000 cell", ""]


def test_a_failure_has_place_reason_and_command(junit):
    (result,) = cases(junit)["cdvt:tolerance=4us,switch=switches.forerunner_le155"].result
    assert "at        testcases/suites/eantc/traffic_management.qos:3:3" in result.text
    assert "why: 1320 cells of ab: le155.upc[0] (policed)" in result.text
    assert "rerun: qos run" in result.text


def test_control_characters_are_replaced(junit):
    (result,) = cases(junit)["crashes"].result
    assert "2 received \ufffd[31m\ufffd ✂ naïve ]]> & <script>" in result.text


def test_measured_values_are_properties(junit):
    case = cases(junit)["cdvt:tolerance=5us,switch=switches.forerunner_le155"]
    values = {prop.name: prop.value for prop in case.child(Properties)}
    assert values["expect no_loss"] == "936 cell"
    assert values["ab.lost"] == "936 cell"
    assert values["ab.transfer_delay.p99"] == "47.1 us"


def test_times_are_those_of_the_run(junit):
    assert cases(junit)["repeated"].time == 0.5
    assert junit.time == 5.0


def test_without_times_there_are_none(document):
    assert " time=" not in render(document, {}, "junit")
    assert "timestamp" not in render(document, {}, "junit")


def test_a_case_that_was_not_run_is_a_failure(interrupted):
    junit = JUnitXml.fromstring(render(interrupted, {}, "junit").encode())
    assert (junit.tests, junit.failures, junit.errors, junit.skipped) == (7, 3, 0, 0)
    (result,) = cases(junit)["cdvt:tolerance=0us"].result
    assert (result.type, result.message) == ("not run", "not run: the run was interrupted")


def test_what_a_test_covers_is_a_property_of_its_cases(junit):
    repeated = cases(junit)["repeated"].child(Properties)
    found = [entry.value for entry in repeated if entry.name == "covers"]
    assert found == ["EANTC 2006, data plane", "REQ-017"]
    skipped = cases(junit)["skipped"].child(Properties)
    assert "covers" not in [entry.name for entry in skipped or ()]
