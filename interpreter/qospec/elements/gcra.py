"""Usage parameter control: the generic cell rate algorithm, single and dual, per connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from qospec.catalogue.kinds import Domain, Names, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Loss, Step
from qospec.engine.items.partition import split
from qospec.engine.kernel import kernel
from qospec.engine.source.contract import LONGEST_TOLERANCE_PS
from qospec.protocol.atm import SERVICE_CATEGORIES
from qospec.protocol.marks import CLP

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy import void
    from numpy.typing import NDArray

    from qospec.engine.arrays import Marks
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Contract

    Tests = NDArray[void]
    """Records of the fields of TEST."""
    Row = tuple[int, ...]
    """The values of one record."""

CONFORMS, DISCARDED, TAGGED = 0, 1, 2

NO_TOLERANCE_ENDS_PS = 2**62
LARGEST_DENOMINATOR = 2**62

TEST = (
    ("due_ps", "i8"),  # TAT, rounded down
    ("part", "i8"),  # and its fraction of a ps, over `denominator`
    ("increment_ps", "i8"),  # T, likewise
    ("increment_part", "i8"),
    ("denominator", "i8"),
    ("tolerance_ps", "i8"),  # tau
    ("only_clp_0", "i8"),  # whether CLP 1 cells are exempt
    ("tags", "i8"),  # whether a CLP 0 cell that fails is tagged
)


class State(NamedTuple):
    """The state that is kept from batch to batch.

    Attributes:
        first: (indices,) The test of each connection on all cells.
        second: (indices,) The sustainable-rate test of VBR; (0,) without any VBR.
        own: The number of indices with tests of their own; a cell of a higher index is tested with
            the user cells of its connection, which are that many indices below, or a multiple.
    """

    first: Tests
    second: Tests
    own: int


@element(source="ITU-T I.371, Annex A; ATM Forum TM 4.1 (af-tm-0121): GCRA", carries=("cell",))
@dataclass(frozen=True)
class Gcra(Element):
    """Police each connection by its contract: discard or tag cells that arrive too early.

    A cell at t conforms to GCRA(T, tau) unless t < TAT - tau; if it does, TAT = max(t, TAT) + T.
    The first test has T = 1/PCR and tau = CDVT, on all cells. VBR has a second, with T = 1/SCR and
    tau = BT + CDVT, on all cells (VBR.1) or on CLP 0 cells only (VBR.2 and VBR.3). A cell updates
    the tests only if it conforms to all that apply to it. Under VBR.3 a CLP 0 cell that fails only
    the second test is tagged; from there on it is a CLP 1 cell, to which only the first test
    applies.

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

    causes = ("policed",)
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

    @property
    def marks_written(self) -> tuple[str, ...]:
        return ("clp",)

    def marks_after(self, marks: int, contract: Contract) -> tuple[int, ...]:
        tags = self.polices(contract) and (self.violate == "tag" or contract.tagging)
        return (marks, marks | CLP) if tags and not marks & CLP else (marks,)

    def start(self, setting: Setting) -> State:
        connections = setting.connections
        policed = [c if self.polices(c) else None for c in connections.contracts]
        tests_of: list[tuple[Row, Row]] = [
            (_EVERYTHING_CONFORMS, _EVERYTHING_CONFORMS)
        ] * connections.indices
        like = None
        for index, contract in enumerate(policed):
            if contract is None:
                continue
            if contract is not like:  # the VCs of a flow stand together and share a contract
                like, tests = contract, (_first(contract), _second(contract))
            tests_of[index] = tests
            if self.oam == "separate":
                for plane in connections.planes:
                    tests_of[connections.index(index, plane)] = tests
        dual = any(c is not None and c.sustainable_cell_rate is not None for c in policed)
        return State(
            np.array([first for first, _ in tests_of], list(TEST)),
            np.array([second for _, second in tests_of if dual], list(TEST)),
            connections.count if self.oam == "joint" else connections.indices,
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        outcome = np.empty(batch.count, np.uint8)
        violated = DISCARDED if self.violate == "discard" else TAGGED
        police = _police_dual if len(state.second) else _police
        discarded, tagged = police(batch, state, violated, outcome)
        if tagged:
            batch = batch.with_marks(batch.marks | (outcome == TAGGED))
            outcome = (outcome == DISCARDED).view(np.uint8)
        kept, lost = split(batch, outcome, discarded)
        losses = (Loss("policed", lost.connection, lost.sent_ps),) if discarded else ()
        return Step((kept,), (until_ps,), losses)


_EVERYTHING_CONFORMS = (0, 0, 0, 0, 1, NO_TOLERANCE_ENDS_PS, 0, 0)


def _first(contract: Contract) -> Row:
    tolerance_ps = contract.cell_delay_variation_tolerance_ps
    return (*_test(contract.peak_interval_ps, tolerance_ps), 0, 0)


def _second(contract: Contract) -> Row:
    if contract.sustainable_cell_rate is None:
        return _EVERYTHING_CONFORMS
    tolerance_ps = contract.burst_tolerance_ps + contract.cell_delay_variation_tolerance_ps
    only_clp_0 = contract.sustainable_applies_to == "0"
    return (*_test(contract.sustained_interval_ps, tolerance_ps), only_clp_0, contract.tagging)


def _test(increment_ps: Fraction, tolerance_ps: int) -> Row:
    """Return a test before its first cell; a TAT of 0 lets that cell conform at any time."""
    denominator = increment_ps.denominator
    if tolerance_ps > LONGEST_TOLERANCE_PS or denominator > LARGEST_DENOMINATOR:
        raise ValueError(
            "the tolerance or rate of this contract is beyond what can be policed exactly"
        )
    return (0, 0, *divmod(increment_ps.numerator, denominator), denominator, tolerance_ps)


@kernel
def _police(batch: Batch, state: State, violated: int, outcome: Marks) -> tuple[int, int]:
    """Apply one test to each cell; return the numbers of cells discarded and tagged.

    Args:
        batch: n cells.
        state: Updated.
        violated: The outcome of a cell that does not conform.
        outcome: (n,) Written: CONFORMS, DISCARDED or TAGGED.
    """
    at_ps, connection = batch.at_ps, batch.connection
    tests, _, own = state
    violations = 0
    for i in range(len(at_ps)):
        v = connection[i]
        while v >= own:
            v -= own
        test = tests[v]
        due, part = test["due_ps"], test["part"]
        # t < TAT - tau, for a whole t: a TAT with a fraction counts as the next whole ps.
        if at_ps[i] + test["tolerance_ps"] < due + (part > 0):
            outcome[i] = violated
            violations += 1
        else:
            outcome[i] = CONFORMS
            _advance(test, at_ps[i])
    return (violations, 0) if violated == DISCARDED else (0, violations)


@kernel
def _police_dual(batch: Batch, state: State, violated: int, outcome: Marks) -> tuple[int, int]:
    """Apply both tests of its connection to each cell; see `_police`."""
    at_ps, connection, marks = batch.at_ps, batch.connection, batch.marks
    firsts, seconds, own = state
    discarded = tagged = 0
    for i in range(len(at_ps)):
        v = connection[i]
        while v >= own:
            v -= own
        first, second, t = firsts[v], seconds[v], at_ps[i]
        early = t + first["tolerance_ps"] < first["due_ps"] + (first["part"] > 0)
        counts = marks[i] & CLP == 0 or not second["only_clp_0"]
        bursts = counts and t + second["tolerance_ps"] < second["due_ps"] + (second["part"] > 0)
        if early or (bursts and not second["tags"]):
            outcome[i] = violated
            discarded += violated == DISCARDED
            tagged += violated == TAGGED
            continue
        outcome[i] = TAGGED if bursts else CONFORMS
        tagged += bursts
        _advance(first, t)
        if counts and not bursts:
            _advance(second, t)
    return discarded, tagged


@kernel
def _advance(test: Any, t: int) -> None:
    """Count a cell at `t` that conforms: TAT = max(t, TAT) + T."""
    due, part = test["due_ps"], test["part"]
    if t > due:
        due = t + test["increment_ps"]
        part = test["increment_part"]
    else:
        due += test["increment_ps"]
        part += test["increment_part"]
        if part >= test["denominator"]:
            part -= test["denominator"]
            due += 1
    test["due_ps"], test["part"] = due, part
