"""Arrivals that tests of queues and schedulers draw, and items as batches."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from qospec.engine.items.batch import Batch, build_batch


@st.composite
def draw_bursts(
    draw: st.DrawFn, gaps: Sequence[int], sizes: Sequence[int], *, bursts: int = 8, most: int = 40
) -> tuple[list[int], list[int]]:
    """Draw when packets come, and their sizes: up to `most` in a row with the same gap."""
    at_ps, drawn, now = [], [], 0
    for _ in range(draw(st.integers(1, bursts))):
        gap = draw(st.sampled_from(gaps))
        for _ in range(draw(st.integers(1, most))):
            now += gap
            at_ps.append(now)
            drawn.append(draw(st.sampled_from(sizes)))
    return at_ps, drawn


@st.composite
def draw_inputs(
    draw: st.DrawFn, gaps: Sequence[int], sizes: Sequence[int], *, inputs: int = 2, most: int = 14
) -> list[list[tuple[int, int, int]]]:
    """Draw for each input when packets come, their sizes, and their numbers over all inputs."""
    found, name = [], 0
    for _ in range(inputs):
        at, packets = 0, []
        for gap in draw(st.lists(st.sampled_from(gaps), max_size=most)):
            at, name = at + gap, name + 1
            packets.append((at, draw(st.sampled_from(sizes)), name))
        found.append(packets)
    return found


def build_items(items: Sequence[tuple[int, int, int, int]]) -> Batch:
    """Return (at, sent, connection, size) as a batch."""
    columns = list(zip(*items, strict=True)) or [(), (), (), ()]
    kinds = (np.int64, np.int64, np.int32, np.int32)
    at, sent, connection, size = (np.array(c, k) for c, k in zip(columns, kinds, strict=True))
    return build_batch(
        at_ps=at,
        sent_ps=sent,
        connection=connection,
        size_bytes=size,
        marks=np.zeros(len(at), np.uint32),
    )
