"""The form of each member's items at each element: followed along their paths, as marks are."""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections import Counter
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.form import Form
from qospec.catalogue.kinds import UnfitError
from qospec.dataclass import NamedTuple
from qospec.engine.source.sizes import CELLS
from qospec.plan.tables import State, list_members

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from qospec.catalogue.kinds import Carried
    from qospec.engine.source.sizes import Sizes
    from qospec.model.suite import Flow
    from qospec.plan.assembly import Drafts
    from qospec.plan.tables import Hop, Member, Reach, Routes, Table
    from qospec.protocol.encapsulation import Framing


NO_LIMIT = 2**30
"""More than any announcement."""


class FormError(Exception):
    """An element cannot take the items of a member in the form in which they arrive.

    Attributes:
        member: Whose items.
        element: The element.
        reason: Why.
        passed: The elements that items of the member pass.
    """

    def __init__(
        self, member: Member, element: int, reason: ValueError, passed: Collection[int] = ()
    ) -> None:
        self.member = member
        self.element = element
        self.reason = reason
        self.passed = passed
        super().__init__(str(reason))


class UnfitExchangeError(Exception):
    """What limits the packets of an exchange on its way leaves some that its traffic cannot send.

    Attributes:
        flow: The number of the flow.
        reason: Why, and what to write instead.
    """

    def __init__(self, flow: int, reason: UnfitError) -> None:
        self.flow = flow
        self.reason = reason
        super().__init__(str(reason))


def build_sent_form(member: Member) -> Form:
    """Return the form of a member's items as they are sent."""
    if member.channel is not None:
        return Form(member.channel.carries, ((member.channel.size_bytes, 1),))
    if member.packets is None:
        return build_form("cell", CELLS)
    family = str(member.packets.header_fields["family"])
    sent = build_form("packet", member.packets.sizes)
    packets = member.packets
    return sent._replace(
        family=family,
        is_tagged=packets.is_tagged,
        heeded=packets.heeded,
        dont_fragment=packets.dont_fragment,
    )


@functools.cache
def build_form(carries: Carried, sizes: Sizes) -> Form:
    """Return the form of items of these sizes, as a source sends them."""
    counts: Counter[int] = Counter()
    for size, weight in zip(sizes.size_bytes, sizes.weights, strict=True):
        counts[size] += weight
    return Form(carries, tuple(sorted(counts.items())), counts.total())


class Forms:
    """The forms in which items of each member arrive.

    Where no element of the network changes any, they are everywhere as they were sent.

    Attributes:
        changed: Whether any element does.
    """

    def __init__(self, sent: Sequence[Form], routes: Routes, members: Sequence[Member]) -> None:
        """Follow all items on their paths, given the form in which each member sends them.

        Raises:
            FormError: An element cannot take some of them.
        """
        self._sent = sent
        self._at: dict[tuple[int, int], set[Form]] = {}
        self._at_input: dict[tuple[int, int, int], set[Form]] = {}
        self._straight: dict[tuple[int, int], set[Form]] = {}
        self._at_end: dict[int, set[Form]] = {}
        self.changed = _is_changed(sent, routes)
        if not self.changed:
            return
        for number, member in enumerate(members):
            hops, ends = routes.reach.hops.get(number, []), routes.reach.ends.get(number, ())
            for hop, form in _follow_forms(hops, sent[number], routes.drafts, member):
                element = hop.after.element
                self._at.setdefault((element, number), set()).add(form)
                self._at_input.setdefault((element, hop.input, number), set()).add(form)
                if hop.after in ends:
                    after = routes.drafts[element].element.predict_form(form)
                    self._at_end.setdefault(number, set()).add(after)
            straight = [hop for hop in hops if hop.straight]
            for hop, form in _follow_forms(straight, sent[number], routes.drafts, member):
                self._straight.setdefault((hop.after.element, number), set()).add(form)

    def get_sent(self, member: int) -> Form:
        """Return the form in which a member's items are sent."""
        return self._sent[member]

    def list_at(self, element: int, member: int) -> Collection[Form]:
        """Return the forms in which a member's items arrive at an element."""
        return self._at.get((element, member)) or (self._sent[member],)

    def list_at_input(self, element: int, number: int, member: int) -> Collection[Form]:
        """Return the forms in which a member's items arrive at an input of an element."""
        return self._at_input.get((element, number, member)) or (self._sent[member],)

    def list_straight(self, element: int, member: int) -> Collection[Form]:
        """Return the forms at an element of items that took no path but the usual one to it."""
        return self._straight.get((element, member)) or (self._sent[member],)

    def list_at_end(self, member: int) -> Collection[Form]:
        """Return the forms in which a member's items arrive at its target."""
        return self._at_end.get(member) or (self._sent[member],)

    def find_largest_bytes(self, element: int, member: int) -> int:
        """Return the size of the largest items of a member that arrive at an element."""
        return max(form.largest_bytes for form in self.list_at(element, member))

    def find_largest_packet_bytes(self, element: int, member: int) -> int:
        """Return the same without a tag, as an MTU counts it."""
        return max(form.largest_packet_bytes for form in self.list_at(element, member))

    def find_only_size_bytes(self, element: int, members: Iterable[int]) -> int:
        """Return the one size of items of these members that arrive at an element, or 0."""
        forms = [form for member in members for form in self.list_at(element, member)]
        smallest = min((form.smallest_bytes for form in forms), default=0)
        largest = max((form.largest_bytes for form in forms), default=0)
        return largest if smallest == largest else 0


def find_largest_carried_bytes(
    hops: Sequence[Hop], sent: Form, drafts: Drafts, member: Member
) -> int:
    """Return the size of the largest packets that every line on a member's paths takes; 0 if none.

    `sent` is the form of what it sends, some of which is too large for a line. Sizes grow on the
    way by steps, such as the blocks of ESP, so each size is followed until one fits.
    """

    def is_too_large(size_bytes: int) -> bool:
        form = sent._replace(sizes=((size_bytes, 1),), sent=1)
        if not hops or not _is_carried(hops[0].before.element, form, drafts):
            return True
        try:
            followed = list(_follow_forms(hops, form, drafts, member))
        except FormError:  # too small for an element that takes a header off
            return False
        return not all(_is_carried(hop.after.element, after, drafts) for hop, after in followed)

    return bisect_left(range(1, sent.largest_bytes + 1), x=True, key=is_too_large)


def _is_carried(element: int, form: Form, drafts: Drafts) -> bool:
    clock = drafts[element].clock
    framed = None if clock is None else clock.encapsulation
    return framed is None or form.largest_packet_bytes <= framed.largest_bytes


def _is_changed(sent: Sequence[Form], routes: Routes) -> bool:
    """Return whether any element changes the form of items that pass it, or cannot take them.

    The first element on a path that does so is given them as they were sent.
    """
    for index, members in routes.reach.any.items():
        element = routes.drafts[index].element
        for member in members:
            try:
                if element.predict_form(sent[member]) is not sent[member]:
                    return True
            except ValueError:
                return True
    return False


def _follow_forms(
    hops: Sequence[Hop], sent: Form, drafts: Drafts, member: Member
) -> Iterator[tuple[Hop, Form]]:
    """Yield each hop with each form in which items arrive by it; the first leads from the source.

    That ends in a loop too: no element takes packets that are larger or smaller than can be.
    """
    onward: dict[State, list[Hop]] = {}
    for hop in hops:
        onward.setdefault(hop.before, []).append(hop)
    waiting = [(hops[0].before, sent)] if hops else []
    seen = set(waiting)
    while waiting:
        state, form = waiting.pop()
        try:
            after = drafts[state.element].element.predict_form(form)
        except ValueError as reason:
            passed = {hop.before.element for hop in hops}
            raise FormError(member, state.element, reason, passed) from reason
        for hop in onward.get(state, ()):
            yield hop, after
            if (hop.after, after) not in seen:
                seen.add((hop.after, after))
                waiting.append((hop.after, after))


def frame_elements(routes: Routes, members: Sequence[Member]) -> None:
    """Tell the elements that count bytes of frames what these have around packets, in place.

    Raises:
        FormError: Packets come to one, or leave it, in no frames or in different ones.
    """
    drafts = routes.drafts
    counting = [n for n in sorted(routes.reach.any) if drafts[n].element.counts_frames]
    known: dict[int, Framing] = {}
    for number, hops in routes.reach.hops.items() if counting else ():
        forward = [(hop.before, hop.after) for hop in hops if members[number].channel is None]
        backward = [(after, before) for before, after in forward]
        tagged = members[number].is_tagged
        around = {
            "coming": _find_framings(forward, drafts, tagged=tagged),
            "leaving": _find_framings(backward, drafts, tagged=tagged),
        }
        for index in counting:
            for found in around[drafts[index].element.counts_frames].get(index, ()):
                if found is None or known.setdefault(index, found) != found:
                    how = "no frames" if found is None else "frames of different kinds"
                    raise FormError(members[number], index, _refuse_frames(how))
    for index, found in known.items():
        instance = drafts[index].instance
        drafts[index].instance = replace(instance, element=instance.element.with_frames(found))


def _refuse_frames(how: str) -> UnfitError:
    return UnfitError(
        f"its rate counts bytes of frames, and what passes it is in {how}",
        "count the bytes of IP packets, `@ip`, with an `overhead` for what is around them",
    )


def _find_framings(
    hops: Iterable[tuple[State, State]], drafts: Drafts, *, tagged: bool
) -> dict[int, set[Framing | None]]:
    """Return how the lines from which items come to an element by these hops frame packets.

    Args:
        hops: From where to where the items go.
        drafts: The elements.
        tagged: Whether they have a tag, where this depends on the flow.
    """
    onward: dict[State, list[State]] = {}
    for before, after in hops:
        onward.setdefault(before, []).append(after)
    waiting = [
        (after, None if clock.encapsulation is None else clock.encapsulation.framing)
        for before, ends in onward.items()
        if (line := drafts[before.element].clock) is not None
        for clock in [line.with_tag_settled(tagged=tagged)]
        for after in ends
    ]
    seen = set(waiting)
    while waiting:
        state, framing = waiting.pop()
        further = onward.get(state, ()) if drafts[state.element].clock is None else ()
        fresh = {(end, framing) for end in further} - seen
        seen |= fresh
        waiting += fresh
    found: dict[int, set[Framing | None]] = {}
    for state, framing in seen:
        found.setdefault(state.element, set()).add(framing)
    return found


# ---- segments of TCP, behind gateways that lower what its ends announce


def limit_segments(
    members: tuple[Member, ...], flows: Sequence[Flow], drafts: Drafts, reach: Reach
) -> tuple[Member, ...]:
    """Return members whose packets are as large as their ends let each other send them.

    Requests are limited by what comes back to their client, answers by what their server hears.

    Raises:
        UnfitExchangeError: Traffic cannot send packets of that size.
    """
    elements = [draft.element for draft in drafts.values()]
    if all(e.most_announced_bytes is None and not e.list_told_bytes(NO_LIMIT) for e in elements):
        return members
    limited = list(members)
    for there, back in list_exchanges(members, flows):
        number = members[there].stream.flow
        sent = flows[number].packets
        assert sent is not None  # noqa: S101 -- what is answered in packets
        found = _find_limit(drafts, reach, back), _find_limit(drafts, reach, there)
        try:
            told = _list_told(drafts, reach, there, sent.sizes.size_bytes[-1])
            sent = flows[number].traffic.limit_segments(sent, found, told)
        except UnfitError as reason:
            raise UnfitExchangeError(number, reason) from reason
        limited[there] = replace(members[there], packets=sent)
        limited[back] = replace(members[back], packets=sent.answers)
    return tuple(limited)


def list_exchanges(members: Sequence[Member], flows: Sequence[Flow]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of each member of requests in packets, and of that of their answers."""
    for number, flow in enumerate(flows):
        if flow.traffic.is_answered and flow.packets is not None:
            requests = list_members(members, number, "user")
            answers = list_members(members, number, "answers")
            yield from zip(requests, answers, strict=True)


def _find_limit(drafts: Drafts, reach: Reach, member: int) -> int | None:
    """Return what remains of an announcement by all paths of a member; None: any does."""
    onward: dict[State, list[Hop]] = {}
    for hop in reach.hops.get(member, ()):
        onward.setdefault(hop.before, []).append(hop)
    ends, most = reach.ends.get(member, set()), dict[State, int]()
    starts = [hop.before for hop in reach.hops.get(member, ())][:1] or [*ends]
    waiting = [(start, NO_LIMIT) for start in starts]
    while waiting:
        state, limit = waiting.pop()
        own = drafts[state.element].element.most_announced_bytes
        limit = limit if own is None else min(limit, own)
        if most.get(state, -1) >= limit:
            continue
        most[state] = limit
        waiting += [(hop.after, limit) for hop in onward.get(state, ())]
    found = max((most[end] for end in ends if end in most), default=NO_LIMIT)
    return None if found == NO_LIMIT else found


def _list_told(drafts: Drafts, reach: Reach, member: int, largest_bytes: int) -> set[int]:
    """Return the MTUs that the source of a member's packets, up to a size, may learn."""
    passed = (index for index, members in reach.any.items() if member in members)
    return {mtu for index in passed for mtu in drafts[index].element.list_told_bytes(largest_bytes)}


class Survey(NamedTuple):
    """A network with the routes of a case's items, and what these are on their way.

    Attributes:
        members: Each origin and target of each flow.
        forms: Whether items are cells or packets, and of which sizes, at each element.
        drafts: As of `Routes`, like the rest.
    """

    members: tuple[Member, ...]
    forms: Forms
    drafts: Drafts
    tables: dict[int, Table]
    reach: Reach


def copy_survey(survey: Survey) -> Survey:
    """Return a survey of which a plan may change the elements, and where items pass them."""
    drafts = {}
    for index, draft in survey.drafts.items():
        drafts[index] = own = copy(draft)
        own.edges, own.queues = list(draft.edges), list(draft.queues)
    reach = copy(survey.reach)
    reach.any = {index: set(members) for index, members in survey.reach.any.items()}
    return survey._replace(drafts=drafts, tables=dict(survey.tables), reach=reach)
