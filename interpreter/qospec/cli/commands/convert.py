"""`qos convert`: a file in the other form of the language, or formatted in its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from qospec.cli import exits, loading
from qospec.cli.output import show_file
from qospec.cli.streams import STDIN, read

if TYPE_CHECKING:
    from qospec.diagnostics import Problems

FORMS = ("yaml", "qos")


@click.command()
@click.argument("file", type=str)
@click.option(
    "--to", "form", required=True, type=click.Choice(FORMS), help="The form to convert to."
)
@click.option(
    "-o", "--output", default=STDIN, metavar="PATH", help="File to write instead of stdout."
)
def convert(file: str, form: str, output: str) -> None:
    """Convert a file to YAML or to .qos text. `-` reads stdin, in the other form."""
    from qospec.diagnostics import Problems
    from qospec.writing import WriteError, write_whole
    from qospec.yaml_twin.form import TEXT_SUFFIX, is_yaml

    if output.endswith(TEXT_SUFFIX) if form == "yaml" else is_yaml(output):
        exits.end_for_user(
            f"`{output}` does not fit `--to {form}`: it has the extension of the other form"
        )
    problems = Problems()
    text = _convert_file(file, form, problems)
    loading.report(problems, as_json=False)
    if output == STDIN:
        show_file(text or "")
        return
    try:
        write_whole(Path(output), text or "")
    except WriteError as error:
        exits.end_for_environment(str(error))


def _convert_file(file: str, form: str, problems: Problems) -> str | None:
    """Return a file in a form, or None if there are mistakes in it."""
    from qospec.check.evaluate.context import CheckError
    from qospec.check.modules.files import read_source
    from qospec.formatting import format_text
    from qospec.yaml_twin.form import TEXT_SUFFIX, YAML_SUFFIXES, is_yaml

    try:
        if file == STDIN:
            suffix = TEXT_SUFFIX if form == "yaml" else YAML_SUFFIXES[0]
            found = read(suffix)
        else:
            found = read_source(Path(file), None)
    except CheckError as mistake:
        problems.add(mistake.diagnostic)
        return None
    if is_yaml(found.name):
        from qospec.yaml_twin.reader import transcribe_yaml

        transcribed = transcribe_yaml(found, problems)
        if transcribed is None:
            return None
        found = transcribed
    if form == "qos":
        return format_text(found, problems)
    from qospec.yaml_twin.writer import write_yaml

    return write_yaml(found, problems)
