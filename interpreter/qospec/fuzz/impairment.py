"""Faults on links: what is drawn of a link that loses, copies, delays or reorders items."""

from __future__ import annotations

from hypothesis import strategies as st

from qospec.dataclass import NamedTuple

Fields = tuple[tuple[str, str], ...]
TIMES = ("100 us", "1 us", "10 us", "1 ms")
NUMBERS = ("1", "2", "3", "5")
LIKELIHOODS = ("10%", "1%", "50%")
HITTING = {"packet": ("lose", "duplicate", "reorder"), "cell": ("lose", "misinsert")}
"""By what a link carries, the faults that hit some items."""
REPEATING = frozenset({"duplicate", "misinsert"})
"""Those that add items. Between two devices they would be what a replay is, for which no device is
to blame that counts it."""


class Impairment(NamedTuple):
    """A fault of a link, as an element of a device within it.

    Attributes:
        host: The number of the host whose link it is; of what it sends. -1: the link between both
            devices, in both directions.
        carries: Of the link: "cell" or "packet".
        element: Its kind.
        fields: Of it, names with values as text.
    """

    host: int
    carries: str
    element: str
    fields: Fields

    @property
    def reorders(self) -> bool:
        """Return whether items overtake each other on the link."""
        return self.element == "reorder" or ("reorder", "true") in self.fields

    def write_device(self, name: str) -> list[str]:
        """Return the lines of a device with that name, from `west` to `east`."""
        fields = ", ".join(f"{field} = {value}" for field, value in self.fields)
        directions = ("there", "back") if self.host < 0 else ("there",)
        lines = [
            f"## A link with a fault{' in both directions' if self.host < 0 else ''}.",
            f"device {name} {{",
            f"  port west, east: {self.carries}",
            f"  {', '.join(directions)} = {self.element} {{ {fields} }}",
            "  west.rx -> there -> east.tx",
            f"  east.rx -> {'back -> ' if self.host < 0 else ''}west.tx",
        ]
        return [*lines, "}", ""]


@st.composite
def draw_impairment(draw: st.DrawFn, host: int, carries: str) -> Impairment:
    """Draw a fault of the link of a host, or of that between devices, -1."""
    kinds = [kind for kind in HITTING[carries] if host >= 0 or kind not in REPEATING]
    element = draw(st.sampled_from([*kinds, "jitter"]))
    if element == "jitter":
        fields = [("longest", draw(st.sampled_from(TIMES)))]
        shapes = st.sampled_from(["", "exponential", "normal"])
        fields += [("distribution", shape)] if (shape := draw(shapes)) else []
        fields += [("reorder", "true")] if draw(st.booleans()) and carries == "packet" else []
        return Impairment(host, carries, element, tuple(fields))
    if draw(st.booleans()):
        fields = [("probability", draw(st.sampled_from(LIKELIHOODS)))]
    else:
        fields = [("first", draw(st.sampled_from(NUMBERS)))]
        fields += [("every", every)] if (every := draw(st.sampled_from(["", "2", "10"]))) else []
    fields += [("time", draw(st.sampled_from(TIMES)))] if element == "reorder" else []
    return Impairment(host, carries, element, tuple(fields))
