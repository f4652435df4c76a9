"""`qos report`: renders a record once more, as `qos run` does when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits
from qospec.cli.output import show_file

if TYPE_CHECKING:
    from qospec.record.store import Record


@click.command()
@click.argument("folder", type=str)
@click.option(
    "--format",
    "name",
    default="html",
    show_default=True,
    help="html, markdown, csv, junit, json or a template's path.",
)
@click.option("-o", "--output", default="", help="File to write instead of stdout.")
def report(folder: str, name: str, output: str) -> None:
    """Render the report of a record again. `--format` chooses the format."""
    from qospec.record.store import Record, RecordError
    from qospec.report.format import ReportError
    from qospec.report.render import render
    from qospec.writing import WriteError, write_whole

    check_formats((name,))
    if not Path(folder).is_dir():
        exits.user_error(f"no record found at `{folder}`")
    try:
        kept = Record(Path(folder))
        text = render(kept.outcome(), kept.timing(), name)
        if output:
            write_whole(Path(output), text)
    except ReportError as error:
        exits.user_error(str(error))
    except (RecordError, WriteError) as error:
        exits.environment_error(str(error))
    if not output:
        show_file(text)


def check_formats(names: tuple[str, ...]) -> None:
    """End the command if one of these is neither a format nor a sound template."""
    from qospec.report.format import ReportError
    from qospec.report.render import check_template

    try:
        for name in names:
            check_template(name)
    except ReportError as error:
        exits.user_error(str(error))


def write(kept: Record, document: dict[str, Any], name: str) -> Path:
    """Write a report into a record and return its path.

    Raises:
        RecordError: The record cannot be read.
        ReportError: A template has a mistake.
        WriteError: The file cannot be written.
    """
    from qospec.report.format import extension
    from qospec.report.render import render
    from qospec.writing import write_whole

    path = kept.folder / f"report.{extension(name)}"
    write_whole(path, render(document, kept.timing(), name))
    return path
