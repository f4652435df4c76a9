"""What is unused is reported, and what another file may use is not."""

import pytest

TEST = """
test small on bench {
  flow user = load from a to b
  run { measure = 1 s }
  expect user.lost == 0
}
"""
BENCH = """
topology bench {
  a, b = host
  let rate = 1_000 cell/s
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic load = ubr { pcr = 1_000 cell/s }
"""


def test_what_a_module_declares_is_for_those_who_import_it(codes) -> None:
    assert codes("let spare = 4\n") == []
    assert codes(BENCH) == []
    assert codes("let spare = 4\n" + BENCH.replace("let rate", "let _rate") + TEST) == []
    lets = "let spare = 4\n"
    assert codes("import other\nlet twice = 2 * other.spare", other=lets) == []


def test_a_value_of_a_topology_is_for_its_tests(codes) -> None:
    assert codes(BENCH + TEST) == ["W0620"]
    assert codes(BENCH + TEST.replace("load from", "ubr { pcr = rate } from")) == []


@pytest.mark.parametrize(
    ("sweep", "reported"),
    [
        ("sweep n in 1 .. 2", ["W0623"]),
        ("sweep n in 1 .. 3 where n > 1", ["W0623"]),
        ("sweep _n in 1 .. 2", []),
        ("sweep (n, m) in [(1, 2), (3, 4)]\n  let _m = m", []),
        ("sweep n in 1 .. 2\n  sweep m in n .. n\n  let _m = m", []),
        ('sweep n in 1 .. 2\n  skip unless n > 1 "why"', []),
    ],
)
def test_a_sweep_over_nothing(codes, sweep: str, reported: list[str]) -> None:
    bench = BENCH.replace("let rate", "let _rate")
    assert codes(bench + TEST.replace("  flow", f"  {sweep}\n  flow")) == reported


def test_a_mistake_may_be_what_would_use_it(codes) -> None:
    text = BENCH + TEST.replace("load from", "ubr { pcr = raet } from")
    assert codes(text) == ["E0101"]
