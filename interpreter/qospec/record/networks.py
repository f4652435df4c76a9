"""What a test's networks are made of, over all cases; and what a kernel counted of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.machine import OBSERVED
from qospec.check.device.nodes import PROPERTIES
from qospec.check.evaluate.dimensions import write_bound
from qospec.dataclass import NamedTuple
from qospec.model.suite import Tester
from qospec.plan.settings import FieldValue, list_element_settings, write_range, write_setting
from qospec.record.quantity import describe_quantity
from qospec.units import COUNT, PS_PER_S, RATE, TIME, format_value, to_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.catalogue.machine import Counts, Program
    from qospec.document import Document
    from qospec.judge.readings import Readings
    from qospec.model.device import DeviceUse
    from qospec.model.suite import Case, Host, Instance, Network
    from qospec.plan.plan import Planned

Pair = list[str]
Settings = Mapping[str, FieldValue]
_INDEX = re.compile(r"\[\d+\]")


class _Cable(NamedTuple):
    """A link over all cases: its ends as written, and the lines of both directions."""

    ends: Pair
    lines: list[Instance]


def list_links(network: Network) -> list[Pair]:
    """Return the pairs of names of linked hosts and devices, each link once."""
    seen: dict[frozenset[str], Pair] = {}
    for ends in _list_cables([network]):
        pair = [end.rpartition(".")[0] or end for end in ends]
        seen.setdefault(frozenset(pair), pair)
    return [*seen.values()]


def describe_networks(cases: Sequence[Case]) -> Document:
    """Return lines and nodes by the name of the control, "" for the network of the test itself.

    Members with equal parameters are described together. Where cases differ, a value is from the
    least to the most.
    """
    found: dict[str, dict[int, Network]] = {}
    for case in cases:
        for name, network in case.networks.items():
            found.setdefault(name, {})[id(network)] = network
    return {
        name: {"lines": _describe_lines([*its.values()]), "nodes": _describe_nodes([*its.values()])}
        for name, its in found.items()
    }


# ---- lines


def _list_cables(networks: Iterable[Network]) -> dict[tuple[str, ...], _Cable]:
    """Return the links by their ends, in the order in which they are written."""
    cables: dict[tuple[str, ...], _Cable] = {}
    for network in networks:
        for instance in network.elements:
            start, _, stop = instance.path.partition(" -> ")
            if instance.kind.duty == "line" and stop:
                key = (stop, start) if (stop, start) in cables else (start, stop)
                cables.setdefault(key, _Cable([*key], [])).lines.append(instance)
    return cables


def _describe_lines(networks: Sequence[Network]) -> list[Document]:
    grouped: dict[str, Document] = {}
    known: dict[int, Settings] = {}
    for cable in _list_cables(networks).values():
        clocks = {line.element.build_clock(stamps=False) for line in cable.lines}
        rates = {
            clock.bit_rate: f"{format_value(clock.bit_rate, RATE)} @{clock.layer}"
            for clock in clocks
        }
        delays = {
            clock.propagation_ps: format_value(Fraction(clock.propagation_ps, PS_PER_S), TIME)
            for clock in clocks
        }
        document = {
            "rate": write_range(rates[end(rates)] for end in (min, max)),
            "delay": write_range(delays[end(delays)] for end in (min, max)),
            **_describe_settings([_read(line, known) for line in cable.lines], ("rate",)),
        }
        grouped.setdefault(str(document), {"links": [], **document})["links"].append(cable.ends)
    return [*grouped.values()]


# ---- nodes


def _describe_nodes(networks: Sequence[Network]) -> list[Document]:
    grouped: dict[str, Document] = {}
    for name, document in {**_describe_hosts(networks), **_describe_devices(networks)}.items():
        grouped.setdefault(str(document), {"names": [], **document})["names"].append(name)
    return [*grouped.values()]


def _describe_hosts(networks: Sequence[Network]) -> dict[str, Document]:
    """Return the hosts that are testers with properties of their own."""
    found: dict[str, list[Host]] = {}
    for network in networks:
        for host in network.hosts:
            if host.tester != Tester():
                found.setdefault(host.path, []).append(host)
    return {
        path: {
            "device": "host",
            **_describe_settings([_read_tester(host.tester) for host in hosts]),
            "elements": [],
        }
        for path, hosts in found.items()
    }


def _read_tester(tester: Tester) -> Settings:
    found = {}
    for name, (attribute, domain) in PROPERTIES.items():
        value = getattr(tester, attribute)
        text = write_bound(value, domain.name, "ppm" if domain.name == "ratio" else "")
        found[name] = FieldValue(text, Fraction(value), value == getattr(Tester(), attribute))
    return found


def _describe_devices(networks: Sequence[Network]) -> dict[str, Document]:
    known: dict[int, Settings] = {}
    elements: dict[str, dict[str, list[Instance]]] = {}
    uses: dict[str, list[DeviceUse]] = {}
    for network in networks:
        for path, use in network.devices.items():
            uses.setdefault(path, []).append(use)
        for instance in network.elements:
            node, _, inner = instance.path.partition(".")
            if instance.kind.duty != "line":
                elements.setdefault(node, {}).setdefault(inner, []).append(instance)
    return {
        path: {
            "device": " or ".join(dict.fromkeys(use.name for use in its)),
            **_describe_settings([_read_use(use) for use in its]),
            "elements": _describe_elements(elements.get(path, {}), known),
        }
        for path, its in uses.items()
    }


def _read_use(use: DeviceUse) -> Settings:
    return {name: FieldValue(text, None, usual) for name, text, usual in use.settings}


def _describe_elements(
    elements: Mapping[str, Sequence[Instance]], known: dict[int, Settings]
) -> list[Document]:
    """Return the elements of a device, by their paths in it; those alike together."""
    grouped: dict[str, Document] = {}
    for path, its in elements.items():
        document = {
            "kind": " or ".join(dict.fromkeys(instance.kind.name for instance in its)),
            **_describe_settings([_read(instance, known) for instance in its]),
        }
        key = f"{_INDEX.sub('', path)} {document}"
        grouped.setdefault(key, {"names": [], **document})["names"].append(path)
    return [*grouped.values()]


# ---- settings


def _read(instance: Instance, known: dict[int, Settings]) -> Settings:
    """Return the settings of an element, read once: members of an array share it."""
    element = instance.element
    if id(element) not in known:
        known[id(element)] = list_element_settings(instance.kind, element)
    return known[id(element)]


def _describe_settings(cases: Sequence[Settings], apart: tuple[str, ...] = ()) -> Document:
    """Return the values that were given, and the defaults but for what is 0 or off."""
    distinct = [*{id(case): case for case in cases}.values()]
    found = {
        name: [case.get(name) for case in distinct]
        for name in dict.fromkeys(name for case in distinct for name in case)
        if name not in apart
    }
    usual = {n for n, its in found.items() if all(value is None or value.usual for value in its)}
    written = {name: write_setting(its) for name, its in found.items()}
    return {
        "given": [[n, text] for n, text in written.items() if n not in usual],
        "defaults": [
            [n, text] for n, text in written.items() if n in usual and not _is_nothing(found[n])
        ],
    }


def _is_nothing(found: Sequence[FieldValue | None]) -> bool:
    return all(value is None or value.number == 0 or value.text == "false" for value in found)


def describe_kernel(repeats: Sequence[Readings]) -> Document:
    """Return what disciplines and programs of a kernel did, and how far off times may be.

    That is of the repeat where it is most. Of the emulation there is nothing.
    """
    counted = [
        {"repeat": number, "element": element, **discipline._asdict()}
        for number, readings in enumerate(repeats, 1)
        for element, discipline in readings.list_disciplines()
    ]
    launched = [
        {"repeat": number, **run._asdict(), "command": list(run.command)}
        for number, readings in enumerate(repeats, 1)
        for run in readings.list_programs()
    ]
    precision_ps = max((readings.precision_ps for readings in repeats), default=0)
    precision = describe_quantity(to_seconds(precision_ps), TIME)
    return {
        **({"disciplines": counted} if counted else {}),
        **({"programs": launched} if launched else {}),
        **({"precision": precision} if precision_ps else {}),
    }


def describe_rest(planned: Iterable[Planned], machines: Mapping[str, Counts]) -> str:
    """Return a sentence with the states of machines at the end of a trial, and what they counted.

    Times and rates that a machine keeps are left out.
    """
    programs = {path: its for network in planned for path, its in network.waits.programs.items()}
    found = []
    for path, counts in sorted(machines.items()):
        states = [f"{of.instances} {name}" for name, of in counts.states.items() if of.instances]
        counted = [f"{name} {count}" for name, count in _list_counted(counts, programs.get(path))]
        said = [", ".join(names) for names in (states or ["none"], counted) if names]
        if states or counted:
            found.append(f"{path} ({'; '.join(said)})")
    listed = ", ".join(found) or "no state"
    return f"no flow sends anything, only machines do; at the end they are in: {listed}"


def _list_counted(counts: Counts, program: Program | None) -> Iterator[tuple[str, int]]:
    """Yield what a machine counted: its own counters, if they have changed, and messages."""
    for counter in program.counters if program else ():
        count = counts.counters[counter.name]
        if counter.dimension == COUNT and count != counter.initial:
            yield counter.name, count
    yield from ((name, getattr(counts, name)) for name in OBSERVED if getattr(counts, name))
