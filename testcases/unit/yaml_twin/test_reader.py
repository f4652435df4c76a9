"""From YAML to the text that says the same, and to its tree."""

from collections.abc import Callable

import pytest

from qospec.diagnostics import Problems
from qospec.formatting.equivalence import is_equivalent
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse as parse_text
from qospec.yaml_twin.reader import parse
from qospec.yaml_twin.shapes import BIND, BLOCK, FILE

Told = Callable[[str], list[str]]
AsText = Callable[[str], str]


def test_each_statement_and_declaration_has_a_shape() -> None:
    shapes = {shape.node for shape in (*BLOCK, *FILE, BIND)}
    assert shapes == {*ast.Statement.__args__, *ast.Declaration.__args__}


def test_comments_and_blank_lines_stay_where_they_are(as_text: AsText) -> None:
    assert as_text("""
        # before
        qos: "1"  # the edition

        ## Of the file.

        import:
          - std.media
          # between
          - bench

        ## Of the group's first.
        let:
          # one
          ## two
          a: 1 s  ## behind

          b: 2 s
        device:
          d:
            # first in the block
            port:
              p: cell
            x: {is: fifo, with: {limit: 1 cell}}  # behind a block
            # last in the block
          # before the next
          e: {}
        # at the end
    """) == (
        "# before\nqos 1  # the edition\n\n## Of the file.\n\n"
        "import std.media,\n# between\nbench\n\n"
        "## Of the group's first.\n# one\n## two\nlet a = 1 s  ## behind\n\nlet b = 2 s\n"
        "device d {\n# first in the block\nport p : cell\nx = fifo {\nlimit = 1 cell\n}"
        "  # behind a block\n# last in the block\n}\n# before the next\ndevice e {\n}\n"
        "# at the end\n"
    )


def test_doc_comments_are_in_the_tree() -> None:
    text = """qos: "1"
## Of the file.

device:
  ## Of the
  ## device.
  d:
    parameters:
      ## Of the parameter,
      n: Int  ## above and behind.
    x: delay  ## Of a statement.
"""
    file = parse(Source("a.yaml", text), Problems())
    assert file is not None
    (device,) = file.declarations
    assert isinstance(device, ast.Device)
    (statement,) = device.body.statements
    assert isinstance(statement, ast.Bind)
    docs = [file.doc, device.doc, device.parameters[0].doc, statement.doc]
    assert docs == [
        "Of the file.", "Of the\ndevice.", "Of the parameter,\nabove and behind.",
        "Of a statement.",
    ]  # fmt: skip


def test_a_node_stands_in_the_yaml_and_says_what_the_text_does() -> None:
    text = "qos: '1'\nlet:\n  a: \"(1 s + \\x32 s) * \\\n    3\"\n  b: 'max(2 s, 1 s)'\n"
    file = parse(Source("a.yaml", text), Problems())
    assert file is not None
    product, call = (declaration.value for declaration in file.declarations)  # type: ignore[union-attr]
    assert product.span.text == "(1 s + 2 s) * 3"
    assert call.span.text == "max(2 s, 1 s)"
    assert text[call.span.start : call.span.end] == "max(2 s, 1 s)"
    whole = file.declarations[0].span.extend_to(call.span)
    assert whole.text.startswith("let a = ")
    assert text[whole.start : whole.end].startswith("a: ")


ORDERS = [
    "test: {t: {run: {measure: 1 s}, on: a}}",
    "test: {t: [{on: a}, {run: {measure: 1 s}}]}",
    "test:\n  t:\n    - on: a\n    - run {measure = 1 s}",
    "test:\n  t:\n  - on: a\n  - |\n    run {\n      measure = 1 s\n    }",
]


@pytest.mark.parametrize("text", ORDERS, ids=range(len(ORDERS)))
def test_a_block_is_a_mapping_or_a_list_of_mappings_and_texts(text: str) -> None:
    one = parse(Source("a.yaml", f"qos: 1\n{text}"), problems := Problems())
    other = parse_text(Source("a.qos", "qos 1\ntest t on a { run { measure = 1 s } }"), problems)
    assert not problems.errors
    assert is_equivalent(one, other)


def test_a_declaration_of_the_text_form_is_shown_in_yaml() -> None:
    parse(Source("a.yaml", "qos: 1\ntest t on wire: {}\n"), problems := Problems())
    [problem] = problems.errors
    assert problem.help == "write `test:`, and the rest as keys below it"


SHAPES = {
    "let: [a]": "2:1 `let` E0016 expected a mapping from names below `let`",
    "let: {a: [1 s]}": "2:7 `a` E0016 expected a text or a mapping below `let`",
    "let: {a: {is: 1 s, whit: {}}}": "2:20 `whit` E0004 `whit`: did you mean `with`?",
    "let: {a: {type: Time}}": "2:7 `a` E0016 the key `is` is missing below `let`",
    "let: {a: {is: [b]}}": "2:11 `is` E0016 a value or a record must be a text",
    "import: std": "2:1 `import` E0016 expected a list of texts below `import`",
    "import: [{a: b}]": "2:10 `{a: b}` E0016 an import must be a text",
    "tets: {}": "2:1 `tets` E0004 `tets`: did you mean `test`?",
    "flow: {}": "2:1 `flow` E0004 unknown declaration `flow`",
    "topology wire: {}": "2:1 `topology wire` E0004 unknown declaration `topology wire`",
    "test t on wire: {}": "2:1 `test t on wire` E0004 unknown declaration `test t on wire`",
    "device: {d: 3}": "2:10 `d` E0016 a block must be a mapping",
    "device: {d: }": "2:10 `d` E0016 a block must be a mapping",
    "device: {d: [[a]]}": "2:14 `[a]` E0016 a block must be a mapping or a list of mappings",
    "device: {d: {parameters: [n]}}": "2:14 `parameters` E0016 expected a mapping from names",
    "device: {d: {prot: {a: cell}}}": "2:14 `prot` E0004 `prot`: did you mean `port`?",
    "device: {d: {odd: {a: cell}}}": "2:20 `a` E0004 unknown key `a`",
    "device: {d: {->: a -> b}}": "2:14 `->` E0016 expected a list below `->`",
    "device: {d: {->: {a: b}}}": "2:14 `->` E0016 expected a list below `->`",
    "device: {d: {->: [[a]]}}": "2:19 `[a]` E0016 expected a text",
    "reference: {r: {}}": "2:13 `r` E0016 the key `title` is missing below `reference`: its keys "
    "are `title`",
    "test: {t: {on: a, run: }}": "2:19 `run` E0016 a block must be a mapping",
    "test: {t: {on: a, expect: b}}": "2:19 `expect` E0016 expected a list or a mapping from labels",
    "test: {t: {on: a, flow: {f: g}}}": "2:26 `f` E0016 expected a mapping below `flow`",
    "test: {t: {on: a, skip: [b]}}": "2:26 `b` E0016 expected a mapping below `skip`",
    "let: {a: }": "2:8 `` E0011 expected a value or a record",
    "let: {'': 1 s}": "2:7 `''` E0011 expected a name",
}


@pytest.mark.parametrize(("text", "expected"), SHAPES.items(), ids=range(len(SHAPES)))
def test_a_value_of_another_shape_is_reported_with_its_place(
    told: Told, text: str, expected: str
) -> None:
    (found,) = told(f'qos: "1"\n{text}')
    assert found.startswith(expected)


@pytest.mark.parametrize("text", ["", "# only a comment", "a", "[]", "{}", "- a", "let: {}"])
def test_a_missing_edition_is_reported_first(told: Told, text: str) -> None:
    assert "E0002 the first key must name the edition" in told(text)[0]


def test_another_edition_is_reported(told: Told) -> None:
    assert told("qos: 2")[0] == "1:6 `2` E0002 edition 2 of the language is not known"
    assert told("qos: [1]")[0] == "1:6 `[1]` E0002 the edition of the language is missing"


def test_one_slip_gives_one_error_and_the_rest_is_read() -> None:
    text = 'qos: "1"\nlet: {a: [1], b: 2 s, c: "(3 s", d: 4 s}\n'
    file = parse(Source("a.yaml", text), problems := Problems())
    assert file is not None
    assert len(problems.errors) == 2
    assert [declaration.name.text for declaration in file.declarations] == ["b", "d"]
    assert {"a", "c"} <= file.unparsed


def test_a_fix_is_offered_where_it_is_a_word_in_any_scalar() -> None:
    text = "qos: '1'\ntest: {t: {on: x, expect: [a = 0], covers: \"['b']\"}}\n"
    parse(Source("a.yaml", text), problems := Problems())
    fixes = [(text[e.span.start : e.span.end], e.text) for d in problems.all for e in d.fix]
    assert fixes == [("=", "==")]
    assert len(problems.errors) == 2
