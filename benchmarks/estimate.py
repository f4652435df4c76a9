"""By what factor 95 % of what `qos plan` says of a run differs at most from what it takes.

Cases of the shipped suites are drawn, and each is run three times, of which the shortest counts:
the first may compile, and another be disturbed.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import figures
from figures import Figure

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.document import write_json
from qospec.plan.plan import Bounds, plan
from qospec.run.estimate import estimate_case, measure_slowness
from qospec.run.runner import run_alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.plan.plan import CasePlan

FILES, CASES = 60, 2
"""How many files are drawn, and of each how many cases."""
RUNS = 3
MOST_ITEMS = 2_000_000
TINY = {"FILES": 5, "CASES": 1}
SHARE, FACTOR = 0.95, 2


def measure() -> list[Figure]:
    """Return by what factor time and size of that share of the cases differ at most."""
    times, sizes = [], []
    for drawn in _draw_cases():
        estimate, took_s = estimate_case(drawn), math.inf
        slowness = measure_slowness()  # of a machine that others use it changes meanwhile
        for _ in range(RUNS):
            started_s = time.process_time()
            document = run_alone(drawn, Bounds(), lambda: None)
            took_s = min(took_s, time.process_time() - started_s)
        times.append(estimate.time_s * slowness / took_s)
        sizes.append(estimate.disk_bytes / len(write_json(document)))
    return [_compare("estimate.time", times), _compare("estimate.disk", sizes)]


def _compare(name: str, ratios: list[float]) -> Figure:
    factor = _find_factor(ratios)
    ratio = FACTOR / factor
    return Figure(name, factor, "times", FACTOR, "promised", ratio, target="ratio >= 1")


def _find_factor(ratios: list[float]) -> float:
    factors = sorted(max(ratio, 1 / ratio) for ratio in ratios)
    return factors[math.ceil(SHARE * len(factors)) - 1]


def _draw_cases() -> Iterator[CasePlan]:
    """Yield planned cases that run, and not for long."""
    draws = random.Random(1)  # noqa: S311 -- the same cases each time
    suites = sorted((figures.ROOT / "testcases" / "suites").rglob("*.qos"))
    for path in draws.sample(suites, FILES):
        problems = Problems()
        checked = check([path], discover(), problems)
        cases = [(test, case) for test in checked.suite.tests for case in test.cases]
        for test, case in draws.sample(cases, min(CASES, len(cases))):
            chosen = checked.select([replace(test, cases=(case,))])
            for planned in plan(chosen, "0", Bounds(), problems):
                estimate = estimate_case(planned)
                if planned.networks and estimate.items <= MOST_ITEMS:
                    yield planned
