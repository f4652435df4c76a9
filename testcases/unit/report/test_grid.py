"""Results of a test as tables of text: a row for each case, or turned, in parts, and thinned."""

import pytest

from qospec.report.grid import align_column, build_grids, without_index


def report(label, value, unit="pkt", **more):
    text = f"{value} {unit}"
    measured = None if value is None else {"value": str(value), "unit": unit, "text": text}
    return {
        "kind": "report", "label": label, "text": label, "verdict": "", "comparison": "",
        "bound": None, "tolerance": None, "measured": measured, "interval": None, **more,
    }  # fmt: skip


def case(parameters, statements, verdict="measured", **more):
    name = ",".join(f"{key}={value}" for key, value in parameters.items())
    return {
        "name": f"t:{name}", "parameters": parameters, "statements": statements,
        "verdict": verdict, "ran": True, **more,
    }  # fmt: skip


def sweep(sizes, loads, verdict="measured"):
    return [
        case({"size": size, "load": load}, [report("lost", number * 10 + place)], verdict)
        for number, size in enumerate(sizes)
        for place, load in enumerate(loads)
    ]


def text(grid):
    return [
        " | ".join(cells) for cells in zip(*([c.head, *c.cells] for c in grid.columns), strict=True)
    ]


def test_a_row_is_a_case_with_its_parameters_and_reports():
    cases = [
        case({"load": "10%"}, [report("lost", 0), report("late", "1/400", "s")]),
        case({"load": "20%"}, [report("lost", 7), report("late", None)]),
    ]
    (grid,) = build_grids(cases, 80, 40)
    assert text(grid) == ["load | lost | late", "10% | 0 | 2.5", "20% | 7 | no data"]
    assert [column.unit for column in grid.columns] == ["", "pkt", "ms"]
    assert [column.kind for column in grid.columns] == ["key", "value", "value"]


def test_what_does_not_apply_is_blank():
    idle = report("lost", None, verdict="not applicable")
    cases = [case({"load": "10%"}, [report("lost", 3)]), case({"load": "20%"}, [idle])]
    (grid,) = build_grids(cases, 80, 40)
    assert text(grid) == ["load | lost", "10% | 3", "20% | "]


def test_verdicts_have_a_column_if_anything_was_judged():
    cases = sweep(["64B"], ["10%", "20%"])
    cases[1]["verdict"] = "fail"
    cases.append(case({"size": "64B", "load": "30%"}, [], "inconclusive", ran=False))
    (grid,) = build_grids(cases, 80, 40)
    assert text(grid) == [
        "load | verdict | lost",
        "10% | measured | 0",
        "20% | fail | 1",
        "30% |  | ",
    ]


def test_a_long_sweep_over_two_parameters_is_turned():
    cases = sweep(["64B", "1_518B"], [f"{n}0%" for n in range(1, 8)])
    (grid,) = build_grids(cases, 80, 40)
    assert grid.title == "lost over load (pkt)"
    assert text(grid) == [
        "size | 10% | 20% | 30% | 40% | 50% | 60% | 70%",
        "64 B | 0 | 1 | 2 | 3 | 4 | 5 | 6",
        "1_518 B | 10 | 11 | 12 | 13 | 14 | 15 | 16",
    ]


def test_a_turned_table_shows_verdicts_too_and_blanks_where_there_is_no_case():
    cases = sweep(["64B", "128B", "256B"], [f"{n}0%" for n in range(1, 8)], "pass")
    verdicts, lost = build_grids(cases[:-1], 80, 40)
    assert verdicts.title == "verdict over load"
    assert {column.kind for column in verdicts.columns[1:]} == {"verdict"}
    assert lost.columns[-1].cells == ["6", "16", ""]


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_a_table_is_turned_only_if_that_takes_fewer_lines(reports):
    cases = sweep(["64B", "128B", "256B", "512B", "1_024B"], ["50%", "100%"])
    for case in cases:
        case["statements"] = [report(f"r{n}", n) for n in range(reports)]
    assert bool(build_grids(cases, 80, 40)[0].title) == (reports == 1)


def wide(count):
    reports = [report(f"a_rather_long_name_{n}", n) for n in range(count)]
    return [case({"load": load}, reports) for load in ("10%", "20%")]


def test_a_wide_table_has_narrow_heads_and_then_parts_each_with_its_keys():
    (whole,) = build_grids(wide(6), 140, 40)
    assert whole.columns[1].heads == ["a_rather_long_name_0"]
    (narrow,) = build_grids(wide(6), 60, 40)
    assert narrow.columns[1].heads == ["a_", "rather_", "long_", "name_0"]
    found = build_grids(wide(6), 30, 40)
    assert [len(grid.columns) for grid in found] == [3, 3, 3]
    assert all(grid.columns[0].head == "load" for grid in found)
    widths = [sum(column.width + 2 for column in grid.columns) for grid in found]
    assert max(widths) <= 30 + 2


def test_a_long_head_is_not_broken_into_many_lines():
    label = "up.bytes.ip.at(left.outer.tx) / up.items.at(left.outer.tx)"
    first, *_ = build_grids([case({}, [report(label, 1)])], 40, 40)
    (column,) = first.columns
    assert column.heads == [
        "up.bytes.ip.",
        "at(left.outer.",
        "tx) / up.",
        "items.at(left.",
        "outer.tx)",
    ]


@pytest.mark.parametrize(
    ("labels", "heads"),
    [
        (["latency[p.f]", "max[p.f]", "lost"], ["latency", "max", "lost"]),
        (["latency[p.f]", "latency[p.g]"], ["latency[f]", "latency[g]"]),
        (["latency[p.f]", "latency[q.f]", "max[q.f]"], ["latency[p]", "latency[q]", "max[q]"]),
        (["latency[p.f]", "latency[q.g]"], ["latency[p.f]", "latency[q.g]"]),
        (["latency[f]", "latency[f][2]", "lost"], ["latency[f]", "latency[f][2]", "lost"]),
        (["latency[p.f]", "max[q.f]"], ["latency", "max"]),
        (["latency[p.f]", "latency"], ["latency[p.f]", "latency"]),
        (["[x]", "lost"], ["[x]", "lost"]),
        ([], []),
    ],
)
def test_indices_are_left_out_where_labels_differ_without_them(labels, heads):
    assert without_index(labels) == heads


def test_of_very_many_rows_some_are_shown_with_the_first_and_the_last():
    cases = [case({"load": f"{n}%"}, [report("lost", n)]) for n in range(1, 101)]
    (grid,) = build_grids(cases, 80, 10)
    assert grid.rows == 100
    shown = grid.columns[0].cells
    assert (len(shown), shown[0], shown[-1]) == (10, "1%", "100%")


def test_nothing_to_show_is_no_table():
    idle = report("lost", None, verdict="not applicable")
    assert build_grids([case({}, [idle])], 80, 40) == []


def test_a_single_case_needs_no_key():
    (grid,) = build_grids([case({}, [report("lost", 3)])], 80, 40)
    assert text(grid) == ["lost", "3"]


def test_what_a_single_case_reports_in_loops_has_a_row_for_each_index():
    """As the steps of Y.1564 do: seven points with four values each."""
    labels = [f"{name}[{at}.user]" for at in ("idle", "busy") for name in ("rate", "lost")]
    reports = [report(label, number) for number, label in enumerate(labels)]
    (grid,) = build_grids([case({}, reports)], 80, 40)
    assert text(grid) == ["at | rate | lost", "idle | 0 | 1", "busy | 2 | 3"]
    (mixed,) = build_grids([case({}, reports[:-1])], 80, 40)
    assert [column.head for column in mixed.columns] == ["rate[idle]", "lost[idle]", "rate[busy]"]


def test_decimal_points_are_below_each_other():
    cases = [
        case({"n": n}, [report("r", v, "s")]) for n, v in (("x", "0"), ("y", "5/4"), ("z", 12))
    ]
    (grid,) = build_grids(cases, 80, 40)
    assert align_column(grid.columns[1]) == ["0   ", "1.25", "12.00"]
    assert grid.columns[1].width == 5


def activated(size, policed="pass", **more):
    """Return a case as one of Y.1564: two steps, each judged, with values of long names."""
    statements = [
        report(f"a_rather_long_{name}[{step}.user]", number)
        for number, step in enumerate(("cir_100", "policed"))
        for name in ("rate", "delay", "variation")
    ]
    judged = [
        report(f"at_most[{step}.user]", 1, kind="expect", verdict=verdict)
        for step, verdict in (("cir_100", "pass"), ("policed", policed))
    ]
    return case({"size": size}, [*statements, *judged], policed, **more)


def test_the_steps_of_a_sweep_are_rows_each_with_its_own_verdict():
    cases = [activated("64B"), activated("128B", "fail")]
    (grid,) = build_grids(cases, 60, 40)
    assert text(grid) == [
        "size | at | verdict | a_rather_long_rate | a_rather_long_delay | a_rather_long_variation",
        "64 B | cir_100 | pass | 0 | 0 | 0",
        "64 B | policed | pass | 1 | 1 | 1",
        "128 B | cir_100 | pass | 0 | 0 | 0",
        "128 B | policed | fail | 1 | 1 | 1",
    ]


def test_a_step_does_not_pass_where_something_else_failed_in_its_case():
    cases = [activated("64B"), activated("128B")]
    other = report("lost", 1, kind="expect", verdict="fail")
    cases[1] |= {"verdict": "fail", "statements": [*cases[1]["statements"], other]}
    (grid,) = build_grids(cases, 60, 40)
    assert grid.columns[2].cells == ["pass", "pass", "fail", "fail"]


def test_a_case_without_results_has_a_row_among_the_steps_of_others():
    error = case({"size": "128B"}, [], "error")
    not_run = case({"size": "256B"}, [], "inconclusive", ran=False)
    (grid,) = build_grids([activated("64B"), error, not_run], 60, 40)
    assert text(grid)[3:] == ["128 B |  | error |  |  | ", "256 B |  |  |  |  | "]


def test_steps_are_no_rows_where_a_row_for_each_case_fits():
    (grid,) = build_grids([activated("64B"), activated("128B")], 200, 40)
    assert grid.rows == 2


def lossy(size, *shares):
    """Return a case with a search by steps of 10 Mbit/s, which tried the last loads only."""
    trials = [
        {
            "load": {"value": str(n * 10**7), "unit": "bit/s", "text": f"{n * 10} Mbit/s"},
            "sent": 1_000, "lost": lost,
        }
        for n, lost in enumerate(shares, 1)
        if lost is not None
    ]  # fmt: skip
    search = {
        "kind": "search", "variable": "load", "method": "step", "trials": trials,
        "goals": [{"name": "frame_loss", "loss": None, "lower": None, "upper": None,
                   "complete": True, "notes": []}],
    }  # fmt: skip
    return case({"size": size}, [report("lost", 0)], phases=[search])


def test_a_frame_loss_curve_is_a_table_with_the_loads_as_columns():
    """RFC 2544, 26.3. Loads below the first two without loss are not tried."""
    cases = [lossy("64B", 0, 0, 125, 500), lossy("128B", None, None, 0, 0)]
    _, curve = build_grids(cases, 80, 40)
    assert curve.title == "frame_loss: loss in % at each load in Mbit/s"
    assert text(curve) == [
        "size | 10 | 20 | 30 | 40", "64 B | 0 | 0 | 12.5 | 50.0", "128 B |  |  | 0 | 0"
    ]  # fmt: skip


def test_a_frame_loss_curve_of_very_many_loads_has_them_as_rows():
    _, curve = build_grids([lossy("64B", *range(40)), lossy("128B", *range(40))], 80, 100)
    assert text(curve)[:2] == ["load | 64 B | 128 B", "10 | 0 | 0"]
    assert curve.rows == 40


def test_trials_of_one_load_are_one_point_of_the_curve():
    repeated = lossy("64B", 100, 500)
    repeated["phases"] *= 2
    repeated["phases"][1] = lossy("64B", 300, 700)["phases"][0]
    (_, curve) = build_grids([repeated], 80, 40)
    assert text(curve) == ["10 | 20", "20 | 60"]
