"""Usage parameter control: the generic cell rate algorithm, single and dual, per connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from qospec.calculus.curve import bound_bursts
from qospec.catalogue.kinds import Domain, Names, element
from qospec.catalogue.statistics import KINDS_OF_CAUSES
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Loss, Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, lose, send
from qospec.engine.items.partition import partition
from qospec.engine.kernel import kernel, view_part
from qospec.engine.source.contract import LONGEST_TOLERANCE_PS
from qospec.protocol.atm import SERVICE_CATEGORIES
from qospec.protocol.marks import CLP
from qospec.protocol.streams import INSERTED, KindName

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Marks, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.contract import Contract

    Test = tuple[int, ...]
    """The fields of a test."""

CONFORMS, OVER_PEAK, OVER_SUSTAINED, TAGGED = range(4)
"""The outcomes of a cell. The second and third are discarded: by the first test, and the second."""

POLICED = KINDS_OF_CAUSES["policed"]
"""The causes of these two outcomes."""

NO_TOLERANCE_ENDS_PS = 2**62
LARGEST_DENOMINATOR = 2**62

COUNT, TAGS_ALL, SECOND, TESTED_AS = range(4)
"""The state: the number of connections; whether a cell that violates its contract is tagged; where
the second tests begin, 0 without any VBR; by kind of cells, the first index of the kind with which
they are tested. Then come the first tests, by index."""
TESTS = TESTED_AS + 1 + len(INSERTED)
OF_OTHERS: tuple[KindName, ...] = ("oam", "rm")
"""The kinds of cells that are told from user cells, by their headers."""
DUE, PART, INCREMENT, INCREMENT_PART, DENOMINATOR, TOLERANCE, ONLY_CLP_0, TAGS = range(8)
"""A test: TAT, T and tau in ps, the first two with a numerator over the denominator; whether cells
with CLP 1 are exempt; whether a cell that fails is tagged."""
FIELDS = 8


@element(source="ITU-T I.371, Annex A; ATM Forum TM 4.1 (af-tm-0121): GCRA", carries=("cell",))
@dataclass(frozen=True)
class Gcra(Element):
    """Police each connection by its contract: discard or tag cells that arrive too early.

    A cell at t conforms to GCRA(T, tau) unless t < TAT - tau; if it does, TAT = max(t, TAT) + T.
    Both times are compared in whole ps, rounded down: what conforms exactly conforms at any rate.
    The first test has T = 1/PCR and tau = CDVT, on all cells. VBR has a second, with T = 1/SCR and
    tau = BT + CDVT, on all cells (VBR.1) or on CLP 0 cells only (VBR.2 and VBR.3). A cell updates
    the tests only if it conforms to all that apply to it. Under VBR.3 a CLP 0 cell that fails only
    the second test is tagged; from there on it is a CLP 1 cell, to which only the first test
    applies. What is discarded is counted by the test that it failed, as `policed_pcr` or
    `policed_scr`, and by both as `policed`.

    Not modelled: frame-based and dynamic GCRA (GFR, ABR); a change of contract during a trial.
    """

    violate: Annotated[Literal["discard", "tag"], Domain("choice", choices=("discard", "tag"))] = (
        "discard"
    )
    """What happens to a cell that violates its contract; `tag` passes it on with CLP 1."""
    oam: Annotated[
        Literal["joint", "separate", "exempt"],
        Domain("choice", choices=("joint", "separate", "exempt")),
    ] = "joint"
    """Whether OAM cells are tested jointly with their VC's user cells, separately, or not at all.
    """
    police: Names = ("cbr", "vbr_rt", "vbr_nrt")
    """The service categories that are policed; cells of others pass."""

    causes = POLICED
    keeps_spacing = True

    def __post_init__(self) -> None:
        for category in self.police:
            if category not in SERVICE_CATEGORIES:
                known = ", ".join(SERVICE_CATEGORIES)
                raise ValueError(
                    f"police: `{category}` is not a service category; expected one of {known}"
                )

    def polices(self, contract: Contract) -> bool:
        return contract.category in self.police

    def concerns(self, contract: Contract) -> bool:
        return self.polices(contract)

    def bound_passing(self, contract: Contract, kind: KindName) -> Curve | None:
        exempt = kind in OF_OTHERS and self.oam == "exempt"
        if exempt or self.violate == "tag" or not self.polices(contract):
            return None
        tolerance_ps = contract.cell_delay_variation_tolerance_ps
        passing = _build_passing_curve(contract.peak_interval_ps, tolerance_ps)
        if contract.sustainable_cell_rate is None or contract.sustainable_applies_to == "0":
            return passing
        tolerance_ps += contract.burst_tolerance_ps
        return passing.intersect(_build_passing_curve(contract.sustained_interval_ps, tolerance_ps))

    @property
    def marks_written(self) -> tuple[str, ...]:
        return ("clp",)

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        tags = self.polices(contract) and (self.violate == "tag" or contract.tagging)
        return (marks, marks | CLP) if tags and not marks & CLP else (marks,)

    def start(self, setting: Setting) -> Whole:
        streams = setting.streams
        policed = [c if self.polices(c) else None for c in setting.contracts]
        tests_of: list[tuple[Test, Test]] = [
            (_EVERYTHING_CONFORMS, _EVERYTHING_CONFORMS)
        ] * streams.indices
        like = None
        for index, contract in enumerate(policed):
            if contract is None:
                continue
            if contract is not like:  # the VCs of a flow stand together and share a contract
                like, tests = contract, (_build_first_test(contract), _build_second_test(contract))
            tests_of[index] = tests
            if self.oam == "separate":
                for kind in streams.kinds:
                    tests_of[streams.compute_index(index, kind)] = tests
        dual = any(c is not None and c.sustainable_cell_rate is not None for c in policed)
        tested_as = np.zeros(TESTS - TESTED_AS, np.int64)
        for number, kind in enumerate(streams.kinds):
            if kind in OF_OTHERS and self.oam != "joint":
                tested_as[number] = streams.start(kind)
        first, second = (np.array(tests, np.int64).ravel() for tests in zip(*tests_of, strict=True))
        head = [streams.count, self.violate == "tag", TESTS + len(first) if dual else 0]
        return np.concatenate(
            [head, tested_as, first, second[: len(second) * dual]], dtype=np.int64
        )

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(
            self.start(setting), _arrive, losses=tuple(("", cause) for cause in POLICED)
        )

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        outcome = np.empty(batch.count, np.uint8)
        counts = np.zeros(TAGGED + 1, np.int64)
        _police(batch, state, outcome, counts)
        if counts[TAGGED]:
            batch = batch.with_marks(batch.marks | (outcome == TAGGED))
            outcome[outcome == TAGGED] = CONFORMS
            counts[CONFORMS] += counts[TAGGED]
        kept, *lost = partition(batch, outcome, tuple(counts[:TAGGED].tolist()))
        losses = [Loss(*loss) for loss in zip(POLICED, lost, strict=True) if loss[1].count]
        return Step((kept,), (until_ps,), tuple(losses))


def _build_passing_curve(interval_ps: Fraction, tolerance_ps: int) -> Curve:
    """Return the curve of what conforms, with times compared in whole ps.

    Le Boudec and Thiran, 1.2.2: Leaky bucket and GCRA.
    """
    rounding_ps = int(interval_ps.denominator > 1)
    return bound_bursts(interval_ps).widen(tolerance_ps + rounding_ps)


_EVERYTHING_CONFORMS = (0, 0, 0, 0, 1, NO_TOLERANCE_ENDS_PS, 0, 0)


def _build_first_test(contract: Contract) -> Test:
    tolerance_ps = contract.cell_delay_variation_tolerance_ps
    return (*_build_test(contract.peak_interval_ps, tolerance_ps), 0, 0)


def _build_second_test(contract: Contract) -> Test:
    if contract.sustainable_cell_rate is None:
        return _EVERYTHING_CONFORMS
    tolerance_ps = contract.burst_tolerance_ps + contract.cell_delay_variation_tolerance_ps
    only_clp_0 = contract.sustainable_applies_to == "0"
    return (
        *_build_test(contract.sustained_interval_ps, tolerance_ps),
        only_clp_0,
        contract.tagging,
    )


def _build_test(increment_ps: Fraction, tolerance_ps: int) -> Test:
    """Return a test before its first cell; a TAT of 0 lets that cell conform at any time."""
    denominator = increment_ps.denominator
    if tolerance_ps > LONGEST_TOLERANCE_PS or denominator > LARGEST_DENOMINATOR:
        raise ValueError(
            "the tolerance or rate of this contract is beyond what can be policed exactly"
        )
    return (0, 0, *divmod(increment_ps.numerator, denominator), denominator, tolerance_ps)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Pass a cell on at once, tag it or discard it; see `engine.event.transition`."""
    outcome = _decide_outcome(state, items[item, CONNECTION], items[item, MARKS], now_ps)
    if outcome in (OVER_PEAK, OVER_SUSTAINED):
        lose(out, outcome - OVER_PEAK, item)
        return DONE
    if outcome == TAGGED:
        items[item, MARKS] |= CLP
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _police(batch: Batch, state: Whole, outcome: Marks, counts: Whole) -> None:
    """Write the outcome of each cell, and count them by outcome."""
    at_ps, connection, marks = batch.at_ps, batch.connection, batch.marks
    for i in range(len(at_ps)):
        found = _decide_outcome(state, connection[i], marks[i], at_ps[i])
        outcome[i] = found
        counts[found] += 1


@kernel
def _decide_outcome(state: Whole, connection: int, marks: int, now_ps: int) -> int:
    """Apply the tests of its connection to a cell; return its outcome."""
    if connection >= state[COUNT]:
        kind = connection // state[COUNT]
        connection += state[TESTED_AS + kind] - kind * state[COUNT]
    first, outcome = view_part(state, TESTS + FIELDS * connection, FIELDS), CONFORMS
    if not _conforms(first, now_ps):
        return TAGGED if state[TAGS_ALL] else OVER_PEAK
    if state[SECOND]:
        second = view_part(state, state[SECOND] + FIELDS * connection, FIELDS)
        if marks & CLP == 0 or not second[ONLY_CLP_0]:
            if _conforms(second, now_ps):
                _count(second, now_ps)
            elif second[TAGS]:
                outcome = TAGGED
            else:
                return TAGGED if state[TAGS_ALL] else OVER_SUSTAINED
    _count(first, now_ps)
    return outcome


@kernel
def _conforms(test: Whole, now_ps: int) -> bool:
    """Return whether a cell may come now: unless t < TAT - tau."""
    return now_ps + test[TOLERANCE] >= test[DUE]  # type: ignore[no-any-return]


@kernel
def _count(test: Whole, now_ps: int) -> None:
    """Count a cell that conforms: TAT = max(t, TAT) + T."""
    due, due_part = test[DUE], test[PART]
    if now_ps > due:
        due, due_part = now_ps, 0
    due += test[INCREMENT]
    due_part += test[INCREMENT_PART]
    if due_part >= test[DENOMINATOR]:
        due_part -= test[DENOMINATOR]
        due += 1
    test[DUE], test[PART] = due, due_part
