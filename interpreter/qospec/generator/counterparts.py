"""What of a case a traffic generator can carry out.

The elements between hosts are a model of the device under test, and the device takes their place:
so nothing is asked of them. What is sent and measured must be what a generator sends and tells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.backend import refuse
from qospec.diagnostics import Problems
from qospec.generator.configuration import MODES, Configuration, list_needs
from qospec.generator.trial import describe_configuration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.generator.address import Address
    from qospec.model.suite import Case, Flow
    from qospec.source import Span

    Unfit = tuple[Span | None, str, str]
    """Where it is written, None for the test; what is wrong; what to write."""


def verify_counterparts(
    case: Case, span: Span, problems: Problems, address: Address | None
) -> None:
    """Report what a generator cannot carry out; with an address, also hosts that are on no port."""
    found = Problems()
    describe_configuration(case, found, {} if address is None else address.ports)
    for problem in found.all:
        problems.add(replace(problem, code="E0702"))
    if found.errors:
        return
    ports = Configuration(case, list_needs(case, Problems()), Problems())
    for place, message, remedy in (
        *_list_unfit_course(case),
        *_list_unfit_ends(case, ports),
        *_list_unfit_mixes(case),
        *(() if address is None else _list_homeless(case, address)),
    ):
        refuse(problems, place, span, message, remedy)


def _list_unfit_course(case: Case) -> Iterator[Unfit]:
    """Yield what a trial on a generator cannot be."""
    for change in case.run.changes:
        message = f"nothing changes during a trial on a generator: `{change.text}`"
        yield change.span, message, "write a test of the time before, and one of the time after"
    if case.run.warmup_ps:
        message = "a generator counts from its first packet, so there is no `warmup`"
        yield None, message, "leave `warmup` out of `run`"
    for asked, words in ((case.run.payload, "payload"), (case.run.promises, "promises")):
        if asked:
            message = f"`{words} = true` is of the emulation: a generator has no counterpart"
            yield None, message, f"leave `{words}` out of `run`"
    if case.chosen is not None:
        yield None, "a generator tests no properties", "write a test"
    if len(case.networks) > 1:
        message = "there is one device between the ports of a generator, and no other network"
        yield None, message, "write a test without a control"


def _list_unfit_ends(case: Case, ports: Configuration) -> Iterator[Unfit]:
    """Yield flows that arrive where no port could be."""
    for flow in case.flows:
        odd = [target for target in flow.targets if ports.find_speed(target) is None]
        if odd:
            message = (
                f"`{odd[0]}`, to which `{flow.name}` goes, has no line with the speed of a port"
            )
            yield flow.span, message, "link it by `media.gigabit_ethernet`, or another speed"


def _list_unfit_mixes(case: Case) -> Iterator[Unfit]:
    """Yield flows of several sizes whose latency is measured, which a generator does not tell."""
    mixes = {flow.name for flow in case.flows if _has_sizes(flow)}
    needs = list_needs(case, Problems())
    for name in sorted(mixes):
        if needs[name].intersection(MODES):
            flow = next(flow for flow in case.flows if flow.name == name)
            message = (
                "a generator measures a latency to the first bit that arrives, so that of"
                f" `{name}`, whose packets have several sizes, is not known"
            )
            yield flow.places.get(flow.packets.size_field, flow.span), message, "send one size"


def _has_sizes(flow: Flow) -> bool:
    return flow.packets is not None and len(set(flow.packets.sizes.size_bytes)) > 1


def _list_homeless(case: Case, address: Address) -> Iterator[Unfit]:
    """Yield flows of which a host is on no port of the generator."""
    for flow in case.flows:
        lacking = dict.fromkeys(
            path for path in (*flow.origins, *flow.targets) if path not in address.ports
        )
        if lacking:
            named = ", ".join(f"`{path}`" for path in lacking)
            separator = "&" if address.ports else "?"
            more = "&".join(f"{path}=LOCATION" for path in lacking)
            message = f"of the flow `{flow.name}` {named} {'are' if len(lacking) > 1 else 'is'}"
            remedy = f"name its location: `--on '{address.written}{separator}{more}'`"
            yield flow.span, f"{message} on no port of the generator", remedy
