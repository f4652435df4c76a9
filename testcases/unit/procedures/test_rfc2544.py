"""The benchmarks of RFC 2544: of a processor, of a slower line, and used wrongly."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan
from qospec.plan.survey import verify

SIZES = "sizes = [64 B @frame, 512 B @frame]"
BENCHMARK = f"""rfc2544.benchmark(
  line = 100 Mbit/s @line, {SIZES}, duration = 100 ms, stream = 50 ms, burst_limit = 4_000 frame
)"""
SENT = "rate = load, size = size"
SMALL, LARGE = "size=64B-frame", "size=512B-frame"
SMALL_PER_S = Fraction(100_000_000, 84 * 8)
"""Frames of 64 bytes on the line. Source: RFC 5180, appendix A."""
SERVED_PER_S, WAITING = 40_000, 64


def goals(document):
    return {goal["name"]: goal for phase in document["phases"] for goal in phase.get("goals", ())}


def trials(document, goal):
    named = (p for p in document["phases"] if goal in [g["name"] for g in p.get("goals", ())])
    return next(named)["trials"]


def reported(document):
    return {
        statement["label"]: statement["measured"] and Fraction(statement["measured"]["value"])
        for statement in document["statements"]
    }


@pytest.fixture
def router(carried_out):
    return carried_out(BENCHMARK, "processor", SENT)


@pytest.mark.slow
def test_throughput_is_what_the_processor_serves(router):
    """In 100 ms a queue of 64 packets adds 640 packets/s."""
    goal = goals(router[SMALL])["no_loss"]
    lower, upper = (Fraction(goal[end]["value"]) / 672 for end in ("lower", "upper"))
    assert lower <= SERVED_PER_S + (WAITING + 2) * 10
    assert upper >= SERVED_PER_S
    assert upper - lower <= upper / 200
    assert reported(router[SMALL])["throughput"] == lower


@pytest.mark.slow
def test_large_frames_pass_at_the_rate_of_the_line(router):
    goal = goals(router[LARGE])["no_loss"]
    assert (goal["upper"], Fraction(goal["lower"]["value"])) == (None, 100_000_000)


@pytest.mark.slow
def test_sizes_that_are_never_lost_have_no_buffer_time(router):
    """Source: RFC 9004, 5.1."""
    assert goals(router[LARGE])["back_to_back"]["upper"] is None
    assert reported(router[LARGE])["buffer_time"] is None
    assert router[LARGE]["verdict"] == "measured"


@pytest.mark.slow
def test_latency_is_measured_at_the_throughput(router):
    """From last bit to last bit: 25 us of processing, and 520 octets with the preamble."""
    assert reported(router[LARGE])["latency[at_throughput.user]"] * 10**9 == 25_000 + 41_600
    assert reported(router[SMALL])["latency[at_throughput.user]"] * 10**9 > 25_000 + 5_760


@pytest.mark.slow
def test_the_curve_of_frame_loss_ends_with_the_second_load_without_loss(router):
    found = trials(router[SMALL], "frame_loss")
    assert [Fraction(trial["load"]["value"]) / 10**6 for trial in found] == [*range(100, 0, -10)]
    first = found[0]
    assert first["lost"] / first["sent"] == pytest.approx(1 - SERVED_PER_S / SMALL_PER_S, abs=0.01)
    assert [trial["lost"] == 0 for trial in found] == [False] * 8 + [True] * 2


BACKGROUND = """flow background = packets { rate = 10 Mbit/s @line, size = 500 B @ip } from b to a
  flow refused = packets { rate = 100 pkt/s, size = 64 B @frame, dscp = 46 } from a to b"""


@pytest.mark.slow
def test_neither_loss_nor_latency_is_of_flows_that_send_the_same_at_each_load(carried_out):
    """One flow loses everything, but none that is tested does below the throughput."""
    base = BENCHMARK.replace(SIZES, "sizes = [64 B @frame]").replace("100 Mbit/s", "90 Mbit/s")
    (found,) = carried_out(base, "closed", SENT + ", phases = even", BACKGROUND).values()
    latencies = {label for label in reported(found) if label.startswith("latency")}
    assert latencies == {"latency[at_throughput.user]", "latency_max[at_throughput.user]"}
    sent = [trial["sent"] for trial in trials(found, "frame_loss")]
    tenths = range(10, 10 - len(sent), -1)
    assert sent == [pytest.approx(float(SMALL_PER_S * 9 * n / 1_000), abs=1) for n in tenths]
    goal = goals(found)["no_loss"]
    lower = Fraction(goal["lower"]["value"]) / 672
    assert SERVED_PER_S * 0.99 < lower <= SERVED_PER_S + (WAITING + 2) * 10
    assert goal["notes"] == ["`refused` lost 100 % of its packets at the load found"]
    assert all("of user:" in why for why in goal["why"])


@pytest.mark.slow
def test_back_to_back_frames_fill_the_queue_and_give_its_time(router):
    """B frames wait, so a burst of B * in / (in - out) passes; its corrected time is B frames'."""
    values = reported(router[SMALL])
    expected = WAITING * SMALL_PER_S / (SMALL_PER_S - SERVED_PER_S)
    burst = Fraction(goals(router[SMALL])["back_to_back"]["lower"]["value"])
    assert burst.denominator == 1
    assert abs(burst - expected) <= 4
    assert values["buffer_time"] * SMALL_PER_S == pytest.approx(WAITING, abs=3)


@pytest.mark.slow
def test_the_buffer_time_is_that_of_the_longest_burst_without_loss(carried_out):
    """Frame k of a burst finds k - floor(k * 6.72 / 25) others, of which one is served.

    Frame 87 finds 64, so that 63 wait ahead of it, and frame 88 finds 65: 88 frames pass. They take
    591.36 us, of which the 40,000 packets/s that are served are 26.88 %: 432.40 us. Another frame
    is 4.9 us more. Source: RFC 9004, 5.4 (corrected buffer time).
    """
    exact = "duration = 1 s, resolution = 0.01%"
    base = BENCHMARK.replace(SIZES, "sizes = [64 B @frame]").replace("duration = 100 ms", exact)
    (found,) = carried_out(base, "processor", f"{SENT}, phases = even").values()
    burst = goals(found)["back_to_back"]
    assert (burst["lower"]["value"], burst["upper"]["value"]) == ("88", "89")
    expected_us = 88 * 6.72 * (1 - 40_000 * 6.72e-6)
    assert float(reported(found)["buffer_time"]) * 1e6 == pytest.approx(expected_us, abs=0.5)


@pytest.mark.slow
def test_no_burst_has_a_part_of_a_frame(carried_out):
    """Whatever the limit is: by default it follows from the line."""
    base = BENCHMARK.replace(SIZES, "sizes = [64 B @frame]").replace("4_000", "1_000.5")
    (found,) = carried_out(base, "processor", SENT).values()
    (search,) = (phase for phase in found["phases"] if phase.get("variable") == "burst")
    assert search["high"]["value"] == "1000"
    loads = [Fraction(trial["load"]["value"]) for trial in search["trials"]]
    assert len(loads) > 2
    assert all(load.denominator == 1 for load in loads)


@pytest.mark.parametrize(("line", "limit"), [("100", 300_000), ("99.9999", 299_999)])
def test_the_longest_burst_is_of_whole_frames_by_default(planned, line, limit):
    text = f"""
import std.procedures.rfc2544
topology cable {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
test t = rfc2544.benchmark(line = {line} Mbit/s @line, sizes = [64 B @frame]) on cable {{
  flow user = packets {{ rate = load, size = size }} from a to b
}}
"""
    (plan,) = planned(text)
    assert plan.case.phases[-1].high == limit


@pytest.mark.slow
def test_criteria_may_judge_the_frame_rate_and_the_buffer_time(carried_out):
    """The buffer holds 64 frames of 6.72 us, 430 us; both are known to within their bounds."""
    criteria = """expect served: frame_rate >= 40_000 frame/s
  expect slower: frame_rate < 40_000 frame/s
  expect deep: buffer_time >= 400 us when size == 64 B @frame
  expect deeper: buffer_time >= 500 us when size == 64 B @frame"""
    documents = carried_out(BENCHMARK.replace("100 ms", "1 s"), "processor", SENT, criteria)
    verdicts = {
        statement["label"]: statement["verdict"] for statement in documents[SMALL]["statements"]
    }
    assert [verdicts[name] for name in ("served", "slower")] == ["pass", "fail"]
    assert [verdicts[name] for name in ("deep", "deeper")] == ["pass", "fail"]
    assert documents[SMALL]["verdict"] == "fail"


@pytest.mark.slow
def test_a_slower_line_is_found_in_steps_too(carried_out):
    """45 Mbit/s: 100, 90, ..., 40, 30. Source: RFC 2544, 26.3."""
    base = BENCHMARK.replace(SIZES, "sizes = [1_518 B @frame]").replace("100 ms", "1 s")
    found = carried_out(base, "queue", SENT, out="media.ethernet { rate = 45 Mbit/s @line }")
    (document,) = found.values()
    loads = [Fraction(t["load"]["value"]) / 10**6 for t in trials(document, "frame_loss")]
    assert loads == [100, 90, 80, 70, 60, 50, 40, 30]
    goal = goals(document)["no_loss"]
    lower, upper = (Fraction(goal[end]["value"]) / 10**6 for end in ("lower", "upper"))
    assert lower <= 45 * (1 + Fraction(66 * 1538 * 8, 45_000_000))
    assert upper >= 45


TAGGED = "media.fast_ethernet { vlan_tags = 1, min_frame = 68 B }"
POINT = """point real { load = no_loss.load, measure = 500 ms }
  report actual: real.user.sent / (500 ms)
  flow background = packets { rate = 10 Mbit/s @line, size = 500 B @ip } from b to a"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "sent", "line", "link"),
    [
        ("64 B", "rate = load", "100 Mbit/s", TAGGED),
        ("64 B", "rate = load, connections = 2", "50 Mbit/s", "media.fast_ethernet"),
        ("64 B", "rate = 2 * load", "50 Mbit/s", "media.fast_ethernet"),
        ("46 B", "rate = load", "100 Mbit/s", "media.fast_ethernet"),  # padded to 64 B
        ("64 B", "rate = load", "50 Mbit/s", "media.ethernet { rate = 50 Mbit/s @line }"),
    ],
    ids=["a tag", "two connections", "twice the load", "padding", "another rate"],
)  # fmt: skip
def test_the_frame_rate_is_that_of_what_is_sent(carried_out, size, sent, line, link):
    """At the load that is searched; what is sent beside it, whatever the load, does not count."""
    base = f"""rfc2544.throughput(
  line = {line} @line, sizes = [{size} @frame], duration = 200 ms
)"""
    flow = f"{sent}, size = size, phases = even"
    (document,) = carried_out(base, "processor", flow, POINT, out=link, into=link).values()
    values = reported(document)
    assert SERVED_PER_S < values["actual"] < 1.02 * SERVED_PER_S
    assert abs(values["throughput"] - values["actual"]) <= 4  # each connection one packet more


@pytest.mark.slow
@pytest.mark.parametrize("link", ["media.fast_ethernet", TAGGED])
def test_a_burst_is_as_long_as_it_takes_to_send_its_frames(carried_out, link):
    """A queue of 64 takes a burst of n frames if what is served meanwhile leaves 64 of them."""
    base = BENCHMARK.replace(SIZES, "sizes = [64 B @frame]")
    flow = f"{SENT}, phases = even"
    (document,) = carried_out(base, "processor", flow, out=link, into=link).values()
    found = trials(document, "back_to_back")
    assert len(found) > 3
    assert all(trial["sent"] == Fraction(trial["load"]["value"]) for trial in found)
    per_s = Fraction(100_000_000, (84 + (4 if link == TAGGED else 0)) * 8)
    assert reported(document)["buffer_time"] * per_s == pytest.approx(WAITING, abs=3)


def test_throughput_alone_is_one_search(carried_out):
    base = "rfc2544.throughput(line = 100 Mbit/s @line, sizes = [64 B @frame], duration = 20 ms)"
    (document,) = carried_out(base, "processor", SENT).values()
    assert list(goals(document)) == ["no_loss"]
    assert len(document["phases"]) == 1


@pytest.mark.parametrize(
    ("base", "sent", "code", "words"),
    [
        ("throughput", SENT, "E0105", "`throughput` needs `line`"),
        ("throughput(line = 100 Mbit/s @line)", "rate = 1 Mbit/s @line, size = size", "E0514",
         "`throughput` needs a flow that uses `load`"),
        ("throughput(line = 100 Mbit/s @line)", "rate = load, size = 64 B @frame", "E0514",
         "`throughput` needs a flow that uses `size`"),
        ("throughput(line = 100)", SENT, "E0204", "`line` is a bit rate"),
        ("throughput(line = 100 Mbit/s @line, sizes = [64 B @ip])", SENT, "E0212", "@ip"),
        ("throughput(line = 100 bit/s @line)", SENT, "E0301", "one packet in 1000 s"),
        ("trougput(line = 100 Mbit/s @line)", SENT, "E0101", "trougput"),
    ],
)  # fmt: skip
def test_a_wrong_use_is_refused(planned, problems, base, sent, code, words):
    planned(
        f"""
import std.procedures.rfc2544
topology cable {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
test t = rfc2544.{base} on cable {{
  flow user = packets {{ {sent} }} from a to b
}}
"""
    )
    first = problems.all[0]
    assert (first.code, words in first.message) == (code, True), first


@pytest.mark.parametrize(
    ("arguments", "code", "marked", "way_out"),
    [
        ("line = 1_000 Mbit/s @line", "E0305", "line", "give `line` at most 100 M"),
        ("line = 100 Mbit/s @line, duration = 1 ms", "E0610", "duration", "give `duration` at"),
        ("line = 100 Mbit/s @line, duration = 14 ms", "W0617", "resolution", "give `duration` at"),
    ],
)
def test_what_does_not_fit_is_told_at_the_argument_and_not_in_the_library(
    tmp_path, arguments, code, marked, way_out
):
    path = tmp_path / "a.qos"
    path.write_text(
        f"""qos 1
import std.media, std.procedures.rfc2544
topology cable {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
test t = rfc2544.throughput({arguments}) on cable {{
  flow user = packets {{ {SENT} }} from a to b
}}
""",
        "utf-8",
    )
    suite = check([path], discover(), Problems())
    for report in (verify, lambda suite, problems: plan(suite, "0", Bounds(), problems)):
        problems = Problems()
        report(suite, problems)
        first = problems.all[0]
        assert (first.code, first.span.text) == (code, arguments.split(", ")[-1])
        assert first.secondary[0].span.text == marked
        assert first.help.startswith(way_out)


def test_what_it_follows_and_its_choices_are_stated(tmp_path):
    """Trials shorter than the standard's are a deviation; trials of 60 s are none."""
    text = """qos 1
import std.media, std.procedures.rfc2544
topology cable {
  a, b = host
  link a -- b via media.fast_ethernet
}
test whole = rfc2544.benchmark(line = 100 Mbit/s @line) on cable {
  flow user = packets { rate = load, size = size } from a to b
}
test short = rfc2544.benchmark(line = 100 Mbit/s @line, duration = 1 s, stream = 1 s) on cable {
  flow user = packets { rate = load, size = size } from a to b
}
"""
    assert text.count("\n") <= 20
    path = tmp_path / "a.qos"
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    whole, short = check([path], discover(), problems).suite.tests
    assert not problems.all
    sections = ("RFC 2544, 26.1", "RFC 2544, 26.2", "RFC 2544, 26.3", "RFC 2544, 26.4", "RFC 9004")
    assert whole.follows == short.follows == sections
    added = [what for what, _ in short.deviations if (what, _) not in whole.deviations]
    assert added == ["trials of less than 60 s (24)", "a stream of less than 120 s (26.2)"]
    assert any("26.5" in what for what, _ in whole.deviations)
    assert "queues" in dict(short.deviations)["trials of less than 60 s (24)"]
    assert any("load of a trial is of each flow" in what for what, _ in whole.deviations)
    assert any("not compared with the links" in why for _, why in whole.deviations)
    assert [len(test.cases) for test in (whole, short)] == [7, 7]


def test_a_processor_recovers_as_soon_as_the_overload_ends(carried_out):
    """110 % of the throughput loses, and half of that is less than what is served."""
    base = f"rfc2544.recovery(line = 100 Mbit/s @line, {SIZES}, duration = 100 ms)"
    found = carried_out(base, "processor", SENT)
    small, large = reported(found[SMALL]), reported(found[LARGE])
    assert small["lost[overload.user]"] > 0
    assert small["recovery[overload.user]"] == 0
    assert (large["lost[overload.user]"], large["recovery[overload.user]"]) == (0, 0)


def test_without_an_overload_a_recovery_is_inconclusive(carried_out):
    """Frames of 512 bytes pass at the rate of the line, so nothing can be lost."""
    base = f"rfc2544.recovery(line = 100 Mbit/s @line, {SIZES}, duration = 100 ms)"
    fast = "expect fast: overload.user.recovery_time < 1 ms"
    found = carried_out(base, "processor", SENT, fast)
    assert {name: statement["verdict"] for name, statement in found.items()} == {
        SMALL: "pass",
        LARGE: "inconclusive",
    }
    (unmet,) = (e for e in found[LARGE]["statements"] if e["verdict"] == "inconclusive")
    assert unmet["label"] == "overloaded[overload.user]"


def test_frames_that_are_lost_by_chance_are_no_overload(carried_out):
    """Far below 40,000 packets/s, one in 200 is lost at any load: no overload."""
    base = "rfc2544.recovery(line = 100 Mbit/s @line, sizes = [64 B @frame], duration = 100 ms)"
    (found,) = carried_out(base, "lossy", SENT).values()
    (load,) = (Fraction(goal["lower"]["value"]) / 672 for goal in goals(found).values())
    assert load < SERVED_PER_S / 2
    assert reported(found)["lost[overload.user]"] > 0
    assert found["verdict"] == "inconclusive"


def test_less_than_half_of_the_excess_lost_is_no_overload(carried_out):
    """Of 110 % of the throughput, 9.1 % exceed it, which are 6.1 % of all: two thirds are sent so.

    Half of that is 3.0 %. A device that loses each 30th packet, whatever the load, passes 29 in a
    trial; in 1.65 times as many packets it loses one, 2 %: no overload.
    """
    base = "rfc2544.recovery(line = 100 Mbit/s @line, sizes = [64 B @frame], duration = 10 ms)"
    (found,) = carried_out(base, "every 30th", f"{SENT}, phases = even").values()
    values = reported(found)
    assert values["lost[overload.user]"] == 1
    assert found["verdict"] == "inconclusive"


RESET = """rfc2544.reset(
  line = 100 Mbit/s @line, dut = dut, duration = 20 ms, watch = 100 ms
)"""
FAST = "expect fast: restarting.user.longest_outage within 100 us of 50 ms"


def test_a_device_restarts_for_as_long_as_it_takes(carried_out):
    """From the last frame to the next are 50 ms, and 25 us for the next, or 50 us more at most.

    The last one left up to 25 us before, and the next one arrives up to a frame, 23 us, after that.
    """
    (document,) = carried_out(RESET, "restarting", SENT, FAST).values()
    assert document["verdict"] == "pass"
    found = reported(document)["reset_time[restarting.user]"] * 10**6
    assert 50_025 <= found <= 50_075
    (outage,) = (statement for statement in document["statements"] if "reset" in statement["label"])
    assert "measured_limits" not in outage
    assert reported(document)["lost[restarting.user]"] >= 50e-3 * SERVED_PER_S


@pytest.mark.slow
def test_a_device_that_restarts_more_slowly_fails(carried_out):
    (document,) = carried_out(RESET, "slow to restart", SENT, FAST).values()
    assert document["verdict"] == "fail"
    assert reported(document)["reset_time[restarting.user]"] >= Fraction(60, 1_000)


def test_an_outage_up_to_the_end_is_inconclusive(carried_out):
    """Of a device that takes 60 ms, 50 ms are watched."""
    short = RESET.replace("100 ms\n", "50 ms\n")
    (document,) = carried_out(short, "slow to restart", SENT, FAST).values()
    assert document["verdict"] == "inconclusive"
    (outage,) = (statement for statement in document["statements"] if "reset" in statement["label"])
    limits = outage["measured_limits"]
    assert (limits["lower"], limits["upper"]) == (outage["measured"], None)


def test_a_device_that_cannot_restart_is_refused(carried_out, problems):
    with pytest.raises(AssertionError):
        carried_out(RESET, "processor", SENT)
    (error,) = problems.errors
    assert (error.code, error.message) == ("E0523", "`dut` cannot restart")
    assert "made of: processor fifo" in error.notes[0]


@pytest.mark.slow
def test_a_deep_queue_goes_on_losing_after_the_overload(carried_out):
    """A stage of 40,000 packets/s with a deep queue feeds one of 37,037/s with a shallow one.

    110 % of the throughput are 40,740.7/s, so that in 500 ms the queue of the first grows to 370.4.
    At half of that, 20,370.4/s, the first goes on at its full rate until that is empty, for 370.4 /
    19,629.6 s = 18.87 ms, and the second loses one in some 14 packets, which are sent in 0.7 ms; it
    held 4 more in a trial, which are 0.3 ms. At half of the throughput it would be 17.24 ms.
    Source: RFC 2544, 26.5.
    """
    exact = "sizes = [64 B @frame], duration = 500 ms, resolution = 0.01%"
    base = f"rfc2544.recovery(line = 100 Mbit/s @line, {exact})"
    (found,) = carried_out(base, "two stages", SENT).values()
    recovery_ms = float(reported(found)["recovery[overload.user]"]) * 1e3
    assert 18.87 - 0.7 < recovery_ms < 18.87 + 0.3
