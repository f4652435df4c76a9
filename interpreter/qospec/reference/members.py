"""Members by their names: `pkt.dscp`, `fifo.occupancy.max`, `fifo.limit`.

The names come from the tables of the checker and from the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LOSING, RECORDS
from qospec.check.device.invariants import OF_PORTS
from qospec.check.device.machine_fields import MACHINE, STATE, TRANSITION
from qospec.check.device.observables import (
    UTILISATION,
    Occupancy,
    list_loss_causes,
    list_observables,
)
from qospec.check.device.predicates import (
    ADDRESSES,
    ATTRIBUTES,
    MAX_VALUES,
    TRUTHS,
    WORDS,
    find_carrier,
)
from qospec.check.evaluate.measurements import DISCARDED
from qospec.check.test.point import POINT
from qospec.check.test.restarts import AT
from qospec.check.test.run_settings import RUN
from qospec.check.test.search import GOAL, build_search_kind
from qospec.reference.kinds import describe_field, describe_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.document import Document


def list_kinds_with_fields(catalogue: Catalogue) -> Iterator[tuple[str, Kind]]:
    """Yield the kinds that have fields, with their names."""
    for role in RECORDS:
        yield from sorted(catalogue.select_role(role).items())
    yield from ((kind.name, kind) for kind in _list_statements(catalogue))


def _list_statements(catalogue: Catalogue) -> tuple[Kind, ...]:
    """Return the statements whose bodies have fields."""
    return (RUN, build_search_kind(catalogue), GOAL, POINT, AT, MACHINE, STATE, TRANSITION)


def describe_body(word: str, catalogue: Catalogue) -> Document:
    """Return the fields of the statement that begins with a word, and more about it, if any."""
    kind = next(
        (statement for statement in _list_statements(catalogue) if statement.name == word), None
    )
    if kind is None:
        return {}
    described = describe_kind(kind)
    return {key: described[key] for key in ("description", "fields")}


def describe_members(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield the members of a name, one for each of its uses."""
    yield from _describe_attributes(what)
    yield from _describe_choices(what, catalogue)
    yield from _describe_causes(what, catalogue)
    yield from _describe_observed(what, catalogue)
    thing, _, below = what.partition(".")
    if below:
        yield from _describe_fields(thing, below, catalogue)


def list_names(catalogue: Catalogue) -> Iterator[str]:
    """Yield all these names."""
    for pair in ATTRIBUTES:
        yield from (".".join(pair), *pair)
    for _, _, choices in WORDS.values():
        yield from choices
    yield from (*catalogue.causes, DISCARDED, *OF_PORTS)
    for name, kind in list_kinds_with_fields(catalogue):
        for parameter in kind.parameters.values():
            yield from (f"{name}.{parameter.alias or parameter.name}", *parameter.domain.choices)
    for name, kind in catalogue.select_role("element").items():
        for below in list_observables(kind):
            yield from (below, f"{name}.{below}")


def _describe_attributes(what: str) -> Iterator[Document]:
    """Yield the attributes of items in classifiers: by the whole name, or by either part."""
    below = [".".join(pair) for pair in ATTRIBUTES if pair[0] == what]
    if below:
        yield _make_document(
            "of a class", what, f"attributes that a classifier can test: {' '.join(below)}"
        )
    for pair, attribute in ATTRIBUTES.items():
        name = ".".join(pair)
        if what in (name, pair[1]):
            whose = find_carrier(attribute)
            asks = f"an attribute of a {whose}, `{name}` in a class: {_name_comparison(attribute)}"
            yield _make_document("of a class", what, asks)


def _name_comparison(attribute: str) -> str:
    """Return the type of an attribute's values."""
    if attribute in WORDS:
        what, _, choices = WORDS[attribute]
        return f"{what}, {' '.join(choices)}"
    if attribute == "size":
        return "a number of bytes of IP, such as `200 B @ip`"
    if attribute in MAX_VALUES:
        return f"a whole number from 0 to {MAX_VALUES[attribute]:_}"
    if attribute in ADDRESSES:
        return "an address or a network"
    others = {
        **dict.fromkeys(TRUTHS, "true or false"),
        "input": "the port of the device where it entered",
    }
    return others.get(attribute, "a whole number")


def _describe_choices(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield the attributes and fields that have this word as a value."""
    for attribute, (meaning, _, choices) in WORDS.items():
        if what in choices:
            spelt = [".".join(pair) for pair, name in ATTRIBUTES.items() if name == attribute]
            summary = f"{meaning}, as a class can test with {_quote(spelt)}"
            yield _make_document("choice", what, summary)
    fields = [
        f"{name}.{parameter.alias or parameter.name}"
        for name, kind in list_kinds_with_fields(catalogue)
        for parameter in kind.parameters.values()
        if what in parameter.domain.choices
    ]
    if fields:
        yield _make_document("choice", what, f"a value of {_quote(fields)}")


def _describe_causes(what: str, catalogue: Catalogue) -> Iterator[Document]:
    if what == DISCARDED:
        summary = f"the cause of loss of items discarded on purpose, by `discard`: `lost.{what}`"
        yield _make_document("cause", what, summary)
    if what in catalogue.causes:
        losing = [
            name
            for role in LOSING
            for name, kind in sorted(catalogue.select_role(role).items())
            if list_loss_causes(kind, what)
        ]
        summary = f"a cause of loss, counted by `lost.{what}`, of {' '.join(losing)}"
        yield _make_document("cause", what, summary)


def _describe_observed(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield what criteria can measure of an element in its device, or of a port."""
    found: dict[str, list[str]] = {}
    for name, kind in sorted(catalogue.select_role("element").items()):
        for observable in list_observables(kind):
            below = observable.partition(".")[0]
            if what in (observable, below, f"{name}.{observable}", f"{name}.{below}"):
                found.setdefault(below, []).append(name)
    for below, elements in found.items():
        kind = catalogue.select_role("element")[elements[0]]
        waits = [
            observable
            for observable in list_observables(kind)
            if observable.startswith(f"{below}.")
        ]
        summary = (
            f"{Occupancy.what}, {_quote(waits)}" if waits else "the number of items lost there"
        )
        summary = "the share of the time in which it works" if below == UTILISATION else summary
        yield _make_document(
            "observed", what, f"measured of {' '.join(dict.fromkeys(elements))}: {summary}"
        )
    for port in OF_PORTS:
        if what in (port, port.rpartition(".")[2]):
            yield _make_document(
                "observed", what, f"measured of a port: the number of items that pass, `{port}`"
            )


def _describe_fields(thing: str, below: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield a field of a kind in full."""
    for name, kind in list_kinds_with_fields(catalogue):
        parameter = kind.find_parameter(below) if thing in (name, *kind.aliases) else None
        if parameter is not None:
            summary = _make_document("field", f"{thing}.{below}", f"a field of {name}")
            yield {**summary, "fields": [describe_field(parameter, kind)]}


def _quote(every: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in every)


def _make_document(kind: str, name: str, summary: str) -> Document:
    return {"sort": kind, "name": name, "summary": summary, "description": ""}
