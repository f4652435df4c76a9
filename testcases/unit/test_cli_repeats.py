"""What a terminal shows of repeats: intervals, notes, cases that are left out, `--keep-going`."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec.cli import qos
from qospec.judge.confidence import UNTOLD

TEXT = """qos 1

topology bench {
  a, b, c = host
  box = router
  link a -- box.p[0] via line { rate = 149.76 Mbit/s @cell }
  link b -- box.p[1] via line { rate = 149.76 Mbit/s @cell }
  link c -- box.p[2] via line { rate = 149.76 Mbit/s @cell }
}

device router {
  port p[3]: cell
  fabric = vc_switch { ports = 3, latency = 1 us }
  for i in 0 .. 2 {
    q = fifo { limit = 1_000 cell }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> q -> p[i].tx
  }
}

traffic random = ubr { pcr = 150_000 cell/s, source = poisson { rate = pcr } }

test small on bench {
  sweep n in [1, 2]
  skip unless n == 1 "two come later"
  flow x = random from a to c
  flow y = random from b to c
  run { measure = 1 ms, repeat = 10 }
"""


@pytest.fixture
def invoke(tmp_path: Path):
    """Return a function that runs `qos` on statements."""

    def run(*statements: str, command: str = "run", options: tuple[str, ...] = ()) -> Result:
        path = tmp_path / "a.qos"
        path.write_text(TEXT + "\n".join(statements) + "\n}\n", encoding="utf-8")
        kept = ["--record", str(tmp_path / "records")] if command == "run" else []
        return CliRunner().invoke(qos, [command, str(path), *kept, *options])

    return run


def mean(invoke) -> str:
    """Return the mean delay of ten repeats, as a text to compare with."""
    result = invoke("report x.delay.mean", "expect x.received > 0", options=("--json",))
    repeats = json.loads(result.stdout)["cases"][0]["repeats"]
    values = [repeat["x"]["transfer_delay.mean"]["value"] for repeat in repeats]
    return f"{float(sum(map(Fraction, values)) / 10 * 10**6):.3f} us"


def test_an_undecided_criterion_shows_its_interval_and_what_would_decide(invoke) -> None:
    near = mean(invoke)
    result = invoke(f"expect prompt: x.delay.mean < {near} with 95% confidence")
    assert result.exit_code == 3
    assert f"expect x.delay.mean < {near} with 95 % confidence" in result.output
    assert " us, over 10 repeats" in result.output
    assert UNTOLD in result.output


def test_a_skipped_case_is_shown_with_its_reason_and_is_no_failure(invoke) -> None:
    result = invoke("expect x.lost == 0")
    assert result.exit_code == 0
    assert "SKIP  small:n=2\n  why       two come later" in result.output
    assert "1 skip, 1 pass" in result.output
    assert "small:n=2: skipped, two come later" in invoke(command="plan").output


def test_a_failed_require_ends_its_case_unless_the_command_says_otherwise(invoke) -> None:
    statements = ("require x.sent == 0 cell", "expect x.lost == 0")
    for options, repeats in (((), 1), (("--keep-going",), 10)):
        result = invoke(*statements, options=("--json", *options))
        case = json.loads(result.stdout)["cases"][0]
        assert result.exit_code == 3
        assert len(case["repeats"]) == repeats
        assert ("--keep-going" in case["again"]) == bool(options)


@pytest.mark.slow
def test_workers_keep_going_too(invoke) -> None:
    options = ("--json", "--keep-going", "-j", "2")
    result = invoke("require x.sent == 0 cell", "expect x.lost == 0", options=options)
    assert len(json.loads(result.stdout)["cases"][0]["repeats"]) == 10
