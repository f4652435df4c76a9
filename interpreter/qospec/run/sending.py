"""What the flows of a test send, from where to where, over all its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.run.settings import Setting, arrivals_kind, settings
from qospec.units import CELL_RATE, PACKET_RATE, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from qospec.document import Document
    from qospec.model.suite import Flow, Test
    from qospec.units import Dimension

MOST_NAMED = 3
"""Of things that differ between cases, how many are named."""


def flow_documents(test: Test) -> list[Document]:
    """Return what is sent, by flow; where the cases differ, from the least to the most."""
    found: dict[str, list[Flow]] = {}
    for case in test.cases:
        for flow in case.flows:
            found.setdefault(flow.name, []).append(flow)
    return [
        {
            "name": name,
            "from": _either(_hosts(flow.origins) for flow in flows),
            "to": _either(_hosts(flow.targets) for flow in flows),
            "traffic": f"{_either(flow.kind.name for flow in flows)}, {_sent(flows)}",
            "contract": _over_cases([_contract(flow) for flow in flows]),
            "source": _source(flows),
        }
        for name, flows in found.items()
    ]


def _source(flows: Sequence[Flow]) -> str:
    """Return the arrival processes with their fields: what is emitted, whatever was declared."""
    found: dict[str, list[Mapping[str, Setting]]] = {}
    for flow in flows:
        kind = arrivals_kind(flow.arrivals)
        fields = settings(kind, flow.arrivals, packets=flow.stream is not None)
        found.setdefault(kind.name, []).append(fields)
    return _either(
        ", ".join([name, *(f"{field} {text}" for field, text in _over_cases(its))])
        for name, its in found.items()
    )


def _contract(flow: Flow) -> Mapping[str, Setting]:
    return settings(flow.kind, flow.traffic, packets=flow.stream is not None)


def _over_cases(cases: Sequence[Mapping[str, Setting]]) -> list[list[str]]:
    """Return pairs of a field and its value; where cases differ, the least and the most."""
    names = dict.fromkeys(name for case in cases for name in case)
    return [[name, _values([case.get(name) for case in cases])] for name in names]


def _values(found: Sequence[Setting | None]) -> str:
    numbers = {
        each.number: each.text for each in found if each is not None and each.number is not None
    }
    if not all(each is not None and each.number is not None for each in found):
        return _either("the default" if each is None else each.text for each in found)
    return _range(numbers[end(numbers)] for end in (min, max))


def _sent(flows: Sequence[Flow]) -> str:
    """Return the connections, if they may be several, and the rate of each."""
    counts = [flow.connections * len(flow.origins) for flow in flows]
    many = f"{_range(f'{end(counts):_}' for end in (min, max))} connections of "
    rates: dict[Dimension, list[Fraction]] = {}
    for flow in flows:
        dimension, rate = _rate(flow)
        rates.setdefault(dimension, []).append(rate)
    each = _either(
        _range(text_of(end(of), dimension) for end in (min, max)) for dimension, of in rates.items()
    )
    return (many if max(counts) > 1 else "") + each


def _rate(flow: Flow) -> tuple[Dimension, Fraction]:
    if flow.stream is None:
        return CELL_RATE, flow.traffic.contract().peak_cell_rate
    return PACKET_RATE, flow.stream.contract.peak_cell_rate


def _range(ends: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def _either(texts: Iterable[str]) -> str:
    """Return texts that may stand for each other, each once and the first few of them."""
    different = list(dict.fromkeys(texts))
    more = len(different) - MOST_NAMED
    return " or ".join(different[:MOST_NAMED] + [f"{more} others"] * (more > 0))


def _hosts(paths: tuple[str, ...]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} .. {paths[-1]}"
