"""A traffic generator of the Open Traffic Generator API, and the device between its ports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qospec.backend import Backend, BackendError
from qospec.catalogue.kinds import backend
from qospec.dataclass import dataclass
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.diagnostics import Problems
    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation
    from qospec.generator.address import Address
    from qospec.model.suite import Case
    from qospec.source import Span


AROUND_S = 3
"""What a trial takes besides its length: to be configured, and to wait for the last frames."""


@backend(source="Open Traffic Generator API 1.62")
@dataclass(frozen=True)
class Otg(Backend):
    """Send by a traffic generator to a real device, and judge what the generator counts.

    Hosts are its ports; what is between them in the specification is not used, and the device is
    measured in its place. An address as `otg://SERVER:PORT?HOST=LOCATION` says where they are.

    Not modelled: cells, answered traffic, random gaps, and what is measured elsewhere than at the
    ends of flows, by quantiles or by interval.
    """

    schemes = ("otg", "otg+https")
    is_device = True
    repeats = False

    address: str = ""
    case: Any = None

    def __post_init__(self) -> None:
        if self.address:
            self._parse_address()

    def verify(self, case: Case, span: Span, problems: Problems) -> None:
        """Report what a generator does not send or tell, and hosts that are on no port."""
        from qospec.generator.counterparts import verify_counterparts

        address = self._parse_address() if self.address else None
        verify_counterparts(case, span, problems, address)

    def describe(self) -> Document:
        """Return the generator, its versions, and where hosts are."""
        from qospec.generator.client import Client

        address = self._parse_address()
        return {
            "name": address.written,
            **Client(address.url).get_version(),
            "device": "is real: of the specification only the hosts and their links were used",
        }

    def estimate_time_s(self, trials: int, trials_ps: int) -> float:
        """Return their length, and what each takes besides."""
        return trials_ps / PS_PER_S + trials * AROUND_S

    def adapt(self, case: Case) -> Otg:
        """Return what carries out the trials of a case, of which an experiment has no addresses."""
        return replace(self, case=case)

    def carry_out(
        self, experiment: Experiment, on_progress: Callable[[int, int], None]
    ) -> Observation:
        """Return what the generator counted."""
        from qospec.generator.trial import carry_out

        return carry_out(self.case, experiment, self._parse_address(), on_progress)

    def _parse_address(self) -> Address:
        from qospec.generator.address import HOW_TO_WRITE, parse_address

        if not self.address:
            raise BackendError(f"a traffic generator has an address: {HOW_TO_WRITE}")
        return parse_address(self.address)
