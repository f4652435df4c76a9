"""YAML's nodes: what is refused, and where."""

from collections.abc import Callable

import pytest

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.yaml_twin.nodes import LEVELS, Mapping, Scalar, compose

Told = Callable[[str], list[str]]
HEAD = 'qos: "1"\n'
BLANK = "E0009 this is not a plain space (U+00A0, no-break space)"
INVISIBLE = "this line contains an invisible character"


def scalars(text: str) -> list[Scalar]:
    """Return all scalars of a text, in order."""
    found = compose(Source("a.yaml", text), Problems())
    assert found is not None
    waiting, scalars = [found.root], []
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, Scalar):
            scalars.append(node)
        elif isinstance(node, Mapping):
            waiting[:0] = [scalar for entry in node.entries for scalar in entry]
        else:
            waiting[:0] = node.items
    return scalars


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_every_scalar_is_text_and_knows_where_it_stands(mark: str, end: str) -> None:
    lines = ["# ü 😀", "no: 012", 'ü😀: "1.10"', "e:", "  - ~", "  - {a: 'x', b: null}"]
    text = mark + end.join(lines)
    found = scalars(text)
    assert [scalar.value for scalar in found] == [
        "no", "012", "ü😀", "1.10", "e", "~", "a", "x", "b", "null",
    ]  # fmt: skip
    assert [text[scalar.start : scalar.end] for scalar in found] == [
        "no", "012", "ü😀", '"1.10"', "e", "~", "a", "'x'", "b", "null",
    ]  # fmt: skip


def test_comments_are_found_between_scalars_and_only_there() -> None:
    text = "# one\na: 'b # no' # two\nc: | # head\n  # no\nd: [e, # three\n  f]\n  # four"
    found = compose(Source("a.yaml", text), Problems())
    assert found is not None
    shown = [text[comment.start : comment.end] for comment in found.comments]
    assert shown == ["# one", "# two", "# head", "# three", "# four"]


FOREIGN = {
    "let: {a: &x 1 s}": "2:10 `&x 1 s` E0013 an anchor (`&`) is not allowed",
    "let: &x {a: 1 s}": "2:6 `&` E0013 an anchor (`&`) is not allowed",
    "let: {a: *x}": "2:10 `*x` E0013 an alias (`*`) is not allowed",
    "let: !t {a: 1 s}": "2:6 `!` E0013 a tag (`!`) is not allowed",
    "let: {a: ! 1 s}": "2:10 `! 1 s` E0013 a tag (`!`) is not allowed",
    "let: {<<: {a: 1 s}}": "2:7 `<<` E0013 a merge key (`<<`) is not allowed",
    "let: {[a]: 1 s}": "2:7 `[` E0013 a key must be a text",
    "--- {a: b}": "2:1 `---` E0013 a second document is not allowed",
    "let: {a: 1 s, a: 2 s}": "2:15 `a` E0014 the key `a` is given twice",
    "let: {a: 1 s, b: 2 s": "2:6 `{` E0015 this `{` is never closed",
    "let: {a: [1, 2}": "2:10 `[` E0015 this `[` is never closed",
    "let: {a: 'b}": "2:10 `'` E0015 this text is never closed",
    "let: a: b": "2:7 `:` E0015 this line has a second `:`",
    "let:\n  a: 1\n   b: 2": "4:5 `:` E0015 the indentation of this line does not fit",
    "let:\n\ta: 1 s": "3:1 `` E0015 this line is indented with a tab",
    "let:\n    a: 1 s\n  b: 2 s": "4:3 `b` E0015 the indentation of this line does not fit",
    "let: {a: @ip}": "2:10 `@` E0015 a text cannot begin with this character",
    "let: {a: \x00}": f"2:10 `\x00` E0009 {INVISIBLE} (U+0000)",
    "let: {a: b} # \u202e": f"2:15 `\u202e` E0009 {INVISIBLE} (U+202E, right-to-left",
    "let: {a: b}\rtest: {}": "2:12 `\r` E0009 a carriage return does not end a line",
    "let:\n \u00a0 a: 1 s": f"3:2 `\u00a0` {BLANK}",
    "let:\n  a:\u00a01 s": f"3:5 `\u00a0` {BLANK}",
    "let:\n  a\u00a0: 1 s": f"3:4 `\u00a0` {BLANK}",
    "let:\n  a: 1\u00a0s": f"3:7 `\u00a0` {BLANK}",
    "let:\n  a: 1 s\n\u00a0 b: 2 s\n  c: 3 s": f"4:1 `\u00a0` {BLANK}",
    "\u00a0\nlet:\n  a: 1 s": f"2:1 `\u00a0` {BLANK}",
    "let:\u00a0\n  a: 1 s": f"2:5 `\u00a0` {BLANK}",
    "# a\u00a0b\nlet:\u00a0{a: 1 s}": f"2:4 `\u00a0` {BLANK}",
    "let: {a: 'f(\"x\u00a0y\")'}": f"2:15 `\u00a0` {BLANK}",
    "let: {} # \u3000": "2:11 `\u3000` E0009 this is not a plain space (U+3000, ideographic space)",
    "let: {a: 'f(\"\u2800\")'}": f"2:14 `\u2800` E0009 {INVISIBLE} (U+2800, braille pattern blank)",
    "l\u0435t: {a: 1 s}": "2:1 `l\u0435t` E0009 `\u0435` (U+0435, cyrillic small letter ie) is not",
    "let: {a: 1 s} #\u00ad": f"2:16 `\u00ad` E0009 {INVISIBLE} (U+00AD, soft hyphen)",
    "let: {a: 1 s} #\uffff": f"2:16 `\uffff` E0009 {INVISIBLE} (U+FFFF)",
    "let: \ud800": f"2:6 `\ud800` E0009 {INVISIBLE} (U+D800)",
}


@pytest.mark.parametrize(("text", "expected"), FOREIGN.items(), ids=range(len(FOREIGN)))
def test_what_the_language_has_no_use_for_is_refused(told: Told, text: str, expected: str) -> None:
    (found,) = told(HEAD + text)
    # PyYAML's two loaders point at an anchored or tagged collection differently.
    assert found.startswith(expected) or expected.partition(" ")[0] == found.partition(" ")[0]
    assert found.partition("E0")[2].startswith(expected.partition("E0")[2])


@pytest.mark.parametrize("text", ["%YAML 1.1\n---\nqos: 1", "%TAG ! x:y\n---\nqos: 1"])
def test_a_directive_is_refused(told: Told, text: str) -> None:
    (found,) = told(text)
    assert "E0013 a directive (`%`) is not allowed" in found


@pytest.mark.parametrize("text", ["---\nqos: 1", "qos: '1'\n...\n", '"qos": "1"', "{qos: 1}"])
def test_a_document_may_be_marked_and_its_edition_in_quotes(told: Told, text: str) -> None:
    assert told(text) == []


@pytest.mark.slow
@pytest.mark.parametrize("opener", ["[", "{a: ", "- ", "? - "])
def test_levels_are_counted_before_anything_recurses(told: Told, opener: str) -> None:
    (found,) = told(opener * 50_000)
    nested = f"E0012 lists and mappings are nested more than {LEVELS} levels"
    by_library = "E0015 this cannot be read as YAML: exceeded maximum nesting depth"  # newer ones
    refusals = (nested, by_library, "E0013 a key must be a text")
    assert any(refusal in found for refusal in refusals)


def test_an_alias_bomb_is_refused_where_it_begins(told: Told) -> None:
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    (found,) = told("a0: &a0 x\n" + "\n".join(lines))
    assert found.startswith("1:5 `&a0 x` E0013")


def test_of_many_equal_keys_no_more_are_reported_than_are_shown(told: Told) -> None:
    assert len(told(HEAD + "let:\n" + "  a: 1 s\n" * 1_000)) == 20


@pytest.mark.slow
@pytest.mark.untraced
def test_what_is_as_yaml_short_enough_may_be_too_long_as_text(told: Told) -> None:
    items = "    - a\n" * 60_000
    (found,) = told(f"qos: 1\ntest:\n  t:\n    on: x\n    expect:\n{items}")
    assert "E0012 as a .qos file this has 5" in found
