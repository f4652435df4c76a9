"""Checking ends, however much is wrong and however much would have to be worked out."""

import time

import pytest

from qospec.check import Limits


def doubling(first: str, again: str, levels: int) -> str:
    steps = "".join(f"let a{n + 1} = {again.format(f'a{n}')}\n" for n in range(levels))
    return f"let a0 = {first}\n{steps}"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("[1]", "[{0}, {0}]"),
        ("{{ a: 1 }}", "{{ a: {0}, b: {0} }}"),
        ("[r.v]", "[{0}, {0}]"),
    ],
)
def test_a_value_may_not_double_for_ever(codes, first, again):
    """Values share their parts, but whoever walks one meets each as often as it is there."""
    before = 'reference r "r" { v = 1 }\n'
    first = first.replace("{{", "{").replace("}}", "}")
    assert codes(before + doubling(first, again, 10)) == []
    assert codes(before + doubling(first, again, 30)) == ["E0603"]


def test_what_is_measured_may_not_double_for_ever(small, codes):
    flow = "flow f = load from a to b\nrun { measure = 1 s }\n"
    assert small(flow + doubling("f.lost", "{0} + {0}", 10), "expect a10 == 0 cell")
    bench = "topology x { a, b = host\nlink a -- b via line { rate = 1 Mbit/s @cell } }\n"
    load = "traffic load = ubr { pcr = 1_000 cell/s }\n"
    body = flow + doubling("f.lost", "{0} + {0}", 30)
    assert codes(f"{bench}{load}test t on x {{ {body}\nexpect a30 == 0 cell }}\n") == ["E0603"]


def test_values_are_worked_out_only_so_often(codes):
    text = "topology t {\n  for i in 0 .. 9 {\n    let a = i + 1\n    let b = i + 1\n  }\n}\n"
    assert codes(text, limits=Limits(steps=500)) == []
    assert codes("let a = 1 + 2 + 3\n", limits=Limits(steps=5)) == []
    assert codes("let a = 1 + 2 + 3\n", limits=Limits(steps=4)) == ["E0608"]


def test_checking_ends_at_so_many_mistakes(codes):
    text = "".join(f"let a{n} = missing\n" for n in range(150))
    assert codes(text) == ["E0101"] * 100
    assert codes(text, limits=Limits(errors=3)) == ["E0101"] * 3


@pytest.mark.slow
def test_many_names_misspelt_among_many_are_reported_at_once(codes):
    """Comparing each with each would take minutes."""
    text = "".join(f"let name_{n} = mane_{n}\n" for n in range(10_000))
    start = time.perf_counter()
    assert set(codes(text)) == {"E0101"}
    assert time.perf_counter() - start < 60


def test_files_may_not_import_one_another_for_ever(codes):
    chain = {f"link{n}": f"import link{n + 1}\n" for n in range(20)} | {"link20": ""}
    assert codes("import link0\n", **chain) == []
    assert codes("import link0\n", limits=Limits(depth=20), **chain) == ["E0607"]
