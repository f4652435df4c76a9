"""Small files in YAML, read and written."""

from collections.abc import Callable
from textwrap import dedent

import pytest
import yaml

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.yaml_twin.reader import parse, transcribe_yaml
from qospec.yaml_twin.writer import write_yaml


@pytest.fixture(params=["C", "Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each file by both of PyYAML's loaders: they must not differ."""
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CBaseLoader")


@pytest.fixture
def told() -> Callable[[str], list[str]]:
    """Return what is told of a YAML file: place, what stands there, code and message."""

    def told(text: str) -> list[str]:
        problems = Problems()
        source = Source("a.yaml", text)
        parse(source, problems)
        found = []
        for problem in problems.all:
            line, column = source.find_position(problem.span.start)
            there = text[problem.span.start : problem.span.end]
            found.append(f"{line}:{column} `{there}` {problem.code} {problem.message}")
        return found

    return told


@pytest.fixture
def as_text() -> Callable[[str], str]:
    """Return what a YAML file says as text, before it is laid out."""

    def as_text(text: str) -> str:
        problems = Problems()
        found = transcribe_yaml(Source("a.yaml", dedent(text)), problems)
        assert found is not None, problems.all
        return found.text

    return as_text


@pytest.fixture
def as_yaml() -> Callable[[str], str]:
    """Return a text as YAML."""

    def as_yaml(text: str) -> str:
        problems = Problems()
        found = write_yaml(Source("a.qos", dedent(text)), problems)
        assert found is not None, problems.all
        return found

    return as_yaml
