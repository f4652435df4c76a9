"""A scenario: a device with its parameters, a topology around it, and what is sent across it.

It is plain data, so that what is drawn can be shrunk; `write_specification` renders it, and all
that is run is that text.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems
from qospec.engine.security.association import Association
from qospec.engine.security.end import SecurityEnd
from qospec.formatting import format_text
from qospec.fuzz.device import OURS, list_ports
from qospec.fuzz.impairment import Impairment, draw_impairment
from qospec.fuzz.promises import PROMISES, Passage, write_criteria
from qospec.fuzz.sending import (
    ANY,
    CODE_POINTS,
    DENSE,
    Line,
    Sending,
    compute_most_per_second,
    draw_contract,
)
from qospec.fuzz.strategies import round_value
from qospec.promises.builtin import ALL
from qospec.protocol.esp import FAMILIES
from qospec.source import Source
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.fuzz.device import Arguments, Device, Port
    from qospec.fuzz.target import Violation

MEDIA: dict[str, dict[str, int]] = {
    "cell": {"stm1": 353_207, "stm4": 1_412_830, "e3": 80_000},
    "packet": {"fast_ethernet": 100, "gigabit_ethernet": 1_000, "ethernet": 10},
    "priority": {"tagged_gigabit_ethernet": 1_000, "tagged_fast_ethernet": 100},
    "traffic_class": {"labelled_gigabit_ethernet": 1_000},
}
"""By what they carry, or a mark in their frames: media of `std.media`, with the most cells/s or
Mbit/s of their lines. The first is the usual one, the last the slowest."""
HOSTS = "abcdefgh"
MOST_HOSTS = 4
MOST_FLOWS = 3
MOST_ITEMS = 500
MANY_ITEMS = 1_500
OFTEN = 3
"""How often a host sends to whose items a device does something, for each that sends on a wire."""
POINT = "p"
"""The point at which a scenario is run in which flows change: only points have variables."""
FITTING = "values of parameters that fit each other"
TWO_PORTS = "the need of two ports for a flow"
"""What parameters are to meet."""
TALKS_PS = (PS_PER_S, PS_PER_S // 10, 5 * PS_PER_S)
"""How long machines exchange messages."""


class Speaker(NamedTuple):
    """A device of one port that exchanges messages with the device that is tested.

    Attributes:
        at: The port of the tested device to which it is linked.
        device: What it is.
        port: Its own port.
        medium: Of the link.
    """

    at: str
    device: Device
    port: str
    medium: str


class Scenario(NamedTuple):
    """All of it.

    Attributes:
        device: What is tested.
        arguments: Its parameters; those left out have their defaults.
        ends: The ports with a host.
        media: By number of an end, the medium of its link.
        facing: The port by which a second device like it is linked to the first, back to back; ""
            if there is none. All hosts at the other ports of the second follow those of the first.
        flows: What is sent.
        items: About how many items all flows send together, up to a change or restart if there is
            one.
        overload: Whether a line is offered more than it carries.
        fault: Of a link; None: none has one.
        restarts: Whether the device is restarted, once the first `items` have been sent.
        payload: Whether bytes are encrypted, decrypted and compared.
        all_promises: Whether it is held to those promises, too, for which it is run several times.
        speakers: The devices that exchange messages with it; with these there are no flows.
        talk_ps: How long they do.
        later_items: About how many more items all flows send, after a change or restart.
    """

    device: Device
    arguments: Arguments
    ends: tuple[Port, ...]
    media: tuple[str, ...]
    facing: str
    flows: tuple[Sending, ...]
    items: int
    overload: bool = False
    fault: Impairment | None = None
    restarts: bool = False
    payload: bool = False
    all_promises: bool = False
    speakers: tuple[Speaker, ...] = ()
    talk_ps: int = 0
    later_items: int = 0

    @property
    def links(self) -> tuple[str, ...]:
        """Return the ports with a host, in the order of the hosts, as they are written."""
        near = tuple(f"dut.{end.name}" for end in self.ends if end.name != self.facing)
        far = tuple(f"peer.{end.name}" for end in self.ends if end.name != self.facing)
        return (*near, *far) if self.facing else near

    def find_end(self, host: int) -> int:
        """Return the number of the end that a host is linked to, of the first or second device."""
        places = [number for number, end in enumerate(self.ends) if end.name != self.facing]
        return places[host % len(places)]

    def crosses(self, flow: Sending) -> bool:
        """Return whether a flow passes both devices."""
        return self.crosses_both(flow.origin, flow.target)

    def crosses_both(self, origin: int, target: int) -> bool:
        """Return whether both devices are between two hosts."""
        half = len(self.links) // 2
        return bool(self.facing) and (origin < half) != (target < half)

    @property
    def changes(self) -> bool:
        """Return whether a flow sends more or less once the first `items` have been sent."""
        return any(flow.source.later for flow in self.flows)

    def reorders(self, flow: Sending) -> bool:
        """Return whether items of a flow overtake each other on a link."""
        fault = self.fault
        if fault is None or not fault.reorders:
            return False
        return self.crosses(flow) if fault.host < 0 else flow.origin == fault.host

    @property
    def measured_ps(self) -> int:
        """Return how long the flows take to send these items: times with two digits."""
        if self.speakers:
            return self.talk_ps
        before, later = self.rates
        last_ps = max((flow.last_ps + 1 for flow in self.flows if flow.last_ps), default=0)
        last_s = Fraction(last_ps, PS_PER_S)
        if not self.changes:
            seconds = (self.items + self.later_items) / before if before else Fraction(0)
            return _round_up(max(last_s, seconds))
        first_s = Fraction(self.changed_ps, PS_PER_S)
        return self.changed_ps + _round_up(max(last_s - first_s, self.later_items / later))

    @property
    def changed_ps(self) -> int:
        """Return when the first items have been sent: a time with two digits if flows change."""
        before, _ = self.rates
        if self.changes:
            return _round_up(self.items / before)
        share = Fraction(self.items, self.items + self.later_items)
        return min(math.ceil(self.measured_ps * share), self.measured_ps - 1)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Return how many items/s all flows send, before and from the change on."""
        sums = [(flow.per_second, flow.later_per_second) for flow in self.flows]
        before, later = zip(*sums, strict=True) if sums else ((), ())
        return sum(before, Fraction(0)), sum(later, Fraction(0))

    @property
    def usual_media(self) -> tuple[str, ...]:
        """Return the usual medium of each end."""
        return tuple(next(iter(MEDIA[choose_media(self.device, end)])) for end in self.ends)


def _round_up(time_s: Fraction) -> int:
    """Return a time in picoseconds, with about two digits."""
    return math.ceil(round_value(time_s, TIME) * PS_PER_S)


def compute_line_rate(whole: Scenario, flow: Sending) -> Fraction:
    """Return how many items/s of a flow the line carries by which it is sent."""
    place = whole.find_end(flow.origin)
    most = MEDIA[choose_media(whole.device, whole.ends[place])][whole.media[place]]
    return compute_most_per_second(most, flow.contract.size)


# ---- drawing

items = st.sampled_from([*range(1, MOST_ITEMS), *[MOST_ITEMS] * MOST_ITEMS])
"""How many are sent: often many, since a queue must fill before it is full."""
many_items = st.sampled_from([MOST_ITEMS, MOST_ITEMS // 3, MANY_ITEMS, MANY_ITEMS])
"""Where much is sent: what two classes do to each other shows in long busy periods only."""
_DENSITIES = st.sampled_from([False, True, True])
_MOSTLY = st.sampled_from([True, True, False])
_CHANGES = st.sampled_from([Fraction(1, 10), Fraction(1, 100), Fraction(10)])
CARRIED = Fraction(9, 10)
"""Of what a line carries, what flows that change may ask of it: less than all, since rates have two
digits and marks make frames longer."""
_FEW_OR_MORE = st.sampled_from([1, 2, MOST_FLOWS, 2, MOST_FLOWS])


@st.composite
def draw_scenario(draw: st.DrawFn, device: Device) -> Scenario | str:
    """Draw a device with what surrounds it, or return what its parameters do not meet."""
    arguments = draw(_draw_arguments(device))
    template = device.get_template(arguments)
    if template is None:
        return FITTING
    ports = list_ports(template)[:MOST_HOSTS]
    if not ports:
        return TWO_PORTS
    speaking = tuple(_list_speakers(device, ports))
    if speaking and (len(ports) == 1 or draw(st.booleans())):
        chosen = [draw(st.sampled_from(some)) for some in speaking]
        silent = tuple(p for p in ports if p.name not in {speaker.at for speaker in chosen})
        media = tuple(next(iter(MEDIA[choose_media(device, port)])) for port in silent)
        talk_ps = draw(st.sampled_from(TALKS_PS))
        whole = Scenario(device, arguments, silent, media, "", (), 1)
        return whole._replace(speakers=tuple(chosen), talk_ps=talk_ps)
    elements = [part.element for part in template.parts]
    alone = [""] * _weigh_alone(ports, elements)
    facing = draw(st.sampled_from([*alone, *(port.name for port in reversed(ports))]))
    media = tuple(draw(st.sampled_from(list(MEDIA[choose_media(device, port)]))) for port in ports)
    whole = Scenario(device, arguments, ports, media, facing, (), 1)
    hosts = len(whole.links)
    if hosts < 2:  # noqa: PLR2004 -- a flow has two ends
        return TWO_PORTS
    # Most scenarios are dense: all flows send much. In two thirds of these they meet at one port.
    dense, crowd = draw(_DENSITIES), None
    if dense:
        some = _weigh_targets(whole)
        crowd = draw(st.sampled_from([*some, *some, *[None] * len(some)]))
    if crowd is not None and draw(st.sampled_from([True, True, False])):
        whole = whole._replace(media=_with_bottleneck(whole, crowd))
    count = draw(_FEW_OR_MORE if dense else st.integers(1, MOST_FLOWS))
    families = _list_families(elements)
    for _ in range(count):
        flow = draw(draw_sending(whole, families, crowd, dense=dense))
        whole = whole._replace(flows=(*whole.flows, flow))
    whole = whole._replace(items=draw(many_items if dense else items))
    if draw(_draw_seldom(4)):
        whole = draw(_draw_change(whole))
    return whole._replace(
        items=-(-whole.items // 2),
        later_items=max(whole.items // 2, 1),
        fault=draw(_draw_faults(whole)) if draw(_draw_seldom(6)) else None,
        restarts=any(element.down_ps for element in elements) and draw(_draw_seldom(4)),
        payload=any(_is_encrypting(element) for element in elements) and draw(_draw_seldom(4)),
        all_promises=draw(_draw_seldom(24)),
    )


@st.composite
def _draw_arguments(draw: st.DrawFn, device: Device) -> Arguments:
    """Draw values of parameters.

    A fault may need several with their defaults: half of all devices have all of them, and the
    others half of them.
    """
    varied = draw(st.booleans())
    drawn = []
    for name, choices in device.choices.items():
        value = draw(st.sampled_from(choices)) if varied and draw(st.booleans()) else choices[0]
        drawn += [(name, value)] if value else []
    return tuple(drawn)


def _list_speakers(device: Device, ports: tuple[Port, ...]) -> Iterator[list[Speaker]]:
    """Yield for each port the devices that speak with this one, if any do."""
    for port in ports:
        medium = next(iter(MEDIA[choose_media(device, port)]))
        some = [
            Speaker(port.name, speaker, theirs.name, medium)
            for speaker in device.speakers
            for theirs in speaker.ports
            if theirs.carries == port.carries
        ]
        if some:
            yield some


def _draw_seldom(often: int) -> st.SearchStrategy[bool]:
    """Return a strategy that draws true about once in so many times."""
    return st.sampled_from([*[False] * (often - 1), True])


def _weigh_alone(ports: tuple[Port, ...], elements: Sequence[object]) -> int:
    """Return how often a device is alone for each time that one of its ports faces a second one."""
    if len(ports) == 1:
        return 0
    if any(map(_is_encrypting, elements)):  # most that may be wrong shows at the other end
        return 1
    # Ports of different names are often the two sides of a pair.
    names = {port.name.partition("[")[0] for port in ports}
    return (3 if len(names) > 1 else 4) * len(ports)


@st.composite
def _draw_change(draw: st.DrawFn, whole: Scenario) -> Scenario:
    """Draw a change: flows send so many times as much once the first items have been sent.

    Mostly all of them do. No first link may be offered more than it carries then; see E0305.
    """
    by, together = draw(_CHANGES), draw(_MOSTLY)
    flows = [
        flow.change_rate(by) if flow.per_second and (together or draw(st.booleans())) else flow
        for flow in whole.flows
    ]
    asked = dict.fromkeys(range(len(whole.links)), Fraction(0))
    for flow in flows:
        most = max(flow.per_second, flow.later_per_second)
        asked[flow.origin] += most / compute_line_rate(whole, flow)
    return whole._replace(
        flows=tuple(
            flow.scale_rate(CARRIED / asked[flow.origin]) if asked[flow.origin] > CARRIED else flow
            for flow in flows
        )
    )


def _is_encrypting(element: object) -> bool:
    return isinstance(element, SecurityEnd) and element.encrypts


def _list_families(elements: Sequence[object]) -> list[str]:
    """Return the versions of IP of which packets are drawn: in transport mode, only its own."""
    encrypting = [
        element for element in elements if isinstance(element, Association) and element.encrypts
    ]
    kept = {association.family for association in encrypting if association.mode == "transport"}
    return sorted(kept or FAMILIES) if encrypting else ["ipv4"]


def _draw_faults(whole: Scenario) -> st.SearchStrategy[Impairment]:
    """Return a strategy of faults of links: those of hosts that send, and that between devices."""
    carries = {flow.origin: whole.ends[whole.find_end(flow.origin)].carries for flow in whole.flows}
    if whole.facing:
        carries[-1] = next(end.carries for end in whole.ends if end.name == whole.facing)
    return st.sampled_from(sorted(carries)).flatmap(
        lambda host: draw_impairment(host, carries[host])
    )


def _with_bottleneck(whole: Scenario, host: int) -> tuple[str, ...]:
    """Return media of which that to a host is the slowest, and those to all others the usual."""
    media = [
        list(rates) for end in whole.ends for rates in [MEDIA[choose_media(whole.device, end)]]
    ]
    here = whole.find_end(host)
    return tuple(medium[-1 if number == here else 0] for number, medium in enumerate(media))


def choose_media(device: Device, port: Port) -> str:
    """Return which media fit a port: those for a mark that the device reads, if it does."""
    marks = [mark for mark in MEDIA if mark in device.named]
    return marks[0] if marks and port.carries == "packet" else port.carries


@st.composite
def draw_sending(
    draw: st.DrawFn, whole: Scenario, families: list[str], crowd: int | None, *, dense: bool
) -> Sending:
    """Draw a flow between two hosts: in a crowd to that one, and of another class than the others.

    Without a crowd it comes from a host that sends nothing yet, if there is one. Where it is dense,
    it sends much.
    """
    every = range(len(whole.links))
    sending = {flow.origin for flow in whole.flows} if crowd is None else {crowd}
    origin = draw(st.sampled_from(_weigh_hosts(whole, sending)))
    others = [host for host in every if host != origin]
    target = draw(st.sampled_from(others[::-1])) if crowd is None else crowd
    framing = choose_media(whole.device, whole.ends[whole.find_end(origin)])
    rates = _list_line_rates(whole, origin, target)
    most = draw(st.sampled_from([min(rates), min(rates), rates[0]]))  # often all that can pass
    codes = _list_codes(whole.device, framing)
    if crowd is not None:
        taken = {flow.contract.code for flow in whole.flows}
        codes = tuple(code for code in codes if code not in taken) or codes
    line = Line(framing, most, tuple(families), codes)
    return Sending(origin, target, *draw(draw_contract(line, DENSE if dense else ANY)))


def _weigh_hosts(whole: Scenario, without: set[int]) -> list[int]:
    """Return the hosts, without some if others are left, each as often as it is to send."""
    every = range(len(whole.links))
    some = [host for host in every if host not in without] or every
    return [host for host in some for _ in range(_weigh_host(whole, host))]


def _weigh_targets(whole: Scenario) -> list[int]:
    """Return the hosts, each as often as the one that sends most often of those that send to it."""
    every = range(len(whole.links))
    times = [_weigh_host(whole, host) for host in every]
    return [
        host for host in every for _ in range(max(times[other] for other in every if other != host))
    ]


def _weigh_host(whole: Scenario, host: int) -> int:
    """Return how often a host sends for each time that one behind a mere wire does."""
    is_wire = not whole.facing and whole.ends[whole.find_end(host)].is_wire
    return 1 if is_wire else OFTEN


def _list_line_rates(whole: Scenario, origin: int, target: int) -> list[int]:
    """Return what the lines carry that a flow passes, from the first to the last.

    Lines in another unit, as of cells where the first carries packets, are left out.
    """
    names = [whole.ends[whole.find_end(host)].name for host in (origin, target)]
    if whole.crosses_both(origin, target):
        names.insert(1, whole.facing)
    lines = {
        end.name: (end.carries, MEDIA[choose_media(whole.device, end)][medium])
        for end, medium in zip(whole.ends, whole.media, strict=True)
    }
    carried = lines[names[0]][0]
    return [rate for name in names for carries, rate in [lines[name]] if carries == carried]


def _list_codes(device: Device, framing: str) -> tuple[int, ...]:
    """Return marks of packets: often those by which the device tells classes apart, and none."""
    mark, usual = ("dscp", CODE_POINTS) if framing == "packet" else (framing, tuple(range(8)))
    named = device.named.get(mark, ())
    return (0, *named, 0, *named, *usual) if named else usual


# ---- rendering


def write_specification(whole: Scenario, violation: Violation | None = None) -> str:
    """Return the specification; `violation` is what is broken in it.

    Random draws depend on the name of a test, which tells what is violated.
    """
    device, names = whole.device, HOSTS[: len(whole.links)]
    lines = ["qos 1", f"import std.media, {device.imports}", "", *_write_topology(whole)]
    if violation is not None:
        lines += [f"## `qos fuzz` found: {violation.reason}."]
    slug = "fuzzed" if violation is None else violation.slug
    lines += [f"test {device.name}_{slug} on around {{"]
    for number, flow in enumerate(whole.flows):
        fields = ", ".join(f"{name} = {value}" for name, value in flow.list_fields(f"pace{number}"))
        ends = f"from {names[flow.origin]} to {names[flow.target]}"
        lines += [f"  flow f{number} = {flow.kind} {{ {fields} }} {ends}"]
    lines += [f"  {line}" for line in _run(whole, violation)]
    lines += _write_statements(whole, violation)
    return "\n".join([*lines, "}", ""])


def lay_out(whole: Scenario, violation: Violation) -> str:
    """Return the specification as it is kept, with comments and in the usual layout."""
    text = write_specification(whole, violation)
    return format_text(Source(OURS, text), Problems()) or text


def _write_topology(whole: Scenario) -> list[str]:
    """Return the lines of the topology, and of the device that is a link's fault."""
    device, names = whole.device, HOSTS[: len(whole.links)]
    given = ", ".join(f"{name} = {value}" for name, value in whole.arguments)
    made = f"{device.written}({given})" if given else device.written
    inner = [end for end in whole.ends if end.name != whole.facing]
    media = dict(zip((end.name for end in whole.ends), whole.media, strict=True))
    links = [
        (name, link, media[inner[number % len(inner)].name])
        for number, (name, link) in enumerate(zip(names, whole.links, strict=True))
    ]
    if whole.facing:
        links += [(f"dut.{whole.facing}", f"peer.{whole.facing}", media[whole.facing])]
    lines = [f"  {', '.join(names)} = host"] if names else []
    lines += [f"  dut, peer = {made}" if whole.facing else f"  dut = {made}"]
    for number, speaker in enumerate(whole.speakers):
        lines += [f"  speaker{number} = {speaker.device.written}()"]
        link = f"dut.{speaker.at} -- speaker{number}.{speaker.port}"
        lines += [f"  link {link} via media.{speaker.medium}"]
    fault = whole.fault
    place = -1 if fault is None else fault.host % len(links)
    lines += [] if fault is None else ["  between = faulty"]
    for number, (one, other, medium) in enumerate(links):
        if number == place:
            lines += [f"  link {one} -- between.west via media.{medium}"]
            lines += [f"  link between.east -- {other} via media.{medium}"]
        else:
            lines += [f"  link {one} -- {other} via media.{medium}"]
    before = [] if fault is None else fault.write_device("faulty")
    return [*before, "topology around {", *lines, "}", ""]


def _run(whole: Scenario, violation: Violation | None) -> Iterator[str]:
    """Yield the lines that say how long it is run, and what changes meanwhile."""
    built_in = violation is not None and violation.statement in {promise.name for promise in ALL}
    measured = f"measure = {_format_time(whole.measured_ps)}"
    payload = ["payload = true"] * whole.payload
    promises = ["promises = true"] * built_in
    sources = [(f"pace{n}", flow.source, flow.contract.unit) for n, flow in enumerate(whole.flows)]
    later = [
        f"{name} = {its.write_pace(its.later, unit)}" for name, its, unit in sources if its.later
    ]
    later += ["restart = dut"] * whole.restarts
    at = [f"at {_format_time(whole.changed_ps)} {{ {', '.join(later)} }}"] * bool(later)
    if not whole.changes:
        overload = ["overload = true"] * whole.overload
        yield f"run {{ {', '.join([measured, *overload, *payload, *promises])} }}"
        yield from at
        return
    if promises:
        yield f"run {{ {promises[0]} }}"
    first = [
        f"{name} = {its.write_pace(its.rate, unit)}" for name, its, unit in sources if its.later
    ]
    yield from (
        f"point {POINT} {{",
        *(f"  {line}" for line in (measured, *first, *payload, *at)),
        "}",
    )


def _format_time(ps: int) -> str:
    return format_value(Fraction(ps, PS_PER_S), TIME, exact=True)


def _write_statements(whole: Scenario, violation: Violation | None) -> list[str]:
    """Return what is judged of the flows: in a file that is kept, only what is violated in it."""
    lines, where = [], f"{POINT}." * whole.changes
    for promise in PROMISES:
        if violation is None or violation.statement == promise.name:
            sole = "" if violation is None else violation.flow
            judged = [
                f"f{number}"
                for number, flow in enumerate(whole.flows)
                if sole in ("", f"f{number}")
                and promise.concerns(
                    Passage(
                        carries="packet" if flow.kind == "packets" else "cell",
                        is_reordered=whole.reorders(flow),
                        is_compared=whole.payload and whole.crosses(flow),
                    )
                )
            ]
            lines += write_criteria(promise, judged, where)
    return lines or [f"  report {where}f{number}.lost" for number in range(len(whole.flows))]
