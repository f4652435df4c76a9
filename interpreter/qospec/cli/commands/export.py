"""`qos export`: what a case sends and measures, for another program."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options, output
from qospec.cli.streams import STDIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.diagnostics import Problems
    from qospec.exporter import Document, Exporter
    from qospec.model.suite import Case, Suite

JSON_SUFFIX = ".json"


@click.command()
@options.paths
@click.option(
    "--to",
    "format_name",
    required=True,
    metavar="FORMAT",
    shell_complete=options.complete_kind("export"),
    help="The format: otg is the model of Open Traffic Generator.",
)
@click.option(
    "-o",
    "--output",
    "target",
    default=STDIN,
    metavar="PATH",
    help="File to write instead of stdout, as JSON if it ends in .json, else as YAML; or a folder"
    " for a file of each case.",
)
@options.match
@options.settings
@options.as_json
def export(format_name: str, target: str, **asked: Any) -> None:
    """Write what a case sends and measures, for a program that sends it to a device.

    What cannot be said in the format is reported where it is written, and --json prints JSON in
    place of YAML. Exits with 0 if all is said, with 3 if something that is measured is left out,
    and with 2 if something that is sent cannot be said: then nothing is written.
    """
    from qospec.diagnostics import Problems

    exporter = _find_exporter(format_name)
    request = loading.make_request({**asked, "seed": "0", "max_cells": options.MAX_CELLS})
    suite = loading.check_request(request)
    cases = [case for test in suite.tests for case in test.cases if not case.skip]
    if len(cases) != 1 and not Path(target).is_dir():
        exits.end_for_user(
            f"{len(cases)} cases are selected, and a file is of one: name it, or write them all"
            " into a folder that exists by `-o FOLDER`",
            *(case.name for case in cases),
        )
    problems = Problems()
    documents = _describe(exporter, suite, problems)
    loading.report(problems, as_json=request.as_json)
    for case, document in documents:
        _write(case, document, target, as_json=request.as_json)
    sys.exit(exits.INCONCLUSIVE if problems.all else exits.PASSED)


def _find_exporter(name: str) -> Exporter:
    """Return the format of that name; ends the command if there is none."""
    from qospec.catalogue.kinds import discover
    from qospec.diagnostics import suggest_name

    kind = discover().find("export", name)
    if kind is None:
        known = list(discover().select_role("export"))
        near = suggest_name(name, known)
        hint = f"did you mean `{near}`?" if near else f"there is {', '.join(known)}"
        exits.end_for_user(f"no format is named `{name}`: {hint}")
    found: Exporter = kind.build()
    return found


def _describe(
    exporter: Exporter, suite: Suite, problems: Problems
) -> Sequence[tuple[Case, Document]]:
    """Return the document of each case; what is wrong in a library's template is of its test."""
    from dataclasses import replace

    from qospec.diagnostics import Label, Problems

    documents = []
    for test in suite.tests:
        found = Problems()
        cases = [case for case in test.cases if not case.skip]
        documents += [(case, exporter.describe(case, test.span, found)) for case in cases]
        for problem in found.all:
            if problem.span.source.name != test.span.source.name:
                there = (Label(problem.span),)
                problem = replace(problem, span=test.span, secondary=there)  # noqa: PLW2901
            problems.add(problem)
    return documents


def _write(case: Case, document: Document, target: str, *, as_json: bool) -> None:
    """Write the document of a case to stdout, into a file or into a folder."""
    from qospec.writing import WriteError, write_whole

    if target == STDIN:
        text = _spell(document, as_json=as_json)
        output.show_file(text)
        return
    path = Path(target)
    if path.is_dir():
        suffix = JSON_SUFFIX if as_json else ".yaml"
        path /= re.sub(r"[^A-Za-z0-9._=,%+-]+", "_", case.name) + suffix
    try:
        write_whole(path, _spell(document, as_json=as_json or path.suffix == JSON_SUFFIX))
    except WriteError as error:
        exits.end_for_environment(str(error))
    output.say(f"export: {path}", err=True)


def _spell(document: Document, *, as_json: bool) -> str:
    if as_json:
        from qospec.document import write_json

        return write_json(document)
    import yaml

    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return text
