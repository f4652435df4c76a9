"""A source that only a kernel has: a program of the user's own, which sends what it likes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.source.arrivals import Arrivals

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Command, Ready
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws

HIGHEST_STATUS = 255
"""Of what exits."""
LAST_LINES = 3
"""Of what a program said, how many an explanation has."""


class ProgramRun(NamedTuple):
    """What came of a program of the user's own.

    Attributes:
        flow: What it sent, by name.
        host: Where it ran.
        command: The program and its arguments.
        ended: How it ended, as "exit 0" or "SIGTERM".
        failure: What is wrong with that; "" for nothing.
        sent: How many packets it has sent in all.
        stdout: What it wrote there, cut.
        stderr: Likewise.
        stdout_bytes: How much that was in all.
        stderr_bytes: Likewise.
    """

    flow: str
    host: str
    command: tuple[str, ...]
    ended: str
    failure: str
    sent: int
    stdout: str
    stderr: str
    stdout_bytes: int
    stderr_bytes: int

    def explain(self) -> str:
        """Return what is wrong, with the last that it said."""
        said = (self.stderr.strip() or self.stdout.strip()).splitlines()[-LAST_LINES:]
        tail = f"; it said: {' / '.join(said)}" if said else "; it said nothing"
        if self.ended.startswith("not started") and not said:
            tail = ""
        return f"`{self.flow}`: `{' '.join(self.command)}` {self.failure}{tail}"


@dataclass(frozen=True)
class Launched(Arrivals):
    """Emit nothing that is known ahead: a back end sees what a program has sent.

    Attributes:
        command: The program and its arguments.
        ready: When it is taken as started; None: it is started as the trial begins.
        stop: How it is made to end: "terminate", "interrupt" or "itself".
        exit: The status that it must have.
        patience_ps: How long it may take until it is ready, and until it has ended.
        mtu: Bytes of its largest IP packet.
        dscp: What its packets are marked with.
    """

    command: Command
    ready: Ready | None
    stop: str
    exit: int
    patience_ps: int
    mtu: int
    dscp: int

    def start(self, connections: int, phases: str, draws: Draws) -> None:  # noqa: ARG002
        """Refuse to: nothing is known of what it sends.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "a program sends nothing in an emulation: use `qos run --on kernel-vt --allow-programs`"
        )

    def emit(self, state: None, until_ps: int) -> tuple[Times, Indices]:  # noqa: ARG002
        """Return no items."""
        return np.empty(0, np.int64), np.empty(0, np.int32)

    def compute_mean_rate(self, connections: int) -> Fraction:  # noqa: ARG002
        """Return 0: nothing is known of what it sends."""
        return Fraction(0)

    def count_most_items(self, connections: int, length_ps: int) -> int | None:  # noqa: ARG002
        """Return 0 items, which are those that an emulation sends."""
        return 0
