"""What a terminal says beside verdicts: what passed criteria prove, and how sure all are."""

import pytest

from qospec.cli.terminal import Console

NOTE = "0 of 1_200_000 lost: with 95 % confidence the ratio is below 2.5 × 10⁻⁶"


def case(**more):
    statement = {
        "label": "clean", "kind": "expect", "verdict": "pass", "note": NOTE, "confidence": "",
        "interval": None, **more,
    }  # fmt: skip
    return {"name": "t", "verdict": "pass", "ran": True, "statements": [statement]}


def test_what_a_count_of_zero_proves_is_told_of_a_case_that_runs_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Console(1, quiet=False, progress=False).ended(case(), 1.0)
    assert f"    clean: {NOTE}\n" in capsys.readouterr().out
    Console(2, quiet=False, progress=False).ended(case(), 1.0)
    assert "lost" not in capsys.readouterr().out


def test_a_summary_says_how_sure_all_criteria_are_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console(2, quiet=False, progress=False)
    sure = case(confidence="95 %", interval={"lower": None, "upper": None, "repeats": 5})
    summary = {"summary": {"pass": 2}, "seed": "0"}
    console.summary({**summary, "cases": [sure, sure]})
    told = capsys.readouterr().out
    assert "2 criteria were judged with confidence; on average at most 0.1 of them is" in told
    assert "each would need 97.5 %." in told
    console.summary({**summary, "cases": [case(), case()]})
    assert "confidence;" not in capsys.readouterr().out
