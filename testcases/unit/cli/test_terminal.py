"""What a terminal says beside verdicts: what passed criteria prove, and how sure all are."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from qospec.cli.terminal import Console, LocalNames, list_cases_in_tables

PHASES = Path(__file__).parents[1] / "report" / "phases.json"
NOTE = "0 of 1_200_000 lost: with 95 % confidence the ratio is below 2.5 × 10⁻⁶"


def case(**more):
    statement = {
        "label": "clean", "kind": "expect", "verdict": "pass", "note": NOTE, "confidence": "",
        "interval": None, **more,
    }  # fmt: skip
    return {"name": "t", "test": "t", "verdict": "pass", "ran": True, "statements": [statement]}


def test_what_a_count_of_zero_proves_is_shown_for_a_case_that_runs_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Console(1, quiet=False, progress=None).note_ended(case(), 1.0)
    assert f"    clean: {NOTE}\n" in capsys.readouterr().out
    Console(2, quiet=False, progress=None).note_ended(case(), 1.0)
    assert "lost" not in capsys.readouterr().out


def test_a_summary_says_how_sure_all_criteria_are_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console(2, quiet=False, progress=None)
    sure = case(confidence="95 %", interval={"lower": None, "upper": None, "repeats": 5})
    summary = {"summary": {"pass": 2}, "seed": "0", "tests": []}
    console.print_summary({**summary, "cases": [sure, sure]})
    told = capsys.readouterr().out
    assert "2 criteria were judged with confidence; on average at most 0.1 of them is" in told
    assert "each would need 97.5 %." in told
    console.print_summary({**summary, "cases": [case(), case()]})
    assert "confidence;" not in capsys.readouterr().out


def test_a_summary_says_what_criteria_claim_and_how_many_do_not_apply(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console(3, quiet=False, progress=None)
    idle = case(verdict="not applicable", note="it applies when n == 2", measured=None)
    found = [case(claim="exact"), case(claim="calibrated"), idle]
    counts = {"pass": 3, "fail": 0, "criteria": {"exact": 1}}
    tests = [{"name": "t", "covers": ["table 1", "table 2"]}]
    console.print_summary({"summary": counts, "cases": found, "tests": tests, "seed": "0"})
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "3 pass; seed 0"
    on = {"provenance": {"backend": {"name": "kernel-vt"}}}
    console.print_summary({"summary": counts, "cases": found, "tests": tests, "seed": "0"} | on)
    assert capsys.readouterr().out.startswith("3 pass; seed 0; on kernel-vt\n")
    assert told[1] == (
        "statements covered: 2 exact;"
        " criteria: 1 exact, 1 calibrated (not counted as reproduced); 1 not applicable"
    )


def test_a_summary_lists_what_is_not_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    gaps = [{"what": f"O{number}", "why": "lost tables"} for number in range(1, 15)]
    tests = [{"name": "t", "covers": ["O15"], "not_reproduced": gaps}]
    summary = {"summary": {"pass": 1}, "cases": [], "tests": tests, "seed": "0"}
    Console(1, quiet=False, progress=None).print_summary(summary)
    told = capsys.readouterr().out.splitlines()
    at = told.index("not reproduced: 14")
    assert (told[at + 1], told[at + 12]) == ("    O1: lost tables", "    O12: lost tables")
    assert told[at + 13] == "    12 of 14 are shown; `-v` prints all"


def test_what_does_not_apply_is_not_among_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    failed = case(verdict="not applicable", note="it applies when n == 2", place="a.qos:1:1")
    failed |= {"verdict": "inconclusive", "errors": [], "losses": [], "why": ["why not"]}
    failed |= {"metrics": {}, "again": "qos run a"}
    Console(1, quiet=False, progress=None).print_summary(
        {"summary": {"inconclusive": 1}, "seed": "0", "tests": [], "cases": [failed]}
    )
    told = capsys.readouterr().out
    assert "why not" in told
    assert "a.qos:1:1" not in told


def test_places_and_commands_are_shown_relative_to_the_current_folder() -> None:
    here = LocalNames({"t.qos": "../t.qos"}, {"one": "qos run ../t.qos::one"})
    assert here.find_place("t.qos:3:5") == "../t.qos:3:5"
    assert here.find_place("std/media.qos:3:5") == "std/media.qos:3:5"
    assert (
        here.write_rerun_command({"name": "one", "again": "qos run t.qos::one"})
        == "qos run ../t.qos::one"
    )


def test_an_inconclusive_criterion_of_a_failed_case_is_labelled_and_comes_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"comparison": "<", "tolerance": None, "bound": {"text": "10 ms"}, "place": "a.qos:1:1"}
    told = {"measured": {"text": "168.4 us"}, "note": ""}
    statements = [
        *case(**more, **told, verdict="inconclusive", text="rare < 10 ms")["statements"],
        *case(**more, **told, verdict="fail", text="mean < 1 us")["statements"],
    ]
    failed = case() | {"verdict": "fail", "statements": statements, "errors": [], "losses": []}
    failed |= {"why": [], "metrics": {}, "again": "qos run a"}
    summary = {"summary": {"fail": 1}, "seed": "0", "tests": [], "cases": [failed]}
    Console(1, quiet=False, progress=None).print_summary(summary)
    first, _, second = capsys.readouterr().out.partition("rare < 10 ms\n")
    assert "mean < 1 us" in first
    assert "verdict" not in first
    assert second.startswith("    verdict   inconclusive\n    measured  168.4 us\n")


def test_why_and_rerun_belong_to_the_case_not_to_its_last_criterion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"comparison": "<", "tolerance": None, "bound": {"text": "10 ms"}, "place": "a.qos:1:1"}
    more |= {"measured": {"text": "20 ms"}, "note": "", "apart": "", "verdict": "fail"}
    failed = case(**more, text="mean < 10 ms") | {"verdict": "fail", "errors": ["it broke"]}
    failed |= {"why": ["2 cells of f"], "metrics": {}, "losses": [], "again": "qos run a"}
    Console(1, quiet=False, progress=None).print_summary(
        {"summary": {"fail": 1}, "seed": "0", "tests": [], "cases": [failed]}
    )
    lines = capsys.readouterr().out.splitlines()
    assert "    needed    < 10 ms" in lines
    assert "  error     it broke" in lines
    assert "  rerun     qos run a" in lines
    assert [line for line in lines if "why" in line] == ["  why       2 cells of f"]


def test_of_a_criterion_of_a_loop_what_is_equal_is_shown_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def asked(index, measured, label="loss", text="f.loss_ratio <= loss", place="std/p.qos:5:3"):
        more = {"comparison": "<=", "tolerance": None, "bound": {"text": "0 %"}, "place": place}
        (statement,) = case(
            **more, label=f"{label}{index}", text=text, verdict="fail", note="",
            measured={"text": measured},
        )["statements"]  # fmt: skip
        return statement

    failed = case() | {"verdict": "fail", "errors": [], "losses": [], "why": []}
    failed |= {"metrics": {}, "again": "qos run a"}
    failed["statements"] = [
        asked("[low.u]", "3 %"),
        asked("[low.u]", "7 %", "delay", "f.delay <= delay", "std/p.qos:6:3"),
        asked("[high.u]", "5 %"),
        asked("[point.u]", "3 %"),
        asked("[2]", "1 %", "f.lost == 0", "f.lost == 0", "a.qos:3:1"),
    ]
    here = LocalNames(tests={"t": "a.qos:1:1"})
    document = {"summary": {"fail": 2}, "seed": "0", "tests": [], "cases": [failed, failed]}
    Console(1, quiet=False, progress=None, here=here, verbose=True).print_summary(document)
    block = [
        "FAIL  t",
        "  a.qos:1:1: test t",
        "  std/p.qos:5:3: expect loss: f.loss_ratio <= loss",
        "    at        low.u, point.u",
        "    measured  3 %",
        "    needed    <= 0 %",
        "    at        high.u",
        "    measured  5 %",
        "    needed    <= 0 %",
        "  std/p.qos:6:3: expect delay: f.delay <= delay",
        "    at        low.u",
        "    measured  7 %",
        "    needed    <= 0 %",
        "  a.qos:3:1: expect f.lost == 0",
        "    at        2",
        "    measured  1 %",
        "    needed    <= 0 %",
        "  rerun     qos run a",
        "",
    ]
    assert capsys.readouterr().out.splitlines() == ["", *block, *block, "2 fail; seed 0"]


def test_of_many_flows_and_reasons_the_first_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def lost(number):
        more = {"comparison": "==", "tolerance": None, "bound": {"text": "0 pkt"}, "note": ""}
        (statement,) = case(
            **more, label=f"lost[{number}]", text="f.lost == 0 pkt", verdict="fail",
            place="a.qos:3:1", measured={"text": "9 pkt"},
        )["statements"]  # fmt: skip
        return statement

    failed = case() | {"verdict": "fail", "errors": [], "losses": [], "again": "qos run a"}
    failed |= {"metrics": {}, "why": [f"9 packets of f[{number}]" for number in range(200)]}
    failed["statements"] = [lost(number) for number in range(200)]
    Console(1, quiet=False, progress=None).print_summary(
        {"summary": {"fail": 1}, "seed": "0", "tests": [], "cases": [failed]}
    )
    lines = capsys.readouterr().out.splitlines()
    assert "    at        0, 1, 2, 3, 4, 5, 6, 7, and 192 more" in lines
    reasons = [line for line in lines if "why" in line]
    assert reasons == [
        *(f"  why       9 packets of f[{number}]" for number in range(8)),
        "  why       and 192 more",
    ]


def swept(load, lost, verdict, **more):
    """Return a case of a sweep that reports how many were lost, and expects none."""
    measured = {"value": str(lost), "unit": "pkt", "text": f"{lost} pkt"}
    criterion = {"place": "a.qos:9:3", "text": "f.lost == 0 pkt", "comparison": "=="}
    return {
        **case(**criterion, measured=measured, bound={"text": "0 pkt"}, tolerance=None),
        "name": f"t:load={load}", "parameters": {"load": load}, "verdict": verdict,
        "statements": [
            *case(
                **criterion, measured=measured, bound={"text": "0 pkt"}, tolerance=None,
                verdict=verdict, note="",
            )["statements"],
            *case(kind="report", label="lost", measured=measured, verdict="", note="",
                  text="f.lost", comparison="", bound=None, tolerance=None,
                  place="a.qos:9:3")["statements"],
        ],
        "errors": [], "losses": [], "why": [f"{lost} packets"], "metrics": {}, "repeats": [{}],
        "again": f"qos run a.qos::t:load={load}", **more,
    }  # fmt: skip


SWEEP = [swept("10%", 0, "pass"), swept("20%", 3, "fail"), swept("30%", 12, "fail")]
NAMES = tuple(case["name"] for case in SWEEP)


def run(cases=SWEEP, *, verbose=False):
    tables = dict.fromkeys(NAMES, NAMES)
    console = Console(3, quiet=False, progress=None, tables=tables, verbose=verbose)
    for case in cases:
        console.note_ended(case, 0.5)
    rest = [{**case, "ran": False} for case in SWEEP[len(cases) :]]
    document = {
        "summary": {"pass": 1, "fail": 2},
        "seed": "0",
        "state": "interrupted",
        "tests": [],
        "cases": [*cases, *rest],
    }
    console.print_summary(document)


def test_a_sweep_with_reports_is_one_table_when_its_last_case_has_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run()
    told = capsys.readouterr().out.splitlines()
    assert told[:5] == [
        "✗ fail  t  3 cases: 2 fail, 1 pass  1.5 s",
        "    load  verdict  lost",
        "                    pkt",
        "     10%  ✓ pass      0",
        "     20%  ✗ fail      3",
    ]


def test_failures_that_are_alike_are_shown_once_with_their_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run()
    told = capsys.readouterr().out
    block = told[told.index("FAIL") :].splitlines()
    assert block[:8] == [
        "FAIL  2 cases of t fail the same way",
        "  cases     load = 20%, 30%",
        "  first     t:load=20%",
        "  all have  load >= 20%; no case that passes has",
        "  a.qos:9:3: expect f.lost == 0 pkt",
        "    measured  3 pkt; in all 3 pkt to 12 pkt",
        "    needed    == 0 pkt",
        "  why       3 packets",
    ]
    assert told.count("\nFAIL") == 1
    assert "of similar cases only the first is shown in full; `-v` prints each\n" in told


def test_verbose_prints_each_case_and_each_failure(capsys: pytest.CaptureFixture[str]) -> None:
    run(verbose=True)
    told = capsys.readouterr().out
    assert "✗ fail  t:load=20%  0.5 s\n✗ fail  t:load=30%  0.5 s\n✗ fail  t  3 cases" in told
    assert told.count("\nFAIL  t:load=") == 2
    assert "similar" not in told


@pytest.mark.parametrize("verbose", [False, True])
def test_the_line_of_a_single_case_with_a_table_is_printed_once(
    capsys: pytest.CaptureFixture[str], *, verbose: bool
) -> None:
    bound = {"what": "delay of f", "most": None, "why": "random"}
    only = {**SWEEP[0], "name": "t", "bounds": [bound]}
    console = Console(2, quiet=False, progress=None, tables={"t": ("t",)}, verbose=verbose)
    console.note_ended(only, 0.5)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "✓ pass  t  1 case  0.5 s"
    assert [line for line in told if "pass  t " in line] == told[:1]
    assert (told[-1] == "    bound  delay of f: random") == verbose


def test_of_an_interrupted_sweep_the_table_has_what_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(cases=SWEEP[:1])
    told = capsys.readouterr()
    assert told.out.startswith("✓ pass  t  1 case  0.5 s\n")
    assert "interrupted: 2 of 3 cases did not finish" in told.err


def test_cases_that_are_skipped_for_one_reason_are_shown_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    far = [swept(load, 0, "skip", statements=[], why=["too far"]) for load in ("10%", "20%")]
    Console(2, quiet=False, progress=None).print_summary(
        {"summary": {"skip": 2}, "seed": "0", "tests": [], "cases": far}
    )
    told = capsys.readouterr().out
    assert "SKIP  2 cases of t are skipped for the same reason\n  cases     load = 10%, 20%" in told
    assert told.count("too far") == 1


@pytest.mark.parametrize(
    ("cases", "kinds", "table"),
    [(3, ["report"], True), (3, ["expect"], False), (1, ["report"], True), (13, ["expect"], True)],
)
def test_tests_with_reports_or_many_cases_have_a_table(cases, kinds, table):
    plans = [
        SimpleNamespace(
            test="t",
            case=SimpleNamespace(
                name=f"t:n={n}",
                statements=[SimpleNamespace(kind=kind) for kind in kinds],
                phases=(),
            ),
        )
        for n in range(cases)
    ]
    found = list_cases_in_tables((plan.test, plan.case) for plan in plans)
    assert set(found) == ({plan.case.name for plan in plans} if table else set())
    assert all(len(names) == cases for names in found.values())
    assert len({id(names) for names in found.values()}) <= 1, "a table of 10,000 is made once"


def test_of_several_tests_single_cases_have_lines_unless_they_only_report() -> None:
    plans = [
        SimpleNamespace(
            test=name,
            case=SimpleNamespace(
                name=name, statements=[SimpleNamespace(kind=kind) for kind in kinds], phases=()
            ),
        )
        for name, kinds in (("one", ["expect", "report"]), ("other", ["report"]))
    ]
    assert list_cases_in_tables((plan.test, plan.case) for plan in plans) == {"other": ("other",)}


def test_a_long_table_says_how_many_rows_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [swept(f"{n}%", 0, "pass") for n in range(1, 100)]
    names = tuple(case["name"] for case in cases)
    for verbose, rows in ((False, 40), (True, 99)):
        console = Console(
            99, quiet=False, progress=None, tables=dict.fromkeys(names, names), verbose=verbose
        )
        for case in cases:
            console.note_ended(case, 0.0)
        told = capsys.readouterr().out
        assert told.count("%  ✓ pass ") == rows
        assert ("40 of 99 rows are shown; `-v` prints all" in told) is not verbose


class ReadTable(tuple):
    """The names of the cases of a table; `reads` counts how often they were gone through."""

    reads = 0

    def __iter__(self):
        type(self).reads += 1
        return super().__iter__()


def test_the_names_of_a_table_are_not_gone_through_for_each_of_its_cases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """So 10,000 cases took seconds, as the square of their number."""
    cases = [swept(f"{n}%", 0, "pass") for n in range(1, 100)]
    names = ReadTable(case["name"] for case in cases)
    tables = dict.fromkeys(tuple(names), names)
    console = Console(99, quiet=False, progress=None, tables=tables)
    before = ReadTable.reads
    for case in cases:
        console.note_ended(case, 0.0)
    assert ReadTable.reads - before <= 2
    assert "99 cases" in capsys.readouterr().out


def test_what_searches_found_is_a_table_with_its_notes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cases = json.loads(PHASES.read_text(encoding="utf-8"))
    names = tuple(case["name"] for case in cases)
    console = Console(2, quiet=False, progress=None, tables=dict.fromkeys(names, names))
    for case in cases:
        console.note_ended(case, 1.0)
    told = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in told[4:8]] == [
        "size verdict ndr.load pdr.load offered lower upper mean",
        "Mbit/s Mbit/s Mbit/s Mbit/s Mbit/s us",
        "64 B ~ inconclusive 26.758 .. 26.855 26.855 .. 26.953 20 .. 30 26.76 26.86 25.4",
        "128 B ~ inconclusive 26.758 .. 26.855 26.855 .. 26.953 20 .. 30 26.76 26.86 25.4",
    ]
    assert any("loss_free: loss in % at each offered in Mbit/s" in line for line in told)
    assert "    load: 26 trials in 2 searches by mlrsearch, 26 s emulated" in told
    assert not [line for line in told if "was not run" in line], "the cases say so when explained"
    assert max(map(len, told)) <= 110


def test_a_test_with_searches_has_a_table_even_with_one_case() -> None:
    case = SimpleNamespace(name="t", statements=[], phases=("search",))
    assert list_cases_in_tables([("t", case)]) == {"t": ("t",)}
