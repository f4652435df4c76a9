"""The fields of machines, their states and their transitions."""

from __future__ import annotations

from typing import Any

from qospec.catalogue.kinds import LONGEST_PS, Domain, Kind, Parameter
from qospec.catalogue.machine import FIRST_COME, ORDERS, OUT

MOST_INSTANCES = 1_000_000
MOST_SERVERS = 1_000
ADDRESSES = {False: Domain("integer", 0, 2**32 - 1), True: Domain("address")}
"""Of a machine, by whether it is a text."""
NAMES = Domain("names")
LENGTH = Domain("time", 0, LONGEST_PS)
"""Of a timer, and of a window."""


class MachineFields:
    """The fields of a machine.

    ```qos
    machine call {
      ports = [line]
      messages = { setup: [rate], release: [] }
      values = { rate: 0 cell/s }
      counters = { free: 353_000 cell/s }
      instances = 100
      state idle { on setup where rate <= free -> active { set = { free: free - rate } } }
      state active { on release -> idle { set = { free: free + rate } } }
    }
    ```

    Observed: of a state `call.active.count`, `.most`, `.entered`, `.first_entered`,
    `.last_entered`, `.time.mean`, `.time.min`, `.time.max`, quantiles such as `.time.p99`, and
    single stays such as `.time.stay_3`; each counter; and what is `ignored`, `refused`, `unheard`,
    `incomplete` and `overflow`. Of a state `report call.active.count every 1 s` shows a series.
    """

    ports: object
    """Inputs and outputs for messages, which wires lead to and from."""
    messages: object
    """What it receives and sends: a list, or a map from each to the values that it carries."""
    timers: object
    """How long each timer runs."""
    windows: object
    """How many of what transitions count have come within the last so long: `{ recent: 1 s }`."""
    values: object
    """What each instance remembers, with what it is at first."""
    counters: object
    """What all instances share, with what it is at first."""
    instances: int
    """How many there may be at once, each with a reference of its own; without, there is one."""
    spread: int
    """Instances that begin by themselves do so one after the other, evenly over this time."""
    burst: int
    """So many of them begin together, when the first of them would."""
    size: object
    """The size of a message: cells, or bytes of the IP packet; required for packets."""
    servers: int
    """On how many events it works at once, each of another instance."""
    order: str
    """Which of the events that wait it takes next: `first_come`, or `last_come`."""
    waiting: int
    """How many events may wait; what more comes is lost, counted as `overflow`."""
    address: object
    """By which others `call` it: a number, or an address of packets."""


class StateFields:
    """The fields of a state."""

    forward: str
    """The output for what passes through in this state; `discard` loses it, as `blocked`."""


class TransitionFields:
    """The fields of a transition."""

    after: int
    """How long the machine works on it, before it does the rest; of values too: `size / rate`."""
    send: object
    """The messages that it sends, each by a port: `[callee.setup]`."""
    start: object
    """The timers that it starts, anew if they run."""
    start_all: object
    """The timers that it starts of all instances that exist, anew if they run."""
    call: object
    """To whom the instance sends by a port from then on, by their `address`: `{ net: to }`."""
    stop: object
    """The timers that it stops."""
    count: object
    """The windows in which it counts."""
    set: object
    """New values and counters: `{ free: free - rate }`."""


def _make_kind(name: str, summary: str, build: type[Any], *fields: Parameter) -> Kind:
    return Kind(
        name=name,
        role="element",
        duty="element",
        summary=summary,
        source="spec/4-devices.md",
        parameters={field.name: field for field in fields},
        build=build,
    )


MACHINE = _make_kind(
    "machine",
    "What a device does by messages and timers.",
    MachineFields,
    Parameter("ports", NAMES, ()),
    Parameter("messages", Domain("messages"), None),
    Parameter("timers", Domain("timers"), None),
    Parameter("windows", Domain("timers"), None),
    Parameter("values", Domain("variables"), None),
    Parameter("counters", Domain("variables"), None),
    Parameter("instances", Domain("integer", 1, MOST_INSTANCES), None),
    Parameter("spread", Domain("time", 0, LONGEST_PS), 0),
    Parameter("burst", Domain("integer", 1, MOST_INSTANCES), 1),
    Parameter("size", Domain("buffer", 1, 2**16, layers=("ip",)), None),
    Parameter("servers", Domain("integer", 1, MOST_SERVERS), 1),
    Parameter("order", Domain("choice", choices=ORDERS), FIRST_COME),
    Parameter("waiting", Domain("integer", 0, MOST_INSTANCES), None),
    Parameter("address", Domain("address of a machine"), None),
)
STATE = _make_kind(
    "state",
    "A state of a machine.",
    StateFields,
    Parameter("forward", Domain("output"), OUT),
)
TRANSITION = _make_kind(
    "transition",
    "What happens on a transition.",
    TransitionFields,
    Parameter("after", Domain("time", 0, LONGEST_PS), 0),
    Parameter("send", Domain("sent messages"), None),
    Parameter("start", NAMES, ()),
    Parameter("start_all", NAMES, ()),
    Parameter("call", Domain("addresses"), None),
    Parameter("stop", NAMES, ()),
    Parameter("count", NAMES, ()),
    Parameter("set", Domain("assignments"), None),
)
READ_HERE = (
    "messages",
    "timers",
    "windows",
    "values",
    "counters",
    "forward",
    "send",
    "set",
    "call",
    "address",
)
"""Fields that are read as they are written: their names are those of the machine."""
