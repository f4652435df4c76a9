"""What the package is made of, in numbers: `python testcases/counts.py [ROOT]`.

The package of any commit can be counted that is unpacked at ROOT. Those of days on which they were
taken are in `docs/design/package.md`.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
import sys
import tempfile
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner
from house.test_words import is_verb_phrase
from narrow import NARROW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = "interpreter/qospec"
FOLDERS = {"the package": PACKAGE, "tests": "testcases", "benchmarks": "benchmarks"}
SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
DRIVERS = {"EventProcess", "AtOnceProcess"}
"""Classes whose `process` is no element's own: they derive it."""
BORDER = (
    *("catalogue", "engine/element.py", "engine/event/transition.py"),
    *("engine/source/arrivals.py", "engine/measure/metric.py"),
)
"""Where the rest meets kinds: declarations, the bases of elements, traffic and metrics."""
ON_THE_WAY = ("run", "record", "judge")
"""The rooms through which a result goes to its document, from the top of what imports what."""
SPECIFICATION = (
    NARROW
    + """test one on bench {
  flow ab = packets { rate = 100 pkt/s, size = 100 B @ip } from a to b
  run { measure = 100 ms }
  expect ab.received == 10 pkt
  expect ab.loss <= 20 %
  report ab.delay.max
}
"""
)


def list_modules(root: Path, folder: str) -> list[Path]:
    paths = sorted((root / folder).rglob("*.py"))
    return [path for path in paths if not any(above.is_symlink() for above in path.parents)]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def count_code(path: Path) -> int:
    """Return how many lines have code: no empty ones, comments and docstrings, also of names."""
    with tokenize.open(path) as file:
        tokens = [
            token for token in tokenize.generate_tokens(file.readline) if token.type not in SILENT
        ]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def list_loops(trees: Iterable[ast.Module]) -> list[str]:
    """Return the classes of elements that have a loop over batches written by hand."""
    return sorted(
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name not in DRIVERS
        if any(isinstance(n, ast.FunctionDef) and n.name == "process" for n in node.body)
    )


def list_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of variables, attributes, arguments, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def list_functions(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield the names of functions and methods; no properties and special methods."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                if not re.search(r"property|\.(command|group)\(", decorators):
                    yield node.name


def count_any(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


def count_each(tree: ast.Module) -> int:
    return sum(
        (isinstance(node, ast.Name) and node.id == "each" and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == "each")
        for node in ast.walk(tree)
    )


def list_walk(root: Path) -> list[str]:
    """Return through which modules a result goes, from the end of a trial to its document.

    These are the modules of all functions that are called, in the order of the first call of each.
    """
    package = f"{root.resolve() / PACKAGE}/"
    found: dict[Any, str] = {}
    begins, ends = [], []

    def follow(frame: Any, event: str, _: Any) -> None:
        code, name = frame.f_code, frame.f_code.co_filename.removeprefix(package)
        if event == "return" and (name, code.co_name) == ("engine/graph/emulation.py", "run"):
            begins.append(True)
        elif event == "call" and begins and not ends and code.co_filename.startswith(package):
            found.setdefault(code, name)

    def watch(event: str, facts: tuple[Any, ...]) -> None:
        is_file = event == "open" and isinstance(facts[0], str | os.PathLike)
        if begins and is_file and "outcome.json" in os.fspath(facts[0]) and facts[2] & os.O_WRONLY:
            ends.append(True)

    sys.path.insert(0, str(root.resolve() / "interpreter"))
    os.environ["QOS_KERNELS"] = "python"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("bench.qos").write_text(SPECIFICATION, encoding="utf-8")
        from qospec.cli import qos

        sys.addaudithook(watch)
        sys.setprofile(follow)
        CliRunner().invoke(qos, ["run", "bench.qos", "-j", "1"])
        sys.setprofile(None)
        os.chdir("/")
    names = (name for name in found.values() if name.split("/")[0] in ON_THE_WAY)
    return [name for name, _ in itertools.groupby(names)]


def list_counts(root: Path) -> Iterator[tuple[str, object]]:
    """Yield what is counted, and how many there are."""
    for what, folder in FOLDERS.items():
        paths = list_modules(root, folder)
        yield f"lines of code of {what}", sum(map(count_code, paths))
        yield f"files of {what}", len(paths)
    trees = {path: parse(path) for path in list_modules(root, PACKAGE)}
    loops = list_loops(trees.values())
    yield "loops over batches by hand", f"{len(loops)}: {', '.join(loops)}"
    words = [
        {w for n in list_names(tree) for w in re.findall("[a-z]+", n.lower())}
        for tree in trees.values()
    ]
    yield "modules that name planes", sum(bool(of & {"plane", "planes"}) for of in words)
    names = list(list_functions(trees.values()))
    yield "functions", len(names)
    yield "functions named by one word", sum("_" not in name.strip("_") for name in names)
    yield "functions that no verb names", sum(not is_verb_phrase(name) for name in names)
    yield "variables `each`", sum(map(count_each, trees.values()))
    border = [root / PACKAGE / name for name in BORDER]
    at_border = [t for p, t in trees.items() if any(p == b or b in p.parents for b in border)]
    yield "`Any` at the border of kinds", sum(map(count_any, at_border))
    walk = list_walk(root)
    ranks = [ON_THE_WAY.index(name.split("/")[0]) for name in walk]
    climbs = sum(after < before for before, after in itertools.pairwise(ranks))
    yield "stays of a walk from a result to its document", f"{len(walk)}, and {climbs} climbs"


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    for what, count in list_counts(root):
        print(f"{what}: {count}")


if __name__ == "__main__":
    main()
