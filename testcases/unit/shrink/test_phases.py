"""Cases of tests with searches and points: what is left of their phases."""

from pathlib import Path

import pytest
from night import is_night
from shrinking import VALUES, draft_of, proposed, shrunk

from qospec.plan.plan import Cost
from qospec.shrink import passes, phases
from qospec.shrink.case import Shrunk
from qospec.shrink.context import Context
from qospec.shrink.inlining import inline_traffic
from qospec.shrink.layout import lay_out
from qospec.shrink.start import merge_bases, without_loops
from qospec.shrink.trial import Bench, Clock, find_same_failure, shorten_label
from qospec.shrink.values import Values

ROUTER = """qos 1
import std.media, std.procedures.rfc2544, std.procedures.y1564
device router {
  port west, east: packet
  cpu = processor { per_packet = 25 us, limit = 16 pkt }
  west.rx -> cpu -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  dut = router
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
traffic sent(load: Ratio) = packets { size = 64 B @frame, rate = load * 100 Mbit/s @line }
"""
SEARCH = """
test searched on bench {
  search load in 1% .. 100% { goal ndr { loss = 0 }, goal pdr { loss = 1% }, FIELDS }
  run { warmup = 10 ms, repeat = 2 }
  flow f = sent(load = load) from a to b
  expect fast: ndr.load >= 90%
}
"""
POINT = """
test measured on bench {
  point half { load = 20%, measure = 20 ms }
  point full { load = 90%, measure = 20 ms, repeat = 2 }
  run { warmup = 1 ms }
  flow f = sent(load = load) from a to b
  expect full.f.lost == 0 pkt
}
"""
ABOVE = """
test above on bench {
  search load in 1% .. 100% { goal ndr { loss = 0 }, trial = 200 ms, total = 600 ms }
  point at { load = 1.1 * ndr.load, measure = 200 ms }
  run { repeat = 1 }
  flow f = sent(load = load) from a to b
  expect at.f.lost == 0 pkt
}
"""
ON_LIBRARY = """
test built = rfc2544.throughput(line = 100 Mbit/s @line, duration = 100 ms) on bench {
  flow f = packets { size = size, rate = load } from a to b
  expect fast: no_loss.load >= 90 Mbit/s @line
}
test late = rfc2544.benchmark(line = 100 Mbit/s @line, duration = 50 ms, stream = 50 ms) on bench {
  flow f = packets { size = size, rate = load } from a to b
  expect quick: at_throughput.f.latency.max < 20 us
}
test activated = y1564.activation(
  cir = 20 Mbit/s @frame,
  bursts = 4_000 B @frame,
  loss = 1%,
  delay = 300 us,
  variation = 1 ms,
  step_time = 100 ms,
  performance_time = 100 ms
) on bench {
  flow f = packets { size = 64 B @frame, rate = load } from a to b
}
"""


def made_small(folder: Path, text: str, case: str) -> Shrunk:
    (folder / "a.qos").write_text(ROUTER + text, encoding="utf-8")
    found = shrunk(folder / "a.qos", case)
    assert found is not None
    assert found.complete
    bench = Bench(folder / "shrunk.qos", "0", Clock(None, lambda: None))
    tried = bench.run(found.text)
    assert tried is not None
    assert find_same_failure(tried.document, found.failure._replace(label=""))
    assert "{}" not in found.text
    if "device " in found.text:
        assert "per_packet = 25 us, limit = 16 pkt" in found.text
    return found


def lines_of_test(found: Shrunk) -> list[str]:
    lines = [line.strip() for line in found.text.splitlines()]
    return lines[next(n for n, line in enumerate(lines) if line.startswith("test ")) + 1 : -1]


@pytest.mark.slow
@pytest.mark.parametrize("fields", ["trial = 50 ms, total = 1 s", "trial = 50 ms, method = binary"])
def test_a_search_has_one_short_trial_at_each_load(tmp_path, fields: str) -> None:
    found = made_small(tmp_path, SEARCH.replace("FIELDS", fields), "searched")
    assert found.mends
    head, goal, end, flow, expected = lines_of_test(found)
    assert head == "search load in 1% .. 100% {"
    assert goal.startswith("goal ndr { loss = 0, trial = ")
    assert "total = " in goal
    assert goal.count(" ms") == 2
    assert (end, expected) == ("}", "expect fast: ndr.load >= 90%")
    assert flow.startswith("flow f = packets { size = ")


@pytest.mark.slow
def test_a_point_keeps_a_measurement_and_its_variables_are_written_where_they_are_used(
    tmp_path,
) -> None:
    found = made_small(tmp_path, POINT, "measured")
    point, flow, expected = lines_of_test(found)
    assert point.startswith("point full { measure = ")
    assert point.endswith(" us }")
    assert "Mbit/s @line } from a to b" in flow
    assert expected == "expect full.f.lost == 0 pkt"


@pytest.mark.slow
def test_without_what_mends_it_trials_and_measurements_stay_as_long(tmp_path) -> None:
    found = made_small(tmp_path, ABOVE, "above")
    assert not found.mends
    assert lines_of_test(found) == [
        "search load in 1% .. 100% {",
        "goal ndr { loss = 0, trial = 200 ms, total = 200 ms }",  # one, as there is one repeat
        "}",
        "point at { load = 1.1 * ndr.load, measure = 200 ms }",
        "flow f = packets { size = 64 B @frame, rate = load * 100 Mbit/s @line } from a to b",
        "expect at.f.lost == 0 pkt",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "mended"),
    [
        # a device of the same file keeps its numbers
        ("built:size=64B-frame", " instead of 25 us"),
        *([("late:size=64B-frame", ""), ("activated", "")] if is_night() else []),
    ],
)
def test_a_case_of_a_test_of_the_library_needs_at_most_25_lines(tmp_path, case, mended) -> None:
    found = made_small(tmp_path, ON_LIBRARY, case)
    assert [mend for mend in found.mends if mend.endswith(mended)]
    assert len(found.text.splitlines()) <= 25
    assert "procedures" not in found.text


def test_what_costs_more_than_asked_for_is_not_run(tmp_path) -> None:
    bench = Bench(tmp_path / "a.qos", "0", Clock(None, lambda: None))
    text = ROUTER + POINT
    tried = bench.run(text)
    assert tried is not None
    assert bench.run(text, tried.plan.cost) is not None
    trials, emulated_ps = tried.plan.cost
    for less in (Cost(trials - 1, emulated_ps), Cost(trials, emulated_ps - 1)):
        assert bench.run(text, less) is None
    assert bench.tried == 2


# ---- what each pass proposes


def proposed_for(tmp_path: Path, made, test: str) -> list[list[str]]:
    """Return what a pass proposes for a test that was run, as texts of the test on one line."""
    draft = draft_of((ROUTER + test).removeprefix("qos 1\n"))
    bench = Bench(tmp_path / "a.qos", "0", Clock(None, lambda: None))
    tried = bench.run(draft.text)
    context = Context(draft, Values(bench.checked), devices=True, tried=tried)
    texts = [[draft.apply(edit) for edit in place] for place in made(context)]
    return [
        [" ".join(text[text.index("test ") :].split()).partition("{ ")[2] for text in place]
        for place in texts
    ]


def search(fields: str, of_goal: str = "") -> str:
    return f"""
test t on bench {{
search load in 1% .. 100% {{ goal ndr {{ loss = 0{of_goal} }}{fields} }}
flow f = sent(load = load) from a to b
expect ndr.load >= 90%
}}"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "first"),
    [
        (search(", trial = 1 s, total = 3 s"), "trial = 100 us, total = 100 us }, }"),
        (search("", ", trial = 3 s, total = 3 s"), "trial = 300 us, total = 300 us } }"),
        (search(", method = binary", ", trial = 7 s"), "trial = 700 us }, method = binary }"),
        (search(", method = binary"), "trial = 6 ms }, method = binary }"),
    ],
)  # fmt: skip
def test_times_get_shorter_together(tmp_path, text: str, first: str) -> None:
    (place,) = proposed_for(tmp_path, phases.shorten_trials, text)
    assert f"{{ goal ndr {{ loss = 0, {first} flow" in place[0]


def test_as_many_trials_as_before_are_tried_too(tmp_path) -> None:
    (place,) = proposed_for(tmp_path, phases.shorten_trials, search(", trial = 1 s, total = 3 s"))
    assert "trial = 100 us, total = 300 us" in place[1]


@pytest.mark.parametrize("trial", ["load * 100 ms", "100 pkt"])
def test_trials_whose_length_depends_on_the_load_stay(tmp_path, trial: str) -> None:
    text = search(f", trial = {trial}, method = binary")
    for made in (phases.shorten_trials, phases.merge_trials):
        assert proposed_for(tmp_path, made, text) == []


def test_a_method_gives_way_to_the_default_one(tmp_path) -> None:
    text = search(", trial = 10 ms, method = step, confirm = 3").replace("100%", "100% step 9.9%")
    (place,) = proposed_for(tmp_path, phases.use_default_method, text)
    assert "{ goal ndr { loss = 0, trial = 10 ms, total = 10 ms }, } flow" in place[0]


def test_what_a_search_found_stands_where_a_point_uses_it(tmp_path) -> None:
    (place,) = proposed_for(tmp_path, phases.replace_loads, ABOVE)
    assert "ndr.load" not in place[0]
    assert "point at { load = 1.1 * 2" in place[0]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("test t { point p { x = 1, measure = 1 s }, flow f = s(x) from a to b }",
         ["test t { point p { measure = 1 s }, flow f = s(1) from a to b }"]),
        ("test t { point p { x = 1, at 1 s { x = 2 } }, flow f = s(x) from a to b }", None),
        ("test t { point p { x = 1 }, point q { x = 2 }, flow f = s(x) from a to b }", None),
        ("test t { search x in 1 .. 2 { }, point p { x = 1 }, flow f = s(x) from a to b }", None),
    ],
)  # fmt: skip
def test_a_variable_with_one_value_goes(text: str, after: list[str] | None) -> None:
    assert proposed(phases.inline_variables, text) == ([after] if after else [])


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("flow f = t(x = n + 1) from a to b",
         "flow f = packets { rate = (n + 1) * z, size = 9 B }"),
        ("flow f = t(1, 8 B) { dscp = 1 } from a to b",
         "flow f = packets { rate = 1 * z, size = 8 B } { dscp = 1 }"),
        ("flow f = t(1) from a to b, flow g = t(2) from a to b", None),
        ("flow f = t() from a to b", None),
    ],
)  # fmt: skip
def test_traffic_that_one_flow_sends_is_written_there(text: str, after: str | None) -> None:
    traffic = "traffic t(x: Ratio, y: Data = 9 B) = packets { rate = x * z, size = y }\n"
    places = proposed(inline_traffic, f"{traffic}test u {{ {text} }}")
    assert places == ([[f"test u {{ {after} from a to b }}"]] if after else [])


def test_a_run_can_go_beside_phases_but_is_kept_with_care_if_it_says_something() -> None:
    text = "test t { point p { measure = 1 s }, run { warmup = 1 s } }"
    gone = ["test t { point p { measure = 1 s } }"]
    assert gone in proposed(passes.remove_nodes, text)
    assert proposed(passes.remove_nodes, text, careful=True) == [
        ["test t { run { warmup = 1 s } }"]
    ]
    assert gone in proposed(passes.remove_nodes, text.replace("warmup = 1 s", ""), careful=True)


def test_with_care_goals_and_changes_go_as_wholes() -> None:
    text = (
        "test t { search x in 1 .. 2 { goal a { loss = 0 }, goal b { loss = 1% }, trial = 1 s } }"
    )
    places = proposed(passes.remove_nodes, text, careful=True)
    assert ["test t { search x in 1 .. 2 { goal a { loss = 0 }, trial = 1 s } }"] in places
    assert all("trial" in text for place in places for text in place if "goal" in text)


def test_phases_go_with_the_values_that_depend_on_them() -> None:
    text = (
        "test t { search x in 1 .. 2 { goal g { } }, let a = g.x, let b = a + 1, let c = 1,"
        " point p { x = 1 }, expect p.f.lost == 0 pkt }"
    )
    assert proposed(phases.remove_phases, text) == [
        ["test t { let c = 1, point p { x = 1 }, expect p.f.lost == 0 pkt }"],
        [text.replace(" point p { x = 1 },", "")],
    ]


def test_warm_ups_go_first() -> None:
    text = "test t { run { warmup = 1 s }, point p { warmup = 1 s, measure = 1 s } }"
    assert proposed(passes.remove_warmups, text) == [
        ["test t { run { }, point p { warmup = 1 s, measure = 1 s } }"],
        ["test t { run { warmup = 1 s }, point p { measure = 1 s } }"],
    ]


def test_a_search_goes_without_what_uses_its_variable() -> None:
    text = "test t { search x in 1 .. 2 { }, point p { x = 1 }, flow f = s(x) from a to b }"
    assert [
        "test t { point p { x = 1 } }",
        "test t { point p { x = 1 }, flow f = s(x) from a to b }",
    ] in proposed(passes.remove_nodes, text)


def test_a_file_has_no_empty_run_beside_phases_and_no_empty_loop() -> None:
    loops = "for i in 0 .. 1 { for j in 0 .. 1 { } }"
    draft = draft_of(f"test t on u {{ point p {{ measure = 1 s }}, run {{ }}, {loops} }}")
    assert "run" not in lay_out(draft, "why")
    assert "for" not in lay_out(draft, "why")
    assert "run {}" in lay_out(draft_of("test t on u { run { } }"), "why")


@pytest.mark.parametrize(
    ("flows", "wanted"),
    [
        ("test_flows", ["a.f.lost < a.f.sent", "b.f.lost < b.f.sent"]),
        ("flows", ["a.f.lost < a.f.sent", "a.g.lost < a.g.sent", "b.f.lost < b.f.sent",
                   "b.g.lost < b.g.sent"]),
    ],
)  # fmt: skip
def test_loops_over_the_flows_of_points_are_written_out(flows: str, wanted: list[str]) -> None:
    text = (
        "test t { point a { x = 1 }, point b { x = 2 }, flow f = s(x) from h to i,"
        f" flow g = s from h to i, for p in [a, b] {{ for e in p.{flows} {{"
        " expect few: e.lost < e.sent } } }"
    )
    found = without_loops(draft_of(text), VALUES, "t").text
    assert [part.split(" }")[0].split("\n")[0] for part in found.split("few: ")[1:]] == wanted


def test_loops_over_flows_that_are_made_in_loops_wait_for_these() -> None:
    text = (
        "test t { point a { measure = 1 s }, for e in a.flows { expect few: e.lost < e.sent },"
        " for i in 0 .. 1 { flow f = s from h[i] to k } }"
    )
    found = " ".join(without_loops(draft_of(text), VALUES, "t").text.split())
    assert "expect few: a.f0.lost < a.f0.sent expect few: a.f1.lost < a.f1.sent" in found


@pytest.mark.parametrize(
    ("label", "base"),
    [("few", "few"), ("few[2]", "few"), ("few[1][0]", "few"), ("few[half.f]", "few"),
     ("few[half.f[2]][1]", "few")],
)  # fmt: skip
def test_what_a_label_says_of_the_loop_is_no_part_of_it(label: str, base: str) -> None:
    assert shorten_label({"label": label, "kind": "expect"}) == base


def test_loops_of_what_a_test_is_built_on_get_other_names() -> None:
    draft = draft_of(
        "test s { for f in p.flows { report f.lost } }\n"
        "test t = s on bed { flow f = some from a to b }"
    )
    text = " ".join(merge_bases(draft, "t").text.split())
    assert "for each_f in p.flows { report each_f.lost }" in text
    assert "flow f = some" in text
