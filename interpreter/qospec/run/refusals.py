"""What is checked and planned, and cannot be executed yet: refused when it is to run, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.suite import Case, Property, Test
    from qospec.source import Span

REASON = "nothing is ignored: a test that leaves something out is worse than none"


def of_case(test: Test, case: Case) -> Diagnostic | None:
    """Return why a case cannot be run, if it cannot."""
    for network in case.networks.values():
        for path, machine in network.machines:
            what = f"the machine `{machine.name}` of `{path}`"
            return _refused(what, machine.span, f"leave it out, or leave out `{test.name}`")
    if case.search is not None:
        what = f"the search for `{case.search.name}`"
        return _refused(what, case.search.span, "give the load by a `sweep` for now")
    return None


def of_properties(properties: tuple[Property, ...]) -> Iterator[Diagnostic]:
    """Yield that properties are not attacked yet."""
    for each in properties:
        what = f"the property `{each.name}`"
        yield _refused(what, each.span, "name the tests to run: `FILE::test`")


def _refused(what: str, span: Span, remedy: str) -> Diagnostic:
    message = f"{what} is checked, and cannot be executed yet"
    return Diagnostic("E0590", message, span, notes=(REASON,), help=remedy)
