"""From text to tree: one node for each rule, with its span and its doc comment."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from qospec.diagnostics import Problems
from qospec.resources import STDLIB
from qospec.source import Source, Span
from qospec.syntax import ast
from qospec.syntax.parser import parse

NOWHERE = Span(Source("", ""), 0, 0)


def tree(text: str) -> ast.File:
    problems = Problems()
    file = parse(Source("a.qos", text), problems)
    assert problems.all == ()
    assert file is not None
    return file


def declared(text: str) -> ast.Declaration:
    (declaration,) = tree(f"qos 1\n{text}\n").declarations
    return declaration


def stated(text: str) -> ast.Statement:
    test = declared(f"test t on n {{\n{text}\n}}")
    assert isinstance(test, ast.Test)
    (statement,) = test.body.statements
    return statement


def valued(text: str) -> ast.Expression:
    let = declared(f"let x = {text}")
    assert isinstance(let, ast.Let)
    return let.value


def nodes(node: object) -> Iterator[ast.Node]:
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif is_dataclass(node) and isinstance(node, ast.Node):
        yield node
        for field in fields(node):
            yield from nodes(getattr(node, field.name))


def name(text: str) -> ast.Name:
    return ast.Name(text=text, span=NOWHERE)


def path(text: str) -> ast.Path:
    first, *rest = text.split(".")
    return ast.Path(name=name(first), trail=tuple(map(name, rest)), span=NOWHERE)


def quantity(number: str, unit: str) -> ast.Quantity:
    return ast.Quantity(number=number, unit=unit, span=NOWHERE)


def malformed_number(text: str) -> ast.Number:
    return ast.Number(text=text, span=NOWHERE)


def binary(left: ast.Expression, operator: str, right: ast.Expression) -> ast.Binary:
    return ast.Binary(operator=operator, left=left, right=right, span=NOWHERE)


# ---- values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64 kbit/s", quantity("64", "kbit/s")),
        ("4_000cell/s", quantity("4_000", "cell/s")),
        ("0.5   %", quantity("0.5", "%")),
        ("5 µs", quantity("5", "µs")),
        ("12", malformed_number("12")),
        ("1.5", malformed_number("1.5")),
        ('"a # b"', ast.Text(text="a # b", span=NOWHERE)),
        ('""', ast.Text(text="", span=NOWHERE)),
        ("true", ast.Boolean(value=True, span=NOWHERE)),
        ("false", ast.Boolean(value=False, span=NOWHERE)),
        ("otherwise", ast.Otherwise(span=NOWHERE)),
        ("a.b.c", path("a.b.c")),
        ("traffic.voice", path("traffic.voice")),
        ("scheduler.in", path("scheduler.in")),
        ("(a)", path("a")),
        ("[]", ast.ListLiteral(items=(), span=NOWHERE)),
        ("[a, b,]", ast.ListLiteral(items=(path("a"), path("b")), span=NOWHERE)),
        ("f()", ast.Call(path=path("f"), arguments=(), span=NOWHERE)),
    ],
)
def test_a_value_has_its_node(text: str, expected: ast.Expression) -> None:
    assert valued(text) == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a + b - c", "(a + b) - c"),
        ("a + b * c", "a + (b * c)"),
        ("a * b / c of d", "((a * b) / c) of d"),
        ("-a + b", "(-a) + b"),
        ("--a", "-(-a)"),
        ("a or b and not c == d", "a or (b and (not (c == d)))"),
        ("a + 1 < b * 2", "(a + 1) < (b * 2)"),
        ("a if b or c else d if e else f", "a if (b or c) else (d if e else f)"),
        ("a .. b + 1 step c * 2", "(a) .. (b + 1) step (c * 2)"),
        ("5 m @ip * 2", "(5 m @ip) * 2"),
        ("a within 5% of b + c", "(a) within (5%) of (b + c)"),
        ("a in [1] and b", "(a in [1]) and b"),
    ],
)
def test_what_binds_tighter_is_read_first(text: str, same: str) -> None:
    if text.startswith("--"):
        text = text.replace("--", "- -")
    assert valued(text) == valued(same)


def test_a_condition_within_a_range_of_another() -> None:
    expected = ast.Within(
        value=path("a"), tolerance=quantity("5", "%"), target=path("b"), span=NOWHERE
    )
    assert valued("a within 5% of b") == expected


def test_a_path_has_fields_and_indices() -> None:
    index = ast.Index(value=binary(path("i"), "+", malformed_number("1")), span=NOWHERE)
    expected = ast.Path(name=name("p"), trail=(name("q"), index, name("rx")), span=NOWHERE)
    assert valued("p.q[i + 1].rx") == expected


def test_an_argument_may_have_a_name() -> None:
    arguments = (
        ast.Argument(name=None, value=path("a"), span=NOWHERE),
        ast.Argument(name=name("b"), value=malformed_number("1"), span=NOWHERE),
    )
    assert valued("m.f(a, b = 1)") == ast.Call(path=path("m.f"), arguments=arguments, span=NOWHERE)


def test_a_record_is_a_copy_with_changes() -> None:
    bind = ast.Bind(names=(name("on"),), value=quantity("1", "s"), span=NOWHERE)
    body = ast.Body(statements=(bind,), span=NOWHERE)
    expected = ast.Record(base=path("base"), body=body, span=NOWHERE)
    assert valued("base { on = 1 s }") == expected


def test_a_mix_is_a_map_or_a_list_behind_a_word() -> None:
    pair = ast.Pair(key=quantity("40", "B"), value=malformed_number("7"), span=NOWHERE)
    weights = ast.MapLiteral(pairs=(pair,), span=NOWHERE)
    order = ast.ListLiteral(items=(quantity("40", "B"), quantity("40", "B")), span=NOWHERE)
    assert valued("{ 40 B: 7 }") == weights
    assert valued("mix { 40 B: 7, }") == ast.MixLiteral(sizes=weights, span=NOWHERE)
    assert valued("mix [40 B, 40 B,]") == ast.MixLiteral(sizes=order, span=NOWHERE)


def test_a_tuple_stands_in_a_list() -> None:
    row = ast.TupleLiteral(items=(malformed_number("1"), path("a")), span=NOWHERE)
    assert valued("[(1, a), (1, a,)]") == ast.ListLiteral(items=(row, row), span=NOWHERE)


# ---- statements and declarations


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("a, b = host", ast.Bind),
        ("let a: Time = 1 s", ast.Let),
        ("port red[4], black: cell", ast.Port),
        ("a -> b.x -> c[1]", ast.Wire),
        ("link a -- b via media.oc3(adapt = llc) { length = 1 km }", ast.Link),
        ("for i in 0 .. 3 { link a -- b via m }", ast.Loop),
        ("flow f = traffic.voice(calls = 3) { phase = 0 } from a[0] to b", ast.Flow),
        ("sweep (a, b) in [(1, 2)] where a < b", ast.Sweep),
        ("control bare = lab.bench(ports = 1)", ast.Control),
        ("search r in 1% .. 100% { goal ndr { loss = 0 } }", ast.Search),
        ("run { measure = 1 s, repeat = 3 }", ast.Run),
        ("expect clean: f.lost == 0 with 95% confidence", ast.Criterion),
        ("invariant f.lost == 0", ast.Criterion),
        ("report label: f.delay", ast.Report),
        ("report [f.delay, f.lost]", ast.Report),
        ("forall t: Time in 0 us .. 1 ms", ast.ForAll),
        ('skip unless a == 1 "not here"', ast.Skip),
    ],
)
def test_a_statement_has_its_node(text: str, node: type[ast.Node]) -> None:
    statement = stated(text)
    assert isinstance(statement, node)
    assert statement.span.text == text


def test_a_criterion_keeps_kind_label_and_confidence() -> None:
    criterion = stated("require offered: a > b with 95% confidence")
    assert isinstance(criterion, ast.Criterion)
    assert (criterion.kind, criterion.label) == ("require", name("offered"))
    assert criterion.confidence == quantity("95", "%")
    bare = stated("expect a")
    assert isinstance(bare, ast.Criterion)
    assert (bare.label, bare.confidence) == (None, None)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("let a = 1 s", ast.Let),
        ("traffic voice(calls: Int = 1) = cbr { pcr = 1 cell/s }", ast.Traffic),
        ("device box(a: Int, b: Int) { port p: cell }", ast.Device),
        ("topology lab { a = host }", ast.Topology),
        ("test t on lab(a = 1) { run { measure = 1 s } }", ast.Test),
        ("property p { forall a in b }", ast.Property),
        ('reference r "EANTC 2006" { a = 1 s }', ast.Reference),
    ],
)
def test_a_declaration_has_its_node(text: str, node: type[ast.Node]) -> None:
    declaration = declared(text)
    assert isinstance(declaration, node)
    assert declaration.span.text == text


def test_a_file_has_edition_imports_and_declarations() -> None:
    file = tree("qos 1\nimport std.media, traffic as load\nimport lab\nlet a = 1 s\n")
    assert file.edition == 1
    assert [imported.name for imported in file.imports] == ["media", "load", "lab"]
    assert [part.text for part in file.imports[0].path] == ["std", "media"]
    assert len(file.declarations) == 1
    assert file.unparsed == frozenset()


def test_a_file_may_hold_nothing() -> None:
    assert tree("qos 1").declarations == ()


def test_trees_are_equal_wherever_they_stand() -> None:
    first = tree("qos 1\nlet a=1 s\n")
    second = tree("# words\nqos 1\n\n## more\nlet   a =\n  1 s # words\n")
    assert first == second
    assert first != tree("qos 1\nlet a = 1 ms\n")


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    text = "qos 1\n\n## doc\nlet a = 1 s\nlet b = 2 s\n"
    for other in (text.replace("\n", "\r\n"), "\ufeff" + text):
        file = tree(other)
        assert file == tree(text)
        assert file.declarations[0].doc == "doc"
        assert file.declarations[1].span.text == "let b = 2 s"


@pytest.mark.slow
def test_every_node_spans_what_it_was_read_from() -> None:
    """What a node spans lies within its parent's span, and read alone it is the same node."""
    for file_path in STDLIB.rglob("*.qos"):
        file = tree(file_path.read_text(encoding="utf-8"))
        for node in nodes(file):
            assert node.span.start < node.span.end
            assert node.span.text == node.span.text.strip()
            inner = [child for field in fields(node) for child in nodes(getattr(node, field.name))]
            assert all(
                node.span.start <= child.span.start and child.span.end <= node.span.end
                for child in inner
            )
    assert valued(valued("a +  b * (c)").span.text) == valued("a + b * c")


# ---- doc comments


DOCUMENTED = """\
## Above the first line.
qos 1

## Two lines
##  on a value.
let a = 1 s   ## and one behind

## This stands apart, and is nobody's.

# A plain comment does not part them.
## On a device.
# So it is here.
device box(
  speed: Rate = 1 bit/s,  ## measured
  ## Above a parameter.
  size: Data = 1 B
  third: Int  ## the last
) {
  port p: cell  ## both ways
  ## On an element.
  queue = fifo { limit = 3 cell }  ## as printed
}
"""


def test_a_doc_comment_belongs_to_what_it_stands_above_or_behind() -> None:
    file = tree(DOCUMENTED)
    value, device = file.declarations
    assert isinstance(device, ast.Device)
    assert file.doc == "Above the first line."
    assert value.doc == "Two lines\n on a value.\nand one behind"
    assert device.doc == "On a device."
    assert [parameter.doc for parameter in device.parameters] == [
        "measured",
        "Above a parameter.",
        "the last",
    ]
    docs = [
        statement.doc
        for statement in device.body.statements
        if isinstance(statement, ast.Documented)
    ]
    assert docs == ["both ways", "On an element.\nas printed"]


def test_a_doc_comment_has_no_key_in_it() -> None:
    key = "00112233445566778899aabbccddeeff"
    file = tree(f"qos 1\n\n## With {key}.\n\n## Uses {key} so far.\nlet a = 1 s\n")
    assert file.doc == f"With {32 * '*'}."
    assert file.declarations[0].doc == f"Uses {32 * '*'} so far."


@pytest.mark.parametrize(
    "text",
    [
        "qos 1\n\n## Of the file.\n\n## Of the value.\nlet a = 1 s\n",
        "qos 1\n## Of the file.\nimport std.media\n\n## Of the value.\nlet a = 1 s\n",
        "## Of the file.\nqos 1\n\n## Nobody's.\n\n## Of the value.\nlet a = 1 s\n",
    ],
)
def test_a_file_is_documented_at_its_top(text: str) -> None:
    file = tree(text)
    assert file.doc == "Of the file."
    assert file.declarations[0].doc == "Of the value."


def test_a_text_of_one_line_by_its_carriage_returns_is_reported_once() -> None:
    problems = Problems()
    assert parse(Source("a.qos", "qos 1\rlet a = 1 s\rlet b = = 2 s\r"), problems) is None
    assert [(problem.code, problem.span.start) for problem in problems.all] == [("E0009", 5)]


def test_a_carriage_return_in_a_comment_is_reported_but_not_before_a_line_end():
    told = Problems()
    parse(Source("a.qos", "qos 1\r\nlet a = 1 s  # one\r two\r\nlet b = 2 s  # three\r\n"), told)
    (problem,) = told.all
    assert (problem.code, problem.span.start) == ("E0009", 25)
    assert problem.message == "a carriage return does not end a line"
