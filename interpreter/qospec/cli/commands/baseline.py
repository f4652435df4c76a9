"""`qos baseline`: records that later runs are compared with.

A baseline is a copy of a record without its reports, in `baselines` in the root of the project, so
that it can be kept with the specification. Wherever a record is named, `baseline:NAME` is one.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import click

from qospec.cli import exits, loading, options
from qospec.cli.output import say

if TYPE_CHECKING:
    from pathlib import Path


def _parse_name(_context: click.Context, _argument: click.Parameter, written: str) -> str:
    if not re.fullmatch("[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", written):
        raise click.BadParameter(
            f"`{written}` cannot be the name of a folder everywhere: write letters, digits, `.`,"
            " `_` and `-`"
        )
    return written


name_argument = click.argument("name", type=str, callback=_parse_name)


@click.group()
def baseline() -> None:
    """Keep records under a name, to compare later runs with: `qos compare baseline:NAME last`."""


@baseline.command("set")
@name_argument
@click.argument("record", default=loading.LAST, shell_complete=options.complete_record)
def set_baseline(name: str, record: str) -> None:
    """Make a copy of RECORD, by default of the last one, the baseline of that NAME."""
    from qospec.record.store import RecordError

    kept = loading.find_record(record)
    folder = loading.find_baseline(name)
    try:
        outcome = kept.read_outcome()
        if not kept.find_fingerprint() or outcome["state"] != "complete":
            exits.end_for_user(
                f"the run of `{kept.folder}` has not ended: `qos run --resume {kept.folder}`"
            )
        replaces = folder.exists()
        kept.copy(folder)
    except RecordError as error:
        exits.end_for_environment(str(error))
    cases = loading.count_things(len(outcome["cases"]), "case")
    said = "is replaced by" if replaces else "is"
    say(f"baseline {name} {said} {kept.folder}: {cases}, {outcome['verdict']}")


@baseline.command("list")
def list_baselines() -> None:
    """List the baselines of this project, with their verdicts and seeds."""
    from qospec.record.store import RecordError

    folders = _list_folders()
    for folder in folders:
        try:
            kept = loading.find_record(f"{loading.BASELINE}{folder.name}")
            outcome, started = kept.read_outcome(), kept.read_timing().get("started", "")
        except RecordError as error:
            exits.end_for_environment(str(error))
        cases = loading.count_things(len(outcome["cases"]), "case")
        say(f"{folder.name}: {cases}, {outcome['verdict']}; seed {outcome['seed']}, {started}")
    if not folders:
        say("no baseline yet: `qos baseline set NAME` makes one of the last record")


@baseline.command("rm")
@name_argument
def remove_baseline(name: str) -> None:
    """Remove the baseline of that NAME; the record of which it is a copy stays."""
    from qospec.diagnostics import suggest_name
    from qospec.writing import explain_failure

    folder = loading.find_baseline(name)
    if folder not in _list_folders():
        near = suggest_name(name, [other.name for other in _list_folders()])
        hint = f": did you mean `{near}`?" if near else ""
        exits.end_for_user(f"there is no baseline `{name}`{hint}")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        exits.end_for_environment(f"cannot remove `{folder}`: {explain_failure(error)}")
    say(f"baseline {name} is removed")


def _list_folders() -> list[Path]:
    """Return the folders of all baselines, in the order of their names."""
    return sorted(path.parent for path in loading.find_baseline("").glob("*/run.json"))
