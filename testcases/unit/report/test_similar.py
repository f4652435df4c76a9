"""Failures that are alike: told together, with their number and what they have in common."""

import pytest

from qospec.report.similar import (
    choose_printed,
    describe_extent,
    describe_group,
    describe_least_and_most,
    describe_shared,
    group_similar,
)


def statement(lost, verdict="fail", **more):
    return {
        "label": "nothing_lost",
        "place": "a.qos:9:3",
        "verdict": verdict,
        "text": "f.lost == 0 pkt",
        "measured": {"value": str(lost), "unit": "pkt", "text": f"{lost} pkt"},
        **more,
    }


def loss(element="dut.cpu", cause="overflow", flow="f"):
    return {"flow": flow, "element": element, "cause": cause, "carries": "packet", "cells": 3}


def case(load, size="64B", lost=1, **more):
    return {
        "name": f"t:size={size},load={load}",
        "test": "t",
        "parameters": {"size": size, "load": load},
        "verdict": "fail",
        "statements": [statement(lost)],
        "losses": [loss()],
        "metrics": {"f": {}, "g": {}},
        "repeats": [{}],
        "errors": [],
        "why": [],
        **more,
    }


def test_the_same_statement_and_cause_are_alike_whatever_was_measured():
    cases = [case(f"{load}%", lost=load) for load in (30, 40, 50, 60)]
    (group,) = group_similar(cases)
    assert group == cases
    assert describe_group(group) == "4 cases of t fail the same way"
    assert describe_extent(group) == "load = 30% to 60% (4 values)"
    assert describe_least_and_most(group[0]["statements"][0], group) == "30 pkt to 60 pkt"


@pytest.mark.parametrize(
    "other",
    [
        {"test": "u"},
        {"place": "b.qos:1:1"},
        {"verdict": "inconclusive"},
        {"statements": [statement(1, place="a.qos:10:3")]},
        {"statements": [statement(1), statement(1, label="again")]},
        {"losses": []},
        {"losses": [loss(element="dut.out")]},
        {"losses": [loss(cause="policed")]},
        {"errors": ["it broke"]},
    ],
)
def test_another_test_statement_place_or_cause_is_not_alike(other):
    assert len(group_similar([case("30%"), case("40%", **other)])) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"losses": [loss("dut[0].cpu")]}, {"losses": [loss("dut[12].cpu")]}),
        ({"losses": [loss(flow="f[0]")]}, {"losses": [loss(flow="f[1]")]}),
        ({}, {"losses": [loss(), loss(flow="g", element="elsewhere")]}),
        ({"errors": ["3 of 1_000 left"]}, {"errors": ["12 of 50 left"]}),
        ({"statements": [statement(1), statement(0, "pass", label="x")]}, {}),
    ],
)
def test_members_of_arrays_bystanders_and_numbers_in_errors_make_no_difference(one, other):
    assert len(group_similar([case("30%", **one), case("40%", **other)])) == 1


def test_skipped_cases_are_alike_if_their_reason_is():
    skipped = {"verdict": "skip", "statements": [], "losses": []}
    cases = [case(f"{n}%", **skipped, why=[why]) for n, why in enumerate(["far", "far", "dear"])]
    (far, dear) = group_similar(cases)
    assert describe_group(far) == "2 cases of t are skipped for the same reason"
    assert dear == cases[2:]


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        (["64B", "1_518B"], "size = 64 B, 1_518 B"),
        (["1_518B", "64B", "256B", "128B"], "size = 64 B to 1_518 B (4 values)"),
        (["a", "c", "b", "d"], "size = a … d (4 values)"),
    ],
)
def test_few_values_are_listed_and_many_are_a_range(sizes, text):
    assert describe_extent([case("30%", size) for size in sizes]) == text


def test_what_all_have_of_a_parameter_that_others_have_otherwise_is_in_the_extent():
    """RED: low thresholds alone decided, and were what was left out, since some with them pass."""
    group = [case("80%", "64B"), case("90%", "64B")]
    others = [case("70%", "64B", verdict="pass"), case("80%", "128B", verdict="pass")]
    elsewhere = case("80%", "256B", test="another")
    assert describe_extent(group, [*group, *others, elsewhere]) == "size = 64 B; load = 80%, 90%"
    assert describe_extent(group, [*group, others[0], elsewhere]) == "load = 80%, 90%"
    apart = case("70%", "128B", verdict="pass")
    assert describe_shared(group, [*group, apart]) == "size = 64 B; load >= 80%"
    assert describe_extent(group, [*group, apart]) == "load = 80%, 90%", "the other line has it"


def test_values_that_look_alike_have_no_range():
    """It was `in all 7.831 us to 7.831 us`."""
    alike = {"value": "5/2", "unit": "pkt", "text": "3 pkt"}
    group = [case("30%", lost=3), case("40%", statements=[statement(3, measured=alike)])]
    assert describe_least_and_most(group[0]["statements"][0], group) == ""


def test_equal_values_and_none_have_no_range():
    group = [case("30%"), case("40%")]
    assert describe_least_and_most(group[0]["statements"][0], group) == ""
    assert describe_least_and_most(group[0]["statements"][0], group[:1]) == ""
    known = {"lower": {"value": "9", "unit": "pkt", "text": "9 pkt"}, "upper": None}
    open_end = statement(9, measured_limits=known)
    mixed = [*group, case("50%", statements=[open_end])]
    assert describe_least_and_most(group[0]["statements"][0], mixed) == "at least 1 pkt"
    silent = [case(load, statements=[statement(0, measured=None)]) for load in ("30%", "40%")]
    assert describe_least_and_most(silent[0]["statements"][0], silent) == ""


def test_cases_that_lack_different_points_are_not_alike():
    lacking = [
        case(f"{load}%", phases=[{"kind": "point", "name": name, "ran": False, "note": "no bound"}])
        for load, name in ((10, "half"), (20, "whole"), (30, "half"))
    ]
    assert [len(group) for group in group_similar(lacking)] == [2, 1]


@pytest.mark.parametrize(
    ("failing", "passing", "text"),
    [
        ([("80%", "64B"), ("90%", "64B")], [("70%", "64B"), ("9%", "64B")], "load >= 80%"),
        ([("10%", "64B"), ("5%", "64B")], [("20%", "64B")], "load <= 10%"),
        ([("80%", "64B"), ("70%", "64B")], [("80%", "1_518B"), ("75%", "1_518B")], "size = 64 B"),
        ([("80%", "64B"), ("90%", "64B")], [("70%", "128B")], "size = 64 B; load >= 80%"),
        ([("70%", "64B"), ("90%", "64B")], [("80%", "64B")], ""),
        ([("70%", "64B"), ("90%", "64B")], [], ""),
        ([("90%", "64B")], [("70%", "128B")], ""),
    ],
)
def test_what_a_group_shares_is_what_no_case_that_passes_has(failing, passing, text):
    group = [case(*facts) for facts in failing]
    others = [case(*facts, verdict="pass") for facts in passing]
    elsewhere = case("85%", verdict="pass", test="another")
    assert describe_shared(group, [*group, *others, elsewhere]) == text


def test_of_cases_alike_the_first_is_printed_and_of_a_file_one_that_passes_with_few_flows():
    passing = {"verdict": "pass", "statements": [statement(0, "pass")], "losses": []}
    cases = [
        case("10%", **passing, metrics={"f": {}, "g": {}}),
        case("20%", **passing, metrics={"f": {}}),
        case("30%"),
        case("40%"),
        case("50%", losses=[loss(cause="filtered")]),
    ]
    cases += [case("60%", **passing, test=name) for name in ("same_file", "other_file")]
    places = {"t": "a.qos:1:1", "same_file": "a.qos:9:1", "other_file": "b.qos:1:1"}
    tests = [{"name": name, "place": place, "covers": []} for name, place in places.items()]
    document = {"cases": cases, "tests": tests}
    ids = [f"case-{number}" for number in range(1, 8)]
    assert choose_printed(document, ids) == ["case-3", "case-5", "case-2", "case-7"]
    assert choose_printed(document, ids[3:6]) == ["case-5"], "only what is shown is printed"
