"""Available bit rate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, Ratio, Time, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.endpoint.abr_source import NEVER, AbrDestination, AbrSource
from qospec.engine.endpoint.rm_cell import HIGHEST_RATE, convert_rate
from qospec.engine.endpoint.traffic import Endpoints
from qospec.engine.items.contract import Contract
from qospec.engine.source.closed_loop import ClosedLoop
from qospec.engine.source.contract import ABBREVIATIONS, Count, VirtualPath
from qospec.engine.source.traffic import CellTraffic
from qospec.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.endpoint.traffic import Exchange

AbrRate = Annotated[Fraction, Domain("cell rate", 1, HIGHEST_RATE)]
"""Cells per second, exact."""
OwnRate = Annotated[Fraction | None, Domain("cell rate", 1, HIGHEST_RATE)]
Between = Annotated[int, Domain("integer", 2, 256)]
"""A number of cells, a power of two."""
Missing = Annotated[int, Domain("integer", 1, 2**23)]
"""A number of RM cells."""
Wait = Annotated[int, Domain("time", 1, LONGEST_PS)]
LEAST_FACTOR, LEAST_CUTOFF = Fraction(1, 2**15), Fraction(1, 2**6)
"""Of RIF and RDF, and of CDF. Source: TM 4.1, 5.10.2.2."""


@dataclass(frozen=True)
class _Paced(ClosedLoop):
    """A closed loop between two rates, the higher of which the first link must carry."""

    least: Fraction

    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return the lowest rate, which all links must carry."""
        return connections * self.least

    def compute_first_rate(self, connections: int) -> Fraction:
        """Return the highest rate, which it has where nothing is congested."""
        return connections * self.again


@traffic(
    source="ATM Forum TM 4.1 (af-tm-0121), 5.10 (ABR), 5.10.4 and 5.10.5 (behaviour of source and"
    " destination); ITU-T I.371, 6.6",
    abbreviations=ABBREVIATIONS
    | {"cells_per_rm_cell": "nrm", "missing_rm_cells": "crm", "cutoff_decrease_factor": "cdf"},
    carries=("cell",),
)
@dataclass(frozen=True, kw_only=True)
class Abr(CellTraffic):
    """Connections that always have cells to send, and send them at a rate that the network sets.

    Each begins with `icr`. Every `nrm`-th cell is an RM cell, which the target turns round. If one
    comes back without congestion, the allowed rate rises by `rif` times `pcr`; with it, it falls by
    `rdf` of itself; in any case to the explicit rate in the RM cell at most. It stays between `mcr`
    and `pcr`. Queues that tell of congestion are `abr_queue`.

    The flow itself is its cells, RM cells among them, in-rate. Those that come back are
    measured as `FLOW.answers`.

    Not modelled: RM cells out of rate, so that `mcr` is at least 1 cell/s; data of the target's
    own, with whose rate backward cells would be sent; sources that pause; virtual sources; RM cells
    that others than sources make; rates as RM cells round them. Captures and encryptors take RM
    cells for cells of the user.
    """

    is_answered = True
    own_parts = ("answers",)
    takes_source = False

    peak_cell_rate: AbrRate
    """Highest cells/s of each connection, PCR."""
    minimum_cell_rate: AbrRate = Fraction(10)
    """Cells/s that each may always send, MCR."""
    initial_cell_rate: OwnRate = None
    """Cells/s with which each begins, ICR; by default `pcr`."""
    rate_increase_factor: Ratio = Fraction(1, 16)
    """By which part of `pcr` the rate rises, RIF: a power of two from 1/32768 to 1."""
    rate_decrease_factor: Ratio = Fraction(1, 16)
    """By which part of itself it falls, RDF: likewise."""
    cells_per_rm_cell: Between = 32
    """Of how many cells one is a forward RM cell, Nrm: a power of two."""
    trm: Wait = 100 * PS_PER_MS
    """After which time, and two cells, one is sent in any case."""
    adtf: Wait = PS_PER_S // 2
    """After which time without RM cells the rate is that of the beginning at most."""
    missing_rm_cells: Missing = 2**19
    """After how many RM cells without an answer the rate falls, CRM."""
    cutoff_decrease_factor: Ratio = Fraction(1, 16)
    """By which part of itself it falls then, CDF: a power of two from 1/64 to 1, or 0."""
    cell_delay_variation_tolerance: Time = 0
    """How much earlier a cell may arrive than its rate alone allows, CDVT."""
    connections: Count = 1
    """Number of identical connections."""
    spread: Time = 0
    """The connections begin one after the other, evenly spread over this time."""
    virtual_path: VirtualPath = 0
    """VPI of the connections."""

    def __post_init__(self) -> None:
        if self.minimum_cell_rate > self.peak_cell_rate:
            raise UnfitError("mcr: it is above the peak cell rate", "write at most the `pcr`")
        if not self.minimum_cell_rate <= self._initial <= self.peak_cell_rate:
            raise UnfitError(
                "icr: it is below the minimum or above the peak cell rate",
                "write a rate from `mcr` to `pcr`",
            )
        _check_factor("rif", self.rate_increase_factor, LEAST_FACTOR)
        _check_factor("rdf", self.rate_decrease_factor, LEAST_FACTOR)
        if self.cutoff_decrease_factor:
            _check_factor("cdf", self.cutoff_decrease_factor, LEAST_CUTOFF)
        if not _is_power(self.cells_per_rm_cell):
            raise UnfitError("nrm: expected a power of two", "write 2, 4, 8 … or 256")

    @property
    def _initial(self) -> Fraction:
        given = self.initial_cell_rate
        return self.peak_cell_rate if given is None else given

    def build_contract(self) -> Contract:
        tolerance_ps = self.cell_delay_variation_tolerance
        return Contract("abr", Fraction(self.peak_cell_rate), tolerance_ps)

    def describe_conforming_source(self) -> tuple[str, Mapping[str, object]]:
        return "constant", {"rate": Fraction(self.peak_cell_rate)}

    @property
    def loop(self) -> ClosedLoop:
        """Return what bounds how many cells it sends."""
        highest, lowest = Fraction(self.peak_cell_rate), Fraction(self.minimum_cell_rate)
        return _Paced(1, Fraction(0), highest, LONGEST_PS, lowest)

    def build_endpoints(self, exchange: Exchange) -> Endpoints:
        """Return the source and the destination."""
        peak, cutoff = self.peak_cell_rate, self.cutoff_decrease_factor
        source = AbrSource(
            exchange,
            highest=convert_rate(peak),
            lowest=convert_rate(self.minimum_cell_rate),
            initial=convert_rate(self._initial),
            rise=convert_rate(self.rate_increase_factor * peak),
            fall=_count_halvings(self.rate_decrease_factor),
            missing=self.missing_rm_cells,
            cutoff=_count_halvings(cutoff) if cutoff else NEVER,
            between=self.cells_per_rm_cell,
            longest_between_ps=self.trm,
            idle_ps=self.adtf,
            spread_ps=self.spread,
        )
        return Endpoints(source, AbrDestination(exchange))


def _check_factor(name: str, factor: Fraction, least: Fraction) -> None:
    factor = Fraction(factor)
    if factor < least or factor.numerator != 1 or not _is_power(factor.denominator):
        raise UnfitError(
            f"{name}: expected 1, or a half, a quarter and so on down to {least}",
            "write one of these, such as `1 / 16`",
        )


def _is_power(number: int) -> bool:
    """Return whether a number is a power of two."""
    return number & (number - 1) == 0


def _count_halvings(part: Fraction) -> int:
    """Return how often 1 is halved to this."""
    return Fraction(part).denominator.bit_length() - 1
