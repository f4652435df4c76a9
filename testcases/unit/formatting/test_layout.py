"""Which lines a file has: its structure and a line's width decide, never the old lines."""

from textwrap import dedent

import pytest

from qospec.formatting.printer import WIDTH

LONG = "a_name_of_some_length"


@pytest.mark.parametrize(
    "parsed",
    [
        "traffic t = ubr { pcr = 1 cell/s, connections = 3 }",
        "traffic t = ubr {\n  pcr = 1 cell/s\n  connections = 3\n}",
        "traffic t =\n  ubr { pcr = 1 cell/s,\n\n connections\n = 3, }",
    ],
)
def test_the_old_lines_do_not_matter(laid_out, parsed: str) -> None:
    assert laid_out(parsed) == "traffic t = ubr { pcr = 1 cell/s, connections = 3 }\n"


def test_a_line_is_filled_and_no_more(laid_out) -> None:
    def let(length: int) -> str:
        return f"let {'x' * (length - len('let  = a + b'))} = a + b\n"

    assert laid_out(let(WIDTH)) == let(WIDTH)
    assert laid_out(let(WIDTH + 1)).splitlines()[1:] == ["  a + b"]


def test_a_block_of_more_than_three_is_always_broken(laid_out) -> None:
    assert laid_out("let x = a { b = 1, c = 2, d = 3 }") == "let x = a { b = 1, c = 2, d = 3 }\n"
    broken = "let x = a {\n  b = 1\n  c = 2\n  d = 3\n  e = 4\n}\n"
    assert laid_out("let x = a { b = 1, c = 2, d = 3, e = 4 }") == broken


@pytest.mark.parametrize(
    "head",
    [
        "device d",
        "device d(p: Int)",
        "topology n(p: Int = 1)",
        "test t on n",
        "test t on n(p = 1)",
        "property p",
        'reference r "text"',
    ],
)
def test_the_body_of_a_declaration_is_always_broken(laid_out, head: str) -> None:
    assert laid_out(f"{head} {{ x = 1, y = 2 }}") == f"{head} {{\n  x = 1\n  y = 2\n}}\n"
    assert laid_out(f"{head}\n{{\n}}") == f"{head} {{}}\n"


def test_so_are_the_bodies_of_loops_and_searches_but_not_those_of_a_run_or_goal(in_test) -> None:
    assert in_test("for i in 0 .. 1 { x = i }") == "for i in 0 .. 1 {\n  x = i\n}\n"
    search = "search r in 1 .. 2 {\n  goal ndr { loss = 0 }\n}\n"
    assert in_test("search r in 1 .. 2 { goal ndr { loss = 0 } }") == search
    machine = "machine m {\n  state idle {\n    on call -> busy { after = 1 s }\n  }\n}\n"
    assert in_test("machine m { state idle { on call->busy{after=1 s} } }") == machine
    assert in_test("run { measure = 1 s }") == "run { measure = 1 s }\n"


BROKEN = {
    "parameters, one on a line": f"""
        device d(
          one: Time = 1 us,
          {LONG}: CellRate = 2 cell/min,
          {LONG}_2: Count = 256 cell,
          last: Int
        ) {{
          x = 1
        }}
    """,
    "parameters before a value": f"""
        traffic load(
          rate: CellRate,
          pvcs: Int = 1,
          {LONG}: Time = 1 us,
          {LONG}_2: Int = 2
        ) = other(rate = rate) {{ clp = 1 }}
    """,
    "arguments, before a block": f"""
        test t on bench(
          first = first,
          second = {LONG},
          third = {LONG},
          fourth = {LONG},
        ) {{
          x = 1
        }}
    """,
    "numbers and names fill lines": f"""
        let x = [
          {LONG}, {LONG}, 12.5, -3, 3 cell, -1 s, {LONG}.x, 1,
          2, 3, {LONG}
        ]
    """,
    "other items stand alone": f"""
        let x = [
          "{LONG}",
          "{LONG}{LONG}{LONG}",
          "{LONG}"
        ]
    """,
    "sizes in order": f"""
        let x = mix [
          {LONG}, {LONG}, {LONG}, 40 B, 40 B, 576 B, 40 B,
          40 B, 576 B, 1_500 B
        ] @ip
    """,
    "entries of a map": f"""
        let x = mix {{
          1: {LONG},
          2: {LONG},
          3: [{LONG}, 2, 3],
          4: 44_444_444_444_444_444
        }} @ip
    """,
    "an expression below its name": f"""
        let x =
          {LONG}
          + 2 * ({LONG} - 3) / 12
          - {LONG}
          + {LONG}
    """,
    "operands that are too long, in turn": f"""
        let x =
          {LONG} * {LONG}
            + {LONG} * {LONG}
            + {LONG}
          > {LONG}
    """,
    "within parentheses": f"""
        let x = (
          {LONG}_1
          + {LONG}_2
          + {LONG}_3
          + {LONG}_4
          + 1
        )
    """,
    "a choice": f"""
        let x =
          {LONG}
          if {LONG} > 3 us
          else {LONG} if {LONG} > 1 us else {LONG}
    """,
}


@pytest.mark.parametrize("expected", BROKEN.values(), ids=BROKEN)
def test_what_does_not_fit_is_broken(laid_out, expected: str) -> None:
    wanted = dedent(expected).lstrip("\n").replace(",\n)", "\n)")
    in_one_line = " ".join(wanted.split())
    assert laid_out(wanted) == wanted
    assert laid_out(in_one_line.replace("{ x = 1 }", "{\nx = 1\n}")) == wanted


NAME = "a_longer_name"
CALL = f"traffic.{NAME}(rate = {NAME}, tolerance = 100 us"

STATEMENTS = {
    "a flow goes on below": f"""
        flow f = {CALL})
          from left[0] to right[0]
    """,
    "or behind its arguments": f"""
        flow f = traffic.{NAME}(
          rate = {NAME},
          tolerance = 100 us,
          pvcs = 4_000,
          other = {NAME}
        ) from left[0] to right[0]
    """,
    "a link goes on below": f"""
        link {NAME}.port[12] -- {NAME}.port[12]
          via media.stm1(adapt = aal5_llc) {{ length = 50 km }}
    """,
    "so does a filter": f"""
        sweep x in [{NAME}, {NAME}, {NAME}]
          where x > 1 and x < 2
    """,
    "and a reason": f"""
        skip unless {NAME} > {NAME}
          "because it is so and not in another way"
    """,
    "and a confidence": f"""
        expect prompt: {NAME}.delay.p99 < 1 ms and {NAME}.x > 1
          with 95% confidence
    """,
    "a condition stands below its label": f"""
        expect prompt:
          {NAME}.delay.p99 < 1 ms and {NAME}.delay.p50 > 1 us
          with 95% confidence
    """,
    "without a label it hangs": f"""
        expect {NAME}.delay.p99 + {NAME}.delay.p99
          within 10% of {NAME}
    """,
    "wires go on before an arrow": f"""
        {NAME}.rx -> {NAME} -> {NAME} -> {NAME}
          -> {NAME} -> x.tx
    """,
    "names go on behind a comma": f"""
        port {NAME}_1[4], {NAME}_2, {NAME}_3,
          {NAME}_4: cell
        {NAME}_1, {NAME}_2, {NAME}_3, {NAME}_4,
          {NAME}_5 = host
    """,
    "a range before its signs": f"""
        search rate in 1% of {NAME} + {NAME}
          .. 100% of {NAME}
          step 5% of {NAME} {{
          goal ndr {{ loss = 0 }}
        }}
    """,
}


@pytest.mark.parametrize("expected", STATEMENTS.values(), ids=STATEMENTS)
def test_statements_that_do_not_fit(in_test, monkeypatch, expected: str) -> None:
    """With fewer columns, so that the examples are short."""
    monkeypatch.setattr("qospec.formatting.printer.WIDTH", 74)
    wanted = dedent(expected).lstrip("\n")
    assert in_test(wanted) == wanted


def test_imports_stay_in_order_and_fill_lines(whole) -> None:
    names = [f"library.folder_{n}.file_{n}" for n in range(6)]
    shown = whole(f"qos 1\nimport z, a\nimport {', '.join(names)}\nimport b as c")
    assert shown.splitlines() == [
        "qos 1",
        "import z, a",
        f"import {', '.join(names[:3])},",
        f"  {', '.join(names[3:])}",
        "import b as c",
    ]


def test_what_cannot_be_broken_is_too_long(laid_out) -> None:
    text = f'let x = "{"a" * 200}"\n'
    assert laid_out(text) == text


def test_each_clause_of_a_long_criterion_goes_on_a_line_of_its_own(in_test) -> None:
    what = f"expect {LONG}.delay.mean within 1 us of {LONG}.delay"
    clauses = ("with 95% confidence", "as shape", "when size == 64 B and load >= 90%")
    broken = "".join(f"  {clause}\n" for clause in clauses)
    assert in_test(f"{what} {' '.join(clauses)}") == f"{what}\n{broken}"
    assert in_test(f"{what} {clauses[1]}") == f"{what} {clauses[1]}\n"
    assert in_test(f"{what}\n  {clauses[1]}\n  when\n  x") == f"{what} {clauses[1]} when x\n"


def test_so_does_the_clause_of_a_long_report(in_test) -> None:
    what = f"report ratio: {LONG}.delay.mean / {LONG}.delay.max"
    when = f"when {LONG} == 64 B and load >= 90%"
    assert in_test(f"{what} {when}") == f"{what}\n  {when}\n"


def test_a_clause_that_is_too_long_itself_is_broken(in_test) -> None:
    when = f"{LONG}_{LONG} == 64 B and {LONG}_{LONG} >= 90%"
    assert in_test(f"expect a: f.lost == 0 as exact when {when} and {when}").splitlines() == [
        "expect a: f.lost == 0",
        "  as exact",
        f"  when {LONG}_{LONG} == 64 B",
        f"    and {LONG}_{LONG} >= 90%",
        f"    and {LONG}_{LONG} == 64 B",
        f"    and {LONG}_{LONG} >= 90%",
    ]
