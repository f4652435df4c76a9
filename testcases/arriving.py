"""Arrivals that tests of queues and schedulers draw."""

from collections.abc import Sequence

from hypothesis import strategies as st


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
