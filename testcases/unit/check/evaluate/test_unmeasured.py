"""What is not measured of a flow or has no such statistic, and what is offered instead."""

import pytest

PAIR = """
import std.media

topology pair {
  a, b = host
  link a -- b via media.fast_ethernet
}

test t on pair {
  flow ask = echo { size = 512 B @ip, timeout = 1 ms } from a to b
  flow plain = packets { size = 512 B @ip, rate = 10 pkt/s } from a to b
  run { measure = 1 s }
  expect EXPECTED
}
"""


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("ask.requests.lost == 0 pkt", "the flow itself is its requests: write `ask`"),
        ("ask.responses.lost == 0 pkt", "write `answers`"),
        ("ask.answer.lost == 0 pkt", "write `answers`"),
        ("ask.transactions.lost == 0 pkt", "write `exchanges`"),
        ("ask.rtt.mean < 1 ms", "write `exchanges.delay`"),
        ("ask.goodput > 1 pkt/s", "write `exchanges.throughput`"),
        ("ask.acks.lost == 0 pkt", "write `answers`"),
    ],
)
def test_a_part_of_a_flow_by_another_name_is_offered_with_the_others(checked, text, help_):
    [problem] = checked(PAIR.replace("EXPECTED", text))[1]
    assert (problem.code, problem.help) == ("E0501", help_)
    assert problem.notes[0].endswith(
        "; parts of `ask`: cells fragments copies notices answers exchanges"
    )


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("ask.exchanges.rtt.mean < 1 ms", "write `delay`"),
        ("ask.exchanges.response_time.mean < 1 ms", "write `delay`"),
        ("ask.exchanges.goodput > 1 pkt/s", "write `throughput`"),
        ("ask.exchanges.transactions == 1 pkt", "write one that `qos metrics` lists"),
    ],
)
def test_of_exchanges_their_own_metric_is_offered(checked, text, help_):
    [problem] = checked(PAIR.replace("EXPECTED", text))[1]
    assert (problem.code, problem.help) == ("E0501", help_)


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("plain.retransmitted == 0 pkt", "measure it of a flow of `tcp` itself"),
        ("plain.goodput > 1 Mbit/s", "measure it of a flow of `tcp` itself"),
        ("plain.requests.lost == 0 pkt", "write one that `qos metrics` lists"),
        (
            "plain.frames.lost == 0",
            "each of its packets is a frame on a link: write `plain` for these",
        ),
        ("plain.rtt.mean < 1 ms", "let `plain` be an `echo`, and measure `plain.exchanges.delay`"),
    ],
)
def test_a_flow_that_nobody_answers_has_no_such_parts(checked, text, help_):
    [problem] = checked(PAIR.replace("EXPECTED", text))[1]
    assert (problem.code, problem.help) == ("E0501", help_)
    assert problem.notes[0].endswith("; parts of `plain`: cells fragments copies")


@pytest.mark.parametrize(
    "text",
    [
        "plain.bytes.ip.at(b.rx) == plain.items.at(b.rx) * 512 B / 1 pkt",
        "plain.received / 2 == 5 pkt",
    ],
)
def test_a_count_divided_by_a_constant_is_compared_exactly(checked, text):
    assert checked(PAIR.replace("EXPECTED", text))[1] == ()


def test_a_quotient_of_counts_is_not_and_the_message_says_so(checked):
    [problem] = checked(PAIR.replace("EXPECTED", "plain.received / plain.sent == 1"))[1]
    assert (problem.code, problem.notes) == (
        "E0213",
        ("only counts are compared exactly: no times, no rates, no quotients of counts",),
    )


def test_what_is_known_for_intervals_is_listed_by_its_usual_names(checked):
    reported = PAIR.replace("expect EXPECTED", "report plain.delay.p99 every 1 ms")
    (problem,) = (found for found in checked(reported)[1] if found.code == "E0520")
    assert " delay.max delay.mean " in problem.notes[0]


@pytest.mark.parametrize(
    ("traffic", "help_"),
    [
        ("voice { codec = g722 }", "give its traffic `equipment_impairment`"),
        ("packets { rate = 1 Mbit/s @ip, size = 500 B @ip }", ""),
    ],
)
def test_calls_without_a_rating_name_the_field_that_gives_one(checked, traffic, help_):
    text = PAIR.replace("EXPECTED", "calls.r_factor.min > 70").replace(
        "  run {", f"  flow calls = {traffic} from a to b\n  run {{"
    )
    [problem] = checked(text)[1]
    assert (problem.code, problem.help) == ("E0501", help_)
    rated = text.replace("codec = g722", "codec = g722, equipment_impairment = 10")
    assert len(checked(rated)[1]) == (0 if help_ else 1)


def test_only_what_is_measured_of_packets_is_offered_for_packets(checked):
    text = """
topology lab {
  a, b = host
  link a -- b via line { rate = 1 Gbit/s @line, carries = packet }
}
test t on lab {
  flow f = packets { rate = 1 Mbit/s @ip, size = 200 B @ip } from a to b
  run { measure = 1 s }
  expect f.jiter.max < 1 us
}
"""
    [problem] = checked(text)[1]
    assert problem.help == "write `jitter`"
    shown = set(problem.notes[0].split())
    assert not {"clr", "cdv_2pt"} & shown
    assert {"latency", "delay"} < shown


def test_a_metric_without_statistics_says_of_what_there_are_shares(checked):
    [problem] = checked(PAIR.replace("EXPECTED", "plain.loss.above(1 ms) < 1%"))[1]
    assert (problem.code, problem.message) == ("E0503", "`loss` has no statistic `above`")
    [note] = problem.notes
    assert note.startswith("shares above a bound are of ")
    assert {"delay", "latency", "jitter"} < set(note.split())
    assert not {"loss", "throughput"} & set(note.split())


def test_a_metric_that_is_one_number_says_so(checked):
    [problem] = checked(PAIR.replace("EXPECTED", "plain.throughput.mean > 1 pkt/s"))[1]
    assert (problem.code, problem.message) == ("E0503", "`throughput` has no statistic `mean`")
    assert problem.help == "write `plain.throughput`: it is one number"


def test_a_share_above_anything_but_a_time_suggests_how_to_write_it(checked):
    [problem] = checked(PAIR.replace("EXPECTED", "plain.delay.above(5 B) < 1%"))[1]
    assert problem.message == "the bound of `above` is a time, not an amount of data"
    assert problem.help == "write `plain.delay.above(1 ms)`"
