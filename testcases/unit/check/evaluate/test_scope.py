"""Names: each is declared once, hides none, and is not made of itself."""

import pytest

TEST = "topology bench { a, b = host }\n"


@pytest.mark.parametrize(
    "text",
    [
        "let a = 1\nlet a = 2\n",
        "let a = 1\ntraffic t(a: Int) = ubr { pcr = a * 1 cell/s }\n",
        "traffic t(a: Int, a: Int) = ubr { pcr = a * 1 cell/s }\n",
        "device d {\n  port p: cell\n  p = delay { time = 1 s }\n  p.rx -> discard\n}\n",
        "let a = 1\ntopology t { a = host }\n",
        "topology t {\n  a = host\n  for a in 0 .. 1 { }\n}\n",
        'reference r "a" {\n  b = 1\n  b = 2\n}\n',
    ],
)
def test_a_name_is_declared_once(checked, text):
    _, problems = checked(text)
    assert {problem.code for problem in problems} == {"E0102"}
    assert all(problem.secondary for problem in problems)


def test_a_declaration_may_not_be_called_as_an_import(codes):
    assert codes("import one\nlet one = 1\n", one="") == ["E0102"]


@pytest.mark.parametrize(
    "text",
    [
        "let a = a\n",
        "let a = b\nlet b = c\nlet c = a\n",
        "traffic a(n: Int) = b(n = n)\ntraffic b(n: Int) = a(n = n)\n",
        "traffic a = b { clp = 1 }\ntraffic b = a\n",
    ],
)
def test_nothing_is_made_of_itself(codes, text):
    assert codes(text) == ["E0103"]


def test_the_order_of_declarations_does_not_matter(codes):
    assert codes("let a = b\nlet b = c\nlet c = 1\n") == []


def test_a_near_name_is_offered(checked):
    _, (problem,) = checked("let length = 1 km\nlet a = lenght\n")
    assert (problem.code, problem.label) == ("E0101", "did you mean `length`?")


def test_tests_of_two_files_have_different_names(checked, tmp_path, catalogue):
    del checked
    from qospec.check import check
    from qospec.diagnostics import Problems

    text = f"qos 1\n{TEST}test same on bench {{ run {{ measure = 1 s }} }}\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.qos").write_text(text)
    problems = Problems()
    check([tmp_path], catalogue, problems)
    assert [problem.code for problem in problems.errors] == ["E0102"]


@pytest.mark.parametrize(
    "text",
    [
        "let a = 1\nlet a = 2\n",
        "traffic t(a: Int) = ubr { pcr = a * 1 cell/s }\nlet a = 1\n",
        "topology t { a = host }\nlet a = 1\n",
        f"{TEST}test t on bench {{\n  sweep n in [1]\n  run {{ measure = 1 s }}\n}}\nlet n = 1\n",
    ],
)
def test_the_place_that_is_called_first_comes_first(checked, text):
    _, problems = checked(text)
    clash = next(problem for problem in problems if problem.code == "E0102")
    (first,) = clash.secondary
    assert first.text.startswith("first declared here")
    assert first.span.start < clash.span.start


@pytest.mark.parametrize(
    ("element", "near"),
    [
        ("fif { limit = 64 pkt }", "did you mean `fifo`?"),
        ("rde { limit = 64 pkt }", ""),  # `red` is a drop policy
        ("fifo { limit = 64 pkt, drop = rde { low = 1 pkt } }", "did you mean `red`?"),
        ("fifo { limit = 64 pkt, drop = cdel { target = 5 ms } }", ""),  # `codel` is an element
    ],
)
def test_only_what_can_stand_there_is_suggested(checked, element, near):
    text = f"device d {{\n  port p, q: packet\n  e = {element}\n  p.rx -> e -> q.tx\n}}"
    assert [problem.label for problem in checked(text)[1] if problem.code == "E0101"] == [near]


def test_an_element_for_a_drop_policy_is_told_where_it_belongs(checked):
    text = "device d {\n  e = fifo { limit = 64 pkt, drop = codel { target = 5 ms } }\n}"
    (problem,) = [found for found in checked(text)[1] if found.code == "E0204"]
    assert problem.help == "write it in the device: `NAME = codel { … }`"
