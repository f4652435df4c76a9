"""What a plan rejects: too many items, no path, overload, links and keys that do not fit.

A link may not take a flow's packets, or frame them differently; of marks see `findings.marks`. What
is checked and planned but cannot be executed yet is rejected when it is to run, by name.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from qospec.catalogue.form import EndsDifferError
from qospec.diagnostics import Diagnostic, Label
from qospec.engine.security.association import Association
from qospec.engine.security.end import SecurityEnd
from qospec.model.expression import list_measurements
from qospec.plan.changes import with_changes
from qospec.plan.forms import find_largest_carried_bytes, list_exchanges
from qospec.plan.offered import list_counted
from qospec.plan.tables import group_by_flow
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.protocol.marks import CLP
from qospec.protocol.streams import NO_FLOW
from qospec.units import CELL_RATE, PACKET_RATE, PS_PER_S, RATE, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.catalogue.form import Form
    from qospec.engine.line.clock import Clock
    from qospec.model.suite import Case, Flow, Instance, Network, Run
    from qospec.plan.assembly import Drafts
    from qospec.plan.forms import FormError, Survey, UnfitExchangeError
    from qospec.plan.tables import AmbiguousRouteError, Member, NoPathError
    from qospec.protocol.esp import Encryption
    from qospec.secret import Secret
    from qospec.source import Span


def find_overloads(
    case: Case, network: Network, survey: Survey, asks: Callable[[Flow, Form, Clock], Fraction]
) -> Iterator[Diagnostic]:
    """Yield each line whose flows ask for more than it carries, in bit/s by `asks`."""
    members = survey.members
    for index, through in sorted(survey.reach.offered.items()):
        draft = survey.drafts[index]
        clock = draft.clock
        if clock is None:
            continue
        asked_bps = {
            n: times
            * (1 + network.hosts[members[n].origin].tester.skew)
            * max(
                asks(case.flows[members[n].stream.flow], form, clock)
                for form in survey.forms.list_straight(index, n)
            )
            for n, times in through.items()
            if members[n].stream.kind != "answers"
        }
        if sum(asked_bps.values(), Fraction(0)) > clock.bit_rate:
            layer = clock.layer
            shares: dict[int, Fraction] = {}
            for number in sorted(through):
                flow = members[number].stream.flow
                shares[flow] = shares.get(flow, Fraction(0)) + asked_bps[number]
            line = draft.line or draft.instance.path
            carries = f"`{line}` carries {format_value(clock.bit_rate, RATE)} @{layer}"
            span = next(element.span for element in network.elements if element.path == line)
            place = (
                f" ({span.source.name}:{span.source.find_position(span.start)[0]})" if span else ""
            )
            yield _report_overload(case, shares, carries + place, layer)


def _report_overload(
    case: Case, shares: dict[int, Fraction], carries: str, layer: str
) -> Diagnostic:
    """Return the error for flows that together exceed a line, given the bit/s of each."""
    *others, last = sorted(shares)
    flows = case.flows
    plus = "".join(f", plus `{flows[n].name}` {format_value(shares[n], RATE)}" for n in others)
    _, _, point = case.name.partition(":")
    where = f"case {point}: " if point else ""
    return Diagnostic(
        "E0305",
        f"{'these flows ask' if others else 'this flow asks'} for more than the link can carry",
        flows[last].span,
        label=f"{where}{format_value(shares[last], RATE)} @{layer}{plus}",
        secondary=tuple(Label(flows[n].span) for n in others),
        notes=(carries,),
        help="overload on purpose? write `overload = true` in `run`",
    )


def find_too_slow_to_send(
    case: Case, network: Network, members: Sequence[Member]
) -> Iterator[Diagnostic]:
    """Yield each flow that sends less than a host of it can at any time, once."""
    seen, flows = set(), with_changes(case).flows
    for member in members:
        if member.stream.kind != "user" or member.stream.flow in seen:
            continue
        flow, host = flows[member.stream.flow], network.hosts[member.origin]
        rate, since_ps = _find_least_rate(flow, case.run)
        if 0 < rate < host.tester.lowest_rate:
            seen.add(member.stream.flow)
            dimension = CELL_RATE if flow.packets is None else PACKET_RATE
            least = format_value(host.tester.lowest_rate, dimension)
            since = format_value(Fraction(since_ps - case.run.warmup_ps, PS_PER_S), TIME)
            yield Diagnostic(
                "E0316",
                f"`{host.path}` cannot send so little" + f" from {since} on" * (since_ps > 0),
                case.flows[member.stream.flow].span,
                label=format_value(rate, dimension),
                notes=(f"the `lowest_rate` of `{host.path}` is {least}",),
                help=f"send at least {least}, or let the host have a lower `lowest_rate`",
            )


def _find_least_rate(flow: Flow, run: Run) -> tuple[Fraction, int]:
    """Return the least items/s above 0 in a trial, and since when, in ps; 0 if there are none."""
    rates = flow.arrivals.list_rates(flow.connections)
    length_ps = run.warmup_ps + run.measure_ps
    sent = ((Fraction(rate), at_ps) for at_ps, rate in rates if rate and at_ps < length_ps)
    return min(sent, default=(Fraction(0), 0))


def find_too_many_of_aal5(
    case: Case, network: Network, members: Sequence[Member]
) -> Iterator[Diagnostic]:
    """Yield the flow by which a host sends or takes more connections of AAL5 than it can."""
    found: dict[int, list[Flow]] = {}
    for member in members:
        flow = None if member.stream.kind != "user" else case.flows[member.stream.flow]
        if flow is not None and flow.traffic.is_framed and flow.traffic.aal == "aal5":
            for end in (member.origin, member.target):
                found.setdefault(end, []).append(flow)
    for end, flows in sorted(found.items()):
        host, count = network.hosts[end], sum(flow.connections for flow in flows)
        most = host.tester.aal5_connections
        if most and count > most:
            yield Diagnostic(
                "E0316",
                f"`{host.path}` has {count} connections of AAL5, at most {most} are possible",
                flows[-1].span,
                secondary=tuple(map(Label, dict.fromkeys(flow.span for flow in flows[:-1]))),
                notes=(f"the `aal5_connections` of `{host.path}` are {most}",),
                help="carry frames by `aal = aal3_4`, or end flows at hosts of their own",
            )


def report_missing_path(case: Case, network: Network, error: NoPathError) -> Diagnostic:
    """Return the error for items of a member that do not reach its target."""
    member = error.member
    if member.channel is not None:
        return _report_lost_messages(network, error, case)
    flow = case.flows[member.stream.flow]
    origin, target = network.hosts[member.origin].path, network.hosts[member.target].path
    cells = _describe_cells(error, flow)
    if error.machine >= 0:
        message = f"{cells} arrive at the machine `{network.elements[error.machine].path}`"
        help_text = (
            "lead only messages there: `… = classify { told = cell.message, rest = otherwise }`"
        )
        help_text = help_text.replace("cell", "pkt") if flow.packets is not None else help_text
    elif error.host >= 0:
        message = f"{cells} arrive at `{network.hosts[error.host].path}`, not at `{target}`"
        help_text = "wire every class so that it leads to the target, or discard it"
    else:
        message, help_text = _explain_missing_path(error, flow, (origin, target), network)
    since_ps = error.member.ways[error.way].since_ps[0] - case.run.warmup_ps
    message += f", from {format_value(Fraction(since_ps, PS_PER_S), TIME)} on" * (error.way > 0)
    note = f"in topology `{network.name}`, following links and the devices' wires"
    return Diagnostic("E0308", message, flow.span, notes=(note,), help=help_text)


def _explain_missing_path(
    error: NoPathError, flow: Flow, names: tuple[str, str], network: Network
) -> tuple[str, str]:
    """Return what is missing between the hosts at both ends of a flow, and what to do."""
    cells, (origin, target) = _describe_cells(error, flow), names
    via = error.member.ways[error.way].via
    if not via:
        help_text = f"add the missing `link` or wire, or name other hosts for `{flow.name}`"
        return f"no path for {cells} from `{origin}` to `{target}`", help_text
    ports = {line: end[:-3] for end, line in network.sides.items() if end.endswith(".tx")}
    ends = {network.elements[w.element].path: w.to for w in network.wires if w.end == "host"}
    for line in via:
        if line in ends and (line != via[-1] or ends[line] != error.member.target):
            message = (
                f"`{ports[line]}` leads to `{network.hosts[ends[line]].path}`, where cells end"
            )
            return message.replace("cells", cells), "name ports that are linked to devices"
    message = f"no path for {cells} from `{ports[via[-1]]}` on to `{target}`"
    if error.missed:
        message = f"no path for {cells} from `{origin}` leaves by `{ports[error.missed]}`"
    help_text = (
        "name ports in the order in which they are passed, or add the missing `link` or wire"
    )
    return message, help_text


def _report_lost_messages(network: Network, error: NoPathError, case: Case) -> Diagnostic:
    """Return the error for messages, or cells inserted among them, that end somewhere else."""
    where = "nowhere"
    if error.host >= 0:
        where = f"at `{network.hosts[error.host].path}`"
    elif error.machine >= 0:
        where = f"at `{network.elements[error.machine].path}`"
    assert error.member.channel is not None  # noqa: S101 -- see above
    origin = network.elements[error.member.channel.origin].path
    return Diagnostic(
        "E0308",
        f"some messages `{error.member.name}` end {where}",
        _find_span((origin,), network, case),
        notes=(f"in topology `{network.name}`, following links and the devices' wires",),
        help="lead all of them to the machine: `classify { told = cell.message, … }`",
    )


def report_ambiguous_route(case: Case, network: Network, error: AmbiguousRouteError) -> Diagnostic:
    """Return the error for a classifier that would need the port by which items came."""
    classifier = network.elements[error.element]
    name, span = error.member.name, _find_span((classifier.path,), network, case)
    if error.member.stream.flow != NO_FLOW:
        flow = case.flows[error.member.stream.flow]
        name, span = flow.name, flow.span
    return Diagnostic(
        "E0310",
        f"packets of `{name}` reach `{classifier.path}` through two ports",
        span,
        secondary=() if classifier.span is None else (Label(classifier.span, "asked here"),),
        notes=("the output of a classifier is planned for each flow, not for each port",),
        help="put a classifier behind each port, or write a flow for each",
    )


def _describe_cells(error: NoPathError, flow: Flow) -> str:
    if flow.packets is not None:
        answers = error.member.stream.kind == "answers"
        return f"{'answers' if answers else 'packets'} of `{flow.name}`"
    if error.item_class.kind != "user":
        return f"{error.item_class.kind.upper()} cells of `{flow.name}`"
    tagged = error.item_class.marks & CLP > error.member.marks & CLP
    return f"{'tagged ' if tagged else ''}cells of `{flow.name}`"


def report_loop_without_time(paths: tuple[str, ...], network: Network, case: Case) -> Diagnostic:
    """Return the error for a loop of elements that takes no time."""
    return Diagnostic(
        "E0409",
        "this loop takes no time",
        _find_span(paths, network, case),
        notes=(_describe_loop(paths),),
        help="put an element that takes time into the loop, such as a line or a delay",
    )


def report_loop_in_batches(paths: tuple[str, ...], network: Network, case: Case) -> Diagnostic:
    """Return the error for a loop that begins with an element that works in batches only."""
    return Diagnostic(
        "E0590",
        f"`{paths[0]}` in a loop cannot be executed yet",
        _find_span(paths[:1], network, case),
        notes=(
            _describe_loop(paths),
            "in a loop, an element needs a transition: docs/extending.md",
        ),
        help=f"write its `build_transition`, or take `{paths[0]}` out of the loop",
    )


def report_unobservable_queue(path: str, network: Network, case: Case) -> Diagnostic:
    """Return the error for a statement on a queue whose element works in batches only."""
    return Diagnostic(
        "E0590",
        f"what waits in `{path}` cannot be observed yet",
        _find_span((path,), network, case),
        notes=("an element reports it in its transition: docs/extending.md",),
        help="write its `build_transition`, or leave out the statements on its occupancy",
    )


def _find_span(paths: tuple[str, ...], network: Network, case: Case) -> Span:
    spans = (e.span for e in network.elements if e.path in paths and e.span is not None)
    return next(spans, None) or case.flows[0].span


def _describe_loop(paths: tuple[str, ...]) -> str:
    return " -> ".join((*paths, paths[0]))


def report_too_many_items(span: Span, case: Case, cells: int, most_items: int) -> Diagnostic:
    """Return the error for a trial beyond the limit, with the flag that raises it."""
    counted = " and ".join(f"{noun}s" for noun in list_counted(case))
    answered = [
        f"`{flow.name}`" for flow in case.flows if flow.packets and flow.traffic.is_answered
    ]
    smaller = "give a longer `timeout`, a smaller `window` or fewer `retries`, " * bool(answered)
    return Diagnostic(
        "E0609",
        f"a trial of `{case.name}` would send {cells:_} {counted}; the limit is {most_items:_}",
        span,
        notes=("the rate of all flows times warmup and measure", *_list_bounds(answered)),
        help=f"measure for a shorter time, {smaller}or allow it with `--max-cells {cells}`",
    )


def _list_bounds(answered: list[str]) -> Iterator[str]:
    """Yield what bounds the packets of endpoints, which have no rate."""
    if answered:
        yield (
            f"of {', '.join(answered)}, what the first links carry, and a window again in each"
            " timeout"
        )


FRAMING = "E0309"


def report_unfit_exchange(case: Case, error: UnfitExchangeError) -> Diagnostic:
    """Return the error for a flow that cannot send what elements on its way leave of it."""
    flow = case.flows[error.flow]
    said = str(error).partition(": ")[2]
    message = f"with what its ends announce on this way, {said}"
    help_text = f"{error.reason.help}, or let the way announce more"
    return Diagnostic("E0301", message, flow.span, help=help_text)


def report_refused_form(
    case: Case, network: Network, error: FormError, drafts: Drafts
) -> Diagnostic:
    """Return the error for an element that cannot take the items of a flow as they arrive."""
    element = network.elements[error.element]
    if error.member.channel is not None:
        origin = network.elements[error.member.channel.origin]
        return Diagnostic(
            "E0311",
            f"`{element.path}` cannot take the messages of `{origin.path}`: {error}",
            _find_span((element.path, origin.path), network, case),
            help="lead them past it, or give them another size",
        )
    flow = case.flows[error.member.stream.flow]
    items = "cells" if flow.packets is None else "packets"
    return Diagnostic(
        "E0311",
        f"`{element.path}` cannot take the {items} of `{flow.name}`: {error}",
        element.span or flow.span,
        secondary=(*_list_other_ends(error, drafts), Label(flow.span, "sent here")),
        help=getattr(error.reason, "help", "")
        or f"lead `{flow.name}` past it, or change what it does or what `{flow.name}` sends",
    )


def _list_other_ends(error: FormError, drafts: Drafts) -> Iterator[Label]:
    """Yield where packets are encrypted that the other end of the association refuses."""
    if isinstance(error.reason, EndsDifferError):
        for index in sorted(error.passed):
            element, span = drafts[index].element, drafts[index].instance.span
            if isinstance(element, SecurityEnd) and element.encrypts and span is not None:
                yield Label(span, "encrypted here")


def _list_sent(survey: Survey) -> Iterator[tuple[int, Member]]:
    """Yield the members of flows, with their numbers; messages of machines are none."""
    yield from (
        (n, member) for n, member in enumerate(survey.members) if member.stream.flow != NO_FLOW
    )


def find_left_in_parts(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow of which parts of packets arrive, once: a host takes only whole ones."""
    reported = set[int]()
    for number, member in _list_sent(survey):
        at_end = survey.forms.list_at_end(number)
        parts = [
            *(("fragments", "a `reassemble`") for form in at_end if form.fragmented),
            *(("cells", "an `aal_reassemble`") for form in at_end if form.frames),
        ]
        if parts and member.stream.flow not in reported:
            reported.add(member.stream.flow)
            flow, (what, element) = case.flows[member.stream.flow], parts[0]
            yield Diagnostic(
                "E0313",
                f"{what} of `{flow.name}` reach its end, and nothing puts them together",
                flow.span,
                notes=("metrics are those of packets",),
                help=f"put {element} on their path, behind what decrypts them",
            )


def find_repeated_keys(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each device that encrypts with the key that another one is given."""
    first: dict[tuple[str, Secret], Instance] = {}
    for index, members in sorted(survey.reach.any.items()):
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        if not (isinstance(element, Association) and element.encrypts and members):
            continue
        if element.key is None or element.key.is_withheld or not element.key.length:
            continue
        # Counter mode and GCM, which counts, too, encrypt the same blocks to the same ones.
        cipher = element.esp.encryption.algorithm
        other = first.setdefault((cipher, element.key), instance)
        if other is not instance:
            flow = case.flows[survey.members[min(members)].stream.flow]
            what, rule = _describe_repeated(element.esp.encryption)
            yield Diagnostic(
                "E0314",
                f"`{instance.path}` would repeat {what}: it has the key of `{other.path}`",
                instance.span or flow.span,
                notes=("both use the sequence numbers from 1 on", rule),
                help="give each a `key` of its own, or none, so that each draws one",
            )


def _describe_repeated(encryption: Encryption) -> tuple[str, str]:
    """Return what one key for two devices repeats, and the rule that this breaks."""
    source = encryption.source
    if encryption.chaining == "cbc":
        return "initialisation vectors", f"initialisation vectors must be random ({source})"
    return "a nonce", f"no nonce may occur twice with one key ({source})"


def find_untold(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each element that cannot tell a flow which heeds it that packets are too large.

    What comes back to the source of these takes the other way through it, in the clear.
    """
    exchanges = [
        (flow, there, back)
        for there, back in list_exchanges(survey.members, case.flows)
        if (flow := case.flows[survey.members[there].stream.flow]).traffic.heeds_notices
    ]
    arriving: dict[tuple[int, int], set[int]] = {}
    for (place, entry), items in survey.reach.inputs.items() if exchanges else ():
        for number, _ in items:
            arriving.setdefault((place, number), set()).add(entry)
    for (flow, there, back), index in product(exchanges, sorted(survey.reach.any)):
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        ways = arriving.get((index, there), set()), arriving.get((index, back), set())
        largest_bytes = survey.forms.find_largest_bytes(index, there)
        if not ways[0] or not element.list_told_bytes(largest_bytes):
            continue
        tunnels = any(form.is_in_tunnel for form in survey.forms.list_at(index, back))
        if not ways[1] or len(ways[0]) > 1 or not ways[0].isdisjoint(ways[1]) or tunnels:
            yield Diagnostic(
                "E0308",
                f"no path for notices of `{instance.path}` to the source of `{flow.name}`",
                instance.span or flow.span,
                secondary=(Label(flow.span, "sent here"),),
                notes=("they go the way of what comes back through it, by its other input",),
                help=f"lead the answers of `{flow.name}` through it, too, by its other input,"
                " behind what decrypts them, or discover no MTU",
            )


def list_flows_with_latencies(case: Case, name: str) -> frozenset[str]:
    """Return the flows of which statements use latencies on a network."""
    leaves = (
        measurement for s in case.statements for measurement in list_measurements(s.expression)
    )
    return frozenset(
        leaf.flow for leaf in leaves if leaf.network == name and "latencies" in leaf.needs
    )


def find_unknown_latencies(case: Case, name: str, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow whose latency is asked for, which needs the sizes of packets as sent.

    They are those that arrive, or all the same.
    """
    asked, of_flow = list_flows_with_latencies(case, name), group_by_flow(survey.members)
    for number, flow in enumerate(case.flows):
        mine = of_flow[number]
        sent = survey.forms.get_sent(mine[0])
        changed = any(
            form.sizes != sent.sizes for n in mine for form in survey.forms.list_at_end(n)
        )
        if flow.name in asked and changed and len(sent.sizes) > 1:
            yield Diagnostic(
                "E0312",
                f"the latency of `{flow.name}` is not known: its packets of several sizes arrive"
                " with others",
                flow.span,
                notes=("latency begins with the last bit sent, so it needs the size as sent",),
                help="ask for `delay`, decapsulate the packets, or send one size",
            )


def find_framing_mismatches(case: Case, name: str, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow that a network's lines do not carry as planned; once for a flow."""
    drafts, reported = survey.drafts, set[int]()
    for number, member in _list_sent(survey):
        flow = case.flows[member.stream.flow]
        network = case.networks[name]
        line = network.elements[network.hosts[member.origin].line].element
        first = line.build_clock(stamps=False).with_tag_settled(tagged=member.is_tagged)
        wanted = None if member.packets is None else member.packets.encapsulation
        if member.stream.flow not in reported and first.encapsulation != wanted:
            reported.add(member.stream.flow)
            yield _report_framing(flow, name)
        if member.stream.flow not in reported and flow.packets is not None:
            sent = survey.forms.get_sent(number)
            for index, through in sorted(survey.reach.any.items()):
                clock = drafts[index].clock
                framed = None if clock is None else clock.encapsulation
                if number not in through or framed is None:
                    continue
                largest_bytes = survey.forms.find_largest_packet_bytes(index, number)
                if largest_bytes > framed.largest_bytes:
                    reported.add(member.stream.flow)
                    # A queue or a scheduler has been joined with its line.
                    path = drafts[index].line or drafts[index].instance.path
                    link = next(e for e in case.networks[name].elements if e.path == path)
                    hops = survey.reach.hops.get(number, [])
                    fits_bytes = find_largest_carried_bytes(hops, sent, drafts, member)
                    sizes = (sent.largest_bytes, largest_bytes, framed.largest_bytes, fits_bytes)
                    yield _report_too_large(flow, member, link, sizes)
                    break


def _report_framing(flow: Flow, network: str) -> Diagnostic:
    return Diagnostic(
        FRAMING,
        f"the first link of `{flow.name}` differs on the control `{network}`",
        flow.span,
        help="give the control's topology a first link that carries and frames the same",
    )


def _report_too_large(
    flow: Flow, member: Member, link: Instance, sizes: tuple[int, int, int, int]
) -> Diagnostic:
    """Return the error for packets that a line does not take.

    `sizes` are the largest as sent, as they arrive, as the line takes them, and as they could be
    sent.
    """
    sent_bytes, largest_bytes, most_bytes, fits_bytes = sizes
    grown = largest_bytes - sent_bytes
    arrive = f"they have {largest_bytes} B at `{link.path}`, which" if grown else f"`{link.path}`"
    headers_bytes = IPV4_HEADER_BYTES + (member.packets.transport_bytes if member.packets else 0)
    has_room = fits_bytes >= headers_bytes
    smaller = f"send packets of at most {fits_bytes} B @ip, or " if has_room else ""
    sends = "is answered by" if member.stream.kind == "answers" else "sends"
    field = member.packets.size_field if member.packets is not None else ""
    if field == "mss" and member.packets is not None:
        data_bytes = fits_bytes - member.packets.sizes.size_bytes[0]  # which has no data
        written = f"write `mss = {data_bytes} B`, " if data_bytes > 0 else ""
        on_way = "put ahead of it a `clamp_mss`, or a `tell_mtu` and `path_mtu_discovery = true`"
        smaller = f"{written}{on_way}, or "
    return Diagnostic(
        FRAMING,
        f"`{flow.name}` {sends} packets of {sent_bytes} B @ip, "
        f"but {arrive} takes at most {most_bytes} B",
        flow.places.get(field, flow.span),
        secondary=() if link.span is None else (Label(link.span, "linked here"),),
        notes=("only a `fragment` cuts packets",),
        help=f"{smaller}use a medium that takes them",
    )
