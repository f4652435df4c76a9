"""Programs of the user's own on a kernel: where they run, what starts them, what came of them.

Each runs in namespaces of its own, with one interface: what it sends by that comes out of the other
end, `q` and the number of its connection, and is led into the first line of its flow, whose address
is that of its connection. What arrives of the flow that leads back is led into that end. Formats
are those of `programs.c`.
"""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.backend import ProgramError
from qospec.dataclass import NamedTuple
from qospec.engine.source.launched import Launched, ProgramRun
from qospec.linux import disciplines
from qospec.linux.disciplines import DSCP_MASK, EXACT, NS_PER_S, PS_PER_NS
from qospec.linux.guest import GuestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.engine.experiment import Experiment, Node
    from qospec.linux.disciplines import Manner
    from qospec.linux.layout import Layout, Way

ADDRESS_OF_NONE = "192.0.2.1"
"""Of a program to which no flow leads back. Source: RFC 5737, 3."""
SIGNALS = {"terminate": signal.SIGTERM, "interrupt": signal.SIGINT, "itself": 0}
PRIVATE = "/run/private"
"""The folder that a program can write to."""
PROGRAM_FOLDERS = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
KEPT_BYTES = 2**16
"""Of each output."""
HARDWARE_ADDRESS = "02:00:00:00:00:02"
FAILURES = {
    "unready": "has ended before it was ready",
    "patience": "was not ready in time",
    "endless": "has not ended within its `patience` of {} s, and was killed",
    "flood": "has written more than 16 MiB, and was killed",
    "abandoned": "was ended: another one was not ready",
}
"""By the word of `programs.c`."""


class Placed(NamedTuple):
    """A program in its place.

    Attributes:
        flow: The name of its flow, or of the member of that.
        host: Where it runs.
        peer: The host at the other end.
        connection: The number of its connection.
        back: That of the connection that leads back to it; None if there is none.
        launched: The program.
        way: Of what it sends.
        line: The node of the line by which it sends.
    """

    flow: str
    host: str
    peer: str
    connection: int
    back: int | None
    launched: Launched
    way: Way
    line: Node

    @property
    def end(self) -> str:
        """Return the interface at which what it sends comes out."""
        return f"q{self.connection}"


def place_programs(experiment: Experiment, layout: Layout) -> tuple[Placed, ...]:
    """Return the programs of a trial, in order; each has the flow back that is as far in order."""
    launched = [source for source in experiment.sources if isinstance(source.arrivals, Launched)]
    between: dict[tuple[str, str], list[int]] = defaultdict(list)
    for source in launched:
        between[source.origin, source.monitor.host].append(source.first)
    ways = {way.first: way for way in layout.ways if way.launched}
    found = []
    for source in launched:
        host, peer = source.origin, source.monitor.host
        rank = between[host, peer].index(source.first)
        backs = between.get((peer, host), [])
        assert isinstance(source.arrivals, Launched)  # noqa: S101 -- chosen above
        found.append(
            Placed(
                source.name,
                host,
                peer,
                source.first,
                backs[rank] if rank < len(backs) else None,
                source.arrivals,
                ways[source.first],
                experiment.nodes[source.node],
            )
        )
    return tuple(found)


def write_address(connection: int | None) -> str:
    """Return the address of what arrives by a connection."""
    if connection is None:
        return ADDRESS_OF_NONE
    return ".".join(map(str, (10, connection >> 16 & 255, connection >> 8 & 255, connection & 255)))


def connect_programs(layout: Layout, placed: Sequence[Placed]) -> Layout:
    """Return a layout to which programs are led, and from which what arrives is led to them."""
    links = [f"link set {one.end} mtu 9000 up" for one in placed]
    commands = [command for one in placed for command in _connect(layout, one)]
    return layout._replace(links=(*layout.links, *links), commands=(*layout.commands, *commands))


def _connect(layout: Layout, one: Placed) -> Iterator[str]:
    way, address = one.way, write_address(one.connection)
    first, last = way.steps[0], way.steps[-1]
    yield f"qdisc add dev {one.end} clsact"
    yield (
        f"filter add dev {one.end} ingress protocol ip pref 1 u32 match ip dst {address}/32"
        f" {disciplines.write_remark(first.tos & DSCP_MASK)}"
        f" action mirred egress redirect dev {layout.near[first.node]}"
    )
    if one.back is not None and way.end >= 0:
        yield (
            f"filter add dev {layout.far[last.node]} ingress protocol ip pref 20 u32"
            f" match ip dst {address}/32 action mirred egress redirect dev q{one.back}"
        )


def write_programs(placed: Sequence[Placed], stop_ns: int, manner: Manner = EXACT) -> bytes:
    """Return the file `programs` of a job, which are to end at `stop_ns`; empty without any."""
    if not placed:
        return b""
    texts = [text for one in placed for text in _write_program(one, manner)]
    return b"".join(os.fsencode(text) + b"\0" for text in (str(stop_ns), *texts))


def _write_program(one: Placed, manner: Manner) -> Iterator[str]:
    launched, device = one.launched, f"p{one.connection}"
    own, peer = write_address(one.back), write_address(one.connection)
    ready = launched.ready
    kinds = ("", "") if ready is None else ("text", ready.text)
    if ready is not None and not ready.text:
        kinds = ("port", f"{ready.port}")
        if not ready.port:
            kinds = ("time", f"{ready.time_ps // PS_PER_NS}")
    yield from (str(one.connection), *kinds, str(int(SIGNALS[launched.stop])))
    yield str(launched.patience_ps // PS_PER_NS)
    yield from (str(os.getuid()), str(os.getgid()), launched.command.folder or str(Path.cwd()))
    yield "\n".join(
        (
            f"link set {device} address {HARDWARE_ADDRESS} arp off mtu {launched.mtu} up",
            "link set lo up",
            f"addr add {own}/32 dev {device}",
            f"route add {peer}/32 dev {device} src {own}",
            "",
        )
    )
    yield "".join(f"{command}\n" for command in _write_line(one.line, device, manner))
    yield f"127.0.0.1 localhost\n{own} {one.host}\n{peer} {one.peer}\n"
    yield from (str(len(launched.command.words)), *launched.command.words)
    variables = {
        "PATH": os.environ.get("PATH", PROGRAM_FOLDERS),
        "HOME": PRIVATE,
        "TMPDIR": PRIVATE,
        "LANG": "C.UTF-8",
        "QOS_ADDRESS": own,
        "QOS_PEER": peer,
    }
    yield str(len(variables))
    yield from (f"{name}={value}" for name, value in variables.items())


def _write_line(node: Node, device: str, manner: Manner) -> Iterator[str]:
    """Yield what makes a program wait for its line, as a card of a host does, and not memory."""
    if node.clock is not None:
        for command in disciplines.describe_line(node, manner)[0].commands:
            yield command.format(device=device)


def find_most_packets(placed: Iterable[Placed], length_ns: int) -> int:
    """Return about how many packets programs can send within a time."""
    most = 0.0
    for one in placed:
        rate = 0 if one.line.clock is None else float(one.line.clock.bit_rate)
        most += rate * length_ns / NS_PER_S / disciplines.BITS_PER_BYTE / one.launched.mtu
    return int(most)


# ---- what came of them


def explain_hang(error: GuestError, placed: Sequence[Placed]) -> GuestError:
    """Return what happened to a kernel, with what programs may have to do with it."""
    if not placed:
        return error
    flows = ", ".join(f"`{one.flow}`" for one in placed)
    return GuestError(
        f"{error}; a program that works and never sleeps keeps virtual time from passing: look at"
        f" what sends {flows}"
    )


def read_runs(
    files: Mapping[str, bytes], placed: Sequence[Placed], sent: Mapping[int, int]
) -> tuple[ProgramRun, ...]:
    """Return what came of programs, from the files of a job.

    Raises:
        ProgramError: One was not ready, so that there was no trial.
    """
    runs = tuple(_read_run(files, one, sent.get(one.connection, 0)) for one in placed)
    for run in runs:
        if run.failure in (FAILURES["unready"], FAILURES["patience"]):
            raise ProgramError(run.explain(), run.flow)
        if run.ended.startswith("not started"):
            raise ProgramError(run.explain(), run.flow)
    return runs


def _read_run(files: Mapping[str, bytes], one: Placed, sent: int) -> ProgramRun:
    how, failure, stopped, out_bytes, err_bytes = files[f"ended.{one.connection}"].split()
    kind, number = how[:1], how[1:].partition(b"e")[0]
    status = int(number or 0)
    by_signal = kind == b"s"
    if kind == b"f":
        ended = f"not started: {os.strerror(status)}"
    elif kind == b"k":
        ended = "killed"
    else:
        ended = _name_signal(status) if by_signal else f"exit {status}"
    wanted = SIGNALS[one.launched.stop]
    expected = (
        status == wanted and stopped == b"1" if by_signal else status == one.launched.exit
    ) and kind in (b"s", b"e")
    patience_s = one.launched.patience_ps / PS_PER_NS / NS_PER_S
    words = FAILURES.get(failure.decode("ascii"), "").format(f"{patience_s:g}")
    if kind == b"f":
        words = f"could not be started: {os.strerror(status)}"
    elif not words and not expected:
        words = f"ended with {ended}, and `exit = {one.launched.exit}` is expected"
    return ProgramRun(
        one.flow,
        one.host,
        one.launched.command.words,
        ended,
        words,
        sent,
        _decode(files[f"out.{one.connection}"]),
        _decode(files[f"err.{one.connection}"]),
        int(out_bytes),
        int(err_bytes),
    )


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _decode(output: bytes) -> str:
    return output[:KEPT_BYTES].decode("utf-8", "replace")
