"""Cases: flows, controls, run and statements."""

import pytest

from qospec.model.expression import Measured, list_measurements

BENCH = """
topology bench(n: Int = 2) {
  a, b = host(count = n)
  for i in 0 .. n - 1 {
    link a[i] -- b[i] via line { rate = 149.76 Mbit/s @cell }
  }
}
traffic load = ubr { pcr = 10 cell/s }
"""


def text_of(*lines, on="bench"):
    body = "\n  ".join(("flow user = load from a to b", *lines))
    return f"{BENCH}\n## What it is.\ntest t on {on} {{\n  {body}\n}}\n"


RUN = "run { warmup = 1 ms, measure = 2 s, repeat = 3, overload = true }"


def statements(checked, *lines):
    suite, problems = checked(text_of(RUN, *lines))
    assert {problem.code for problem in problems} <= {"W0602"}
    return suite.tests[0].cases[0].statements


def test_flows_between_arrays_run_index_by_index(checked):
    suite, _ = checked(text_of(RUN, 'covers = ["R1", "R2"]'))
    (case,) = suite.tests[0].cases
    (flow,) = case.flows
    assert (flow.origins, flow.targets) == (("a[0]", "a[1]"), ("b[0]", "b[1]"))
    assert (case.run.warmup_ps, case.run.measure_ps, case.run.repeat) == (10**9, 2 * 10**12, 3)
    assert case.run.overload
    assert (suite.tests[0].doc, suite.tests[0].covers) == ("What it is.", ("R1", "R2"))


def test_measured_paths(checked):
    lines = ("control bare = bench", "report [bare.user[1].oam.delay.p99_9]")
    (statement,) = statements(checked, *lines)
    (leaf,) = list_measurements(statement.expression)
    assert isinstance(leaf, Measured)
    assert (leaf.network, leaf.flow, leaf.member, leaf.part) == ("bare", "user", 1, "oam")
    assert (leaf.metric, leaf.statistic, leaf.text) == (
        "transfer_delay", "p99_9", "bare.user[1].oam.delay.p99_9",
    )  # fmt: skip


def test_labels(checked):
    found = statements(
        checked,
        "expect clean: user.lost == 0",
        "require user.sent >  0",
        "report [user.sent, user.lost]",
        "report extra: user.delay.mean - 1 us",
        "for f in flows { expect f.received > 0 }",
    )
    assert [(statement.kind, statement.label) for statement in found] == [
        ("expect", "clean"),
        ("require", "user.sent > 0"),
        ("report", "user.sent"),
        ("report", "user.lost"),
        ("report", "extra"),
        ("expect", "f.received > 0[user]"),
    ]


def test_a_published_number_is_marked(checked):
    before = 'reference paper "p" { lost = 0 cell }\n'
    suite, problems = checked(
        before + text_of(RUN, "let printed = paper.lost", "expect user.lost == printed as exact")
    )
    assert problems == ()
    (statement,) = suite.tests[0].cases[0].statements
    assert statement.expression.operands[1].published
    assert suite.references[0].entries == (("lost", "0 cell"),)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("expect user.lots == 0",), "E0501"),
        (("expect user.delay < 1 s",), "E0502"),
        (("expect user > 1",), "E0502"),
        (("expect user.delay.avg < 1 s",), "E0503"),
        (("expect user.lost",), "E0504"),
        (("expect user.delay.mean == 1 s",), "E0213"),
        (("expect user.delay.mean within 1 cell of 1 s",), "E0203"),
        (("expect user.delay.mean within -1% of 1 s",), "E0205"),
        (("expect user.delay.mean within 3 of 1 s",), "E0204"),
        (("expect user.delay.mean within (1 / 10) of 1 s",), "E0204"),
        (("expect user.delay.mean within user.connections_up of 1 s",), "E0204"),
        (("expect user.connections_up within 3 us of 5",), "E0203"),
        (("expect user[2].lost == 0",), "E0215"),
        (("expect uesr.lost == 0",), "E0101"),
        (("expect bare.user.lost == 0", "control bare = bench(n = 1)"), "E0417"),
        (("control bare = bench", "expect bare.uesr.lost == 0"), "E0101"),
        (("flow more = load from a[0] to a[0]",), "E0304"),
        (("flow more = load { pcr = user.sent / (1 s) } from a to b",), "E0207"),
        (("expect x: user.lost == 0", "expect x: user.sent > 0"), "E0509"),
        (("report x: [user.lost, user.sent]",), "E0510"),
        (("for i in 0 .. 1 { flow more = load from a to b }", "report more.lost"), "E0511"),
        (("for i in 0 .. 1 { flow more = load from a to b }", "report more[2].lost"), "E0215"),
        (("for i in [1, 1] { flow more = load from a to b }",), "E0102"),
        (("for i in 0 .. 1 { run { measure = 2 s } }",), "E0112"),
        (("expect user.lost < 1 cell with 95% confidence",), "E0507"),
        (("expect user.lost == 0 with 95% confidence",), "E0512"),
        (("expect user.lost < 0 or user.sent > 0 with 95% confidence",), "E0512"),
        (("expect 1 < 2 with 95% confidence",), "E0512"),
        (("expect user.lost < 1 cell with 50% confidence",), "E0205"),
        (("expect user.lost < 1 cell with 100% confidence",), "E0205"),
        (("expect user.lost < 1 cell with 1 s confidence",), "E0204"),
        (("expect user.lost < 1 cell with user.clr confidence",), "E0207"),
        (('skip unless 1 > 2 " "',), "E0513"),
        (('skip unless user.sent > 0 "why"',), "E0207"),
        (('skip unless 5 "why"',), "E0204"),
        (('for i in 0 .. 1 { skip unless i > 2 "why" }',), "E0112"),
        (("colour = 5",), "E0104"),
        (("run { measure = 1 s }",), "E0102"),
        (("link a -- b via load",), "E0112"),
    ],
)
def test_a_wrong_statement_is_reported(codes, lines, code):
    assert codes(text_of(RUN, *lines)) == [code]


ASKING = [f"expect {name}: user.lost < 1 cell with 95% confidence" for name in ("one", "two")]


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ("run { measure = 1 s, repeat = 4 }", "E0507"),
        ("run { measure = 1 s, repeats = 5 }", "E0104"),
        ("run { measure = 1 s, colour = 5 }", "E0104"),
    ],
)
def test_too_few_repeats_are_reported_once(codes, run, code):
    assert codes(text_of(run, *ASKING)) == [code]


def test_as_many_repeats_as_the_way_out_says_are_enough(checked):
    few = text_of("run { measure = 1 s, repeat = 4 }", *ASKING)
    [problem] = checked(few)[1]
    assert problem.help == "write `repeat = 5`"
    assert checked(few.replace("repeat = 4", "repeat = 5"))[1] == ()


@pytest.mark.parametrize("name", ["calls", "cbr", "more"])
def test_a_name_from_what_could_not_be_read_is_not_reported_again(codes, name):
    lines = (f"flow {name} = load from a", f"expect {name}.lost == 0")
    assert codes(text_of(RUN, *lines)) == ["E0011"]


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ("", "E0505"),
        ("run { }", "E0105"),
        ("run { measure = 0 s }", "E0205"),
        ("run { measure = 1 s, repeat = 0 }", "E0205"),
        ("run { measure = 1 s, warm = 1 s }", "E0104"),
        ("run { measure = 5 }", "E0202"),
    ],
)
def test_a_run_says_how_long(codes, run, code):
    assert codes(text_of(run)) == [code]


@pytest.mark.parametrize(
    ("on", "code"),
    [("load", "E0421"), ("benhc", "E0101"), ("bench(m = 3)", "E0104"), ("bench(n = 2.5)", "E0204")],
)
def test_a_test_is_on_a_topology(codes, on, code):
    found = codes(text_of(RUN, on=on))
    assert code in found
    assert len(found) <= 2


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("", ["W0602"]),
        ("report user.lost", []),
        ("report user.lost\nexpect 1 < 2", ["W0602"]),
        ("expect 1 < 2", ["W0602"]),
        ("for i in [] { expect user[0].lost == 0 cell }", ["W0602"]),
        ("expect user.lost == 0 cell", []),
        ("require user.lost == 0 cell", []),
        ("expect user.lost 3 4", ["E0001"]),
    ],
)
def test_a_test_that_expects_nothing_is_warned_of(codes, statement, expected):
    assert codes(text_of(RUN, statement)) == expected


@pytest.mark.parametrize(
    ("phase", "statement", "advice"),
    [
        ("search", "expect 1 < 2", "`expect ndr.rate >= 1 cell/s`"),
        ("point", "expect 1 < 2", "`expect p.user.lost == 0 cell`"),
        ("search", "", ""),
    ],
)
def test_a_test_with_phases_is_advised_of_goals_and_points(checked, phase, statement, advice):
    body = {
        "search": "search rate in 1 cell/s .. 9 cell/s { goal ndr { loss = 0 } }",
        "point": "point p { rate = 5 cell/s, measure = 1 s }",
    }[phase]
    _, problems = checked(
        "topology net { a, b = host\nlink a -- b via line { rate = 149.76 Mbit/s @cell } }\n"
        f"test t on net {{\n{body}\n"
        f"flow user = ubr {{ pcr = rate }} from a to b\n{statement}\n}}\n"
    )
    advised = [problem.help for problem in problems if problem.code == "W0602"]
    assert len(advised) == (1 if advice else 0)
    assert all(advice in problem for problem in advised)


def test_a_test_of_packets_is_advised_to_count_packets(checked):
    _, problems = checked(
        "topology net { a, b = host\n"
        "link a -- b via line { rate = 10 Mbit/s @line, carries = packet } }\n"
        "test t on net {\nflow web = packets { rate = 1 pkt/s, size = 64 B @ip } from a to b\n"
        "run { measure = 2 s }\n}\n"
    )
    (advised,) = (problem.help for problem in problems if problem.code == "W0602")
    assert "`expect web.lost == 0 pkt`" in advised


def test_a_loop_makes_a_flow_per_turn_and_all_are_listed(small):
    suite = small(
        "for i in [1, 3] { flow more = load(rate = i * 1 cell/s) from a to b }",
        "flow one = load from b to a",
        "run { measure = 1 s }",
        "for f in flows { expect clean: f.lost == 0 }",
        "report more[3].lost",
    )
    (case,) = suite.tests[0].cases
    assert [(flow.name, flow.arrivals.rate) for flow in case.flows] == [
        ("more[1]", 1),
        ("more[3]", 3),
        ("one", 1_000),
    ]
    assert [statement.label for statement in case.statements] == [
        "clean[more[1]]", "clean[more[3]]", "clean[one]", "more[3].lost",
    ]  # fmt: skip


def test_a_loop_over_points_names_each_once(small):
    suite = small(
        "point low { rate = 1 cell/s, measure = 9 s }",
        "point high { rate = 2 cell/s, measure = 9 s }",
        "flow sent = load(rate = rate) from a to b",
        "for each in [low, high] {",
        "  expect each.sent.lost == 0",
        "  for f in each.flows { for n in [3] { expect clean: f.received < n * 1_000 cell } }",
        "}",
    )
    (case,) = suite.tests[0].cases
    assert [statement.label for statement in case.statements] == [
        "each.sent.lost == 0[low]", "clean[low.sent][3]",
        "each.sent.lost == 0[high]", "clean[high.sent][3]",
    ]  # fmt: skip


FRAMED = """
import std.media
topology framed {
  a, b, c, d = host
  link a -- b via media.fast_ethernet
  link c -- d via media.fast_ethernet { vlan_tags = 1 }
}
traffic tagged = packets { rate = 10 pkt/s, size = 64 B @frame, priority = 5 }
traffic plain = packets { rate = 10 pkt/s, size = 64 B @frame }
"""


def test_what_several_flows_send_is_framed_by_the_link_of_each(checked):
    flows = "flow p = plain from a to b\n  flow q = plain from c to d"
    case = f"sweep n in [1, 2]\n  {flows}\n  run {{ measure = n * 1 s }}\n  expect p.lost == 0"
    suite, problems = checked(f"{FRAMED}test t on framed {{\n  {case}\n}}\n")
    assert [problem.code for problem in problems if problem.severity == "error"] == []
    assert len(suite.tests[0].cases) == 2
    for case in suite.tests[0].cases:
        (p,), (q,) = (flow.packets.sizes.size_bytes for flow in case.flows)
        assert (p, q) == (46, 42)


def test_what_is_wrong_on_one_link_is_reported_there_and_in_every_case(checked):
    flows = "flow p = tagged from a to b\n  flow q = tagged from c to d"
    case = f"sweep n in [1, 2]\n  {flows}\n  run {{ measure = n * 1 s }}\n  expect q.lost == 0"
    suite, problems = checked(f"{FRAMED}test t on framed {{\n  {case}\n}}\n")
    (wrong,) = [problem for problem in problems if problem.severity == "error"]
    assert (wrong.code, wrong.span.text) == ("E0426", "5")
    assert "`p` marks packets" in wrong.message
    assert not any(test.cases for test in suite.tests)
