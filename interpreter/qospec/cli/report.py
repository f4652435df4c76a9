"""`qos report`: renders a record once more."""

from __future__ import annotations

from pathlib import Path

import click

from qospec.cli import exits, reports
from qospec.cli.output import show_file


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
    from qospec.writing import WriteError, write_whole

    reports.check_formats((name,))
    if not Path(folder).is_dir():
        exits.user_error(f"no record found at `{folder}`")
    try:
        kept = Record(Path(folder))
        text = reports.rendered(kept.outcome(), kept.timing(), name)
        if output:
            write_whole(Path(output), text)
    except (RecordError, WriteError) as error:
        exits.environment_error(str(error))
    if not output:
        show_file(text)
