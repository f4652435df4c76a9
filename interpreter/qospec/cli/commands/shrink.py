"""`qos shrink`: the smallest test that fails for the same reason as a case."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options, output
from qospec.writing import WriteError, write_whole

if TYPE_CHECKING:
    from qospec.check import Checked
    from qospec.document import Document
    from qospec.model.suite import Case, Test
    from qospec.plan.plan import CasePlan
    from qospec.shrink.case import CaseShrinker, Shrunk
    from qospec.shrink.trial import Failure

TIDY_S = 2.0
"""How long it may take to tidy up when the time is up or the user has enough."""


@click.command()
@click.argument("case")
@click.option(
    "--criterion",
    default="",
    metavar="LABEL",
    help="Which of the criteria that fail; the first unless it is named.",
)
@click.option(
    "--time",
    "time_s",
    type=options.Duration(),
    default="5min",
    show_default=True,
    help="How long to look for smaller ones, such as 60s, 5min or 8h.",
)
@options.seed
@click.option(
    "--output",
    "-o",
    "saved_as",
    default="",
    metavar="FILE",
    help="Where to save it: by default as `shrunk_TEST.qos` beside the file.",
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--no-progress", is_flag=True, help="Show no progress line.")
@options.as_json
def shrink(case: str, **asked: Any) -> None:
    """Find the smallest test that fails as CASE does, which is `FILE::case`, and save it as a file.

    It has the fewest flows, the shortest run and the roundest numbers that still fail, for the same
    reason: what is expected stays, and what mends CASE mends it, too.
    """
    from qospec.plan.plan import Bounds
    from qospec.run.interruption import Interruption
    from qospec.run.runner import run_alone
    from qospec.shrink.case import CaseShrinker, Subject
    from qospec.shrink.trial import Clock

    checked, test, found = _select_case(case, as_json=asked["as_json"])
    path = _choose_output(case, checked, test, asked)
    progress = ShrinkProgress(wanted=not asked["no_progress"])
    began_s = time.monotonic()
    with Interruption() as interruption:

        def note_wait() -> None:
            interruption.check()
            progress()

        clock = Clock(None, note_wait)
        plan = _plan_case(checked, test, found, asked)
        document = run_alone(plan, Bounds(), clock.check)
        failure = _find_failure(document, asked["criterion"])
        clock.until_s = time.monotonic() + asked["time_s"]
        subject = Subject(
            _find_unit(checked, test),
            path.absolute(),
            test.name,
            found.parameters,
            asked["seed"],
            failure,
        )
        shrinker = CaseShrinker(subject, clock)
        progress.shrinker = shrinker
        stopped = _shrink_case(shrinker, test)
        if stopped:
            with Interruption() as again:  # by a second Ctrl-C
                shrinker.tidy(Clock(time.monotonic() + TIDY_S, again.check))
    progress.clear()
    _report(shrinker.get_smallest(), path, plan, stopped, time.monotonic() - began_s, asked)


def _shrink_case(shrinker: CaseShrinker, test: Test) -> str:
    """Make a case small; return what ended that too soon, "" if nothing did."""
    from qospec.shrink.trial import Stopped

    try:
        if not shrinker.run():
            exits.end_for_user(
                f"`{test.name}` does not fail alike in a file of its own: nothing to shrink"
            )
    except Stopped:
        return "the time was up"
    except KeyboardInterrupt:
        return "interrupted"
    return ""


# ---- what is shrunk


def _select_case(case: str, *, as_json: bool) -> tuple[Checked, Test, Case]:
    """Return the case that was named; ends the command if there is none or there are several."""
    from qospec.catalogue.kinds import discover
    from qospec.check import Checked

    file, _, name = case.partition("::")
    if not name:
        exits.end_for_user(f"name a case: `qos shrink {file or 'FILE'}::CASE`")
    checked = Checked([Path(file)], discover())
    loading.report(checked.problems, as_json=as_json)
    loading.verify_named((case,), checked.suite)
    for note in loading.list_endless(checked.suite, name):
        exits.end_for_user(note)
    found = [
        (test, candidate)
        for test in checked.suite.tests
        for candidate in test.cases
        if name in (test.name, candidate.name)
    ]
    if len(found) > 1:
        some = [candidate.name for _, candidate in found]
        exits.end_for_user(f"`{name}` has {len(some)} cases: name one of them", *some)
    return checked, *found[0]


def _find_unit(checked: Checked, test: Test) -> Any:
    return next(unit for unit in checked.units if unit.source is test.span.source)


def _choose_output(case: str, checked: Checked, test: Test, asked: dict[str, Any]) -> Path:
    """Return where the file is saved; ends the command if there is one already."""
    from qospec.resources import STDLIB

    folder = Path(case.partition("::")[0]).parent
    if folder.resolve().is_relative_to(STDLIB.resolve()):
        folder = Path()
    path = Path(asked["saved_as"] or folder / f"shrunk_{test.name}.qos")
    if path.suffix != ".qos":
        exits.end_for_user(f"`{path}` is no name of a specification: it must end in `.qos`")
    if path.exists() and any(path.samefile(unit.path) for unit in checked.units):
        # No `--force` either: it is all there is of what is to become small, or of what it needs.
        exits.end_for_user(
            f"`{path}` is what the case is made of: name another file with `--output`"
        )
    if path.exists() and not asked["force"]:
        exits.end_for_user(f"`{path}` exists: name another file with `--output`, or add `--force`")
    if not path.parent.is_dir():
        exits.end_for_user(f"there is no folder `{path.parent}`")
    return path


def _plan_case(checked: Checked, test: Test, case: Case, asked: dict[str, Any]) -> CasePlan:
    from dataclasses import replace

    from qospec.diagnostics import Problems
    from qospec.plan.plan import Bounds, plan

    problems = Problems()
    chosen = checked.found.select([replace(test, cases=(case,))])
    plans = plan(chosen, asked["seed"], Bounds(), problems)
    if problems.errors:
        loading.report(problems, as_json=asked["as_json"])
    return plans[0]


def _find_failure(document: Document, label: str) -> Failure:
    """Return what fails in a case; ends the command if nothing does."""
    from qospec.shrink.trial import list_failures

    found = list_failures(document)
    name = document["name"]
    if not found:
        why = f": {document['why'][0]}" if document["why"] else ""
        exits.end_for_user(
            f"`{name}` passes: nothing to shrink"
            if document["verdict"] == "pass"
            else f"`{name}` does not fail but is `{document['verdict']}`{why}"
        )
    shown = [failure.shown for failure in found]
    if label and label not in shown:
        exits.end_for_user(f"no criterion of `{name}` that fails is called `{label}`", *shown)
    return found[shown.index(label)] if label else found[0]


# ---- what is said


class ShrinkProgress:
    """How far it is."""

    def __init__(self, *, wanted: bool) -> None:
        """Show nothing unless that is `wanted`."""
        from qospec.cli.progress import ProgressLine

        self.shrinker: CaseShrinker | None = None
        self._line = ProgressLine(live=wanted, reports=wanted)
        self._began_s = time.monotonic()

    def __call__(self) -> None:
        """Show it, if it is time to."""

        def write_line() -> str:
            doing = "running the case" if self.shrinker is None else self.shrinker.doing
            return f"{time.monotonic() - self._began_s:.0f} s; {doing}"

        self._line.show(write_line)

    def clear(self) -> None:
        """Clear the line."""
        self._line.clear()


def _report(
    found: Shrunk | None,
    path: Path,
    plan: CasePlan,
    stopped: str,
    seconds: float,
    asked: dict[str, Any],
) -> None:
    """Save and print what was found, and exit."""
    if found is None:
        output.say(f"{stopped}: nothing smaller was found", err=True)
        sys.exit(exits.INTERRUPTED if stopped == "interrupted" else exits.INCONCLUSIVE)
    try:
        write_whole(path, found.text)
    except WriteError as error:
        exits.end_for_environment(str(error))
    if asked["as_json"]:
        output.say_json(_describe_shrunk(found, path, plan, asked))
    else:
        _show(found, path, plan, stopped, seconds, asked)
    # As a run of the file does: a broken invariant and an error are no failed criteria.
    code = exits.FAILED if found.failure.kind == "expect" else exits.ERROR
    sys.exit(exits.INTERRUPTED if stopped == "interrupted" else code)


def _show(
    found: Shrunk,
    path: Path,
    plan: CasePlan,
    stopped: str,
    seconds: float,
    asked: dict[str, Any],
) -> None:
    output.say(f"{plan.case.name}: {found.failure.sentence}", "")
    output.say(*(f"    {line}".rstrip() for line in found.text.splitlines()), "")
    before, after = _describe_size(plan, found), found.size
    output.say(f"  from {before}", f"  to   {after}")
    for mend in found.mends:
        output.say(f"  passes with {mend}")
    if not found.searched and found.mends:
        output.say("  note: there was no time to try the other values of the devices")
    elif not found.searched:
        output.say(
            "  note: there was no time to change each value of the devices and see what mends it"
        )
    elif not found.mends:
        output.say("  note: no single value of a device was found with which it passes")
    smaller = (
        "smaller, perhaps not the smallest" if after != before else "nothing smaller was found"
    )
    small = f"the smallest so far: {stopped}" if stopped else smaller
    if found.complete and found.thorough:
        small = "the smallest with its devices as they are"
    output.say(f"  {small}; {found.tried:_} tests run, {seconds:.1f} s, saved in {path}")
    output.say(f"  repeat    {_write_command(path, asked)}")


def _write_command(path: Path, asked: dict[str, Any]) -> str:
    seed = asked["seed"]
    return shlex.join(["qos", "run", str(path), *(["--seed", seed] if seed != "0" else [])])


def _describe_size(plan: CasePlan, found: Shrunk) -> str:
    from qospec.shrink.case import count_lines, describe_size

    text = plan.span.source.text if plan.span else ""
    return describe_size(count_lines(text, found.text), plan)


def _describe_shrunk(found: Shrunk, path: Path, plan: CasePlan, asked: dict[str, Any]) -> Document:
    return {
        "schema": 1,
        "case": plan.case.name,
        "seed": asked["seed"],
        "statement": found.failure.shown,
        "reason": found.failure.reason,
        "passes_with": list(found.mends),
        "tests": found.tried,
        "shrunk": found.complete,
        "lines": len(found.text.splitlines()),
        "file": path.as_posix(),
        "text": found.text,
    }
