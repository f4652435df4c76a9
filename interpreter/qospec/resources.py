"""Where the language and the library live: one path in a checkout and in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

SPEC = _PACKAGE / "spec"
"""The grammar, the tables of the language and its chapters."""

STDLIB = _PACKAGE / "stdlib"
"""Devices, traffic and report templates: what `import std.x` finds."""
