"""Files, functions and folders stay small; the size of the package is printed."""

import ast
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "interpreter" / "qospec"
MODULES = sorted(PACKAGE.rglob("*.py"))
FILE_LINES = 600
FUNCTION_LINES = 50
FOLDER_FILES = 20
KINDS = {"elements", "traffic", "dropping", "congestion", "metrics", "methods", "exports"}
ONE_THING_ONE_FILE = KINDS | {"commands"}
"""Folders of kinds, and of commands: each new one is a file."""


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines from `def` to the end, without those of the docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    docstring = function.body[0]
    assert docstring.end_lineno is not None
    return lines - (docstring.end_lineno - docstring.lineno + 1)


def long_functions(path: Path) -> list[str]:
    return [
        f"{path.name}:{node.lineno} {node.name} has {function_lines(node)} lines"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and function_lines(node) > FUNCTION_LINES
    ]


def test_the_size_of_the_package_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    folders: dict[str, list[int]] = {}
    for path in MODULES:
        folder = path.relative_to(PACKAGE).parent.as_posix()
        folders.setdefault(folder, []).append(lines_of(path))
    with capsys.disabled():
        print(f"\nqospec: {sum(map(sum, folders.values()))} lines in {len(MODULES)} files")
        for folder, lines in sorted(folders.items()):
            print(f"  {folder:<10} {sum(lines):>6} in {len(lines)}")
    assert folders


def test_no_file_is_too_long() -> None:
    long = {path.name: lines_of(path) for path in MODULES if lines_of(path) > FILE_LINES}
    assert not long, f"more than {FILE_LINES} lines: {long}"


def test_no_folder_has_too_many_files() -> None:
    files = Counter(path.parent.name for path in MODULES if path.stem != "__init__")
    full = {name for name, count in files.items() if count > FOLDER_FILES}
    assert full <= ONE_THING_ONE_FILE, f"more than {FOLDER_FILES} files: {full}"


def test_no_function_is_too_long() -> None:
    long = [found for path in MODULES for found in long_functions(path)]
    assert not long, f"more than {FUNCTION_LINES} lines: {long}"


def test_a_docstring_does_not_count_as_the_function_s_length() -> None:
    function = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n').body[0]
    assert isinstance(function, ast.FunctionDef)
    assert function_lines(function) == 2
