"""`qos doc`: the documentation of what files declare."""

from __future__ import annotations

from pathlib import Path

import click

from qospec.cli import exits, loading, options
from qospec.cli.output import show_file


@click.command()
@options.paths
@click.option(
    "--format",
    "name",
    default="html",
    show_default=True,
    type=click.Choice(["html", "markdown"]),
    help="One page for a browser, or Markdown.",
)
@click.option("--title", default="", help="Of the page; the folder's name if left out.")
@click.option("-o", "--output", default="", help="File to write; stdout if absent.")
def doc(paths: tuple[str, ...], name: str, title: str, output: str) -> None:
    """Document what files declare: devices, topologies, traffic and tests, with their comments."""
    from qospec.catalogue.kinds import discover
    from qospec.diagnostics import Problems
    from qospec.documentation.project import page
    from qospec.reference.declarations import Declarations
    from qospec.report.format import ReportError
    from qospec.writing import WriteError, write_whole

    problems = Problems()
    declarations = Declarations([Path(path) for path in paths], discover(), problems)
    loading.tell(problems, as_json=False)
    try:
        text = page(declarations, title or _title(paths), name)
    except ReportError as error:
        exits.wrong(str(error))
    loading.tell(problems, as_json=False)
    if not output:
        show_file(text)
        return
    try:
        write_whole(Path(output), text)
    except WriteError as error:
        exits.environment(str(error))


def _title(paths: tuple[str, ...]) -> str:
    """Return the name of the only file or folder named, else of the current folder."""
    return Path(paths[0] if len(paths) == 1 else ".").resolve().stem
