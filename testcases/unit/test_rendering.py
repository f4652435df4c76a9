"""The form of a diagnostic, letter by letter."""

from qospec.diagnostics import Diagnostic, Label
from qospec.rendering import render, render_all
from qospec.source import Source, Span

TESTS = Source(
    "tests.qos",
    "\n" * 13
    + "  run { warmup = 2 s, measure = 30 s }\n\n\n\n"
    + "  expect  prompt:  phone.delay.p99 < 1 ms with 95% confidence\n",
)


def span(words: str, source: Source = TESTS) -> Span:
    start = source.text.index(words)
    return Span(source, start, start + len(words))


def shown(text: str, words: str, label: str = "") -> list[str]:
    """Return the lines of the excerpt below the place."""
    where = span(words, Source("a.qos", text))
    return render(Diagnostic("E0001", "wrong", where, label)).split("\n")[2:]


def test_a_diagnostic_shows_message_place_line_mark_notes_and_help() -> None:
    diagnostic = Diagnostic(
        "E0104",
        "`vbr_rt` has no field `sbr`",
        span("warmup"),
        label="did you mean `scr`?",
        notes=("fields of vbr_rt: pcr scr mbs cdvt source",),
        help="write `scr`",
    )
    assert render(diagnostic) == (
        "error[E0104]: `vbr_rt` has no field `sbr`\n"
        "  --> tests.qos:14:9\n"
        "   |\n"
        "14 |   run { warmup = 2 s, measure = 30 s }\n"
        "   |         ^^^^^^ did you mean `scr`?\n"
        "   = note: fields of vbr_rt: pcr scr mbs cdvt source\n"
        "   = help: write `scr`"
    )


def test_another_place_in_the_same_line_is_underlined_beside() -> None:
    diagnostic = Diagnostic(
        "E0203",
        "cannot compare a time with a number of cells",
        span("1 ms"),
        label="this is a count of cells",
        secondary=(Label(span("phone.delay.p99"), "this is a time"),),
    )
    assert render(diagnostic).split("\n")[3:] == [
        "18 |   expect  prompt:  phone.delay.p99 < 1 ms with 95% confidence",
        "   |                    ---------------   ^^^^ this is a count of cells",
        "   |                    this is a time",
    ]


def test_another_line_of_the_file_stands_in_order() -> None:
    diagnostic = Diagnostic(
        "E0507",
        "a confidence of 95% needs at least 5 repeats",
        span("with 95% confidence"),
        secondary=(Label(Span(TESTS, TESTS.text.index("}"), TESTS.text.index("}")), "1 here"),),
        help="add `repeat = 10` to `run`",
    )
    assert render(diagnostic) == (
        "error[E0507]: a confidence of 95% needs at least 5 repeats\n"
        "  --> tests.qos:18:43\n"
        "   |\n"
        "14 |   run { warmup = 2 s, measure = 30 s }\n"
        "   |                                      - 1 here\n"
        "18 |   expect  prompt:  phone.delay.p99 < 1 ms with 95% confidence\n"
        "   |                                           ^^^^^^^^^^^^^^^^^^^\n"
        "   = help: add `repeat = 10` to `run`"
    )


def test_another_file_has_its_own_place() -> None:
    lab = Source("lab.qos", "qos 1\n" * 120 + "let x = 1 s\n")
    diagnostic = Diagnostic(
        "E0102",
        "`x` is already declared",
        span("warmup"),
        secondary=(Label(span("x", lab), "here"),),
    )
    assert render(diagnostic).split("\n")[1:] == [
        "   --> tests.qos:14:9",
        "    |",
        " 14 |   run { warmup = 2 s, measure = 30 s }",
        "    |         ^^^^^^",
        "   ::: lab.qos:121:5",
        "    |",
        "121 | let x = 1 s",
        "    |     - here",
    ]


def test_a_tab_and_wide_and_joined_characters_keep_the_mark_below_the_text() -> None:
    assert shown("\tlet x = 3", "x") == ["   |", " 1 |     let x = 3", "   |         ^"]
    assert shown('let s = "日本" x', "x") == [
        "   |",
        ' 1 | let s = "日本" x',
        "   |                ^",
    ]
    assert shown("let e\u0301 = x", "x") == ["   |", " 1 | let e\u0301 = x", "   |         ^"]


def test_an_empty_span_is_one_mark_wide() -> None:
    source = Source("a.qos", "let x =\n")
    lines = render(Diagnostic("E0011", "a value is missing", Span(source, 7, 7))).split("\n")
    assert lines[3:] == [" 1 | let x =", "   |        ^"]


def test_a_span_over_lines_is_marked_in_its_first() -> None:
    assert shown("device a {\n}\n", "a {\n}")[1:] == [" 1 | device a {", "   |        ^^^"]


def test_a_long_line_is_shown_in_part() -> None:
    lines = shown("a" * 500 + " wrong " + "b" * 500, "wrong")
    assert all(len(line) < 180 for line in lines)
    assert lines[1].index("wrong") == lines[2].index("^^^^^")
    assert lines[1].count("…") == 2


def test_nothing_in_a_text_can_command_the_terminal() -> None:
    text = render_all(
        [Diagnostic("E0001", "bad \x1b[2J\nname", span("x", Source("a\x1b", "\x1bx")))]
    )
    assert "\x1b" not in text
    assert text.count("\n") == 6


def test_a_file_that_could_not_be_read_is_only_named() -> None:
    nowhere = Span(Source("gone.qos", ""), 0, 0)
    assert render(Diagnostic("E0106", "no such file", nowhere)).split("\n")[1:] == [
        "  --> gone.qos"
    ]


def test_colour_changes_nothing_but_colour() -> None:
    import re

    diagnostic = Diagnostic("W0601", "beware", span("warmup"), "here", (Label(span("2 s"), "x"),))
    painted = render(diagnostic, colour=True)
    assert "\x1b[1;33m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render(diagnostic)


def test_all_are_shown_and_counted() -> None:
    found = [Diagnostic("E0001", "first", span("run")), Diagnostic("W0601", "second", span("2 s"))]
    text = render_all(found)
    assert text.startswith("error[E0001]: first")
    assert "\n\nwarning[W0601]: second" in text
    assert text.endswith("\n\n1 error; 1 warning")
    assert render_all([]) == ""


def test_more_than_twenty_are_counted_and_not_shown() -> None:
    found = [Diagnostic("E0001", f"mistake {number}", span("run")) for number in range(25)]
    text = render_all(found)
    assert text.count("error[E0001]") == 20
    assert text.endswith("25 errors, of which 20 are shown")


def test_a_mark_stays_below_its_line_on_a_narrow_terminal() -> None:
    text = "  expect prompt: phone.delay.p99 < 1 parsec with 95% confidence when load == 1\n"
    source = Source("a.qos", text)
    for words in ("expect", "parsec", "load == 1"):
        told = render(Diagnostic("E0001", "wrong", span(words, source)), width=40).split("\n")
        line, mark = told[3:5]
        assert len(line) <= 40
        assert line[mark.index("^") : mark.rindex("^") + 1] == words


def test_on_a_narrow_terminal_words_are_broken_below_themselves() -> None:
    diagnostic = Diagnostic(
        "E0101",
        "nothing here is called so, and nothing is near",
        span("warmup"),
        notes=("what is meant may be somewhere else",),
        help="declare it, or write `something-of-which-no-part-is-a-word`",
    )
    words = [line for line in render(diagnostic, width=40).splitlines() if "|" not in line]
    assert words == [
        "error[E0101]: nothing here is called so,",
        "              and nothing is near",
        "  --> tests.qos:14:9",
        "   = note: what is meant may be",
        "           somewhere else",
        "   = help: declare it, or write",
        "           `something-of-which-no-part-is-a-word`",
    ]
    assert render(diagnostic).splitlines()[0].endswith("called so, and nothing is near")


def test_what_is_not_for_a_terminal_is_never_broken() -> None:
    diagnostic = Diagnostic("E0101", "word " * 50 + "end", span("warmup"))
    assert render(diagnostic).splitlines()[0].endswith("word end")


def test_on_a_narrow_terminal_words_beside_a_mark_go_below_it() -> None:
    diagnostic = Diagnostic(
        "E0203",
        "cannot compare",
        span("1 ms"),
        label="this is a time, and what stands before it is a number of cells",
        secondary=(Label(span("phone.delay.p99"), "a number of cells"),),
    )
    assert render(diagnostic, width=40).split("\n")[3:] == [
        "18 | …elay.p99 < 1 ms with 95% confiden…",
        "   |  --------   ^^^^",
        "   |             this is a time, and",
        "   |             what stands before it",
        "   |             is a number of cells",
        "   |  a number of cells",
    ]
    assert render(diagnostic).split("\n")[4].endswith(f"^^^^ {diagnostic.label}")
    for width in range(34, 120):
        lines = render(diagnostic, width=width).split("\n")
        assert max(map(len, lines)) <= width


def test_words_that_fit_stay_beside_their_mark() -> None:
    diagnostic = Diagnostic("E0104", "wrong", span("warmup"), label="did you mean?")
    assert "   |         ^^^^^^ did you mean?" in render(diagnostic, width=40).split("\n")
    narrow = render(diagnostic, width=29).split("\n")
    assert narrow[-2:] == ["   |         ^^^^^^", "   |         did you mean?"]
