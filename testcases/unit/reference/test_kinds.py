"""The words of kinds, and examples that the checker takes."""

from pathlib import Path
from typing import Any

import pytest

from qospec.catalogue.kinds import NESTED, Kind, discover
from qospec.check.builtins import BuiltIns
from qospec.check.evaluate.context import Context, Limits
from qospec.check.evaluate.evaluator import Evaluator
from qospec.check.evaluate.scope import Scope
from qospec.check.records import record
from qospec.check.records.fields import convert
from qospec.diagnostics import Problems
from qospec.reference.kinds import LABELS, describe_kind
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse

CATALOGUE = discover()
FIELDS = [
    pytest.param(kind, name, id=f"{kind.name}.{name}")
    for kind in CATALOGUE.kinds.values()
    for name in kind.parameters
]


def field(kind: Kind, name: str) -> dict[str, Any]:
    parameter = kind.parameters[name]
    named = parameter.alias or parameter.name
    return next(field for field in describe_kind(kind)["fields"] if field["name"] == named)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_every_field_is_described(kind: Kind, name: str) -> None:
    described = field(kind, name)
    assert described["description"].endswith(".")
    assert described["type"]
    rate_field = kind.build.rate_field if kind.role == "arrivals" else ""
    follows = name in (*kind.from_contract, rate_field)
    optional = described["default"] or kind.parameters[name].default is None or follows
    assert described["required"] != bool(optional)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_every_example_is_one(
    kind: Kind, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example is a value of the field, within its bounds; a file that it names is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.pcapng").touch()
    (tmp_path / "day.csv").write_text("time [s],rate [cell/s]\n0,10\n", encoding="utf-8")
    (tmp_path / "leo.csv").write_text("time [s],delay [ms],loss [%]\n0,20,1\n", encoding="utf-8")
    (tmp_path / "lte.up").write_text("0\n5\n", encoding="utf-8")
    problems = Problems()
    example = field(kind, name)["example"]
    file = parse(Source("example", f"qos 1\nlet a = {example}\n"), problems)
    assert file is not None
    (node,) = file.declarations
    assert isinstance(node, ast.Let)
    evaluator = Evaluator(Context(CATALOGUE, problems, Limits(), BuiltIns(CATALOGUE)))
    parameter = kind.parameters[name]
    if parameter.domain.name in ("names", "choice"):
        assert problems.all == ()
        return
    value = evaluator.evaluate(node.value, Scope())
    if parameter.domain.name in NESTED:
        assert record.build_nested(value, parameter, node.value.span, evaluator) is not None
    else:
        convert(value, parameter, kind, node.value.span)
    assert problems.all == ()


def test_every_domain_has_its_words() -> None:
    used = {
        parameter.domain.name
        for kind in CATALOGUE.kinds.values()
        for parameter in kind.parameters.values()
    }
    assert used <= set(LABELS)


def test_what_a_class_inherits_is_described_too() -> None:
    described = describe_kind(CATALOGUE.kinds["traffic", "vbr_rt"])
    assert described["fields"][0]["description"] == "The peak cell rate in cells/s, PCR."


def test_the_long_text_is_apart_from_the_summary() -> None:
    described = describe_kind(CATALOGUE.kinds["element", "gcra"])
    assert described["description"].startswith("A cell at t conforms")
    assert described["summary"] not in described["description"]


def test_fields_that_are_given_by_name_only_come_last() -> None:
    fields = describe_kind(CATALOGUE.kinds["element", "srtcm"])["fields"]
    assert [field["name"] for field in fields[:3]] == ["cir", "cbs", "ebs"]
