"""The paths of the specification and the library, the same in a checkout and a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

SPEC = _PACKAGE / "spec"
"""The grammar, the tables of the language and its chapters."""

STDLIB = _PACKAGE / "stdlib"
"""Devices, traffic and report templates: what `import std.x` finds."""
