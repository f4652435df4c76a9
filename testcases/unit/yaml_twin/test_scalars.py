"""Scalars: where each of their characters stands, and what does not stay in its place."""

from collections.abc import Callable

import pytest

Told = Callable[[str], list[str]]

STYLES = {
    "plain": "a: 1 s + ü",
    "single": "a: '1 s + ü'",
    "double": 'a: "1 s + ü"',
    "escaped quotes": 'a: "\\"x\\" + ü"',
    "doubled quotes": "a: '(1 s) + ''''ü'",
    "on two lines": "a: 1 s\n    + ü",
    "folded": "a: >-\n    1 s +\n\n    ü",
    "literal": "a: |\n    1 s\n    + ü",
    "quoted on two lines": 'a: "1 s \\\n    + ü"',
}


@pytest.mark.parametrize("entry", STYLES.values(), ids=STYLES)
def test_a_mistake_is_shown_at_its_very_character(told: Told, entry: str) -> None:
    text = f"# ü😀\nqos: '1'\nlet:\n  {entry}\n"
    (found, *_) = [message for message in told(text) if "`ü` (U+00FC, latin" in message]
    offset = text.rindex("ü")
    line = text.count("\n", 0, offset) + 1
    assert found.startswith(f"{line}:{offset - text.rfind(chr(10), 0, offset)} `ü` E0009")


def test_with_other_escapes_it_is_shown_at_the_scalar(told: Told) -> None:
    (found,) = told('qos: "1"\nlet: {a: "1 s + \\u00fc"}')
    assert found.startswith('2:10 `"1 s + \\u00fc"` E0009')


ESCAPES = {
    "let: {a: '1 s, b = 2 s'}": "`,` E0001 unexpected `,`",
    "let: {a: 1 s # b\n}": "",
    "let: {a: '1 s # b'}": "`# b` E0017 a comment cannot be inside a value",
    "let: {a: '(1 s'}": "`(` E0003 this `(` is never closed",
    "let: {a: '1 s)'}": "`)` E0003 this `)` closes nothing",
    "let: {a: '[1 s)'}": "`)` E0003 this `)` closes nothing",
    "let: {a: '1 s } let b = 2 s {'}": "`}` E0003 this `}` closes nothing",
    "let: {a: '\"b'}": '`"b` E0008 this text is never closed',
    "let: {a: \"1 s\\nlet b = 2 s\"}": "E0006 a declaration must begin on a new line",
    "let:\n  a: |\n    1 s\n    let b = 2 s\n": "`let` E0017 expected a value or a record, found",
    "let: {'a: Time': 1 s}": "`a: Time` E0017 `a: Time` is not a name",
    "let: {a: {type: 'Time = 1 s', is: 1 s}}": "`Time = 1 s` E0017",
    "traffic: {'a(n: Int)': ubr}": "`a(n: Int)` E0017",
    "traffic: {a: {parameters: {n: 'Int, m: Int'}, is: b}}": "`,` E0017",
    "traffic: {a: {is: b, with: {'let c': 1 s}}}": "`let` E0017",
    "traffic: {a: {is: b, with: {c: '1 s, d = 2 s'}}}": "`,` E0017",
    "topology: {t: {link: [a -- b via c, 'a -- b via c, d -> e']}}": "`,` E0017",
    "topology: {t: {->: ['a -> b, c -> d']}}": "`,` E0017",
    "test: {t: {on: a, sweep: {b: '[1] where b > 0'}}}": "`where` E0017",
    "test: {t: {on: a, flow: {b: {is: c from d to e, from: f, to: g}}}}": "`from`",
    "test: {t: {on: a, expect: ['b: c == 1']}}": "`:` E0017",
    "test: {t: {on: a, expect: {b: c == 1 with 95% confidence}}}": "",
    "reference: {r: {title: 'a \" b'}}": "`'a \" b'` E0008 a text cannot contain `\"`",
    "reference: {r: {title: \"a\\nb\"}}": "E0008 a text must be on one line",
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ESCAPES.items(), ids=range(len(ESCAPES)))
def test_no_scalar_leaves_its_place(told: Told, text: str, expected: str) -> None:
    found = told(f'qos: "1"\n{text}')
    if expected:
        assert expected in found[0], found
    else:
        assert found == []


def test_a_literal_scalar_has_lines_and_comments(as_text: Callable[[str], str]) -> None:
    text = as_text("""
        qos: "1"
        let:
          a: |
            (1 s  # one
              # two
              + 2 s)  # three
          b: 1 s
    """)
    assert text == (
        "qos 1\nlet a = (1 s  # one\n  # two\n  + 2 s)  # three\nlet b = 1 s\n"
    )  # fmt: skip


@pytest.mark.parametrize("style", [">", ">-", "|", "|-", "|2-"])
def test_a_comment_behind_the_sign_of_a_block_is_kept(
    as_text: Callable[[str], str], style: str
) -> None:
    text = as_text(f"""
        qos: "1"
        let:
          a: {style} # one
            1 s
          # two
          b: 2 s
    """)
    assert text == "qos 1\nlet a = 1 s  # one\n# two\nlet b = 2 s\n"
