"""What the flows of a test send, from where to where, over all its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.units import CELL_RATE, PACKET_RATE, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from qospec.document import Document
    from qospec.model import Flow, Test
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
        }
        for name, flows in found.items()
    ]


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
