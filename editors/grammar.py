"""Writes the TextMate grammar of `.qos` files, from the keywords and units of `spec/`.

It colours a file without reading it as a whole, so it knows a keyword that may be a name only by
what is beside it. `qos lsp` says what is right.

python editors/grammar.py
"""

import argparse
import json
import re
from collections.abc import Iterable
from pathlib import Path

from qospec.syntax.grammar import load_keywords
from qospec.units import list_units

OUTPUT = Path(__file__).parent / "vscode" / "syntaxes" / "qos.tmLanguage.json"
SCOPES = {
    "file": "keyword.control.import.qos",
    "declaration": "storage.type.qos",
    "statement": "keyword.control.qos",
    "word": "keyword.operator.word.qos",
}
"""By table of `spec/keywords.toml`."""
CONSTANTS = ("true", "false", "otherwise")
PLACED = ("at", "point")
"""Keywords that are names but for one place, as `spec/keywords.toml` says."""
NUMBER = r"[0-9]+(?:_[0-9]+)*(?:\.[0-9]+(?:_[0-9]+)*)?"
NAME = r"[A-Za-z_][A-Za-z0-9_]*"


def build() -> dict[str, object]:
    """Return the grammar; the first pattern that matches where another token begins wins."""
    words = load_keywords()
    fields = "|".join(sorted(words["field"]))
    others = [word for table in SCOPES for word in words[table] if word not in CONSTANTS]
    declaring = "|".join(
        [*words["declaration"], "flow", "goal", "search", "machine", "state", "control"]
    )
    units = "|".join(map(re.escape, sorted(list_units(), key=len, reverse=True)))
    compound = rf"(?:{units})(?:/(?:{units}))?(?![A-Za-z0-9_µμ])"
    keyword = rf"(?!(?:{'|'.join(others)})(?![A-Za-z0-9_]))"
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "qos",
        "scopeName": "source.qos",
        "patterns": [
            {"name": "comment.line.documentation.qos", "match": r"##.*$"},
            {"name": "comment.line.number-sign.qos", "match": r"#.*$"},
            {"name": "string.quoted.double.qos", "match": r'"[^"\n]*"'},
            {"name": "variable.other.member.qos", "match": rf"(?<=\.){NAME}"},
            {"name": "variable.other.qos", "match": rf"\b(?:{fields})\b(?=\s*=(?!=))"},
            {
                "match": r"(?:^|[{},])[ \t]*(at)(?=[ \t]+[A-Za-z0-9_])",
                "captures": {"1": {"name": SCOPES["statement"]}},
            },
            {"name": SCOPES["statement"], "match": rf"\bpoint(?=[ \t]+{NAME}[ \t]*\{{)"},
            {
                "match": r"(?<==)[ \t]*(step)\b",
                "captures": {"1": {"name": "variable.other.qos"}},
            },
            {
                "match": rf"\b({declaring})\s+{keyword}({NAME})",
                "captures": {
                    "1": {"name": SCOPES["declaration"]},
                    "2": {"name": "entity.name.type.qos"},
                },
            },
            {
                "match": rf"(?<![\w.])({NUMBER})[ \t]*({compound})",
                "captures": {
                    "1": {"name": "constant.numeric.qos"},
                    "2": {"name": "keyword.other.unit.qos"},
                },
            },
            {"name": "constant.numeric.qos", "match": rf"(?<![\w.]){NUMBER}"},
            {
                "match": rf"(@)[ \t]*({NAME})",
                "captures": {
                    "1": {"name": "keyword.operator.qos"},
                    "2": {"name": "storage.modifier.layer.qos"},
                },
            },
            {"name": "constant.language.qos", "match": rf"\b(?:{'|'.join(CONSTANTS)})\b"},
            *(
                {"name": scope, "match": rf"\b(?:{_list_words(words[table])})\b(?!\s*\.)"}
                for table, scope in SCOPES.items()
            ),
            {"name": "keyword.operator.qos", "match": r"->|--|\.\.|==|!=|<=|>=|[-+*/<>=]"},
            {"name": "variable.other.qos", "match": NAME},
        ],
    }


def _list_words(words: Iterable[str]) -> str:
    return "|".join(word for word in words if word not in PLACED)


def main() -> None:
    """Write the grammar."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(build(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
