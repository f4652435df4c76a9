"""What is drawn over a sweep: goals and frame loss curves of searches, criteria and reports.

Each is a column like those of `views.arrange_columns`, with the `cases` that its statements are of.
What points measure, `delay[cir_25.user]` and `delay[cir_50.user]`, is one column, whose cases have
one more parameter, `point`; so are the trials of a frame loss curve, over their load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qospec.record.quantity import describe_quantity
from qospec.report.searches import (
    Goal,
    LossCurve,
    has_phases,
    is_interval_again,
    list_goals,
    list_loss_curves,
)
from qospec.report.views import arrange_columns, find_worst
from qospec.report.words import list_index, split_index, without_shared
from qospec.units import RATIO

Record = Mapping[str, Any]


def list_charted(cases: Sequence[Record]) -> list[dict[str, Any]]:
    """Return what is drawn of the cases of a test.

    A goal's column has its lower bound with an interval up to the upper. A column that must be
    drawn along one parameter names it as `over`.
    """
    found = list_goals(cases)
    stated = [
        column
        for column in arrange_columns(cases, ("expect", "report"))
        if not all(
            statement is None or is_interval_again(statement, found)
            for statement in column["statements"]
        )
    ]
    return [
        *({**_build_goal_column(goal), "cases": cases} for goal in found),
        *(_build_curve_column(curve, cases) for curve in list_loss_curves(cases)),
        *(
            _join_columns(its, cases)
            for its in (
                _group_by_name(stated) if has_phases(cases) else [[value] for value in stated]
            )
        ),
    ]


def _group_by_name(stated: Sequence[Record]) -> list[list[Record]]:
    """Return columns in groups of one kind and name, without what follows it in brackets."""
    found: dict[tuple[str, str, str], list[Record]] = {}
    for column in stated:
        name, index = split_index(column["label"])
        apart = "" if index and not column["term"] else column["label"]
        found.setdefault((column["kind"], name, apart), []).append(column)
    return list(found.values())


def _join_columns(its: Sequence[Record], cases: Sequence[Record]) -> dict[str, Any]:
    if len(its) == 1:
        return {**its[0], "cases": cases}
    indices = without_shared([split_index(column["label"])[1] for column in its])
    bounds, subjects = ({column[key] for column in its} for key in ("bound", "subject"))
    return {
        **its[0],
        "label": split_index(its[0]["label"])[0],
        "text": "",
        "subject": subjects.pop() if len(subjects) == 1 else "",
        "bound": bounds.pop() if len(bounds) == 1 else None,
        "statements": [statement for column in its for statement in column["statements"]],
        "verdict": find_worst(column["verdict"] for column in its if column["verdict"]),
        "cases": [
            _add_parameter(case, "point", list_index(index)) for index in indices for case in cases
        ],
    }


def _add_parameter(case: Record, parameter: str, value: str) -> dict[str, Any]:
    """Return a case with one more parameter."""
    comma = "," if ":" in case["name"] else ":"
    return {
        **case,
        "name": f"{case['name']}{comma}{parameter}={value}",
        "parameters": {**case["parameters"], parameter: value},
    }


def _build_curve_column(curve: LossCurve, cases: Sequence[Record]) -> dict[str, Any]:
    tried = list(_list_tried(curve, cases))
    return {
        **_make_unjudged(", ".join(curve.names)),
        "subject": "loss",
        "statements": [statement for statement, _ in tried],
        "cases": [case for _, case in tried],
        "over": curve.variable,
    }


def _list_tried(
    curve: LossCurve, cases: Sequence[Record]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for case, losses in zip(cases, curve.losses, strict=True):
        for load, loss in zip(curve.loads, losses, strict=True):
            if loss is not None:
                measured = describe_quantity(loss, RATIO)
                statement = {**_make_unjudged(""), "measured": measured, "interval": None}
                yield statement, _add_parameter(case, curve.variable, load["text"])


def _make_unjudged(label: str) -> dict[str, Any]:
    return {
        "kind": "report", "label": label, "text": label, "verdict": "", "comparison": "",
        "bound": None, "tolerance": None, "confidence": "", "term": False, "subject": "",
    }  # fmt: skip


def _build_goal_column(goal: Goal) -> dict[str, Any]:
    return {
        **_make_unjudged(goal.label),
        "statements": [
            search
            and {
                **_make_unjudged(goal.label),
                "measured": search.lower,
                "interval": {"lower": search.lower, "upper": search.upper},
            }
            for search in goal.found
        ],
    }


FUNCTIONS: dict[str, Callable[..., Any]] = {"charted": list_charted}
