"""The program that changes the models changes one thing at a time, and all that it can."""

import ast
from pathlib import Path

import pytest
from equivalent import EQUIVALENT, PACKAGE
from groups import GROUPS
from mutants import is_any, is_kernel, mutants


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("return a < b", ["return a <= b"]),
        ("return a < b == c", ["return a <= b == c", "return a < b != c"]),
        ("return a + 1", ["return a - 1", "return a + 2"]),
        ("return not a", ["return not not a"]),
        ("return -a", ["return +a"]),
        ("return a and b", ["return a or b"]),
        ("a += b", ["a -= b"]),
        ("return max(a, b)", ["return min(a, b)"]),
        ("return a if b else c", ["return c if b else a"]),
        ("return True", ["return False"]),
        ("return zip(a, -b, strict=True)", ["return zip(a, +b, strict=True)"]),
        ("return 'µ' * a", ["return 'µ' // a"]),
        ('raise ValueError(f"{a + 1}")', []),
        ('"""Say what it does, in 3 words."""', []),
    ],
)
def test_every_operator_and_number_is_changed(line, changes):
    made = [*mutants(f"def f(a, b, c):\n    {line}\n", is_any)]
    assert [mutant.becomes for mutant in made] == changes
    assert {mutant.was for mutant in made} <= {line}


def test_a_mutant_differs_in_one_place():
    text = "def f(a, b):\n    c = a + b\n    return c + b\n"
    results = []
    for mutant in mutants(text, is_any):
        scope = {}
        exec(mutant.compiled(Path("module.py")), scope)  # noqa: S102
        results.append((mutant.lines, scope["f"](5, 3)))
    assert results == [({2}, 5 - 3 + 3), ({3}, 5 + 3 - 3)]
    (first, _) = mutants(text, is_any)
    assert ast.unparse(first.tree) == text.strip()


def test_a_change_in_a_long_statement_is_told_as_one_line():
    (only,) = mutants(
        "def f(a, b):\n    if (\n        a\n        < b\n    ):\n        return a\n", is_any
    )
    assert (only.lines, only.was, only.becomes) == ({2, 3, 4}, "a < b", "a <= b")


def test_only_wanted_functions_are_changed():
    text = "def f(a):\n    return -a\n\n\n@kernel\ndef g(a):\n    return -a\n"
    (only,) = mutants(text, is_kernel)
    assert (only.function, only.lines) == ("g", {7})


@pytest.mark.parametrize("module", EQUIVALENT)
def test_every_equivalent_change_can_be_made(module):
    made = {
        (mutant.function, mutant.becomes)
        for mutant in mutants((PACKAGE / module).read_text(encoding="utf-8"), is_any)
    }
    assert EQUIVALENT[module].keys() <= made


def test_every_kernel_is_changed_in_one_group():
    """And so is all that judges."""
    grouped = [path for group in GROUPS.values() for path in group.paths()]
    assert len(grouped) == len(set(grouped))
    changed = {
        path
        for path in PACKAGE.rglob("*.py")
        if [*mutants(path.read_text(encoding="utf-8"), is_kernel)]
    }
    assert changed <= {*grouped}
    assert {*(PACKAGE / "judge").glob("*.py")} <= {*grouped}
