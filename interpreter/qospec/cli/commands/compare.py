"""Commands that look into records: `compare`, `show` and `judge`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options, resuming
from qospec.cli.output import say, say_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.cli.terminal import LocalNames
    from qospec.document import Document
    from qospec.record.store import Record
    from qospec.report.comparison import Compared, Comparison

MOST_ROWS = 40
"""The most statements of a word that are listed, unless all are to be."""


@click.command()
@click.argument("before", type=str, shell_complete=options.complete_record)
@click.argument("after", type=str, shell_complete=options.complete_record)
@click.option(
    "-v", "--verbose", is_flag=True, help="List all statements, also those that are same."
)
@options.make_output_option((".html",), "File for a page of all that differs (.html).")
@options.as_json
def compare(before: str, after: str, *, verbose: bool, target: str, as_json: bool) -> None:
    """Say what is better and worse in the record AFTER than in the record BEFORE.

    Cases are joined by their names, and statements by their labels. With the same seed each repeat
    is compared with its counterpart. Exits with 1 if something is worse, else with 3 if nobody can
    tell something, else with 0.
    """
    from qospec.report.comparison import OPEN, WORSE, compare_outcomes, describe_backends

    outcomes = _read_outcome(before), _read_outcome(after)
    found = compare_outcomes(*outcomes)
    counts = found.count_words()
    backends = describe_backends(*outcomes)
    if target:
        _write_page(found, outcomes, (before, after), target)
    if as_json:
        rows = [row._asdict() for row in found.rows]
        more = {"backends": backends} if backends else {}
        told = {"schema": 1, "paired": found.paired, **more, "counts": counts, "statements": rows}
        say_json(told)
    else:
        if backends:
            say(backends)
        _print_comparison(found, verbose=verbose)
        lacking = {row.case for row in found.rows if not (row.label or row.before)}
        if before.startswith(loading.BASELINE) and lacking:
            name = before.removeprefix(loading.BASELINE)
            cases = loading.count_things(len(lacking), "case")
            say(
                f"the baseline lacks {cases}: `qos baseline set {name}` makes the last record the"
                " baseline"
            )
    sys.exit(
        exits.FAILED if counts[WORSE] else exits.INCONCLUSIVE if counts[OPEN] else exits.PASSED
    )


def _read_outcome(folder: str) -> Document:
    """Return the outcome of a record; ends the command if it cannot be read."""
    from qospec.record.store import RecordError

    try:
        return loading.find_record(folder).read_outcome()
    except RecordError as error:
        exits.end_for_environment(str(error))


def _write_page(
    found: Comparison, outcomes: tuple[Document, Document], named: tuple[str, str], target: str
) -> None:
    """Write the page of a comparison of two records; ends the command if it cannot be written."""
    from qospec.record.store import RecordError
    from qospec.report.comparison import describe_comparison
    from qospec.report.format import ReportError
    from qospec.report.render import render_comparison
    from qospec.writing import WriteError, write_whole

    document = describe_comparison(found, *outcomes)
    try:
        for run, name in zip((document["before"], document["after"]), named, strict=True):
            kept = loading.find_record(name)
            run |= {"record": kept.folder.name, "fingerprint": kept.find_fingerprint()}
        write_whole(Path(target), render_comparison(document))
    except (RecordError, ReportError, WriteError) as error:
        exits.end_for_environment(str(error))
    say(f"comparison: {target}", err=True)


def _print_comparison(found: Comparison, *, verbose: bool) -> None:
    from qospec.report.comparison import SAME, WORDS

    for word in WORDS:
        rows = [row for row in found.rows if row.word == word]
        if word == SAME and not verbose:
            continue
        shown = rows if verbose else rows[:MOST_ROWS]
        for row in shown:
            _print_row(row)
        if len(rows) > len(shown):
            say(f"and {len(rows) - len(shown):_} more: `-v` lists all")
    say(f"{found.sentence}; {found.how}")


def _print_row(row: Compared) -> None:
    say(f"{row.word}: {', '.join(filter(None, (row.case, row.label)))}")
    why = f" ({row.why})" if row.why else ""
    say(f"    {row.before or 'missing'} -> {row.after or 'missing'}{why}")


@click.command()
@click.argument("record", type=str, shell_complete=options.complete_record)
@click.argument("case", type=str)
@options.as_json
def show(record: str, case: str, *, as_json: bool) -> None:
    """Show what a RECORD holds of a CASE: its statements, what they measured, and why."""
    outcome = _read_outcome(record)
    found = _find_case(outcome, case)
    if as_json:
        say_json(found)
        return
    _print_case(found)


def _find_case(outcome: Document, name: str) -> Mapping[str, Any]:
    """Return a case by its name, or the only one of a test; ends the command if there is none."""
    from qospec.capture.error import list_names
    from qospec.diagnostics import suggest_name

    cases: Sequence[Mapping[str, Any]] = outcome["cases"]
    found = [case for case in cases if name in (case["name"], case["test"])]
    exact = [case for case in found if case["name"] == name] or found
    if len(exact) > 1:
        exits.end_for_user(
            f"`{name}` has {len(exact)} cases: name one of them", *(case["name"] for case in exact)
        )
    if not exact:
        names = [case["name"] for case in cases]
        near = suggest_name(name, names)
        hint = f"did you mean `{near}`?" if near else f"there are {list_names(names)}"
        exits.end_for_user(f"the record has no case `{name}`: {hint}")
    return exact[0]


def _print_case(case: Mapping[str, Any]) -> None:
    from qospec.report.words import (
        describe_measured,
        describe_needed,
        describe_program,
        describe_proved_bounds,
    )

    say(f"{case['verdict']}  {case['name']}")
    for statement in case["statements"]:
        verdict = statement["verdict"] or "report"
        needed = describe_needed(statement) if statement["bound"] else ""
        say(f"  {verdict}  {statement['label']}")
        say(f"    measured  {describe_measured(statement)}")
        say(*([f"    needed    {needed}"] if needed else []))
        say(*([f"    note      {statement['note']}"] if statement["note"] else []))
    say(*(f"  bound     {line}" for line in describe_proved_bounds(dict(case))))
    for program in case.get("programs", ()):
        say(*(f"  {line}" for line in describe_program(program)))
    say(*(f"  error     {line}" for line in case["errors"]))
    say(*(f"  why       {line}" for line in case["why"]))
    say(f"  rerun     {case['again']}")


@click.command()
@click.argument("record", type=str, shell_complete=options.complete_record)
@options.paths
@click.option("-v", "--verbose", is_flag=True, help="Print a line for each case, too.")
@options.as_json
def judge(record: str, paths: tuple[str, ...], *, verbose: bool, as_json: bool) -> None:
    """Judge what a RECORD measured by the criteria of PATHS, by default of its own files now.

    Nothing is run, and the record stays as it is. What it does not hold is inconclusive, as is a
    case of another topology, of other traffic or of another run than it was made of.
    """
    from qospec.cli.terminal import Console

    kept = loading.find_record(record)
    document, here = _judge_again(kept, paths, as_json=as_json)
    if as_json:
        say_json(document)
    else:
        cases = document["cases"]
        console = Console(len(cases), quiet=False, progress=None, here=here, brief=not verbose)
        for case in cases:
            console.note_ended(case, 0)
        console.print_summary(document)
        say(f"judged again; `{kept.folder}` is as it was")
    sys.exit(exits.choose_exit_code(document))


def _judge_again(
    kept: Record, paths: tuple[str, ...], *, as_json: bool
) -> tuple[Document, LocalNames]:
    """Return the outcome by other criteria; ends the command if the record cannot be judged."""
    from qospec.capture.error import CaptureError
    from qospec.capture.specification import check_recorded
    from qospec.cli.terminal import make_local_names
    from qospec.record.store import RecordError
    from qospec.run.rejudging import conclude_again

    try:
        begun, outcome = kept.read_begun(), kept.read_outcome()
    except RecordError as error:
        exits.end_for_environment(str(error))
    if not outcome["cases"]:  # of a part, where there are more parts than cases
        if as_json:
            say_json(outcome)
        else:
            say(f"{kept.folder} has no case: there is nothing to judge")
        sys.exit(exits.PASSED)
    asked = resuming.read_options(kept, begun, paths, outcome["cases"])
    request = loading.make_request({**asked, "match": "", "as_json": as_json})
    suite, plans = loading.plan_request(request)
    names = list(dict.fromkeys(map(resuming.find_file, outcome["tests"])))
    try:
        then = check_recorded(outcome["provenance"], names, (kept.folder.resolve(), Path.cwd()))
    except CaptureError as error:
        exits.end_for_user(error.message)
    here = make_local_names(request, suite)
    commands = request.write_rerun_commands(suite)
    found = conclude_again(suite, plans, outcome, then, commands, keep_going=request.keep_going)
    left = {case["name"] for case in outcome["cases"]} - {plan.case.name for plan in plans}
    for name in sorted(left) if not paths else ():
        say(f"note: `{name}` is in the record only, and is not judged", err=True)
    return {**found, "judged": {"outcome": kept.find_fingerprint()}}, here
