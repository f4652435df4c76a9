"""`qos history`: what one case measured, from record to record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options
from qospec.cli.output import say, say_json

if TYPE_CHECKING:
    from qospec.document import Document
    from qospec.record.history import Run

SUFFIXES = {".svg": "svg", ".html": "html", ".csv": "csv", ".tex": "latex"}


@click.command()
@click.argument("case", type=str)
@options.record
@click.option(
    "-n",
    "--newest",
    default=50,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="How many records are looked at: the newest.",
)
@options.make_output_option(
    SUFFIXES, "File for charts (.svg), the page of a report (.html) or a table (.csv, .tex)."
)
@options.as_json
def history(case: str, record: str, newest: int, target: str, *, as_json: bool) -> None:
    """Show what the statements of a CASE measured in the records of the project, the oldest first.

    CASE is the name of a case, or of a test that has only one.
    """
    from qospec.record.history import join_runs

    root = Path(record) if record else loading.find_project_folder((), "records")
    runs = _find_runs(case, root, newest)
    document = join_runs(runs)
    if target:
        _write(document, target)
    elif as_json:
        say_json([_describe(run) for run in runs])
    else:
        _print(document, runs)


def _find_runs(name: str, root: Path, newest: int) -> list[Run]:
    """Return the runs of a case; ends the command if there is none.

    Records that are damaged are named and left out; so are cases that have not ended.
    """
    from qospec.diagnostics import suggest_name
    from qospec.record.history import Run
    from qospec.record.outcome import is_finished
    from qospec.record.store import RecordError, list_records

    found: list[Run] = []
    known: dict[str, None] = {}
    try:
        records = list_records(root)[-newest:]
    except RecordError as error:
        exits.end_for_environment(str(error))
    for kept in records:
        try:
            kept.verify()
            outcome = kept.read_outcome()
        except RecordError as error:
            say(f"note: left out: {error}", err=True)
            continue
        its = [case for case in outcome["cases"] if name in (case["name"], case["test"])]
        known |= dict.fromkeys(case["name"] for case in outcome["cases"])
        exact = [case for case in its if case["name"] == name] or its
        if len(exact) > 1:
            names = (case["name"] for case in exact)
            exits.end_for_user(f"`{name}` has {len(exact)} cases: name one of them", *names)
        found += [Run(kept.folder.name, outcome, case) for case in exact if is_finished(case)]
    if not found:
        near = suggest_name(name, list(known))
        hint = f": did you mean `{near}`?" if near else ""
        exits.end_for_user(f"no record in `{root}` has a case `{name}` that has ended{hint}")
    return found


def _write(document: Document, target: str) -> None:
    from qospec.report.format import ReportError
    from qospec.report.render import render
    from qospec.writing import WriteError, write_whole

    try:
        text = render(document, {}, SUFFIXES[Path(target).suffix])
        write_whole(Path(target), text)
    except (ReportError, WriteError) as error:
        exits.end_for_environment(str(error))
    say(f"history: {target}", err=True)


def _describe(run: Run) -> dict[str, Any]:
    return {
        "record": run.name,
        "seed": run.outcome["seed"],
        "qospec": run.outcome["qospec"],
        "verdict": run.case["verdict"],
        "statements": run.case["statements"],
    }


def _print(document: Document, runs: list[Run]) -> None:
    """Print each statement with what it measured in each run."""
    from qospec.record.history import RUN
    from qospec.report.views import arrange_columns
    from qospec.report.words import describe_measured

    cases = document["cases"]
    times = [case["parameters"][RUN] for case in cases]
    width = max(map(len, times))
    say(f"{runs[-1].case['name']}: {loading.count_things(len(runs), 'record')}")
    for column in arrange_columns(cases, ("require", "expect", "report")):
        say(f"{column['label']}{'  ' + column['bound'] if column['bound'] else ''}")
        for time, statement in zip(times, column["statements"], strict=True):
            if statement is None:
                say(f"  {time:<{width}}  not stated")
                continue
            verdict = statement["verdict"] or "report"
            say(f"  {time:<{width}}  {verdict:<12}  {describe_measured(statement)}")
