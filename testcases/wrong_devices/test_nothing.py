"""Devices that do nothing, in each suite: what they pass is listed with its reason.

What such a device passes says nothing about a device. So no claim `as exact` is passed by it in any
case, and what it passes in all cases is claimed by nothing that counts as reproduced: `as
consistent`, or `as calibrated` if a model was set by it. `nothing` lists why.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest
from nothing import NOTHING, Nothing
from replacing import SUITES, copied, replace_device

from qospec.document import Document
from qospec.model.claims import CLAIMS, CONSISTENT
from qospec.model.suite import Suite

ReadCases = Callable[[Path], list[Suite]]
RunCases = Callable[[Path, Collection[str]], list[Document]]
Claims = dict[str, dict[str, str]]
"""By criterion, `test.label`, the claim in each case to which it applies, by name; or what is
`expected`, of a suite that claims nothing."""
REPRODUCING = {name for name, claim in CLAIMS.items() if claim.reproduces}
FILES = [
    (nothing, path.name)
    for nothing in NOTHING
    for path in sorted((SUITES / nothing.work).glob("*.qos"))
]


def claims_of(cases: Collection[Suite], unclaimed: str) -> Claims:
    """Return what criteria claim; those that claim nothing, if they are called something."""
    found: Claims = {}
    for suite in cases:
        (test,) = suite.tests
        (case,) = test.cases
        for statement in case.statements:
            claim = statement.claim or unclaimed
            if statement.kind == "expect" and not statement.idle and claim:
                found.setdefault(_key(test.name, statement.label), {})[case.name] = claim
    return found


def _key(test: str, label: str) -> str:
    return f"{test}.{label.partition('[')[0]}"


def chosen(claims: Claims) -> list[str]:
    """Return cases in which each criterion is judged: if it is exact in all, else at the ends."""
    names: dict[str, None] = {}
    for its in claims.values():
        all_of = list(its)
        names |= dict.fromkeys(all_of if "exact" in its.values() else (all_of[0], all_of[-1]))
    return list(names)


def passed(documents: Collection[Document], claims: Claims) -> Mapping[str, list[bool]]:
    """Return by criterion whether it passes in each case that was run."""
    found: dict[str, list[bool]] = {}
    for case in documents:
        for statement in case["statements"]:
            key = _key(case["test"], statement["label"])
            if case["name"] in claims.get(key, ()) and statement["kind"] == "expect":
                found.setdefault(key, []).append(statement["verdict"] == "pass")
    return found


@pytest.mark.parametrize(
    ("nothing", "suite"),
    FILES,
    ids=[f"{nothing.work}-{suite.removesuffix('.qos')}" for nothing, suite in FILES],
)
def test_a_device_that_does_nothing_passes_only_this(
    nothing: Nothing, suite: str, read_cases: ReadCases, run_cases: RunCases, tmp_path: Path
) -> None:
    folder = copied(nothing.work, tmp_path)
    for replaces, device in nothing.devices.items():
        replace_device(folder, replaces, device)
    claims = claims_of(read_cases(folder / suite), nothing.unclaimed)
    verdicts = passed(run_cases(folder / suite, chosen(claims)), claims)
    exact = {key for key, its in claims.items() if "exact" in its.values()}
    consistent = {key for key, its in claims.items() if CONSISTENT in its.values()}
    survivors = {key for key in claims if all(verdicts[key])}
    reproduced = {key for key in survivors if REPRODUCING.intersection(claims[key].values())}
    assert {key for key in exact if any(verdicts[key])} == set(), "no claim `as exact`"
    assert consistent - survivors == set(), "not `as consistent`"
    assert reproduced == set(), "`as consistent`"
    listed = [key for its in nothing.survivors.get(suite, {}).values() for key in its]
    assert len(listed) == len(set(listed))
    new, gone = survivors - set(listed), set(listed) - survivors
    assert not new, "passed, and not listed: " + ", ".join(sorted(new))
    assert not gone, "listed, and not passed: " + ", ".join(sorted(gone))


def test_each_suite_has_a_device_that_does_nothing() -> None:
    works = {path.name for path in SUITES.iterdir() if path.is_dir()}
    assert {nothing.work for nothing in NOTHING} == works
