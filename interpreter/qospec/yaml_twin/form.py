"""Which form a file is in, and its tree in either. YAML is only imported where a file is in it."""

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


def is_ours(written: str) -> bool:
    """Return whether a YAML text begins as a specification does, with the key `qos`."""
    from qospec.yaml_twin.nodes import first_key

    return first_key(written) == "qos"


def tree_of(source: Source, problems: Problems) -> ast.File | None:
    """Return the tree of a file in either form; the rest is as `syntax.text.parse` has it."""
    if not is_yaml(source.name):
        return parser.parse(source, problems)
    from qospec.yaml_twin.reader import parse

    return parse(source, problems)
