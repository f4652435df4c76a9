"""Comments stay where they belong, and blank lines between statements stay, one at a time."""

from textwrap import dedent

import pytest

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.syntax.parser import parse


def test_comments_stay_above_behind_and_at_the_end(laid_out) -> None:
    text = dedent("""\
        # above
        ## doc
        device d(
          # of a parameter
          a: Int = 1,  ## behind it
          b: Int  # the last
          # before the end
        ) {  # behind the brace
          # above a statement
          x = fifo { limit = a }  # behind a statement
          y = fifo {
            limit = 1  # within
            # at the end of a block
          }

          # at the end of the body
        }  # behind it all

        # at the end of the file
    """)
    assert laid_out(text) == text


def test_two_blanks_stand_before_a_comment_behind(laid_out) -> None:
    assert laid_out("let a = 1 s# x \t\n") == "let a = 1 s  # x\n"


@pytest.mark.parametrize(
    ("parsed", "shown"),
    [
        ("a { b = 1, # x\nc = 2 }", "a {\n  b = 1  # x\n  c = 2\n}"),
        ("a { b = 1 # x\n, c = 2 }", "a {\n  b = 1  # x\n  c = 2\n}"),
        ("f(1, # x\n2)", "f(\n  1,  # x\n  2\n)"),
        ("f(1 # x\n, 2)", "f(\n  1,  # x\n  2\n)"),
        ("f(1, 2, # x\n)", "f(\n  1,\n  2  # x\n)"),
        ("f(1 # x\n, # y\n2)", "f(\n  1  # x\n  ,  # y\n  2\n)"),
        ("f(1\n# x\n, 2)", "f(\n  1\n  # x\n  ,\n  2\n)"),
        ("[1, # x\n2, 3]", "[\n  1,  # x\n  2,\n  3\n]"),
        ("{1: 2, # x\n3: 4}", "{\n  1: 2,  # x\n  3: 4\n}"),
        ("f(# x\n1)", "f(  # x\n  1\n)"),
        ("f(1\n# x\n)", "f(\n  1\n  # x\n)"),
        ("a { # x\n}", "a {  # x\n}"),
        ("a {\n# x\n}", "a {\n  # x\n}"),
        ("1 s # x\n+ 2 s", "\n  1 s  # x\n  + 2 s"),
        ("(1 s # x\n+ 2 s)", "(\n  1 s  # x\n  + 2 s\n)"),
        ("# x\n1 s", "  # x\n  1 s"),
        ("\n# x\n1 s", "\n  # x\n  1 s"),
        ("a # x\n.b", "a  # x\n  .b"),
        ("a[1 # x\n]", "a[1  # x\n  ]"),
    ],
)
def test_a_comment_within_a_value_breaks_it(laid_out, parsed: str, shown: str) -> None:
    assert laid_out(f"let x = {parsed}\n") == f"let x = {shown}\n".replace("=   #", "=  #").replace(
        "= \n", "=\n"
    )


def test_blank_lines_between_statements_stay_but_one_at_a_time(in_test) -> None:
    text = "\n\n\na = 1\n\n\n\n# x\n\n\n# y\nb = 2\nc = 3\n\n# z\n\n"
    assert in_test(text) == "a = 1\n\n# x\n\n# y\nb = 2\nc = 3\n\n# z\n"


def test_blank_lines_between_parameters_stay_where_they_are_broken(laid_out) -> None:
    text = "topology t(\n  a: Int = 1,  # x\n\n  b: Int = 2\n) {}\n"
    assert laid_out(text) == text
    assert laid_out(text.replace("# x", "")) == "topology t(a: Int = 1, b: Int = 2) {}\n"


def test_declarations_with_a_body_stand_apart_and_others_as_they_were(whole) -> None:
    text = """qos 1
import a
## doc
let a = 1
let b = 2

let c = 3
# about the test
test t on n { x = 1 }
let d = 4
test u on n { x = 1 }
test v on n { x = 1 }
"""
    body = "{\n  x = 1\n}"
    assert (
        whole(text)
        == f"""qos 1
import a

## doc
let a = 1
let b = 2

let c = 3

# about the test
test t on n {body}

let d = 4

test u on n {body}

test v on n {body}
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        "## of the file\nqos 1\n",
        "qos 1\n\n## of the file\n\n## of a\nlet a = 1\n",
        "qos 1\n## of the file\nimport b\n",
        "qos 1\n## by itself\n\n\n## of a\n\n# of nothing\nlet a = 1 s\n",
        "qos 1\ndevice d(a: Int ## of a\nb: Int, ## of b\n## of c\nc: Int) { x = 1 }\n",
        "qos 1\ndevice d {\n## of x\nx = 1, ## and x\n}\n",
        "qos 1\nlet x = f(\n## of nothing\n\n1)\n",
        "qos 1\nlet y = a {\n## of b\nb = 1\n## of nothing\n, c = 2 }\n",
    ],
)
def test_doc_comments_belong_to_what_they_belonged_to(whole, text: str) -> None:
    def documented(source: str) -> str:
        tree = parse(Source("a.qos", source), Problems())
        assert tree is not None
        found, waiting = [], [tree]
        while waiting:
            node = waiting.pop()
            found.append(f"{type(node).__name__}: {getattr(node, 'doc', '')!r}")
            for value in vars(node).values():
                waiting.extend(value if isinstance(value, tuple) else ())
                waiting.extend([value] if hasattr(value, "span") else ())
        return "\n".join(found)

    assert documented(whole(text)) == documented(text)
