"""`qos warm`: compiles the kernels that specifications use, so that no run waits for that."""

from __future__ import annotations

import click

from qospec.cli import loading, options
from qospec.cli.output import say

REPORTED_S = 1
"""A compilation that takes longer is reported."""


@click.command()
@options.paths
@options.match
@click.option(
    "-j",
    "--jobs",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Number of worker processes.",
)
def warm(paths: tuple[str, ...], match: str, jobs: int) -> None:
    """Compile the kernels that specifications use. No test is run."""
    from qospec.run import warming

    request = loading.Request(paths, match, "0", options.MAX_CELLS, as_json=False)
    _, plans = loading.planned(request)
    kinds = warming.distinct_cases(plans)
    compiling_s = 0.0
    for number, result in enumerate(warming.warm_all(kinds, jobs), 1):
        compiling_s += result.compiling_s
        if result.compiling_s >= REPORTED_S:
            seconds = f"{result.compiling_s:.1f} s"
            say(f"{number}/{len(kinds)}: compiled for {seconds}", err=True)
    cases = loading.counted(len(plans), "case")
    spent = f"{compiling_s:.1f} s" + (f", {jobs} processes together" if jobs > 1 else "")
    say(f"{cases} of {loading.counted(len(kinds), 'kind')}: compiled for {spent}")
