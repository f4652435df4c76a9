"""Warnings of a plan: what is allowed but hardly intended; and schedulers that cannot serve.

Quanta of a round robin below the packet size; queues and token buckets too small for some packets;
rates of meters and shapers that no line before them reaches; packets that reach the end of a tunnel
without having entered it; faults that nothing reaches which they could hit; associations of which a
receiver knows nothing, that expire before they are replaced, or that nothing authenticates;
contracts of cells that packets never become; elements that take several passages for one.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic, Label
from qospec.engine.fault import Fault
from qospec.engine.security.association import SUCCESSORS, Association
from qospec.plan.assembly import list_feeders
from qospec.plan.changes import list_stages
from qospec.protocol.marks import LEG
from qospec.protocol.streams import NO_FLOW
from qospec.units import PACKET_RATE, RATE, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.catalogue.form import Form
    from qospec.engine.scheduler.scheduler import Scheduler
    from qospec.engine.security.rekeying import Rekeying
    from qospec.model.suite import Case, Flow, Instance, Network
    from qospec.plan.assembly import Draft
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member

    Level = tuple[Scheduler, list[int]]
    """A scheduler, and the size in bytes of the largest packet at each of its inputs."""
REASON = (
    "an input then skips turns until it has saved enough for one packet; a quantum of at least the"
    " largest packet keeps delay and effort low (Shreedhar and Varghese 1996)"
)


def find_short_quanta(network: Network, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each scheduler whose quantum for an input is below the size of a packet there."""
    for index, draft in survey.drafts.items():
        if draft.duty == "scheduler":
            scheduler: Scheduler = draft.instance.element
            coming = [find_largest_bytes(survey, index, n) for n in range(len(scheduler.inputs))]
            for level, largest in _list_levels(scheduler, iter(coming)):
                yield from _warn_of_quantum(level, largest, network)


def find_unfit_schedulers(network: Network, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each scheduler that cannot serve what arrives there, or not on its line."""
    for index, draft in survey.drafts.items():
        if draft.duty == "scheduler" and draft.clock is not None:
            scheduler: Scheduler = draft.instance.element
            coming = [find_largest_bytes(survey, index, n) for n in range(len(scheduler.inputs))]
            for level, largest in _list_levels(scheduler, iter(coming)):
                unfit = level.explain_unfit(draft.clock, largest)
                found = next(element for element in network.elements if element.element is level)
                if unfit is not None and found.span is not None:
                    message = f"`{found.path}`: {unfit}"
                    yield Diagnostic("E0318", message, found.span, help=unfit.help)


def find_largest_bytes(survey: Survey, element: int, entry: int) -> int:
    """Return the largest size in bytes of arrivals at an input of an element; 0 if none arrive."""
    members = {number for number, _ in survey.reach.inputs.get((element, entry), ())}
    forms = (
        form for number in members for form in survey.forms.list_at_input(element, entry, number)
    )
    return max((form.largest_bytes for form in forms), default=0)


def _list_levels(scheduler: Scheduler, coming: Iterator[int]) -> Iterator[Level]:
    """Yield the schedulers of a tree, the root last."""
    mine: list[int] = []
    for branch in scheduler.branches:
        if branch is None:
            mine.append(next(coming))
        else:
            below = list(_list_levels(branch, coming))
            yield from below
            mine.append(max(below[-1][1]))
    yield scheduler.at_line, mine


def _warn_of_quantum(
    scheduler: Scheduler, largest: list[int], network: Network
) -> Iterator[Diagnostic]:
    """Yield one warning for a round robin: its short inputs, and the quantum that suffices."""
    if scheduler.quanta is None:
        return
    place = next(element.span for element in network.elements if element.element is scheduler)
    turns = zip(scheduler.inputs, scheduler.quanta.of_inputs, largest, strict=True)
    short = [(name, quantum, packet) for name, quantum, packet in turns if quantum < packet]
    if not short or place is None:
        return
    name, quantum, packet = max(short, key=lambda turn: Fraction(turn[2], turn[1]))
    *others, last = [f"`{entry}`" for entry, *_ in short]
    inputs = f"turns of {', '.join(others)} and {last}" if others else f"a turn of {last}"
    least = -(-packet * scheduler.quanta.quantum // quantum)
    yield Diagnostic(
        "W0603",
        f"{inputs} may be too short for a single packet",
        place,
        label=f"{quantum} B per turn of `{name}`, and packets of up to {packet} B",
        notes=(REASON,),
        help=f"write `quantum = {least} B`",
    )


def find_small_queues(survey: Survey) -> Iterator[Diagnostic]:
    """Yield each queue whose limit is below the size of a packet that arrives there."""
    for index, draft in survey.drafts.items():
        for number, queue in enumerate(_list_queues(draft)):
            limit = queue.element.buffer if queue is not None else None
            if queue is None or queue.span is None or limit is None or limit.unit != "byte":
                continue
            largest = find_largest_bytes(survey, index, number)
            if limit.amount < largest:
                yield Diagnostic(
                    "W0606",
                    f"a packet of {largest} B never waits in `{queue.path}`",
                    queue.span,
                    label=f"{limit.amount} B may wait",
                    notes=("it is lost unless it is sent on arrival",),
                    help=f"write a limit of at least {largest} B",
                )


def _list_queues(draft: Draft) -> list[Instance | None]:
    """Return the queue itself, or those before a scheduler in order of its inputs."""
    return [draft.instance] if draft.duty == "queue" else draft.queues


def find_small_buckets(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each meter and shaper whose bucket never has tokens for packets of a flow.

    A meter's bucket of no bytes lets nothing pass on purpose; a shaper's loses all.
    """
    for (index, entry), arriving in sorted(survey.reach.inputs.items()):
        instance, element = survey.drafts[index].instance, survey.drafts[index].element
        bucket = element.token_buckets[entry] if element.token_buckets else None
        if bucket is None or not (bucket.size.amount or element.holds):
            continue
        largest: dict[int, int] = {}
        for number in _list_sent(survey, {number for number, _ in arriving}):
            forms = survey.forms.list_at_input(index, entry, number)
            sizes = (form.largest_bytes for form in forms)
            of = survey.members[number].stream.flow
            largest[of] = max(largest.get(of, 0), *sizes)
        several = len(element.inputs) > 1
        place = f"{instance.path}.{element.inputs[entry]}" if several else instance.path
        for number, largest_bytes in sorted(largest.items()):
            flow, least = case.flows[number], bucket.count_tokens(largest_bytes)
            unit = {"": "pkt", "ip": "B"}.get(bucket.rate.layer, f"B @{bucket.rate.layer}")
            if bucket.size.amount < least:
                longer = (
                    "lends longer ones the rest" if element.lends else "longer ones never conform"
                )
                yield Diagnostic(
                    "W0607",
                    f"packets of `{flow.name}` are longer than the bucket of `{place}`",
                    instance.span or flow.span,
                    secondary=(Label(flow.span, f"up to {largest_bytes} B @ip"),),
                    notes=(f"it holds {bucket.size.amount} {unit}, and {longer}",),
                    help=f"give it a burst of at least {least} {unit}",
                )


def find_unauthenticated(survey: Survey) -> Iterator[Diagnostic]:
    """Yield each end that encrypts packets without authenticating them. Source: RFC 8221, 4."""
    for index, numbers in sorted(survey.reach.any.items()):
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        if not isinstance(element, Association) or not element.encrypts or instance.span is None:
            continue
        if _list_sent(survey, numbers) and not element.esp.icv_bytes:
            yield Diagnostic(
                "W0630",
                f"`{instance.path}` encrypts without authenticating",
                instance.span,
                notes=(
                    "the receiver takes what was tampered with for what was sent (RFC 8221, 4)",
                ),
                help="give both ends an `integrity`, such as `hmac_sha2_256_128`, or an"
                " `encryption` that authenticates, such as `aes_128_gcm`",
            )


def find_unverified(survey: Survey) -> Iterator[Diagnostic]:
    """Yield each end whose packets arrive though nothing has done what it leaves to be verified."""
    arrives = [
        any(form.unverified for form in survey.forms.list_at_end(number))
        for number in range(len(survey.members))
    ]
    for index, numbers in sorted(survey.reach.any.items()) if any(arrives) else ():
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        forms = [form for n in numbers if arrives[n] for form in survey.forms.list_at(index, n)]
        passing = [form for form in forms if not form.unverified]
        if instance.span and any(element.predict_form(form).unverified for form in passing):
            yield Diagnostic(
                "W0630",
                f"what `{instance.path}` decrypts arrives without being verified",
                instance.span,
                notes=("the host takes what was tampered with for what was sent",),
                help="put an `esp_verify` behind the `processor` that verifies, or leave"
                " `verify = false` out",
            )


def find_unreachable_rates(survey: Survey) -> Iterator[Diagnostic]:
    """Yield each meter and shaper whose rate exceeds that of all lines before it together."""
    before = list_feeders(survey.drafts)
    for index in sorted(survey.reach.any):
        instance, element = survey.drafts[index].instance, survey.drafts[index].element
        if instance.span is None:
            continue
        shared = element.token_bucket if len(set(element.token_buckets)) < 2 else None  # noqa: PLR2004
        buckets = element.token_buckets if shared is None else (shared,)
        for number, bucket in enumerate(buckets):
            lines = _find_lines_before(index, survey, before, None if shared else number)
            most_bps = sum(lines.values(), Fraction(0))
            if not lines or not bucket.rate.layer or bucket.rate.amount <= most_bps:
                continue
            carried = f"{format_value(most_bps, RATE)} in all"
            of_input = "" if shared else f" for `{element.inputs[number]}`"
            yield Diagnostic(
                "W0612",
                f"`{bucket.rate_name}`{of_input} of `{instance.path}` exceeds what the lines before"
                " it carry",
                instance.span,
                notes=(f"they carry {carried}: {', '.join(sorted(lines))}",),
                help="give it a rate that can be exceeded, or leave it out",
            )


def _find_lines_before(
    index: int, survey: Survey, before: dict[int, list[int]], number: int | None = None
) -> dict[str, Fraction]:
    """Return the bits/s of the last lines on all paths to an element, or to one of its inputs."""
    found, seen = dict[str, Fraction](), {index}
    waiting = [
        feeder
        for feeder in before[index]
        if number is None
        or any(
            (edge.end, edge.to, edge.input) == ("element", index, number)
            for edge in survey.drafts[feeder].edges
        )
    ]
    while waiting:
        feeder = waiting.pop()
        if feeder in seen or feeder not in survey.reach.any:
            continue
        seen.add(feeder)
        draft = survey.drafts[feeder]
        if draft.clock is None:
            waiting += before[feeder]
        else:
            found[draft.line or draft.instance.path] = Fraction(draft.clock.bit_rate)
    return found


def _list_sent(survey: Survey, numbers: Iterable[int]) -> list[int]:
    """Return those that are members of flows; messages of machines are none."""
    return [number for number in sorted(numbers) if survey.members[number].stream.flow != NO_FLOW]


def find_missing_headers(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each element that takes a header off packets around which nothing has put it."""
    for index, numbers in sorted(survey.reach.any.items()) if survey.forms.changed else ():
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        for number in _list_sent(survey, numbers):
            member = survey.members[number]
            for form in survey.forms.list_at(index, number):
                taken = element.predict_form(form).headers[len(form.headers) :]
                if taken and taken[0] < 0:
                    answers = member.stream.kind == "answers"
                    yield _warn_of_header(
                        instance, case.flows[member.stream.flow], form, -taken[0], answers=answers
                    )


def _warn_of_header(
    instance: Instance, flow: Flow, form: Form, taken_bytes: int, *, answers: bool
) -> Diagnostic:
    around = " ".join(f"{header} B" for header in form.headers) or "none"
    return Diagnostic(
        "W0616",
        f"{'answers' if answers else 'packets'} of `{flow.name}` reach `{instance.path}` without"
        " the header that it takes off",
        instance.span or flow.span,
        label=f"takes off {taken_bytes} B",
        secondary=(Label(flow.span, "sent here"),),
        notes=(f"headers put around them on their path, the outermost last: {around}",),
        help=f"put an `encapsulate` of {taken_bytes} B on their path, or lead them past it; nothing"
        " is wrong if they are sent with that header",
    )


def find_idle_faults(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each fault that nothing reaches which it could hit."""
    arriving: dict[int, dict[str, int]] = {}
    for number, hops in sorted(survey.reach.hops.items()):
        for hop in hops:
            arriving.setdefault(hop.after.element, {}).setdefault(
                hop.after.item_class.kind, survey.members[number].stream.flow
            )
    for index, kinds in sorted(arriving.items()):
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        if not isinstance(element, Fault) or not element.hits or kinds.keys() & element.hits:
            continue
        flow = case.flows[next(iter(kinds.values()))]
        hit = " and ".join(element.hits)
        yield Diagnostic(
            "W0625",
            f"nothing reaches `{instance.path}` that it could hit",
            instance.span or flow.span,
            label=f"hits what is of kind `{hit}`",
            secondary=(Label(flow.span, f"only its {' and '.join(sorted(kinds))} items"),),
            help="put it where the cells or packets of the flow itself pass",
        )


def find_refused_by_receivers(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow that comes to what decrypts and is lost there as a whole, once.

    It comes in the clear, or with the index of another association.
    """
    for index, numbers in sorted(survey.reach.any.items()):
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        if not isinstance(element, Association) or element.encrypts:
            continue
        reported = {NO_FLOW}
        for number in sorted(numbers):
            flow = survey.members[number].stream.flow
            found = {
                _find_refusal(form, element.spi) for form in survey.forms.list_at(index, number)
            }
            whys = sorted(why for why in found if why is not None)
            if len(whys) < len(found) or flow in reported:
                continue
            reported.add(flow)
            yield Diagnostic(
                "W0624",
                f"`{instance.path}` loses every packet of `{case.flows[flow].name}`",
                instance.span or case.flows[flow].span,
                label=f"({', '.join(why.cause for why in whys)})",
                secondary=(Label(case.flows[flow].span, "sent here"),),
                notes=tuple(why.note for why in whys),
                help=whys[0].help,
            )


class _Why(NamedTuple):
    """Why a receiver loses packets, in words."""

    cause: str
    note: str
    help: str


def _find_refusal(form: Form, spi: int) -> _Why | None:
    """Return why packets of a form are lost by the receiver of an association; None: they pass."""
    if not form.inside:
        return _Why(
            "unprotected",
            "nothing encrypts them on their way to it",
            "encrypt them by an `esp_encrypt` ahead of it, or lead them past it",
        )
    if form.spi != spi:
        return _Why(
            "unknown_association",
            f"they are encrypted with the `spi` {form.spi}, and here is {spi}",
            "give both ends the same `spi`",
        )
    return None


def find_left_encrypted(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow that arrives encrypted as a whole where its bytes are compared, once."""
    reported = {NO_FLOW}
    for number, member in enumerate(survey.members if case.run.payload else ()):
        encrypted = all(form.inside or form.keys for form in survey.forms.list_at_end(number))
        if encrypted and member.stream.flow not in reported:
            reported.add(member.stream.flow)
            flow = case.flows[member.stream.flow]
            yield Diagnostic(
                "W0629",
                f"all that arrives of `{flow.name}` is still encrypted, and so `errored`",
                flow.span,
                notes=("nothing on its way decrypts it",),
                help="put what decrypts it on its path, or ask for no `payload`",
            )


def find_idle_contracts(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow of packets with a contract for cells that none of them becomes."""
    forms, any_cells = survey.forms, dict[int, bool]()
    for number, member in enumerate(survey.members):
        if member.packets is not None and member.packets.cell_contract is not None:
            passed = (index for index, through in survey.reach.any.items() if number in through)
            are_cells = any(
                form.carries == "cell" for index in passed for form in forms.list_at(index, number)
            )
            any_cells[member.stream.flow] = any_cells.get(member.stream.flow, False) or are_cells
    for flow in (case.flows[number] for number, found in any_cells.items() if not found):
        yield Diagnostic(
            "W0632",
            f"packets of `{flow.name}` never become cells, so their contract does nothing",
            flow.places.get("cells", flow.span),
            help="put an `aal_segment` on its path, or take `cells` away",
        )


def find_taken_for_one(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each element that takes several passages of a flow for one connection, once."""
    for index, classes in sorted(survey.reach.item_classes.items()):
        draft = survey.drafts[index]
        passed = sorted({(number, LEG.read(item_class.marks)) for number, item_class in classes})
        ways = Counter((n, survey.members[n].legs[leg][0]) for n, leg in passed)
        again = [survey.members[n] for (n, _), passages in ways.items() if passages > 1]
        for instance in filter(None, (draft.instance, *draft.queues)) if again else ():
            passing = [(member, case.flows[member.stream.flow]) for member in again]
            found = (flow for member, flow in passing if _remembers_cells(instance, member, flow))
            if (flow := next(found, None)) is not None:
                yield Diagnostic(
                    "W0634",
                    f"`{instance.path}` takes all passages of `{flow.name}` for one connection",
                    instance.span or flow.span,
                    secondary=(Label(flow.span, "comes to it several times"),),
                    notes=("a switch would tell them apart, by an identifier for each passage",),
                    help="put one at each port, ahead of what the passages share",
                )


def _remembers_cells(instance: Instance, member: Member, flow: Flow) -> bool:
    """Return whether an element decides about a cell by what came of its connection before."""
    policy, limit = instance.element.drop_policy, instance.element.buffer
    has_frames = flow.packets is not None or flow.traffic.is_framed
    rules = policy.list_rules(limit).values() if has_frames and policy and limit else ()
    return instance.element.polices(member.contract) or any(rule.is_of_frames for rule in rules)


def find_late_keys(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each association that expires before its successor is there, at the load offered."""
    for index, members in sorted(survey.reach.offered.items()):
        instance = survey.drafts[index].instance
        rekeying = survey.drafts[index].element.rekeying
        if rekeying is None:
            continue
        flows = [
            (case.flows[survey.members[number].stream.flow], number) for number in sorted(members)
        ]
        if any(f.packets is None or f.traffic.is_answered for f, _ in flows):
            continue
        means = {
            number: max(
                form.compute_mean(rekeying.encrypted_bytes)
                for form in survey.forms.list_straight(index, number)
            )
            for _, number in flows
        }
        for stage in list_stages(case):
            rates = {number: stage.rates[survey.members[number].stream.flow] for number in means}
            packet_rate = sum(rates.values(), Fraction(0))
            byte_rate = sum((rates[number] * means[number] for number in means), Fraction(0))
            count = len(instance.element.indices)
            found = _end(rekeying, count, packet_rate, byte_rate, stage.length_s)
            if found is not None:
                offered = f"at the {format_value(packet_rate, PACKET_RATE)} that are offered"
                yield _warn_of_expiry(instance, flows[0][0], f"{offered}{stage.says}", found)
                break


def _warn_of_expiry(instance: Instance, flow: Flow, offered: str, found: _End) -> Diagnostic:
    return Diagnostic(
        "W0618",
        f"the association of `{instance.path}` expires before it is replaced",
        instance.span or flow.span,
        label=found.label,
        secondary=(Label(flow.span, "sent here"),),
        notes=(offered, found.note),
        help=found.help,
    )


class _End(NamedTuple):
    """How an association ends too early, in words."""

    label: str
    note: str
    help: str


def _end(
    rekeying: Rekeying, count: int, packet_rate: Fraction, byte_rate: Fraction, end_s: Fraction
) -> _End | None:
    """Return how one of so many associations ends too early; None if none does."""
    gap = rekeying.find_gap(packet_rate, byte_rate, end_s)
    if gap is not None and gap.replaced_s is None:
        return _End(
            f"expires after {format_value(gap.expires_s, TIME)}, and is not replaced",
            "what is to be sent after that is lost as `expired`",
            "say when it is replaced, by `rekey`, or give it a longer `lifetime`",
        )
    if gap is not None and gap.replaced_s is not None:
        which = "" if gap.is_first else "each but the first "
        begins = ", and the first of it begins the exchange of keys" if gap.loses_first else ""
        expires, replaced = format_value(gap.expires_s, TIME), format_value(gap.replaced_s, TIME)
        return _End(
            f"{which}expires after {expires}, and is replaced after {replaced}",
            f"what is to be sent in between is lost as `expired`{begins}",
            "exchange keys earlier, by `rekey`, or give it a longer `lifetime`",
        )
    used_up_s = rekeying.compute_used_up_s(packet_rate, byte_rate, count)
    if used_up_s is not None and used_up_s < end_s:
        smaller = ", or begin with a smaller `spi`" if count <= SUCCESSORS else ""
        return _End(
            f"the last of {count:_} is used up after {format_value(used_up_s, TIME)}",
            "what is to be sent after that is lost as `expired`",
            f"exchange keys less often{smaller}",
        )
    return None
