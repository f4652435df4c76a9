"""A property that draws from lists only is run as any test: a case for each combination."""

import json

import pytest
from click.testing import CliRunner

from qospec.cli import qos

POLICED = """qos 1
property policed {
  forall rate in [10 cell/s, 100 cell/s]
  forall arrivals in [cells(at = []), cells(at = [0 s, 20 ms, 40 ms])]
  let passed = police(arrivals, pcr = rate)
  expect polite: conforms(passed, pcr = rate)
  expect all: count(passed) >= count(arrivals)
}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a text, and gives the result with the outcome."""
    monkeypatch.chdir(tmp_path)

    def ran(text: str, *options: str):
        (tmp_path / "a.qos").write_text(text, encoding="utf-8")
        result = CliRunner().invoke(qos, ["run", "a.qos", "--json", *options])
        return result.exit_code, json.loads(result.stdout)

    return ran


def test_each_combination_of_values_is_a_case_with_its_verdict(run) -> None:
    code, document = run(POLICED)
    verdicts = {case["name"]: case["verdict"] for case in document["cases"]}
    assert verdicts == {
        "policed:rate=10cell_per_s,arrivals=1": "pass",
        "policed:rate=10cell_per_s,arrivals=2": "fail",
        "policed:rate=100cell_per_s,arrivals=1": "pass",
        "policed:rate=100cell_per_s,arrivals=2": "pass",
    }
    assert code == 1
    polite, every = document["cases"][1]["statements"]
    assert (polite["label"], polite["verdict"]) == ("polite", "pass")
    shown = every["measured"]["text"], every["comparison"], every["bound"]["text"]
    assert shown == ("1 cell", ">=", "3 cell")


def test_one_combination_has_the_name_of_the_property(run) -> None:
    code, document = run("qos 1\nproperty p { forall n in [3], expect n < 5 }\n", "-j", "2")
    assert [(case["name"], case["verdict"]) for case in document["cases"]] == [("p", "pass")]
    assert code == 0


def test_values_that_a_where_refuses_are_no_case(run) -> None:
    _, document = run("qos 1\nproperty p { forall n in [1, 2, 3] where n > 1, expect n > 1 }\n")
    assert [case["name"] for case in document["cases"]] == ["p:n=2", "p:n=3"]


def test_what_a_function_refuses_is_an_error_of_its_case(run) -> None:
    late = "forall c in [cells(at = [1_000_000 s])]"
    code, document = run(f"qos 1\nproperty p {{ {late}, expect count(c) == 1 cell }}\n")
    assert code == 4
    assert document["cases"][0]["errors"] == ["`cells`: cells come within 10_000 s"]


def test_times_pass_a_shaper_one_interval_apart(run) -> None:
    text = """qos 1
property shaped {
  forall arrivals in [cells(at = [0 s, 0 s, 1 ms])]
  let left = shape(arrivals, pcr = 1_000 cell/s)
  expect delay(left) == 1 ms
  expect conforms(left, pcr = 1_000 cell/s)
  expect not conforms(arrivals, pcr = 1_000 cell/s)
}
"""
    assert run(text)[0] == 0
