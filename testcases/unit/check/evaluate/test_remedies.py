"""Remedies in messages: what to write instead, of each mistake with numbers and units."""

from __future__ import annotations

import pytest

from qospec.cli.commands.listing import HELP

OF_CELLS = "write `53 Mbit/s @cell`: a cell has 48 B @payload and 53 B @cell"
LAB = """
topology lab {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic calls = cbr { pcr = 1_000 cell/s, cdvt = 10 us }
"""

DEVICE = """
device d {
  port w, e: cell
  w.rx -> e.tx
  e.rx -> w.tx
}
"""


def criterion(text: str) -> str:
    flow = "flow f = calls from a to b"
    return f"{LAB}test t on lab {{\n  {flow}\n  run {{ measure = 1 s }}\n  expect {text}\n}}"


def searched(fields: str, more: str = "") -> str:
    return f"""{LAB}
traffic load(rate: CellRate) = ubr {{ pcr = rate }}
test knee on lab {{
  search rate in 1 cell/s .. 100 cell/s {{ {fields} }}
  flow f = load(rate = rate) from a to b
  {more}
  expect ndr.rate > 5 cell/s
}}
"""


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("let a = cbr { pcr = 1_000, cdvt = 1 ms }", "write `1_000 cell/s`"),
        ("let a = cbr { pcr = 10 * 3, cdvt = 1 ms }", "give it a unit, such as `cell/s`"),
        ("let a = cbr { pcr = 1 cell/s, cdvt = 3 }", "write `3 us`, `3 ms` or `3 s`"),
        ("let a = line { rate = 3 }", "write `3 kbit/s @cell` or `3 Mbit/s @cell`"),
    ],
)
def test_a_field_without_a_unit_is_offered_the_usual_ones(checked, text, help_):
    topology = text.replace("let a =", "topology t { a, b = host\n  link a -- b via") + " }"
    [problem] = checked(topology if "line" in text else text.replace("let a", "traffic a"))[1]
    assert (problem.code, problem.help) == ("E0202", help_)


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("f.lost < 1000", "write `1000 cell`"),
        ("f.delay.p99 < 3", "write `3 us`, `3 ms` or `3 s`"),
        ("f.lost < 10 * 3", "give it a unit, such as `cell`"),
    ],
)
def test_a_bound_without_a_unit_is_offered_the_usual_ones(checked, text, help_):
    [problem] = checked(criterion(text))[1]
    assert (problem.code, problem.help) == ("E0203", help_)


@pytest.mark.parametrize(
    ("text", "what", "way_out"),
    [
        ("f.delay.p99", "a time", "f.delay.p99 < 1 ms"),
        ("f.lost", "a number of cells", "f.lost == 0"),
        ("f.clr", "a number", "f.clr < 1%"),
        ("f.throughput", "a cell rate", "f.throughput > 0"),
        ("2", "a number", "2 > 0"),
    ],
)
def test_a_quantity_as_a_criterion_is_named_and_compared(checked, text, what, way_out):
    [problem] = checked(criterion(text))[1]
    assert problem.message == f"expected a condition, found {what}"
    assert problem.help == f"compare it, as in `{way_out}`"


@pytest.mark.parametrize(
    ("text", "code", "help_"),
    [
        (
            "let a = 5\nlet b = a { x = 3 }",
            "E0104",
            "remove the braces, or write a kind in place of what is before them",
        ),
        (
            "traffic a = packets { rate = 1 pkt/s, size = mix [40 B @ip, 576 B @frame] }",
            "E0212",
            "count each of them `@frame`",
        ),
        (
            f"{DEVICE}topology t {{\n  x = d\n  let r = x.w.rate\n}}",
            "E0422",
            "link it, as in `link x.w -- … via media.stm1`, or write the rate",
        ),
        (
            f"{DEVICE.replace('cell', 'packet')}topology t {{\n  x = d\n  let r = x.w.rate\n}}",
            "E0422",
            "link it, as in `link x.w -- … via media.fast_ethernet`, or write the rate",
        ),
        (
            "test t(rate: Rate @frame) { }\ntest u = t(rate = 20 Mbit/s @ip)",
            "E0212",
            (
                "write `20.703125 Mbit/s @frame`, if all have 512 B @ip: "
                "a packet on Ethernet has 18 B more there"
            ),
        ),
        # 512 / (512 - 18), and 1_000 / (1_000 - 18)
        (
            (
                "test t(rate: Rate @frame) { }\ntest u = t(rate = 20 Mbit/s @ip) {\n"
                "  flow f = packets { rate = 1 pkt/s, size = 512 B @frame } from a to b\n}"
            ),
            "E0212",
            (
                "write `(20 Mbit/s * 256 / 247) @frame`: "
                "each packet on Ethernet has 494 B @ip and 512 B @frame"
            ),
        ),
        (
            (
                "test t(rate: Rate @frame) { }\ntest u = t(rate = 20 Mbit/s @ip) {\n"
                "  flow f = packets { rate = 1 pkt/s, size = 1_000 B @frame } from a to b\n}"
            ),
            "E0212",
            (
                "write `(20 Mbit/s * 500 / 491) @frame`: "
                "each packet on Ethernet has 982 B @ip and 1000 B @frame"
            ),
        ),
        (
            "test t(size: Data @frame) { }\ntest u = t(size = 40 B @ip)",
            "E0212",
            "write `64 B @frame`: a packet on Ethernet has 18 B more there",
        ),
        (
            "test t(size: Data @line) { }\ntest u = t(size = 64 B @frame)",
            "E0212",
            "write `84 B @line`: a packet on Ethernet has 20 B more there",
        ),
        (
            "device d {\n  port w, e: packet\n  a = fifo { limit = 20 }\n}",
            "E0202",
            (
                "write `20 pkt` where packets wait, `20 cell` where cells do, "
                "or a size such as `16 KiB`"
            ),
        ),
        # `lost` is as near, but a number of packets is compared with no share
        (
            (
                "topology wire {\n  a, b = host\n"
                "  link a -- b via line { rate = 1 Mbit/s @line }\n}\n"
                "test t on wire {\n"
                "  flow f = packets { rate = 1 pkt/s, size = 100 B @ip } from a to b\n"
                "  run { measure = 1 s }\n  expect f.los < 1%\n}"
            ),
            "E0501",
            "write `loss`",
        ),
        (
            "traffic t = cbr { pcr = 5 cell/s, cdvt = 5 cell }",
            "E0202",
            "write a time, such as `1 ms`",
        ),
        (
            "topology t {\n  a, b = host\n  link a -- b via line { rate = 5 ms }\n}",
            "E0202",
            "write a bit rate, such as `1 Mbit/s @cell`",
        ),
        *(
            (text.format("48 Mbit/s @payload"), "E0212", OF_CELLS)
            for text in (
                "test t(rate: Rate @cell) {{ }}\ntest u = t(rate = {})",
                "topology t {{\n  a, b = host\n  link a -- b via line {{ rate = {} }}\n}}",
                "let sum = 1 Mbit/s @cell + {}",
            )
        ),
        ("test t = bose(n = 3)", "E0101", "declare it, or import the file that does"),
        ("test rose(n: Ratio) { }\ntest t = bose(n = 3)", "E0101", "write `rose`"),
        (
            searched("goal ndr { loss = 0, trial = 3 }"),
            "E0202",
            "write `3 us`, `3 ms` or `3 s`; items have a unit too, such as `pkt`",
        ),
        (
            searched("goal ndr { loss = 0, trial = 100 cell }"),
            "E0514",
            "write a time, or `trial` beside the goals, and `method = binary`",
        ),
        (
            searched("goal ndr { loss = 0, trial = 1 s * rate / (9 cell/s) }"),
            "E0514",
            "write `trial` beside the goals, and `method = binary`",
        ),
    ],
)
def test_a_mistake_has_a_way_out(checked, text, code, help_):
    found = [problem for problem in checked(text)[1] if problem.code == code]
    assert [problem.help for problem in found] == [help_]


@pytest.mark.parametrize(
    ("field", "messages", "notes", "way_out"),
    [
        (
            "measure = 1 s",
            ["`run` has no field `measure` in a test with a search"],
            ("each phase says how long its trials measure",),
            "write `trial = …` in a search, and `measure = …` in a point",
        ),
        (
            "overload = true",
            ["`run` has no field `overload` in a test with a search"],
            ("phases may offer more than a line inside the network carries",),
            "remove it",
        ),
        (
            "duration = 1 s",
            ["`run` has no field `duration`"],
            ("a word of testers: here it is `measure`, `trial`",),
            "",
        ),
    ],
)
def test_a_search_says_which_fields_of_a_run_it_sets(checked, field, messages, notes, way_out):
    problems = checked(searched("goal ndr { loss = 0 }", f"run {{ {field} }}"))[1]
    assert [problem.message for problem in problems if problem.code == "E0104"] == messages
    assert (problems[0].notes, problems[0].help) == (notes, way_out)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        (f"{DEVICE[:-2]}  x = foo {{ }}\n}}", "elements"),
        (f"{DEVICE[:-2]}  x = foo\n}}", "elements"),
        (f"{DEVICE[:-2]}  x = fifo {{ limit = 8 cell, drop = foo {{ }} }}\n}}", "policies"),
        ("traffic t = foo { pcr = 1 cell/s }", "traffic"),
        ("traffic t = ubr { pcr = 1 cell/s, source = foo { every = 1 s } }", "arrivals"),
        (criterion("f.lost == 0").replace("calls from", "foo { } from"), "traffic"),
        (LAB.replace("via line", "via foo"), "media"),
        (LAB.replace("a, b = host", "a, b = host\n  x = foo(ports = 2)"), "devices"),
    ],
)
def test_a_name_like_no_other_is_told_which_command_lists_those_that_exist(checked, text, listed):
    [problem] = checked(text)[1]
    assert (problem.code, problem.span.text) == ("E0101", "foo")
    expected = f"declare it, import the file that does, or write one that `qos {listed}` lists"
    assert problem.help == expected
    assert listed in HELP


def test_a_metric_like_no_other_is_told_so_too(checked):
    [problem] = checked(criterion("f.foo < 3"))[1]
    assert (problem.code, problem.help) == ("E0501", "write one that `qos metrics` lists")


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        (f"{DEVICE[:-2]}  x = procesor {{ }}\n}}", "write `processor`"),
        (
            f"{DEVICE[:-2]}  x = fifo {{ limit = foo }}\n}}",
            "declare it, or import the file that does",
        ),
        ("let x = foo { a = 1 }", "declare it, or import the file that does"),
    ],
)
def test_no_command_is_named_for_what_none_lists_or_is_nearly_another(checked, text, help_):
    [problem] = checked(text)[1]
    assert (problem.code, problem.help) == ("E0101", help_)


LINKS = """
import std.media
topology wire {{
  a, b = host
  link a -- b via media.{medium}
}}
test t on wire {{
  flow user = {traffic} from a to b
  run {{ measure = 1 s }}
  expect {criterion}
}}
"""
THREE_SIZES = "mix { 64 B: 7, 576 B: 4, 1_500 B: 1 } @ip"
ON_AVERAGE = "each item of `user` has 354.3 B @ip and 392.3 B @line, on average"


@pytest.mark.parametrize(
    ("medium", "traffic", "criterion", "shown"),
    [
        # Ethernet has 38 bytes around a packet, of which 18 are in its frame: IEEE 802.3, 3.1.
        (
            "fast_ethernet",
            "packets { rate = 1 Mbit/s @ip, size = 200 B @ip }",
            "user.bit_rate.ip within 1% of 238 kbit/s @line",
            "`200 kbit/s @ip`: each item of `user` has 238 B @line and 200 B @ip",
        ),
        (
            "fast_ethernet",
            "packets { rate = 1 Mbit/s @ip, size = 200 B @ip }",
            "user.bit_rate.ip within 1% of 80 kbit/s @line",
            "`(80 kbit/s * 100 / 119) @ip`: each item of `user` has 238 B @line and 200 B @ip",
        ),
        # (7 * 64 + 4 * 576 + 1_500) / 12 is 354 1/3, and 38 more on the line
        (
            "fast_ethernet",
            f"packets {{ rate = 1 Mbit/s @ip, size = {THREE_SIZES} }}",
            "8 Mbit/s @ip < user.bit_rate.line",
            f"`(8 Mbit/s * 1177 / 1063) @line`: {ON_AVERAGE}",
        ),
        # their mean is a whole number, and no packet has it
        (
            "fast_ethernet",
            "packets { rate = 1 Mbit/s @ip, size = mix { 300 B: 1, 500 B: 1 } @frame }",
            "user.bit_rate.ip within 1% of 400 kbit/s @frame",
            "`382 kbit/s @ip`: each item of `user` has 400 B @frame and 382 B @ip, on average",
        ),
        (
            "stm1",
            "ubr { pcr = 1_000 cell/s }",
            "user.bit_rate.payload within 1% of 424 kbit/s @cell",
            "`384 kbit/s @payload`: each item of `user` has 53 B @cell and 48 B @payload",
        ),
    ],
)
def test_a_rate_in_another_layer_is_given_in_that_of_the_flow(
    checked, medium, traffic, criterion, shown
) -> None:
    text = LINKS.format(medium=medium, traffic=traffic, criterion=criterion)
    (mistake,) = checked(text)[1]
    assert (mistake.code, mistake.help) == ("E0212", f"write {shown}")
    written = shown.split("`")[1]
    given = " ".join(word for word in criterion.split() if word.startswith("@"))
    there = mistake.span.text if given in mistake.span.text else criterion.partition(" <")[0]
    assert "E0212" not in {problem.code for problem in checked(text.replace(there, written))[1]}
