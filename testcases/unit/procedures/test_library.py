"""All procedures of the library are templates without mistakes that state what they follow."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.reference.explanation import explain_name
from qospec.resources import STDLIB

FILES = sorted((STDLIB / "procedures").glob("*.qos"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_has_templates_that_follow_something(path: Path) -> None:
    catalogue, problems = discover(), Problems()
    suite = check([path], catalogue, problems).suite
    assert not problems.all
    assert suite.templates
    assert not suite.tests
    for template in suite.templates:
        assert template.doc, template.name
        (known,) = explain_name(f"std.procedures.{path.stem}.{template.name}", catalogue, problems)
        assert known["follows"]
        assert all(deviation["why"] for deviation in known["deviations"])
        assert all(parameter["description"] for parameter in known["parameters"])
