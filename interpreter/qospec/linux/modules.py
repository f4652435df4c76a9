"""What an element needs of a kernel, by the names of its modules, and how to come by them."""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Any

from qospec.backend import BackendError, refuse
from qospec.linux.counterparts import find_used
from qospec.linux.disciplines import MODULES, OR_VIRTUAL, Manner
from qospec.linux.guest import GuestError
from qospec.linux.parts import compile_program
from qospec.linux.room import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qospec.diagnostics import Problems
    from qospec.model.suite import Case
    from qospec.source import Span

PAIR = "link add n0 type veth peer name f0\nlink set n0 up\nlink set f0 up\n"
"""The interfaces by which it is tried what there is."""
REMOVE = "qdisc del dev n0 root"
LAST = "qdisc add dev none clsact"
"""A command that fails on each kernel: if it did not, `tc` has not tried all."""
FAILED = re.compile(r"Command failed \S+:(\d+)")
ALWAYS = ("sch_ingress", "cls_u32", "act_mirred", "sch_fifo", "sch_htb")
"""What each trial takes."""


@functools.cache
def list_modules() -> frozenset[str]:
    """Return what of `MODULES` this machine has, tried in namespaces once in each process.

    Raises:
        BackendError: No namespaces can be made, or a program is missing.
    """
    lines = [*(line for command in MODULES.values() for line in (command, REMOVE)), LAST]
    try:
        said = Room(compile_program(), Manner()).probe(PAIR, "\n".join((*lines, "")))
    except GuestError as error:
        raise BackendError(str(error)) from None
    failed = {int(number) for number in FAILED.findall(said)}
    if len(lines) not in failed:
        raise BackendError(f"`tc` did not try what this kernel has: {said or 'it said nothing'}")
    return frozenset(name for at, name in enumerate(MODULES) if 2 * at + 1 not in failed)


def verify_modules(case: Case, test: Span, problems: Problems) -> None:
    """Report each element of a case for which this machine's kernel lacks something."""
    there, found = list_modules(), set()
    for network in case.networks.values():
        used = find_used(network)
        for number, instance in enumerate(network.elements):
            if number not in used or instance.kind.name not in NEEDS:
                continue
            for module, why in NEEDS[instance.kind.name](instance.element):
                if module in there or (instance.span, module) in found:
                    continue
                found.add((instance.span, module))  # of other directions and ports, too
                kernel = f"the kernel of this machine, {os.uname().release}, has not"
                message = f"`{instance.path}` {why} by `{module}`, which {kernel}"
                refuse(problems, instance.span, test, message, OR_VIRTUAL)


def _require_for_line(line: Any) -> Iterator[tuple[str, str]]:
    yield "sch_htb", "sends at its rate"
    if line.length * line.delay_per_length:
        yield "sch_netem", "delays packets by its length"


def _require_for_delay(element: Any) -> Iterator[tuple[str, str]]:
    if getattr(element, "time", 0) or getattr(element, "latency", 0):
        yield "sch_netem", "delays packets"


def _require_for_remark(_remark: Any) -> Iterator[tuple[str, str]]:
    yield "act_pedit", "rewrites packets"
    yield "act_csum", "rewrites checksums"


def _require(*pairs: tuple[str, str]) -> Callable[[Any], Iterator[tuple[str, str]]]:
    return lambda _element: iter(pairs)


CHOSEN = ("act_skbedit", "is told the class of packets")
NEEDS: Mapping[str, Callable[[Any], Iterator[tuple[str, str]]]] = {
    "codel": _require(("sch_codel", "controls delay")),
    "delay": _require_for_delay,
    "drr": _require(("sch_drr", "schedules"), CHOSEN),
    "line": _require_for_line,
    "police": _require(("act_police", "polices")),
    "remark": _require_for_remark,
    "router": _require_for_delay,
    "shape": _require(("sch_tbf", "shapes")),
    "strict": _require(("sch_prio", "schedules"), CHOSEN),
}
"""By kind of element, the modules that it needs besides `ALWAYS`, and what for."""
