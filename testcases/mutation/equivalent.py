"""The changes that no test can notice, with the reasons: equivalent.toml."""

import tomllib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "interpreter" / "qospec"


def _read() -> dict[str, dict[tuple[str, str], str]]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    found: dict[str, dict[tuple[str, str], str]] = {}
    for mutant in tables["equivalent"]:
        for line in mutant["becomes"]:
            found.setdefault(mutant["module"], {})[mutant["function"], line] = mutant["reason"]
    return found


EQUIVALENT = _read()
"""The reason why a change is equivalent, by module, function, and what the line becomes."""
