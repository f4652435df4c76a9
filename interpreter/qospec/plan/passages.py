"""A warning of a plan: what is measured of a flow at a place that it never passes.

It is 0 whatever happens, so a criterion about it shows nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.model.expression import list_measurements
from qospec.plan.tables import list_members, list_members_using
from qospec.protocol.streams import INSERTED, KINDS, NO_FLOW, name_population
from qospec.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.model.expression import Measured, Place
    from qospec.model.suite import Case, Network
    from qospec.plan.tables import Member, Routes
    from qospec.protocol.streams import KindName

MOST_PATHS, MOST_LINES = 3, 8
"""How many paths are described, and how many lines of each."""


class Passages:
    """What is measured at places, over all cases, and whether anything passes there in any."""

    def __init__(self) -> None:
        self._found: dict[tuple[Span, str, KindName, Place], Diagnostic | None] = {}

    def add(self, case: Case, network: str, members: Sequence[Member], routes: Routes) -> None:
        """Note what a case measures on a network: None where something passes.

        Of `worst`, which measures each member of a flow, one that passes is enough.
        """
        for statement in case.statements:
            for leaf in () if statement.idle else list_measurements(statement.expression):
                if leaf.place is None or leaf.network != network:
                    continue
                key = (statement.span, leaf.flow, leaf.part, leaf.place)
                mine = _list_members(leaf, case, members)
                if _list_passing(leaf.place, case.networks[network], routes).isdisjoint(mine):
                    taken = [
                        f"`{members[number].name}` takes {_describe_path(number, routes)}"
                        for number in mine
                    ]
                    self._found.setdefault(
                        key, _warn_of_missed(leaf, leaf.place, statement.span, taken)
                    )
                else:
                    self._found[key] = None

    def find_unused(self) -> Iterator[Diagnostic]:
        """Yield what is measured where nothing passes in any case."""
        yield from filter(None, self._found.values())


def _list_members(leaf: Measured, case: Case, members: Sequence[Member]) -> list[int]:
    """Return the members of which a measurement counts items."""
    if not leaf.flow:
        found = [number for number, member in enumerate(members) if member.stream.is_routed]
    else:
        flow = next((n for n, flow in enumerate(case.flows) if flow.name == leaf.flow), NO_FLOW)
        # Inserted cells pass with those of the user.
        among = KINDS[leaf.part].among if leaf.part in INSERTED else leaf.part
        found = list_members(members, flow, among)
    return found if leaf.member is None else found[leaf.member : leaf.member + 1]


def _list_passing(place: Place, network: Network, routes: Routes) -> set[int]:
    """Return the members whose items may pass a place."""
    path = network.sides.get(place.path, place.path)
    for index, draft in routes.drafts.items():
        if path in (draft.line, draft.instance.path):
            reached = routes.reach.any.get(index, set())
            table = routes.tables.get(index)
            return reached if table is None else list_members_using(place.output, reached, table)
    return set()


def _describe_path(member: int, routes: Routes) -> str:
    """Return the lines that items of a member pass."""
    hops, ends = routes.reach.hops.get(member, []), routes.reach.ends.get(member, ())
    passed = dict.fromkeys([*(hop.before.element for hop in hops), *(end.element for end in ends)])
    drafts = (routes.drafts[index] for index in passed)
    lines = [draft.line or draft.instance.path for draft in drafts if draft.clock is not None]
    more = len(lines) - MOST_LINES
    return ", ".join(lines[:MOST_LINES] + [f"{more} more"] * (more > 0))


def _warn_of_missed(leaf: Measured, place: Place, span: Span, taken: Sequence[str]) -> Diagnostic:
    """Return the warning, at the place where it is written out."""
    flow = leaf.flow and name_population(leaf.flow, leaf.member, leaf.part)
    begin = span.text.find(place.name)
    start = span.start + begin
    return Diagnostic(
        "W0615",
        f"nothing of `{flow}` passes `{place.name}`" if flow else f"nothing passes `{place.name}`",
        Span(span.source, start, start + len(place.name)) if begin >= 0 else span,
        notes=(*taken[:MOST_PATHS], "what is measured here is 0 in every case"),
        help="measure at a place on the path, or another flow",
    )
