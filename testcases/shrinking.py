"""Drafts of `qos shrink`: what a pass proposes, and what is left of a whole case."""

from contextlib import suppress
from pathlib import Path

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan
from qospec.run.runner import run_alone
from qospec.shrink.case import CaseShrinker, Shrunk, Subject
from qospec.shrink.context import Context
from qospec.shrink.draft import Draft, without_comments
from qospec.shrink.trial import Clock, Stopped, list_failures
from qospec.shrink.values import Values

VALUES = Values(Checked(None, discover()))


def draft_of(text: str) -> Draft:
    """Return a text below its first line as a draft."""
    draft = Draft.read(without_comments(f"qos 1\n{text}\n"))
    assert draft is not None
    return draft


def proposed(made, text: str, *, careful: bool = False) -> list[list[str]]:
    """Return what a pass proposes at each place, as whole texts on one line."""
    draft = draft_of(text)
    context = Context(draft, VALUES, devices=True, careful=careful)
    return [
        [" ".join(draft.apply(edit).split()).removeprefix("qos 1 ") for edit in place]
        for place in made(context)
    ]


def shrinker_of(file: Path, case: str, clock: Clock) -> CaseShrinker:
    """Return what makes a case small of which the first criterion that fails is to fail."""
    checked = Checked([file], discover())
    assert not checked.problems.errors
    ((test, found),) = ((t, c) for t in checked.suite.tests for c in t.cases if c.name == case)
    plans = plan(checked.found, "0", Bounds(), Problems())
    (planned,) = (planned for planned in plans if planned.case.name == case)
    failure = list_failures(run_alone(planned, Bounds(), lambda: None))[0]
    (unit,) = (unit for unit in checked.units if unit.named)
    subject = Subject(
        unit, file.with_name("shrunk.qos"), test.name, found.parameters, "0", failure
    )  # fmt: skip
    return CaseShrinker(subject, clock)


def shrunk(file: Path, case: str, until_s: float | None = None) -> Shrunk | None:
    """Return what is left of the first criterion of a case that fails."""
    shrinker = shrinker_of(file, case, Clock(until_s, lambda: None))
    with suppress(Stopped):
        assert shrinker.run()
    return shrinker.get_smallest()
