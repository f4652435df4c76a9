"""The form of a file, and its tree in either form. PyYAML is only imported for YAML files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.syntax import parser

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.source import Source
    from qospec.syntax import ast

TEXT_SUFFIX = ".qos"
YAML_SUFFIXES = (".yaml", ".yml")


def is_yaml(name: str) -> bool:
    """Return whether a file of that name is in YAML."""
    return name.endswith(YAML_SUFFIXES)


def is_specification(text: str) -> bool:
    """Return whether a YAML text begins as a specification does, with the key `qos`."""
    from qospec.yaml_twin.nodes import find_first_key

    return find_first_key(text) == "qos"


def read_tree(source: Source, problems: Problems) -> ast.File | None:
    """Return the tree of a file in either form; otherwise as `syntax.parser.parse`."""
    if not is_yaml(source.name):
        return parser.parse(source, problems)
    from qospec.yaml_twin.reader import parse

    return parse(source, problems)
