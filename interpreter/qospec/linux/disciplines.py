"""Queueing disciplines: what an element is on a kernel of Linux, as commands of `tc`.

A size that is given takes off the 14 bytes of Ethernet's header by which the kernel counts, so all
disciplines count IP packets, as elements do; a line adds its own frames. Sources: tc(8),
tc-stab(8), tc-htb(8), tc-tbf(8), tc-netem(8), tc-prio(8), tc-drr(8), tc-pfifo(8), tc-police(8),
tc-pedit(8), tc-codel(8).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Buffer
    from qospec.engine.experiment import Node
    from qospec.engine.line.clock import Clock
    from qospec.protocol.encapsulation import Framing

ETHERNET_BYTES = 14
"""What the kernel counts of a frame besides its packet."""
LARGEST_BYTES = 2_000
"""Of an IP packet: above this, a policer of the kernel takes all as exceeding."""
MOST_WAITING = 10**9
"""What waits for a line without a queue of its own, in packets."""
FILTER = "filter add dev f0 ingress protocol ip u32 match u32 0 0"
FIRST = "qdisc add dev n0 root handle 1:"
MODULES = {
    "sch_ingress": "qdisc add dev f0 clsact",
    "cls_u32": FILTER,
    "act_mirred": f"{FILTER} action mirred egress redirect dev n0",
    "act_police": f"{FILTER} action police rate 1mbit burst 2000 conform-exceed drop/pipe",
    "act_skbedit": f"{FILTER} action skbedit priority 10:1",
    "act_pedit": f"{FILTER} action pedit ex munge ip dsfield set 0x28 retain 0xfc",
    "act_csum": f"{FILTER} action csum ip4h",
    "sch_htb": f"{FIRST} htb",
    "sch_tbf": f"{FIRST} tbf rate 1mbit burst 3000 limit 9000",
    "sch_netem": f"{FIRST} netem delay 1ms",
    "sch_prio": f"{FIRST} prio",
    "sch_drr": f"{FIRST} drr",
    "sch_codel": f"{FIRST} codel",
    "sch_fifo": f"{FIRST} pfifo limit 9",
}
"""What of a kernel elements are made of: by module, a command of `tc` that works if it is there."""
BUILT_IN = "sch_fifo"
"""A module that is part of all kernels with control of traffic, and in no list."""
INSTALL = "install the package of the kernel's extra modules"
OR_VIRTUAL = f"{INSTALL}, or use `--on kernel-vt`"
PS_PER_NS = 1_000
NS_PER_US = 1_000
NS_PER_S = 10**9
BITS_PER_BYTE = 8
LINE_BURST_BYTES = 1
"""The least that `tc` takes. What runs on the kernel then makes the bucket of a line still smaller,
one tick of 64 ns: after a pause the second packet may begin earlier by so much."""

DSCP_MASK = 0xFC
"""Of the octet with the DSCP: the other bits are of ECN, which queues change on the way."""

Commands = tuple[str, ...]
"""Of `tc`, with `{device}` for the interface."""


class Discipline(NamedTuple):
    """What the interface of an element does with what is sent by it.

    Attributes:
        commands: That make it.
        handle: By which a class is chosen with a packet's priority; "" if there is one class.
    """

    commands: Commands
    handle: str = ""


class Manner(NamedTuple):
    """How a kernel keeps time.

    Attributes:
        travels: Whether it has `netem`, in which packets travel along a line; without it they are
            seen as the line begins them, and the rest of their way is computed.
        slack_ns: How late its timers may be: a bucket is larger by so much, to make up for it.
    """

    travels: bool = True
    slack_ns: int = 0


EXACT = Manner()
"""Of a kernel in virtual time."""


def describe_line(node: Node, manner: Manner = EXACT) -> tuple[Discipline, ...]:
    """Return how a line sends: what waits, one packet after the other; then how each travels."""
    clock = node.clock
    assert clock is not None and clock.encapsulation is not None  # noqa: S101, PT018 -- verified
    sends = Discipline((*_write_line(clock), *_write_waiting(node)), _find_handle(node))
    return (sends, Discipline(_write_travel(clock))) if manner.travels else (sends,)


def describe_shaper(node: Node, manner: Manner = EXACT) -> tuple[Discipline, ...]:
    """Return a token bucket that lets packets wait."""
    shape: Any = node.element
    bucket = shape.token_bucket
    slack = manner.slack_ns * Fraction(bucket.rate.amount) / (BITS_PER_BYTE * NS_PER_S)
    burst_bytes = bucket.size.amount + ceil(slack)
    commands = (
        (
            f"qdisc add dev {{device}} root handle 1: {_write_sizes(bucket.framing)} tbf"
            f" rate {_write_rate(bucket.rate.amount)} burst {burst_bytes}"
            f" overhead {bucket.framing.extra_bytes} limit {MOST_WAITING}"
        ),
        _write_queue("1:1", "10:", shape.limit),
    )
    return (Discipline(commands),)


def describe_delay(time_ps: int) -> tuple[Discipline, ...]:
    """Return a constant delay."""
    if not time_ps:
        return (Discipline(()),)
    command = (
        f"qdisc add dev {{device}} root handle 1: netem delay {_write_time(time_ps)}"
        f" limit {MOST_WAITING}"
    )
    return (Discipline((command,)),)


def write_policing(node: Node, index: int) -> str:
    """Return the action of a filter that drops what exceeds a bucket; it counts the bytes of IP.

    The first filter with an index makes the bucket, and others with the same share it.
    """
    (bucket, *_) = node.element.buckets  # type: ignore[attr-defined]
    framing: Framing = bucket.framing
    around = framing.header_bytes + framing.extra_bytes
    return (
        f"action police rate {_write_rate(bucket.rate.amount)}"
        f" burst {bucket.size.amount} overhead {around} conform-exceed drop/pipe index {index}"
    )


def write_remark(tos: int) -> str:
    """Return the actions of a filter that write a DSCP, given its octet, and go on."""
    change = f"munge ip dsfield set {tos:#x} retain {DSCP_MASK:#x}"
    return f"action pedit ex {change} pipe action csum ip4h pipe"


def find_input_class(node: Node, number: int) -> str:
    """Return the class of an input of a scheduler, as a priority says it; "" if it has none."""
    handle = _find_handle(node)
    return f"{handle}{number + 1:x}" if handle else ""


def _find_handle(node: Node) -> str:
    return "10:" if node.queues else ""


def _write_line(clock: Clock) -> Commands:
    """Return a bucket that holds next to nothing: a packet begins when the one before has ended."""
    framing = clock.encapsulation.framing  # type: ignore[union-attr]
    around = framing.header_bytes + framing.extra_bytes
    rate, burst = _write_rate(clock.bit_rate), LINE_BURST_BYTES
    return (
        f"qdisc add dev {{device}} root handle 1: {_write_sizes()} htb default 1",
        (
            f"class add dev {{device}} parent 1: classid 1:1 htb rate {rate} ceil {rate}"
            f" burst {burst} cburst {burst} overhead {around} quantum 60000"
        ),
    )


def _write_travel(clock: Clock) -> Commands:
    """Return the time from the first bit sent to the last at the far end: without the gap."""
    framed = clock.encapsulation
    assert framed is not None  # noqa: S101 -- verified
    sizes = _write_sizes(framed.framing.count_at("frame"))
    rate, delay = _write_rate(clock.bit_rate), _write_time(clock.propagation_ps)
    return (
        (
            f"qdisc add dev {{device}} root handle 1: {sizes} netem rate {rate}"
            f" {framed.preamble_bytes} delay {delay} limit {MOST_WAITING}"
        ),
    )


def _write_waiting(node: Node) -> Commands:
    """Return what waits for a line: in one queue, or in those before a scheduler."""
    if drops_at_head(node):
        return (_write_controlled_delay(node),)
    if not _find_handle(node):
        limit = getattr(node.element, "buffer", None)
        return (_write_queue("1:1", "10:", limit),)
    limits = [queue.limit for queue in node.queues]
    makers = {"strict": _write_priorities, "drr": _write_deficits}
    return makers[_name(node)](node, limits)


def drops_at_head(node: Node) -> bool:
    """Return whether what waits for a line can be dropped when its turn comes."""
    return _name(node) == "codel"


def find_mtu(node: Node) -> int | None:
    """Return the MTU that an interface must have for its discipline; None if any will do.

    `codel` takes the size of the largest packet from there, with the header of Ethernet.
    """
    if not drops_at_head(node):
        return None
    mtu: int = node.element.mtu  # type: ignore[attr-defined]
    return mtu - ETHERNET_BYTES


def _write_controlled_delay(node: Node) -> str:
    codel: Any = node.element
    return (
        f"qdisc add dev {{device}} parent 1:1 handle 10: codel limit {codel.limit.amount}"
        f" target {_write_time(codel.target)} interval {_write_time(codel.interval)}"
        f" {'ecn' if codel.ecn else 'noecn'}"
    )


def _name(node: Node) -> str:
    from qospec.catalogue.kinds import read_declaration

    return read_declaration(type(node.element)).name


def _write_priorities(node: Node, limits: Sequence[Buffer | None]) -> Commands:  # noqa: ARG001
    bands = max(2, len(limits))
    priomap = " ".join(["0"] * 16)
    queues = (_write_queue(f"10:{n}", f"{20 + n:x}:", limit) for n, limit in enumerate(limits, 1))
    return (
        f"qdisc add dev {{device}} parent 1:1 handle 10: prio bands {bands} priomap {priomap}",
        *queues,
    )


def _write_deficits(node: Node, limits: Sequence[Buffer | None]) -> Commands:
    quanta = node.element.quanta.of_inputs  # type: ignore[attr-defined]
    commands = ["qdisc add dev {device} parent 1:1 handle 10: drr"]
    for number, (quantum, limit) in enumerate(zip(quanta, limits, strict=True), 1):
        commands += [
            f"class add dev {{device}} parent 10: classid 10:{number:x} drr quantum {quantum}",
            _write_queue(f"10:{number:x}", f"{20 + number:x}:", limit),
        ]
    return tuple(commands)


def _write_queue(parent: str, handle: str, limit: Buffer | None) -> str:
    kind = "bfifo" if limit is not None and limit.unit == "byte" else "pfifo"
    amount = MOST_WAITING if limit is None else limit.amount
    return f"qdisc add dev {{device}} parent {parent} handle {handle} {kind} limit {amount}"


def _write_sizes(framing: Framing | None = None) -> str:
    """Return what is counted of a packet: itself, or with the frame around it."""
    header_bytes = 0 if framing is None else framing.header_bytes
    return f"stab linklayer ethernet overhead {header_bytes - ETHERNET_BYTES}"


def _write_rate(bit_rate: Fraction | int) -> str:
    return f"{int(Fraction(bit_rate))}bit"


def _write_time(time_ps: int) -> str:
    """Return a time in us, down to ns: `tc` knows no shorter unit."""
    whole, part = divmod(round(Fraction(time_ps, PS_PER_NS)), NS_PER_US)
    return f"{whole}.{part:03}us"
