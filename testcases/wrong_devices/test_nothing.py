"""Devices that do nothing, in each suite: what they pass is listed with its reason.

What such a device passes says nothing about a device. So no claim `as exact` is passed by it in any
case, and what it passes in all cases is claimed by nothing that counts as reproduced: `as
consistent`, or `as calibrated` if a model was set by it. `nothing` lists why.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest
from night import MOST_OF, is_night, spread
from nothing import NOTHING, Nothing
from replacing import SUITES, copied, replace_device
from testcases.wrong_devices.claims import (
    KINDS,
    PAGE,
    Claims,
    collect_claims,
    count_claims,
    name_criterion,
    write_reasons,
    write_row,
)

from qospec.document import Document
from qospec.model.claims import CLAIMS, CONSISTENT
from qospec.model.suite import Suite

ReadCases = Callable[[Path], list[Suite]]
RunCases = Callable[[Path, Collection[str]], list[Document]]
REPRODUCING = {name for name, claim in CLAIMS.items() if claim.reproduces}
FILES = [
    (nothing, path.name)
    for nothing in NOTHING
    for path in sorted((SUITES / nothing.work).glob("*.qos"))
]

MOST_JUDGED = 2


def chosen(claims: Claims) -> list[str]:
    """Return cases in which each criterion is judged: at the ends; at night, if exact, in all.

    By day the last is enough of those that take seconds.
    """
    names: dict[str, None] = {}
    for key, its in claims.items():
        some = spread(list(its), MOST_JUDGED)
        if is_night() and "exact" in its.values():
            some = list(its)
        elif not is_night() and key.partition(".")[0] in MOST_OF:
            some = some[-1:]
        names |= dict.fromkeys(some)
    return list(names)


def passed(documents: Collection[Document], claims: Claims) -> Mapping[str, list[bool]]:
    """Return by criterion whether it passes in each case that was run."""
    found: dict[str, list[bool]] = {}
    for case in documents:
        for statement in case["statements"]:
            key = name_criterion(case["test"], statement["label"])
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
    claims = collect_claims(read_cases(folder / suite), nothing.unclaimed)
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
    page, name = PAGE.read_text(encoding="utf-8"), f"suites/{nothing.work}/{suite}"
    counts = count_claims(claims, survivors)
    assert not counts or write_row(f"`{name}`", counts) in page, "make nothing"
    assert not listed or write_reasons(name, nothing.survivors[suite]) in page, "make nothing"


def test_each_suite_has_a_device_that_does_nothing() -> None:
    works = {path.name for path in SUITES.iterdir() if path.is_dir()}
    assert {nothing.work for nothing in NOTHING} == works


def test_the_page_sums_up_what_it_lists() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first, _, *rows, last = ([*line.split("|")][1:-1] for line in lines if line.startswith("|"))
    assert [kind.strip() for kind in first[1:]] == [*KINDS]
    for number, kind in enumerate(KINDS, 1):
        cells = [row[number].strip() or "0 of 0" for row in (*rows, last)]
        passed, of_all = zip(*(map(int, cell.split(" of ")) for cell in cells), strict=True)
        assert (passed[-1], of_all[-1]) == (sum(passed[:-1]), sum(of_all[:-1]))
        assert not (kind in REPRODUCING and passed[-1])
