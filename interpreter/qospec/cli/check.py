"""`qos check`: names, units, types and wiring; runs nothing."""

from __future__ import annotations

import json

import click

from qospec.cli import loading, options


@click.command()
@options.paths
@options.as_json
def check(paths: tuple[str, ...], *, as_json: bool) -> None:
    """Check names, units, types and wiring; run nothing."""
    from qospec.diagnostics import Problems

    problems = Problems()
    suite = loading.checked(paths, problems)
    loading.tell(problems, as_json=as_json)
    if as_json:
        click.echo(json.dumps(loading.diagnostics_document(problems), indent=1))
        return
    cases = sum(len(test.cases) for test in suite.tests)
    tests = loading.counted(len(suite.tests), "test")
    click.echo(f"{tests}, {loading.counted(cases, 'case')}: nothing to complain of")
