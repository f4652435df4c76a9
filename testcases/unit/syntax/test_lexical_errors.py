"""What is no token but often written: the words for it, and what stands in its place."""

import pytest

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.syntax.lexical_errors import explain_mismatch, shorten
from qospec.syntax.parser import parse


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("1e3", "1_000"),
        ("1E+3", "1_000"),
        ("1.5e3", "1_500"),
        ("1_0.25e1", "102.5"),
        ("2e-3", "0.002"),
        ("1.5e-1", "0.15"),
        ("120e-1", "12"),
        ("353.207e3", "353_207"),
        ("0e5", "0"),
        ("1e3 s", "1_000 s"),
        ("2.5e1kbit/s", "25kbit/s"),
        ("1e1%", "10%"),
    ],
)
def test_a_number_with_an_exponent_is_written_out(written: str, plain: str) -> None:
    error = explain_mismatch("EXPONENT", written)
    assert error.help == f"write {plain}"
    assert error.word == plain, "and is read as what it means"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1_", "1"),
        ("1__000", "1_000"),
        ("1___0__0", "1_0_0"),
        ("1_ s", "1 s"),
        ("1_000__000kbit/s", "1_000_000kbit/s"),
        ("1.5_", "1.5"),
        ("1_.5", "1.5"),
        ("1.0__5 %", "1.0_5 %"),
    ],
)
def test_what_groups_digits_stands_between_two(written: str, meant: str) -> None:
    problems = Problems()
    file = parse(Source("a.qos", f"qos 1\nlet a = {written}\nlet b = a\n"), problems)
    assert [(problem.message, problem.help, problem.span.text) for problem in problems.all] == [
        ("`_` is only allowed between digits", f"write {meant}", written)
    ]
    assert file is not None
    assert len(file.declarations) == 2, "and is read as what it means"


@pytest.mark.parametrize("written", ["1e99999999999999999999", "1e-300", "1" * 50 + "e2"])
def test_a_number_that_would_be_long_is_not_written_out(written: str) -> None:
    assert (
        explain_mismatch("EXPONENT", written).help
        == "write it out, with a larger unit if it is long"
    )


@pytest.mark.parametrize(
    ("written", "help_"),
    [("0x1F", "write 31"), ("0b101", "write 5"), ("0o17", "write 15"), ("0b3", "write it with")],
)
def test_a_number_of_another_base_is_written_in_decimal(written: str, help_: str) -> None:
    assert explain_mismatch("BASED", written).help.startswith(help_)


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("\u201c", 'write `"`'),
        ("%", "write the number before it, as in `95%`"),
        ("\r", "end lines with a line feed"),
        ("$", ""),
        ("\u2192", "write `->`"),
        ("&", "write `and`"),
        ("|", "write `or`"),
    ],
)
def test_a_stray_character_has_its_own_words(written: str, help_: str) -> None:
    assert explain_mismatch("STRAY", written).help == help_


def test_what_is_quoted_is_short_and_shows_what_is_hidden() -> None:
    assert shorten("a" * 100) == "a" * 39 + "…"
    assert shorten("a\x00\n b\u202e") == "a\ufffd b\ufffd"


def told(text: str) -> list[tuple[str, str]]:
    problems = Problems()
    parse(Source("a.qos", f"qos 1\n{text}\n"), problems)
    return [(problem.code, problem.span.text) for problem in problems.all]


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("let a = $$$ 1 s", [("E0009", "$")]),
        ("let größer = 1 s", [("E0009", "größer")]),
        ("let Ωa = 1 s", [("E0009", "Ωa")]),
        ("let test\u043e = 1 s", [("E0009", "test\u043e")]),
        ("let cafe\u0301s = 1 s", [("E0009", "cafe\u0301s")]),
        ("let a = 1 s\u0435", [("E0009", "\u0435")]),
        ('let a = "x\ry"', [("E0009", "\r")]),
        ("let a = 1\n\rlet b = 2", [("E0009", "\r")]),
        ("# a\rb", [("E0009", "\r")]),
        (
            'let a = "\u00ad\ufffe"  # \ufff9\nlet \u180e',
            [("E0009", "\u00ad"), ("E0009", "\u180e")],
        ),
        ("let a = 1 s # \u202e", [("E0009", "\u202e")]),
        ("let a = \x00\x00 1 s", [("E0009", "\x00")]),
        ("let a = 1 s\r let b = 2 s", [("E0009", "\r"), ("E0006", "let")]),
        ("let a = “x”", [("E0008", "“"), ("E0008", "”")]),
        ('let a = "x', [("E0008", '"x')]),
        ("let a = 1 s // x", [("E0009", "// x")]),
        ("let a = 1.5e3 s", [("E0007", "1.5e3 s")]),
        ("let a = 5. % of b", [("E0007", "5. %")]),
        ("let a = 5.%", [("E0007", "5.%")]),
    ],
)
def test_a_slip_is_reported_once_and_nothing_follows_from_it(
    text: str, mistakes: list[tuple[str, str]]
) -> None:
    assert told(text) == mistakes


def test_a_name_with_a_foreign_letter_keeps_its_others() -> None:
    source = Source("a.qos", "qos 1\nlet delay\u043e = 1 s\n")
    file = parse(source, Problems())
    assert file is not None
    assert [declaration.name.text for declaration in file.declarations] == ["delay\u043e"]
