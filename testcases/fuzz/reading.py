"""What is done with an input: parse, check, plan, show, format,
convert to the other form; none of it may raise, hang or grow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.check import Limits, check
from qospec.diagnostics import MOST, Problems
from qospec.formatting import format_text
from qospec.plan.plan import Bounds, plan
from qospec.rendering import render_all
from qospec.source import Source
from qospec.yaml_twin.form import is_yaml
from qospec.yaml_twin.reader import transcribe_yaml
from qospec.yaml_twin.writer import write_yaml

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUE = discover()
LIMITS = Limits(cases=500, items=10_000, iterations=10_000, steps=50_000)
"""A tenth of what is usual or less, so that what only they end does so in the time of an input."""
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
STAGES = ("refused", "checked", "planned")


def attempt(path: Path) -> str:
    """Return the stage that a file reached: one of `STAGES`. Raises whatever must not be raised."""
    problems = Problems()
    suite = check([path], CATALOGUE, problems, limits=LIMITS)
    stage = "refused"
    if not problems.errors:
        stage = "planned" if plan(suite, "0", Bounds(), problems) else "checked"
    shown = render_all(problems.all)
    assert not CONTROL.search(shown), "a control character is shown"
    assert len(re.findall(r"^error\[", shown, re.MULTILINE)) <= MOST, "too many errors are shown"
    for problem in problems.all:
        assert 0 <= problem.span.start <= problem.span.end <= len(problem.span.source.text), (
            "a span is out"
        )
    _rewrite(path)
    return stage


def _rewrite(path: Path) -> None:
    """Write a file in the one layout, and in the other form; both raise if it would change."""
    try:
        source = Source(path.name, path.read_bytes().decode())
    except UnicodeDecodeError:
        return
    written = transcribe_yaml(source, Problems()) if is_yaml(path.name) else source
    laid_out = format_text(written, Problems()) if written is not None else None
    if written is not None and laid_out is not None:
        again = format_text(Source(source.name, laid_out), Problems())
        assert laid_out == again, "the layout of a layout is another"
        write_yaml(written, Problems())
