"""What may be asked of things by names below them: `pkt.dscp`, `fifo.occupancy.max`, `fifo.limit`.

The names come from the tables of the checker and from the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import RECORDS
from qospec.check.device.invariants import OF_PORTS
from qospec.check.device.machine import MACHINE, TRANSITION
from qospec.check.device.observables import Occupancy, loss_causes, observed
from qospec.check.device.predicates import ADDRESSES, ATTRIBUTES, MAX_VALUES, WORDS, carrier
from qospec.check.test.measurements import DISCARDED
from qospec.check.test.run_settings import RUN
from qospec.check.test.search import GOAL, SEARCH
from qospec.reference.kinds import field_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.document import Document


def kinds(catalogue: Catalogue) -> Iterator[tuple[str, Kind]]:
    """Yield what has fields, by its names."""
    for role in RECORDS:
        yield from sorted(catalogue.of(role).items())
    yield from ((kind.name, kind) for kind in (RUN, SEARCH, GOAL, MACHINE, TRANSITION))


def asked(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield what a name asks for, once for each of its uses."""
    yield from _attributes(what)
    yield from _choices(what, catalogue)
    yield from _causes(what, catalogue)
    yield from _observed(what, catalogue)
    thing, _, below = what.partition(".")
    if below:
        yield from _fields(thing, below, catalogue)


def names(catalogue: Catalogue) -> Iterator[str]:
    """Yield all these names."""
    for pair in ATTRIBUTES:
        yield from (".".join(pair), *pair)
    for _, _, choices in WORDS.values():
        yield from choices
    yield from (*catalogue.causes, DISCARDED, *OF_PORTS)
    for name, kind in kinds(catalogue):
        for each in kind.parameters.values():
            yield from (f"{name}.{each.alias or each.name}", *each.domain.choices)
    for name, kind in catalogue.of("element").items():
        for below in observed(kind):
            yield from (below, f"{name}.{below}")


def _attributes(what: str) -> Iterator[Document]:
    """Yield what a class of a classifier asks for: by its whole name, or by either part."""
    below = [".".join(pair) for pair in ATTRIBUTES if pair[0] == what]
    if below:
        yield _document("of a class", what, f"what a classifier sorts by: {' '.join(below)}")
    for pair, attribute in ATTRIBUTES.items():
        name = ".".join(pair)
        if what in (name, pair[1]):
            whose = carrier(attribute)
            asks = f"a class asks `{name}` of a {whose}: {_sort(attribute)}"
            yield _document("of a class", what, asks)


def _sort(attribute: str) -> str:
    """Return what a class compares an attribute with."""
    if attribute in WORDS:
        what, _, choices = WORDS[attribute]
        return f"{what}, {' '.join(choices)}"
    if attribute in MAX_VALUES:
        return f"a whole number from 0 to {MAX_VALUES[attribute]:_}"
    if attribute in ADDRESSES:
        return "an address, or a network"
    others = {"oam": "true or false", "input": "a port of the device that it came in by"}
    return others.get(attribute, "a whole number")


def _choices(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield what holds one of a few words, of which this is one."""
    for attribute, (meaning, _, choices) in WORDS.items():
        if what in choices:
            spelt = [".".join(pair) for pair, name in ATTRIBUTES.items() if name == attribute]
            said = f"{meaning}, as a class may ask for with {_quoted(spelt)}"
            yield _document("choice", what, said)
    fields = [
        f"{name}.{each.alias or each.name}"
        for name, kind in kinds(catalogue)
        for each in kind.parameters.values()
        if what in each.domain.choices
    ]
    if fields:
        yield _document("choice", what, f"one of the words of {_quoted(fields)}")


def _causes(what: str, catalogue: Catalogue) -> Iterator[Document]:
    if what == DISCARDED:
        said = f"what is wired to `discard` ends so, thrown away on purpose: `lost.{what}`"
        yield _document("cause", what, said)
    if what in catalogue.causes:
        elements = [
            name
            for name, kind in sorted(catalogue.of("element").items())
            if loss_causes(kind, what)
        ]
        said = f"why items are lost, counted by `lost.{what}`: in {' '.join(elements)}"
        yield _document("cause", what, said)


def _observed(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield what criteria ask of an element in place, or of a port."""
    found: dict[str, list[str]] = {}
    for name, kind in sorted(catalogue.of("element").items()):
        for each in observed(kind):
            below = each.partition(".")[0]
            if what in (each, below, f"{name}.{each}", f"{name}.{below}"):
                found.setdefault(below, []).append(name)
    for below, elements in found.items():
        kind = catalogue.of("element")[elements[0]]
        waits = [each for each in observed(kind) if each.startswith(f"{below}.")]
        said = f"{Occupancy.what}, {_quoted(waits)}" if waits else "the items that end there"
        yield _document(
            "observed", what, f"observed of {' '.join(dict.fromkeys(elements))}: {said}"
        )
    for each in OF_PORTS:
        if what in (each, each.rpartition(".")[2]):
            yield _document("observed", what, f"observed of a port: how many items pass, `{each}`")


def _fields(thing: str, below: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield a field of a kind in full."""
    for name, kind in kinds(catalogue):
        parameter = kind.parameter(below) if thing in (name, *kind.aliases) else None
        if parameter is not None:
            said = _document("field", f"{thing}.{below}", f"a field of {name}")
            yield {**said, "fields": [field_document(parameter, kind)]}


def _quoted(every: list[str]) -> str:
    return ", ".join(f"`{each}`" for each in every)


def _document(sort: str, name: str, summary: str) -> Document:
    return {"sort": sort, "name": name, "summary": summary, "description": ""}
