"""A network in which most repeats are equal and few have another mean: phases drawn once.

Two flows of 1,000-byte frames share a line of which each takes a tenth. A frame with preamble and
gap takes S = 81.6 us of each T = 816 us, so in one of ten repeats every frame of `f` finds one of
`g` on the line, and waits for the rest of it: 0 to S. The mean over all phases is S² / 2T = 4.08 us
above the 160.64 us of a repeat in which none waits.
"""

from fractions import Fraction
from pathlib import Path

import pytest
from trials import most_wrong

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.judge.confidence import NOTHING_DRAWN
from qospec.plan.plan import Bounds, plan
from qospec.record.outcome import describe_case
from qospec.run import trial

NETWORK = """qos 1
import std.media

device joint {
  port west[2], east: packet
  q = fifo { limit = 100 pkt }
  west[0].rx -> q
  west[1].rx -> q
  q -> east.tx
  east.rx -> discard
}
topology bench {
  a, b, c = host
  dut = joint
  link a -- dut.west[0] via media.fast_ethernet
  link b -- dut.west[1] via media.fast_ethernet
  link dut.east -- c via media.fast_ethernet
}
traffic steady = packets { rate = 10% of 100 Mbit/s @line, size = 1_000 B @frame, phases = PHASES }
test t on bench {
  flow f = steady from a to c
  flow g = steady from b to c
  run { measure = 10 ms, repeat = 5 }
  expect mean: f.delay.mean < BOUND with 95% confidence
  expect largest: f.delay.max < BOUND with 95% confidence
}
"""
SEEDS = 100


def judged(folder: Path, seeds: range, bound: str, phases: str) -> list[list[tuple[str, str]]]:
    """Return by seed the verdict and the note of each criterion."""
    path, problems = folder / "made.qos", Problems()
    path.write_text(NETWORK.replace("BOUND", bound).replace("PHASES", phases), encoding="utf-8")
    suite = check([path], discover(), problems)
    found = []
    for seed in seeds:
        (case,) = plan(suite, str(seed), Bounds(), problems)
        document = describe_case(case, trial.run(case, discover(), lambda _: None))
        found.append(
            [(statement["verdict"], statement["note"]) for statement in document["statements"]]
        )
    assert not problems.all
    return found


@pytest.mark.slow
def test_a_rare_repeat_passes_no_more_false_criteria_than_the_confidence_allows(tmp_path) -> None:
    found = judged(tmp_path, range(SEEDS), "162 us", "random")
    alike = sum("do not differ" in note for (_, note), _ in found)
    assert alike > SEEDS / 2  # each of them passed, when equal repeats were judged by a sign test
    for number in (0, 1):
        passed = sum(criteria[number][0] == "pass" for criteria in found)
        assert passed <= most_wrong(SEEDS, Fraction(95, 100))


def test_where_nothing_is_drawn_the_value_decides(tmp_path) -> None:
    """Evenly spread, both begin at once: every frame of one of them waits for the other."""
    (criteria,) = judged(tmp_path, range(1), "170 us", "even")
    assert {note for _, note in criteria} == {NOTHING_DRAWN}
    assert {verdict for verdict, _ in criteria} == {"pass"}
    (wrong,) = judged(tmp_path, range(1), "160 us", "even")
    assert {verdict for verdict, _ in wrong} == {"fail"}
