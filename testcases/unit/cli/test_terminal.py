"""What a terminal says beside verdicts: what passed criteria prove, and how sure all are."""

import pytest

from qospec.cli.terminal import Console, LocalNames

NOTE = "0 of 1_200_000 lost: with 95 % confidence the ratio is below 2.5 × 10⁻⁶"


def case(**more):
    statement = {
        "label": "clean", "kind": "expect", "verdict": "pass", "note": NOTE, "confidence": "",
        "interval": None, **more,
    }  # fmt: skip
    return {"name": "t", "verdict": "pass", "ran": True, "statements": [statement]}


def test_what_a_count_of_zero_proves_is_shown_for_a_case_that_runs_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Console(1, quiet=False, progress=None).ended(case(), 1.0)
    assert f"    clean: {NOTE}\n" in capsys.readouterr().out
    Console(2, quiet=False, progress=None).ended(case(), 1.0)
    assert "lost" not in capsys.readouterr().out


def test_a_summary_says_how_sure_all_criteria_are_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console(2, quiet=False, progress=None)
    sure = case(confidence="95 %", interval={"lower": None, "upper": None, "repeats": 5})
    summary = {"summary": {"pass": 2}, "seed": "0"}
    console.summary({**summary, "cases": [sure, sure]})
    told = capsys.readouterr().out
    assert "2 criteria were judged with confidence; on average at most 0.1 of them is" in told
    assert "each would need 97.5 %." in told
    console.summary({**summary, "cases": [case(), case()]})
    assert "confidence;" not in capsys.readouterr().out


def test_a_summary_says_what_criteria_claim_and_how_many_do_not_apply(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console(3, quiet=False, progress=None)
    idle = case(verdict="not applicable", note="it applies when n == 2", measured=None)
    found = [case(claim="exact"), case(claim="calibrated"), idle]
    counts = {"pass": 3, "fail": 0, "criteria": {"exact": 1}}
    console.summary({"summary": counts, "seed": "0", "cases": found})
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "3 pass; seed 0"
    assert told[1] == (
        "criteria: 1 exact, 1 calibrated (not counted as reproduced); 1 not applicable"
    )


def test_what_does_not_apply_is_not_among_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    failed = case(verdict="not applicable", note="it applies when n == 2", place="a.qos:1:1")
    failed |= {"verdict": "inconclusive", "errors": [], "losses": [], "why": ["why not"]}
    failed |= {"metrics": {}, "again": "qos run a"}
    Console(1, quiet=False, progress=None).summary(
        {"summary": {"inconclusive": 1}, "seed": "0", "cases": [failed]}
    )
    told = capsys.readouterr().out
    assert "why not" in told
    assert "a.qos:1:1" not in told


def test_places_and_commands_are_shown_relative_to_the_current_folder() -> None:
    here = LocalNames({"t.qos": "../t.qos"}, {"one": "qos run ../t.qos::one"})
    assert here.place("t.qos:3:5") == "../t.qos:3:5"
    assert here.place("std/media.qos:3:5") == "std/media.qos:3:5"
    assert (
        here.rerun_command({"name": "one", "again": "qos run t.qos::one"})
        == "qos run ../t.qos::one"
    )


def test_an_inconclusive_criterion_of_a_failed_case_is_labelled_and_comes_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"comparison": "<", "tolerance": None, "bound": {"text": "10 ms"}, "place": "a.qos:1:1"}
    told = {"measured": {"text": "168.4 us"}, "note": ""}
    statements = [
        *case(**more, **told, verdict="inconclusive", text="rare < 10 ms")["statements"],
        *case(**more, **told, verdict="fail", text="mean < 1 us")["statements"],
    ]
    failed = case() | {"verdict": "fail", "statements": statements, "errors": [], "losses": []}
    failed |= {"why": [], "metrics": {}, "again": "qos run a"}
    summary = {"summary": {"fail": 1}, "seed": "0", "cases": [failed]}
    Console(1, quiet=False, progress=None).summary(summary)
    first, _, second = capsys.readouterr().out.partition("rare < 10 ms\n")
    assert "mean < 1 us" in first
    assert "verdict" not in first
    assert second.startswith("    verdict   inconclusive\n    measured  168.4 us\n")


def test_why_and_rerun_belong_to_the_case_not_to_its_last_criterion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"comparison": "<", "tolerance": None, "bound": {"text": "10 ms"}, "place": "a.qos:1:1"}
    more |= {"measured": {"text": "20 ms"}, "note": "", "apart": "", "verdict": "fail"}
    failed = case(**more, text="mean < 10 ms") | {"verdict": "fail", "errors": ["it broke"]}
    failed |= {"why": ["2 cells of f"], "metrics": {}, "losses": [], "again": "qos run a"}
    Console(1, quiet=False, progress=None).summary(
        {"summary": {"fail": 1}, "seed": "0", "cases": [failed]}
    )
    lines = capsys.readouterr().out.splitlines()
    assert "    needed    < 10 ms" in lines
    assert "  error     it broke" in lines
    assert "  rerun     qos run a" in lines
    assert [line for line in lines if "why" in line] == ["  why       2 cells of f"]
