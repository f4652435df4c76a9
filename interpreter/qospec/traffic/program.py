"""What a program of the user's own sends."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Command, Domain, Ready, Time, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.items.contract import Contract
from qospec.engine.source.headers import CodePoint, Headers
from qospec.engine.source.launched import HIGHEST_STATUS, Launched
from qospec.engine.source.sizes import Sizes
from qospec.engine.source.traffic import PacketTraffic, SentPackets
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.protocol.marks import set_marks

if TYPE_CHECKING:
    from qospec.engine.source.arrivals import Arrivals
    from qospec.protocol.encapsulation import Encapsulation

CommandLine = Annotated[Command, Domain("command")]
"""A program and its arguments."""
Readiness = Annotated[Ready | None, Domain("ready")]
"""When a program is taken as started; None: it begins with the trial."""
Ending = Annotated[
    Literal["terminate", "interrupt", "itself"],
    Domain("choice", choices=("terminate", "interrupt", "itself")),
]
"""How it is made to end."""
ExitStatus = Annotated[int, Domain("integer", 0, HIGHEST_STATUS)]
"""An exit status."""
Largest = Annotated[int | None, Domain("data", 68, 2_000, layers=("ip",))]
"""Of an IP packet: the least is that of RFC 791, 3.2, the most what the kernel polices."""

USUAL_MTU_BYTES = 1_500
"""Of Ethernet. Source: RFC 894."""


@traffic(
    source="POSIX.1-2017, 2.9.1 (processes), wait and kill; RFC 791, 3.1 (IPv4)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Program(PacketTraffic):
    """What a program sends that runs at the origin of the flow, on a kernel of Linux.

    It has an address of its own, `QOS_ADDRESS`, and finds that of the program at the other end in
    `QOS_PEER`: that of the flow which leads back between the same hosts, in order of declaration.
    All that it sends to there are packets of the flow. It runs on kernels alone, and only with
    `--allow-programs`.

    Not modelled: addresses by host, IPv6, what it sends to itself.
    """

    rate_field = ""
    takes_source = False
    is_program = True

    command: CommandLine
    """The program and its arguments, each a text. It runs in the folder of the file."""
    ready: Readiness = None
    """When it is taken as started: a text on its output, a port where it listens, or a time. It is
    then started ahead of the trial; by default it is started as the trial begins."""
    stop: Ending = "terminate"
    """How it ends once the measured time is over: by SIGTERM, by SIGINT, or by itself."""
    exit: ExitStatus = 0
    """The exit status that it must have, unless the signal ends it."""
    patience: Time = 10 * 10**12
    """How long it may take until it is ready, and until it has ended once it should."""
    dscp: CodePoint = 0
    """The code point in the IP header, whatever the program asks for."""
    mtu: Largest = None
    """The largest IP packet that it can send; by default one of 1,500 B."""

    def begin(self, process: Arrivals) -> Arrivals:
        return Launched(
            self.command, self.ready, self.stop, self.exit, self.patience, self._mtu, self.dscp
        )

    @property
    def _mtu(self) -> int:
        return self.mtu or USUAL_MTU_BYTES

    def describe_packets(self, link: Encapsulation) -> SentPackets:
        """Return the packets that are sent on a first link: of any size, and any number.

        Raises:
            UnfitError: The largest does not fit the link.
        """
        if self._mtu > link.largest_bytes:
            raise UnfitError(
                f"mtu: on this link a packet has at most {link.largest_bytes} B @ip",
                f"write `mtu = {link.largest_bytes} B @ip`",
            )
        headers = Headers("ipv4", "none", 0, 0, None, None, None, None)
        return SentPackets(
            Contract("packets", Fraction(0), 0),
            ("constant", {"rate": Fraction(1)}),
            Sizes((IPV4_HEADER_BYTES, self._mtu), (1, 1)),
            set_marks(dscp=self.dscp),
            headers.fields,
            link,
            headers.transport_bytes,
            size_field="mtu",
        )
