"""Whether what `qos plan` says of a run is within 2 times of what it takes.

Cases of the shipped suites are drawn, and each is run twice, for the first may compile.
"""

from __future__ import annotations

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

FILES, CASES = 30, 2
"""How many files are drawn, and of each how many cases."""
MOST_ITEMS = 2_000_000
TINY = {"FILES": 5, "CASES": 1}
TIMES = 2
TARGET = ">= 0.95"


def measure() -> list[Figure]:
    """Return the shares of cases whose time and whose size is within 2 times of the estimate."""
    slowness = measure_slowness()
    times, sizes = [], []
    for drawn in _draw_cases():
        estimate = estimate_case(drawn)
        for _ in range(2):
            started_s = time.process_time()
            document = run_alone(drawn, Bounds(), lambda: None)
            took_s = time.process_time() - started_s
        times.append(estimate.time_s * slowness / took_s)
        sizes.append(estimate.disk_bytes / len(write_json(document)))
    return [
        Figure("estimate.time", _count_near(times), "of cases", target=TARGET),
        Figure("estimate.disk", _count_near(sizes), "of cases", target=TARGET),
    ]


def _count_near(ratios: list[float]) -> float:
    return sum(1 / TIMES <= ratio <= TIMES for ratio in ratios) / len(ratios)


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
