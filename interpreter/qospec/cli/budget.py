"""The budget of a run: what it may take, and what to change if it would take more."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from qospec.cli import exits, output
from qospec.writing import explain_failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from qospec.model.suite import Suite
    from qospec.plan.plan import CasePlan
    from qospec.run.estimate import Estimate

LONG_S = 60
"""Of a run that takes longer it is said before."""
DEFAULT = "24h"
MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
MEGABYTE, KILO = 10**6, 1_000


def keep(  # noqa: PLR0913 -- limits, given by name
    suite: Suite,
    plans: Sequence[CasePlan],
    root: Path,
    *,
    budget_s: float,
    jobs: int,
    here: int,
    least_s: float = 0,
) -> float:
    """End the command if a run would take more time than it may, or more room than there is.

    Args:
        suite: The suite.
        plans: What is to be run of it.
        root: The folder of records.
        budget_s: The time.
        jobs: How many workers there are.
        here: How many processes need memory of this machine.
        least_s: What the trials take by themselves, where they are of real time.

    Of a long run it says what it takes. Returns the seconds that it takes, about.
    """
    from qospec.run.estimate import estimate_run

    if not plans:
        return 0
    estimate = estimate_run(suite, plans)
    estimate = estimate._replace(time_s=max(estimate.time_s, least_s))
    takes_s = estimate.time_s / jobs
    if takes_s > budget_s:
        exits.end_for_user(
            f"the run takes {describe(estimate, jobs)}, and its budget is"
            f" {format_duration(budget_s)}: {_write_remedy(suite, plans)}; or allow it by"
            f" `--budget {max(1, round(2 * takes_s / HOUR_S))}h`"
        )
    for thing, needed, there in (
        ("disk", estimate.disk_bytes, _read_disk_bytes(root)),
        ("memory", estimate.memory_bytes * here, _read_memory_bytes()),
    ):
        if needed > there:
            if thing == "disk":
                _verify_writable(root)
            exits.end_for_user(
                f"the run takes about {_format_size(needed)} of {thing}, and there are"
                f" {_format_size(there)}: {_write_remedy(suite, plans)}"
            )
    if takes_s > LONG_S:
        output.say(f"note: the run takes {describe(estimate, jobs)}", err=True)
    return takes_s


def describe(estimate: Estimate, jobs: int = 1) -> str:
    """Return in words what a run takes."""
    with_jobs = f" with {jobs} processes" * (jobs > 1)
    return (
        f"about {format_duration(_round_estimate(estimate.time_s / jobs))}{with_jobs},"
        f" {_format_size(estimate.memory_bytes * jobs)} of memory and"
        f" {_format_size(estimate.disk_bytes)} of disk"
    )


def _write_remedy(suite: Suite, plans: Sequence[CasePlan]) -> str:
    """Return what makes a run shorter: of several cases also that there may be fewer."""
    if len(plans) == 1:
        return "shorten `measure`, lower `repeat`"
    from qospec.run.estimate import estimate_case

    most = max(plans, key=lambda plan: estimate_case(plan).time_s).case.name
    test = next(test for test in suite.tests if test.name == plans[0].test)
    one = f"{test.span.source.name}::{plans[0].case.name}"
    return (
        f"shorten `measure`, lower `repeat`, of `{most}` first, or select fewer cases by `-k`, or"
        f" one by `{one}`"
    )


def _verify_writable(folder: Path) -> None:
    """End the command if nothing can be written where a folder is, or will be.

    Some file systems, as that of /proc, have no room since there is nothing to fill.
    """
    try:
        tempfile.TemporaryDirectory(dir=_find_nearest(folder)).cleanup()
    except OSError as error:
        exits.end_for_environment(f"cannot write to `{folder}`: {explain_failure(error)}")


def _find_nearest(folder: Path) -> Path:
    """Return a folder, or the nearest above it that there is."""
    return next(above for above in (folder, *folder.resolve().parents) if above.exists())


def _read_disk_bytes(folder: Path) -> int:
    """Return how much of the disk is free on which a folder is, or will be."""
    return shutil.disk_usage(_find_nearest(folder)).free


def _read_memory_bytes() -> int:
    """Return how much memory the computer has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def format_duration(seconds: float) -> str:
    """Return a length of time: `3 d 4 h`, `2 h 11 min`, `1 min 3 s`, `500 ms`."""
    if seconds < MINUTE_S:
        from fractions import Fraction

        from qospec.units import PS_PER_S, TIME, format_value

        return format_value(Fraction(round(seconds * PS_PER_S), PS_PER_S), TIME)
    whole = math.ceil(seconds)
    if whole < HOUR_S:
        return f"{whole // MINUTE_S} min {whole % MINUTE_S} s"
    if whole < DAY_S:
        return f"{whole // HOUR_S} h {math.ceil(whole % HOUR_S / MINUTE_S)} min"
    return f"{whole // DAY_S:_} d {math.ceil(whole % DAY_S / HOUR_S)} h"


def _format_size(size_bytes: int) -> str:
    megabytes = max(1, round(size_bytes / MEGABYTE))
    return f"{megabytes} MB" if megabytes < KILO else f"{megabytes / KILO:_.1f} GB"


def _round_estimate(seconds: float) -> float:
    """Return a time with the two digits that an estimate has at most, and no part of a second."""
    return float(f"{max(1, math.ceil(seconds)):.1e}")
