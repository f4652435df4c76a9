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
    help="Form of the page.",
)
@click.option(
    "--title", default="", help="Title of the page; by default the name of the file or folder."
)
@click.option("-o", "--output", default="", help="File to write instead of stdout.")
def doc(paths: tuple[str, ...], name: str, title: str, output: str) -> None:
    """Document what files declare, on one page.

    It has their devices, topologies, traffic and tests, with their comments.
    """
    from qospec.catalogue.kinds import discover
    from qospec.diagnostics import Problems
    from qospec.documentation.project import render_page
    from qospec.reference.declarations import Declarations
    from qospec.report.format import ReportError
    from qospec.writing import WriteError, write_whole

    problems = Problems()
    declarations = Declarations.read([Path(path) for path in paths], discover(), problems)
    loading.report(problems, as_json=False)
    try:
        text = render_page(declarations, title or _choose_title(paths), name)
    except ReportError as error:
        exits.end_for_user(str(error))
    loading.report(problems, as_json=False)
    if not output:
        show_file(text)
        return
    try:
        write_whole(Path(output), text)
    except WriteError as error:
        exits.end_for_environment(str(error))


def _choose_title(paths: tuple[str, ...]) -> str:
    """Return the name of the only file or folder named, else of the current folder."""
    return Path(paths[0] if len(paths) == 1 else ".").resolve().stem
