"""A trial on a traffic generator: it is told what to send, started, and watched to the end."""

from __future__ import annotations

import re
import time
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.backend import BackendError
from qospec.diagnostics import Problems
from qospec.generator.client import Client, RefusedError
from qospec.generator.configuration import (
    CUT_THROUGH,
    MODES,
    STORE_FORWARD,
    Configuration,
    compute_stream_rate,
    list_needs,
    list_streams,
)
from qospec.generator.counters import read_counters
from qospec.generator.observe import Trial, observe
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.diagnostics import Diagnostic
    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation
    from qospec.generator.address import Address
    from qospec.generator.configuration import Port
    from qospec.generator.counters import Counters
    from qospec.model.suite import Case

POLL_S = 0.5
"""How often counters are read."""
SETTLED_S = 2
"""How long nothing may arrive any more until a trial is over. Source: RFC 2544, 23."""
LATE_S = 60
"""How long a flow may go on sending after its end, or packets arriving."""
LEAST_SHARE, MOST_SHARE = Fraction(99, 100), Fraction(101, 100)
"""Of what a flow is to send, what it must have sent at least, and may have sent at most."""


def describe_configuration(
    case: Case, problems: Problems, ports: Mapping[str, Port]
) -> tuple[Document, dict[str, str]]:
    """Return what a generator is told for a trial, and which sort of latency it measures of flows.

    What cannot be said is reported as for an export.
    """
    needs = list_needs(case, problems)
    modes: dict[str, str] = {}
    for name, its in needs.items():
        if its.intersection(MODES):
            # With the time of a frame of one size each of the two follows from the other.
            modes[name] = STORE_FORWARD if STORE_FORWARD in its else CUT_THROUGH
            its.difference_update(set(MODES) - {modes[name]})
    trial = Configuration(case, needs, problems, ports)
    flows = [written for flow in case.flows for written in trial.describe_flow(flow)]
    return {**trial.describe_ports(case.flows), "flows": flows}, modes


def carry_out(
    case: Case, experiment: Experiment, address: Address, on_progress: Callable[[int, int], None]
) -> Observation:
    """Return what a generator observes in one trial of a case.

    Raises:
        BackendError: It failed, refused something, or what it tells cannot be.
    """
    problems = Problems()
    configuration, modes = describe_configuration(case, problems, address.ports)
    if problems.all:
        raise BackendError("; ".join(map(_write_problem, problems.all)))
    client = Client(address.url)
    try:
        client.set_configuration(configuration)
    except RefusedError as error:
        raise BackendError(f"{error}{_find_places(str(error), case)}") from None
    names = [flow["name"] for flow in configuration["flows"]]
    try:
        # A server may have started flows, and fail only then.
        client.set_transmission("start")
        counted = _Watch(client, names, case.run.measure_ps, on_progress).follow()
    finally:
        _stop(client)
    _verify_sent(case, counted)
    return observe(Trial(case, experiment, modes), counted)


def _stop(client: Client) -> None:
    """Stop all flows, also of a trial that failed: then the failure is what is reported."""
    try:
        client.set_transmission("stop")
    except BackendError:
        return


class _Watch:
    """Reads counters until all flows have ended, and nothing arrives any more."""

    def __init__(
        self,
        client: Client,
        names: list[str],
        length_ps: int,
        on_progress: Callable[[int, int], None],
    ) -> None:
        self._client, self._names, self._length_ps = client, names, length_ps
        self._on_progress = on_progress
        self._began_s = time.monotonic()

    def follow(self) -> dict[str, Counters]:
        """Return the counters in the end; raises BackendError if there is none."""
        last, since_s = self._read(), time.monotonic() - self._began_s
        while True:
            now_s = time.monotonic() - self._began_s
            late_s = now_s - self._length_ps / PS_PER_S
            self._on_progress(min(round(now_s * PS_PER_S), self._length_ps), self._length_ps)
            sending = [name for name, its in last.items() if its.sends]
            if not sending and min(late_s, now_s - since_s) >= SETTLED_S:
                return last
            if late_s > LATE_S:
                self._complain(sending)
            time.sleep(POLL_S)
            found = self._read()
            if found != last:
                since_s = time.monotonic() - self._began_s
            last = found

    def _complain(self, sending: list[str]) -> None:
        if sending:
            raise BackendError(
                f"the flow `{sending[0]}` still sends {LATE_S} s after its end: it is stopped, and"
                " nothing of this trial counts"
            )
        raise BackendError(
            f"{LATE_S} s after the end of the trial the counters of the generator still change:"
            " another sends, too, or the device sends packets round"
        )

    def _read(self) -> dict[str, Counters]:
        entries = self._client.read_flows(self._names)
        return {name: read_counters(name, entries[name]) for name in self._names}


def _verify_sent(case: Case, counted: Mapping[str, Counters]) -> None:
    """Raise BackendError if a flow has not sent what it was to send: it was another trial."""
    for flow in case.flows:
        planned = compute_stream_rate(flow) * Fraction(case.run.measure_ps, PS_PER_S)
        for stream in list_streams(flow):
            sent = counted[stream.name].sent
            if sent < int(LEAST_SHARE * planned) - 1:
                raise BackendError(
                    f"the generator sent {sent:_} frames of the flow `{stream.name}`, and was to"
                    f" send {round(planned):_}: it is too slow for that, or its port has no link"
                    f" ({flow.span.recorded_place})"
                )
            if sent > int(MOST_SHARE * planned) + 1:
                raise BackendError(
                    f"the generator sent {sent:_} frames of the flow `{stream.name}`, and was to"
                    f" send {round(planned):_}: it sends another load, or counted more than this"
                    f" trial ({flow.span.recorded_place})"
                )


def _find_places(message: str, case: Case) -> str:
    """Return the places of flows that a message of the generator names, or nothing."""
    streams = [(flow, stream) for flow in case.flows for stream in list_streams(flow)]
    found: dict[str, str] = {}
    for number, (flow, stream) in enumerate(streams):
        is_named = re.search(rf"(?<![\w.]){re.escape(stream.name)}(?![\w.])", message)
        if is_named or f"flows[{number}]" in message:
            found[flow.name] = f"`{flow.name}` is at {flow.span.recorded_place}"
    return f" ({', '.join(found.values())})" if found else ""


def _write_problem(problem: Diagnostic) -> str:
    return f"{problem.message} ({problem.span.recorded_place})"
