"""Writes the tree-sitter grammar of `.qos` files from `spec/`, and compares it with the parser.

The rules are those of `spec/qos.lark`, one by one. What chapter 1 adds is here: where a keyword is
a name after all; and units have a scanner in C, since tokens of tree-sitter cannot look ahead.

python editors/tree_sitter.py FOLDER
python editors/tree_sitter.py FOLDER --compare TREE-SITTER
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lark import Lark, Tree

from qospec.diagnostics import Problems
from qospec.resources import SPEC
from qospec.source import Source
from qospec.syntax.grammar import load_keywords
from qospec.syntax.parser import parse

ROOT = Path(__file__).parents[1]
FOLDERS = ("testcases/language/accept", "testcases/suites", "stdlib", "docs/examples")
NAMES = {
    "bind": ("at", "on", "point"),
    **dict.fromkeys(("path", "argument", "label"), ("at", "point")),
}
"""Keywords that are names in a rule, where one of them may begin a statement, or a path."""
FILES = Path(__file__).parent / "tree-sitter"
UNIT, QUANTITY = "unit", "QUANTITY"
IGNORED = ("BLANK", QUANTITY)
DECIDED = {"index": "PREC", "way": "PREC_RIGHT"}
"""Rules that win: `at [` begins with a name, and ports of a flow go on after a comma."""
BLANK = {"type": "BLANK"}
JOINED = {"expansions": "CHOICE", "expansion": "SEQ"}

Rule = dict[str, Any]


def build() -> Rule:
    """Return the grammar as `tree-sitter generate` reads it."""
    return {
        "$schema": "https://tree-sitter.github.io/tree-sitter/assets/schemas/grammar.schema.json",
        "name": "qos",
        "word": "name",
        "rules": _Converter((SPEC / "qos.lark").read_text(encoding="utf-8")).convert(),
        "extras": [{"type": "PATTERN", "value": r"[ \t\r\n\uFEFF]"}, _refer("comment")],
        "conflicts": [],
        "precedences": [],
        "externals": [_refer(UNIT)],
        "inline": [],
        "supertypes": [],
        "reserved": {},
    }


def _refer(name: str) -> Rule:
    return {"type": "SYMBOL", "name": name}


def _call(rule: Rule, name: str) -> Rule:
    """Return what makes nodes of another name than its own."""
    return {"type": "ALIAS", "content": rule, "named": True, "value": name}


def _hide(name: str) -> str:
    """Return the name of a rule: `?rule`, which has no node of its own, is hidden."""
    return f"_{name[1:]}" if name.startswith("?") else name


class _Converter:
    """Rules of Lark as those of tree-sitter."""

    def __init__(self, text: str) -> None:
        tree = Lark.open_from_package("lark", "grammars/lark.lark", parser="lalr").parse(text)
        self._rules, self._tokens = (
            {str(item.children[0]): item.children[-1] for item in tree.find_data(kind)}
            for kind in ("rule", "token")
        )
        self._hidden = {name[1:]: _hide(name) for name in self._rules if name.startswith("?")}
        self._aliases = Counter(str(one.children[1]) for one in tree.find_data("alias"))
        self._made: dict[str, Rule] = {}

    def convert(self) -> dict[str, Rule]:
        """Return the rules; the first is that of a file."""
        for name in ["file", *self._rules]:
            self._made.setdefault(_hide(name), {})
            self._made[_hide(name)] = self._convert(self._rules[name], name.lstrip("?"))
        for name, kind in DECIDED.items():
            self._made[name] = {"type": kind, "value": 1, "content": self._made[name]}
        for name in self._tokens:
            rule = self._convert_token(name)
            if rule["type"] == "PATTERN" and name not in IGNORED:
                self._made[name.lower()] = rule
        return self._made

    def _convert(self, part: Tree[Any], origin: str) -> Rule:
        """Return what a part of the rule `origin` is."""
        if part.data == "name":
            return self._convert_name(str(part.children[0]), origin)
        if part.data == "literal":
            return {"type": "STRING", "value": json.loads(part.children[0])}
        made = [self._convert(one, origin) for one in part.children if isinstance(one, Tree)]
        if part.data in JOINED:
            return {"type": JOINED[part.data], "members": made}
        (only,) = made
        operator = "?" if part.data == "maybe" else part.children[1]
        if part.data == "alias":
            return only if operator is None else self._name(only, origin, str(operator))
        return {
            "?": {"type": "CHOICE", "members": [only, BLANK]},
            "*": {"type": "REPEAT", "content": only},
            "+": {"type": "REPEAT1", "content": only},
        }.get(str(operator), only)

    def _name(self, rule: Rule, origin: str, alias: str) -> Rule:
        """Return an alternative that has a node of its own, of a name that others may have, too."""
        if self._aliases[alias] == 1:
            self._made[alias] = rule
            return _refer(alias)
        self._made[f"_{origin}_{alias}"] = rule
        return _call(_refer(f"_{origin}_{alias}"), alias)

    def _convert_name(self, name: str, origin: str) -> Rule:
        if name == QUANTITY:
            number = {"type": "CHOICE", "members": [_refer("int"), _refer("float")]}
            return {"type": "SEQ", "members": [number, _refer(UNIT)]}
        if name == "NAME" and origin in NAMES:
            words = (_call({"type": "STRING", "value": word}, "name") for word in NAMES[origin])
            return {"type": "CHOICE", "members": [_refer("name"), *words]}
        if name in self._tokens:
            rule = self._convert_token(name)
            return _refer(name.lower()) if rule["type"] == "PATTERN" else rule
        return _refer(self._hidden.get(name, name))

    def _convert_token(self, name: str) -> Rule:
        """Return a terminal: a pattern, or the words that it may be."""
        words = [str(one.children[0]) for one in self._tokens[name].find_data("literal")]
        if words[0].startswith("/"):
            return {"type": "PATTERN", "value": words[0][1:-1]}
        members = [{"type": "STRING", "value": json.loads(word)} for word in reversed(words)]
        return members[0] if len(members) == 1 else {"type": "CHOICE", "members": members}


COLOURS = {
    "file": "keyword.import",
    "declaration": "keyword.type",
    "statement": "keyword",
    "word": "keyword.operator",
}
"""By table of `spec/keywords.toml`."""


def write_files(folder: Path) -> None:
    """Write what `tree-sitter generate` and editors read."""
    words = load_keywords()
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "queries").mkdir(exist_ok=True)
    grammar = json.dumps(build(), indent=2, ensure_ascii=False)
    (folder / "src" / "grammar.json").write_text(grammar + "\n", encoding="utf-8")
    keywords = ", ".join(f'"{word}"' for table in COLOURS for word in words[table])
    declared = f"static const char *const KEYWORDS[] = {{{keywords}}};\n"
    (folder / "src" / "keywords.h").write_text(declared, encoding="utf-8")
    shutil.copy(FILES / "scanner.c", folder / "src")
    shutil.copy(FILES / "tree-sitter.json", folder)
    query = write_highlights() + (FILES / "highlights.scm").read_text(encoding="utf-8")
    (folder / "queries" / "highlights.scm").write_text(query, encoding="utf-8")


def write_highlights() -> str:
    """Return the part of the query for colours that follows from the keywords."""
    words = load_keywords()
    apart = {"true", "false", "otherwise"}
    lines = [
        f"[{' '.join(json.dumps(word) for word in words[table] if word not in apart)}] @{colour}"
        for table, colour in COLOURS.items()
    ]
    lines += [f"({word} . (name) @type.definition)" for word in words["declaration"]]
    return "\n".join(lines) + "\n"


Places = set[tuple[str, int, int, int, int]]
"""Nodes: the rule, the line and the byte in it where they begin, and where they end."""
PRINTED = re.compile(r"\((\w+) \[(\d+), (\d+)\] - \[(\d+), (\d+)\]")
RULES = {
    "Boolean": "truth",
    "Conditional": "choose",
    "Import": "import_",
    "ListLiteral": "list_of",
    "MapLiteral": "map_of",
    "MixLiteral": "mix_of",
    "TupleLiteral": "tuple_of",
}
"""By node of the parser: its rule, where that has another name."""
APART = {"file", "edition", "name", "list_type", "layered_type"} | {
    *("int", "float", "string", "unit", "comment")
}
"""Nodes of one of the two: tokens, types, and the file, which ends with the text or a token."""


def list_nodes(path: Path) -> Places:
    """Return the nodes that the parser of the language makes of a file."""
    text, problems = path.read_text(encoding="utf-8"), Problems()
    file = parse(Source(path.name, text), problems)
    if file is None or problems.errors:
        raise ValueError(path)
    found: Places = set()
    for node in file.with_all_below():
        name = type(node).__name__
        rule = RULES.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        places = (*_find_place(text, node.span.start), *_find_place(text, node.span.end))
        found.add((rule, *places))
    return found


def _find_place(text: str, at: int) -> tuple[int, int]:
    line = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at), len(text[line:at].encode())


def read_trees(printed: str) -> Iterator[tuple[Places, bool]]:
    """Yield the nodes of each tree that `tree-sitter parse` printed, and whether it has errors."""
    for tree in re.split(r"^(?=\(file )", printed, flags=re.MULTILINE)[1:]:
        nodes = ((name, *map(int, places)) for name, *places in PRINTED.findall(tree))
        yield set(nodes), "(ERROR " in tree or "(MISSING " in tree


def compare(folder: Path, program: str) -> Iterator[str]:
    """Yield in what files the trees of a generated grammar are not those of the parser."""
    paths = sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.qos"))
    (folder / "paths.txt").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    words = [str(Path(program).resolve()), "parse", "--paths", "paths.txt"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    trees = list(read_trees(done.stdout))
    if len(trees) != len(paths):
        yield f"{len(trees)} trees of {len(paths)} files: {done.stderr}"
        return
    for path, (nodes, is_broken) in zip(paths, trees, strict=True):
        wanted, found = (
            {node for node in its if node[0] not in APART} for its in (list_nodes(path), nodes)
        )
        name = path.relative_to(ROOT)
        if is_broken:
            yield f"{name}: cannot be parsed"
        elif wanted != found:
            rule, line, *_ = min(wanted ^ found, key=lambda node: node[1:])
            yield f"{name}:{line + 1}: {rule} is not where the parser has it"


def main() -> None:
    """Write the files, or print where a generated grammar differs, and exit with 1 if it does."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--compare", metavar="TREE-SITTER", help="what parses with the grammar")
    given = parser.parse_args()
    if given.compare is None:
        write_files(given.folder)
        return
    different = list(compare(given.folder, given.compare))
    print("\n".join(different) or f"{given.folder}: the trees are those of the parser")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
