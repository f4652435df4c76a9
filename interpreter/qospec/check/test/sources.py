"""The source of some traffic: what is emitted, apart from what is declared.

A source of cells says how many it sends. One of packets need not: where the traffic gives a
rate, the source leaves one field out (the `rate_field` of its class), which then follows from the
rate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import Load
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import Poison
from qospec.check.records.kinds import KindValue
from qospec.check.records.record import Record
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Kind
    from qospec.check.evaluate.evaluator import Evaluator

OF_PACKETS = {"cells": "packets", "cell rate": "packet rate", "profile": "packet profile"}
"""What the fields of a source of packets count, by what they count of cells."""


class Emitted(NamedTuple):
    """An arrival process by its kind and arguments; `whole` if these say how many it sends."""

    kind: Kind
    arguments: Mapping[str, Any]
    whole: bool
    record: Record


def build_source(record: Record, evaluator: Evaluator) -> Record | Poison | None:
    """Return the source of some traffic; None if it has none."""
    if "source" not in record.given:
        return None
    place = record.given["source"].value.span
    binding = record.find_binding("source")
    value = binding.evaluate(evaluator.context) if binding is not None else Poison()
    if isinstance(value, KindValue):
        value = Record(value.kind, {}, place, evaluator)
    if isinstance(value, Poison):
        return value
    if not isinstance(value, Record) or value.kind.role != "arrivals":
        evaluator.context.report(
            make_error(
                "E0307",
                f"`source` is an arrival process, not {value.what}",
                place,
                note="arrival processes: "
                + " ".join(evaluator.context.catalogue.select_role("arrivals")),
                help="write one, such as `burst { size = 10 cell, every = 1 ms }`",
            )
        )
        return Poison()
    if not set(record.kind.carries) <= set(value.kind.carries):
        evaluator.context.report(
            make_error(
                "E0307",
                f"`{value.kind.name}` emits {value.kind.carries[0]}s, and `{record.kind.name}` are"
                f" {record.kind.carries[0]}s",
                place,
                help="give packets their sizes and `gaps`, or another source",
            )
        )
        return Poison()
    return value


def build_packet_source(record: Record, evaluator: Evaluator) -> Emitted | Poison | None:
    """Return the source of packets; None if they are sent at their own rate, by `gaps`."""
    source = build_source(record, evaluator)
    if not record.kind.build.takes_source:
        return None
    load: str = record.kind.build.rate_field
    try:
        if source is None:
            if load not in record.given and load not in record.excused:
                raise _without_rate(record, load)
            return None
        return source if isinstance(source, Poison) else _emit(record, source, load, evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return Poison()


def _emit(
    record: Record, source: Record, load: str, evaluator: Evaluator
) -> Emitted | Poison | None:
    place, paced = record.given["source"].value.span, source.kind.build.rate_field
    if "gaps" in record.given:
        raise make_error(
            "E0301",
            "`gaps` and `source` both say when packets are sent",
            place,
            secondary=(record.given["gaps"].name.span, "said here"),
            help="keep one of them",
        )
    given = load in record.given
    if given and (not paced or paced in source.given):
        raise make_error(
            "E0301",
            f"`{load}` and the source both say how many packets are sent",
            source.given[paced].name.span if paced else place,
            secondary=(record.given[load].name.span, "said here"),
            help=f"leave out `{paced or load}`",
        )
    if not given and paced and paced not in source.given and paced not in source.excused:
        raise _without_rate(record, load, f"`{paced}` in its source")
    kind = _adapt_kind(source.kind, without=paced if given else "")
    counted = Record(kind, source.given, source.span, evaluator, source.excused)
    arguments, complete = counted.evaluate_arguments(evaluator)
    return Emitted(source.kind, arguments, not given, source) if complete else Poison()


def _without_rate(
    record: Record, load: str, otherwise: str = "a source that has one"
) -> CheckError:
    return make_error(
        "E0105",
        f"`{record.kind.name}` needs `{load}`",
        record.span,
        note=f"or {otherwise}",
        help=f"add `{load} = …`",
    )


def _adapt_kind(kind: Kind, *, without: str) -> Kind:
    """Return the kind of a source for packets, without the field that follows from the rate."""
    parameters = {
        name: replace(
            parameter,
            domain=replace(
                parameter.domain, name=OF_PACKETS.get(parameter.domain.name, parameter.domain.name)
            ),
        )
        for name, parameter in kind.parameters.items()
        if name != without
    }
    return replace(kind, parameters=parameters)


def find_own_load(kind: Kind, arrivals: Any) -> tuple[str, Load]:
    """Return the field that says how many packets there are, and what their source says: of one."""
    return kind.build.rate_field, Load(arrivals.compute_mean_rate(1), "")
