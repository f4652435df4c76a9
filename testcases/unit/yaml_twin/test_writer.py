"""From text to YAML: the one form in which each statement is written."""

from collections.abc import Callable

import pytest

from qospec.diagnostics import Problems
from qospec.formatting import MeaningChangedError
from qospec.source import Source
from qospec.yaml_twin import writer
from qospec.yaml_twin.layout import quote
from qospec.yaml_twin.writer import write_yaml

AsYaml = Callable[[str], str]


def test_statements_of_one_kind_stand_together_in_order(as_yaml: AsYaml) -> None:
    assert as_yaml("""
        qos 1
        import std.media, bench as b

        topology two(n: Int = 2) {
          a, b = host(count = n)
          link a -- b via m
          link b -- c via m { length = 1 km }
          for i in 0 .. 3 { x -> y }
        }
        test t on two {
          flow f = v { n = 1 } from a[0] to b
          flow g = v from a to b
          run { measure = 1 s }
          expect f.lost == 0
          expect quick: f.delay.max < 1 ms with 95% confidence
          report f.lost
          skip unless n == 1 "it's so"
        }
    """) == (
        'qos: "1"\n'
        "import: [std.media, bench as b]\n\n"
        "topology:\n"
        "  two:\n"
        "    parameters: {n: Int = 2}\n"
        "    a, b: host(count = n)\n"
        "    link:\n"
        "      - a -- b via m\n"
        "      - {between: b -- c, via: m, with: {length: 1 km}}\n"
        "    for:\n"
        "      i in 0 .. 3:\n"
        "        ->:\n"
        "          - x -> y\n\n"
        "test:\n"
        "  t:\n"
        "    on: two\n"
        "    flow:\n"
        "      f: {is: v, with: {n: 1}, from: 'a[0]', to: b}\n"
        "      g: {is: v, from: a, to: b}\n"
        "    run: {measure: 1 s}\n"
        "    expect:\n"
        "      - f.lost == 0\n"
        "      - quick: f.delay.max < 1 ms with 95% confidence\n"
        "    report:\n"
        "      - f.lost\n"
        "    skip:\n"
        "      - {unless: n == 1, because: it's so}\n"
    )


def test_where_a_keyword_comes_again_the_file_is_a_list(as_yaml: AsYaml) -> None:
    text = "qos 1\nlet a = 1 s\ntraffic b = c\nlet d = 2 s\n"
    assert as_yaml(text) == (
        '- qos: "1"\n\n  let:\n    a: 1 s\n  traffic:\n    b: c\n- let:\n    d: 2 s\n'
    )


def test_so_it_is_where_a_name_comes_again(as_yaml: AsYaml) -> None:
    text = "qos 1\nlet a = b { c = 1, c = 2 }\nlet a = 3\n"
    assert as_yaml(text) == (
        '- qos: "1"\n\n  let:\n    a:\n      is: b\n      with:\n        - c: 1\n        - c: 2\n'
        "- let:\n    a: 3\n"
    )


def test_a_statement_with_the_name_of_a_head_stands_in_a_later_item(as_yaml: AsYaml) -> None:
    text = 'qos 1\n\nreference r "x" { title = 1 }\n\ndevice d { parameters = delay }\n'
    assert as_yaml(text) == (
        'qos: "1"\n\nreference:\n  r:\n    - title: x\n    - title: 1\n\n'
        "device:\n  d:\n    - {}\n    - parameters: delay\n"
    )


def test_comments_stand_where_they_did(as_yaml: AsYaml) -> None:
    text = """# a
qos 1  # b

## Of the file.

# c
let x = 1 s  # d

device d(
  n: Int = 1,  ## e
  # f
  m: Time  # g
) {
  # h
  y = z  # i
  # j
}
# k
"""
    assert (
        as_yaml(text)
        == """# a
qos: "1"  # b

let:
  ## Of the file.

  # c
  x: 1 s  # d

device:
  d:
    parameters:
      n: Int = 1  ## e
      # f
      m: Time  # g
    # h
    y: z  # i
    # j
# k
"""
    )


def test_a_comment_behind_a_brace_stands_at_the_head(as_yaml: AsYaml) -> None:
    assert as_yaml("""
        qos 1
        test t on two {  # first
          run {  # inside
            measure = 1 s
          }
          search rate in 1 .. 3 {  # for this
            goal ndr { loss = 0 }
          }
        }
        reference title "Table 5" {  # as printed
          loss = 5%
        }
    """) == (
        'qos: "1"\n\n'
        "test:\n"
        "  t:  # first\n"
        "    on: two\n"
        "    run:  # inside\n"
        "      measure: 1 s\n"
        "    search:\n"
        "      rate:  # for this\n"
        "        in: 1 .. 3\n"
        "        goal:\n"
        "          ndr: {loss: 0}\n\n"
        "reference:\n"
        "  title:  # as printed\n"
        "    title: Table 5\n"
        "    loss: 5%\n"
    )


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_comment_above_the_edition_keeps_its_distance(as_yaml: AsYaml, gap: str) -> None:
    assert as_yaml(f"# a file{gap}qos 1\n") == f'# a file{gap}qos: "1"\n'


def test_comments_without_a_place_keep_their_statement_as_text(as_yaml: AsYaml) -> None:
    text = "qos 1\n\ndevice d {\n  x = z\n  port p:  # here\n    cell\n}\n"
    assert as_yaml(text) == (
        'qos: "1"\n\ndevice:\n  d:\n    - x: z\n    - |-\n      port p:  # here\n        cell\n'
    )


def test_a_block_with_comments_behind_both_braces_is_text(as_yaml: AsYaml) -> None:
    text = "qos 1\n\ntest t on two {\n  run {  # one\n    measure = 1 s\n  }  # two\n}\n"
    assert as_yaml(text) == (
        'qos: "1"\n\ntest:\n  t:\n    - on: two\n'
        "    - |-\n      run {  # one\n        measure = 1 s\n      }  # two\n"
    )


@pytest.mark.parametrize("head", ["", "()", "(n: Int)", " = b", " on c", "() = b on c"])
@pytest.mark.parametrize("block", ["", " {}"])
def test_a_test_without_statements_keeps_its_block_or_has_none(
    as_yaml: AsYaml, head: str, block: str
) -> None:
    """As keys it has `{}` if it has nothing else, so it is text where that would be wrong."""
    written = as_yaml(f"qos 1\ntest bare{head}{block}\n")
    assert ("test bare" in written) == (bool(head) == bool(block))


def test_a_bare_test_among_others_leaves_them_keys(as_yaml: AsYaml) -> None:
    text = "qos 1\nlet a = 1\n\n# why\ntest bare  # so\n\ntest t on b\n"
    assert as_yaml(text) == (
        '- qos: "1"\n\n  let:\n    a: 1\n\n# why\n- |-\n  test bare  # so\n\n'
        "- test:\n    t: {on: b}\n"
    )


def test_a_value_with_comments_keeps_its_lines(as_yaml: AsYaml) -> None:
    text = "qos 1\n\nlet a = [\n  1 s,  # one\n  2 s\n]  # two\n"
    assert as_yaml(text) == (
        'qos: "1"\n\nlet:\n  a: |-\n    [\n      1 s,  # one\n      2 s\n    ]  # two\n'
    )


def test_an_import_with_comments_may_name_files_like_keywords(as_yaml: AsYaml) -> None:
    text = "qos 1\nimport\n\n## four\n\ntraffic, traffic as load\n"
    assert as_yaml(text) == (
        'qos: "1"\nimport:\n  - |-\n\n    ## four\n\n    traffic, traffic as load\n'
    )


@pytest.mark.parametrize("body", ["a = host", "port p: cell", "a = delay"])
def test_a_key_too_long_for_yaml_is_marked(as_yaml: AsYaml, body: str) -> None:
    """What is written is read again, or it would be an error."""
    names = ", ".join(f"name_{number}" for number in range(200))
    text = body.replace("a =", f"{names} =").replace("p:", f"{names}:")
    shown = as_yaml(f"qos 1\n\ndevice d {{\n  {text}\n}}\n")
    assert "? name_0, name_1" in shown


PLAIN = ["a", "a.b[0]", "1 s", "a -> b", "->", "-a", "(a, b)", "a == 'b'", "50% .. 80%"]
IN_QUOTES = [
    "", " a", "a ", "[a]", "{a}", '"a"', "'a'", "- a", "? a", ": a", "a: b", "a:", "a #b", "#a",
    "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "<<", "a\tb", "---", "...",
]  # fmt: skip
IN_QUOTES_WHERE_IT_FLOWS = ["a, b", "a[0]", "a}", "-a", "?a"]


@pytest.mark.parametrize("text", PLAIN)
def test_what_needs_no_quotes_has_none(text: str) -> None:
    assert quote(text, flow=False) == text


@pytest.mark.parametrize("text", IN_QUOTES)
def test_what_yaml_would_read_otherwise_is_in_quotes(text: str) -> None:
    assert quote(text, flow=False) == "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize("text", IN_QUOTES_WHERE_IT_FLOWS)
def test_in_a_flow_more_is(text: str) -> None:
    assert quote(text, flow=False) == text
    assert quote(text, flow=True) == f"'{text}'"


def test_what_would_say_something_else_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "render", lambda _: 'qos: "1"\nlet: {a: 2 s}\n')
    with pytest.raises(MeaningChangedError, match="as YAML the file would say something else"):
        write_yaml(Source("a.qos", "qos 1\nlet a = 1 s\n"), Problems())


def test_several_lines_behind_a_head_of_several_lines_close_at_their_margin() -> None:
    names = ", ".join(f"variable_{n}" for n in range(20))
    rows = "[\n(1, 2),  # one\n(3, 4)\n]"
    transcription = write_yaml(
        Source("a.qos", f"qos 1\ntest t on line {{\nsweep ({names}) in {rows}\n}}\n"), Problems()
    )
    assert transcription is not None
    assert transcription.endswith(
        "|-\n        [\n          (1, 2),  # one\n          (3, 4)\n        ]\n"
    )
