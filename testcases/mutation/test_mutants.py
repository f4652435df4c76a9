"""The program that changes the models changes one thing at a time, and all that it can."""

import ast
from pathlib import Path

import pytest
from mutants import mutants


def changes_of(text: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    return [mutant.change for mutant in mutants(path, lambda _: True)]


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("return a < b", ["a < b  ->  a <= b"]),
        ("return a < b == c", ["a < b == c  ->  a <= b == c", "a < b == c  ->  a < b != c"]),
        ("return a + 1", ["a + 1  ->  a - 1", "1  ->  2"]),
        ("return not a", ["not a  ->  a"]),
        ("return a and b", ["a and b  ->  a or b"]),
        ("a += b", ["a += b  ->  a -= b"]),
        ("return max(a, b)", ["max(a, b)  ->  min(a, b)"]),
        ("return a if b else c", ["a if b else c  ->  c if b else a"]),
        ("return True", ["True  ->  False"]),
        ('raise ValueError(f"{a + 1}")', []),
        ('"""Say what it does, in 3 words."""', []),
    ],
)
def test_every_operator_and_number_is_changed(line, changes, tmp_path):
    assert changes_of(f"def f(a, b, c):\n    {line}\n", tmp_path) == changes


def test_a_mutant_differs_in_one_place(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(a, b):\n    c = a + b\n    return c + b\n", encoding="utf-8")
    first, second = mutants(path, lambda _: True)
    assert (first.line, ast.unparse(first.tree)) == (
        2,
        "def f(a, b):\n    c = a - b\n    return c + b",
    )
    assert (second.line, ast.unparse(second.tree)) == (
        3,
        "def f(a, b):\n    c = a + b\n    return c - b",
    )


def test_only_wanted_functions_are_changed(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(a):\n    return -a\n\n\ndef g(a):\n    return -a\n", encoding="utf-8")
    (only,) = mutants(path, lambda function: function.name == "g")
    assert (only.function, only.change) == ("g", "-a  ->  a")
