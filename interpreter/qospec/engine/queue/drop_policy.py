"""Drop policies: what they declare, and the admission table made from it for `queue.admission`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Buffer, Domain
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.line import transmission
from qospec.engine.queue.admission import (
    CAUSES,
    CERTAIN,
    CLASS_FIELDS,
    EARLY,
    EARLY_PACKET_DISCARD,
    MOST_COUNTED,
    OVERFLOW,
    PARTIAL_PACKET_DISCARD,
    PLACES,
    POWERS,
    QUEUE_FIELDS,
    THRESHOLD,
    AdmissionTable,
    find_exponent,
)
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import ALL, CONGESTION, mark_congestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.random import Generator

    from qospec.engine.arrays import Sizes, Whole
    from qospec.engine.line.clock import Clock
    from qospec.engine.queue.admission import Average
    from qospec.engine.random import Draws

    Entries = Sequence[tuple[str, object]]
    """A map of some field, by the words or numbers of a mark."""

ClassMark = Annotated[str, Domain("choice", choices=tuple(ALL))]
"""A mark that distinguishes classes."""
Probability = Annotated[Fraction, Domain("ratio", Fraction(1, 10**6), 1)]
NO_LIMIT = 2**62
"""More than waits anywhere, and than any average, in its binary places."""
BLOCK = 4_096
"""Random numbers drawn at a time, however time is cut: chunks change nothing."""
UNITS = {"cell": "cells", "packet": "packets", "byte": "bytes"}


class Curve(NamedTuple):
    """How likely an early drop is, by the average: 0 at `low`, rising to `p` at `high`.

    From there on it is certain; if `gentle`, it rises on to 1 at twice `high`.
    """

    low: Buffer
    high: Buffer
    p: Fraction
    gentle: bool


class Rule(NamedTuple):
    """What holds for items of one class.

    Attributes:
        room: How much may wait with one, if not all.
        curve: How likely early drops are, if there are any.
        frames_from: What must wait for a frame of cells that begins to be dropped, if any is.
        rest: Whether the rest of a frame is dropped with one of its cells, but for its last cell.
        congested_from: How many items must wait for the line for an arrival to be dropped.
    """

    room: int | None = None
    curve: Curve | None = None
    frames_from: int | None = None
    rest: bool = False
    congested_from: int | None = None

    @property
    def is_of_frames(self) -> bool:
        """Return whether it is about frames of cells."""
        return self.rest or self.frames_from is not None


class DropPolicy(ABC):
    """Which arrivals a queue drops. A frozen dataclass of its parameters.

    It states facts and decides nothing itself: `queue.admission` carries out its rules.
    """

    @property
    def mark(self) -> str:
        """Return the mark that divides items into classes; "" if there is one class."""
        return ""

    @property
    def average(self) -> Average | None:
        """Return the average that decides on early drops; None if it drops none early."""
        return None

    @property
    def marks_congestion(self) -> bool:
        """Return whether it marks packets that are capable of ECN in place of early drops."""
        return False

    @property
    def carries(self) -> str | None:
        """Return the kind of items that it is for, "cell" or "packet"; None: either."""
        if self.marks_congestion:
            return "packet"
        return None if not self.mark else "cell" if self.mark == "clp" else "packet"

    def predict_marks(self, marks: int) -> tuple[int, ...]:
        """Return the marks that an item may leave the queue with, the usual ones first."""
        return mark_congestion(marks) if self.marks_congestion else (marks,)

    @abstractmethod
    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        """Return the rule of each class, by value of the mark; others have the limit alone.

        Raises:
            ValueError: They do not fit a queue of this limit; in the author's words.
        """


class Waiting(NamedTuple):
    """A queue before a scheduler: its path, its limit (None: none) and its drop policy."""

    element: str
    limit: Buffer | None
    drop: DropPolicy | None = None


def verify(policy: DropPolicy, limit: Buffer) -> None:
    """Raise ValueError, in the author's words, where a policy does not fit a queue's limit."""
    if limit.unit != "byte" and policy.carries not in (None, limit.unit):
        raise ValueError(
            f"drop: only {policy.carries}s have {_name_mark(policy)}, and the limit is in"
            f" {UNITS[limit.unit]}"
        )
    for rule in policy.list_rules(limit).values():
        if rule.curve is not None:
            _verify_curve(rule.curve, limit)
    if policy.average is not None:
        find_exponent(policy.average.weight)


def _name_mark(policy: DropPolicy) -> str:
    """Return what only the items have that a policy is for."""
    if policy.mark:
        return f"a {policy.mark}"
    return "an ECN field" if policy.marks_congestion else "a frame"


def _verify_curve(curve: Curve, limit: Buffer) -> None:
    low, high = curve.low, curve.high
    require_same_unit("low", low, limit)
    require_same_unit("high", high, limit)
    if low.amount >= high.amount:
        raise ValueError(f"low: {low.amount} is not below high, {high.amount}")
    if high.amount > limit.amount:
        raise ValueError(
            f"high: an average of {high.amount} is never reached, as at most {limit.amount} may"
            " wait; lower it, or raise the limit"
        )


def require_same_unit(field: str, amount: Buffer, limit: Buffer) -> None:
    """Raise ValueError where a field of a policy counts other things than the queue's limit."""
    if amount.unit != limit.unit:
        raise ValueError(
            f"{field}: expected {UNITS[limit.unit]}, as in the limit, found {UNITS[amount.unit]}"
        )


def verify_threshold(field: str, amount: Buffer, limit: Buffer) -> None:
    """Raise ValueError where a threshold in a field of a policy does not fit the queue's limit."""
    require_same_unit(field, amount, limit)
    if amount.amount > limit.amount:
        raise ValueError(
            f"{field}: the threshold {amount.amount} is never reached, as at most {limit.amount}"
            " may wait; lower it, or raise the limit"
        )


def verify_keys(name: str, **maps: Entries) -> None:
    """Refuse keys that are no values of a mark; maps are by the field that holds them.

    Raises:
        ValueError: There are no such values; in the author's words, an argument for each.
    """
    mark = ALL[name]
    known = f"one of {', '.join(mark.words)}" if mark.words else f"0 to {mark.highest}"
    strange = [
        f"{field}[{key}]: `{key}` is not a {name}; expected {known}"
        for field, entries in maps.items()
        for key, _ in entries
        if key not in mark.spelt
    ]
    if strange:
        raise ValueError(*strange)


def list_values(name: str, entries: Entries) -> tuple[int, ...]:
    """Return the values of a mark that a map's keys stand for."""
    spelt = ALL[name].spelt
    return tuple(spelt.index(key) for key, _ in entries)


class QueueWithPolicy(NamedTuple):
    """A queue with its limit, its drop policy, and its random streams."""

    limit: Buffer
    policy: DropPolicy | None
    draws: Draws


@dataclass
class RandomDraws:
    """The random numbers of one queue, one for each arrival; zeros if its policy draws none."""

    stream: Generator | None
    spare: Sizes

    def take(self, count: int) -> Sizes:
        """Return the next `count`, each below CERTAIN."""
        if self.stream is None:
            return np.zeros(count, np.int32)
        blocks = -(-(count - len(self.spare)) // BLOCK)
        fresh = [self.stream.integers(0, CERTAIN, BLOCK, np.int32) for _ in range(blocks)]
        numbers = np.concatenate([self.spare, *fresh])
        self.spare = numbers[count:]
        return numbers[:count]


def begin_random_draws(queue: QueueWithPolicy) -> RandomDraws:
    """Return the random numbers of a queue, from the first."""
    drawn = queue.policy is not None and queue.policy.average is not None
    return RandomDraws(queue.draws.open_stream() if drawn else None, np.empty(0, np.int32))


class DropState(NamedTuple):
    """The state of the drop policies of the queues before one line.

    Attributes:
        table: What decides on admission.
        draws: Random numbers, by queue.
        selective: Whether some queue has a policy beyond its limit.
        marking: Whether some queue marks items.
    """

    table: AdmissionTable
    draws: tuple[RandomDraws, ...]
    selective: bool
    marking: bool


def build_drop_state(
    queues: Sequence[Waiting], draws: Draws, clock: Clock, connections: int
) -> DropState:
    """Return the state of these queues at the beginning of a trial, each with its own streams."""
    with_policy = [
        QueueWithPolicy(
            queue.limit or Buffer(NO_LIMIT, "cell"), queue.drop, draws.derive("drop", queue.element)
        )
        for queue in queues
    ]
    selective = any(
        queue_with_policy.policy is not None
        and queue_with_policy.policy.list_rules(queue_with_policy.limit)
        for queue_with_policy in with_policy
    )
    table = build_admission_table(with_policy, clock, connections)
    marking = any(
        queue.policy is not None and queue.policy.marks_congestion for queue in with_policy
    )
    return DropState(table, tuple(map(begin_random_draws, with_policy)), selective, marking)


def build_admission_table(
    queues: Sequence[QueueWithPolicy], clock: Clock, connections: int = 0
) -> AdmissionTable:
    """Return the admission table of queues that one line serves, at the beginning of a trial."""
    rows = np.zeros((len(queues), QUEUE_FIELDS), np.int64)
    decay = np.zeros((len(queues), POWERS), np.int64)
    classes: list[list[int]] = []
    tables: dict[DropPolicy | None, list[int]] = {None: [0]}
    is_of_frames = False
    line = transmission.build_line(clock)
    for k, (limit, policy, _) in enumerate(queues):
        rules = policy.list_rules(limit) if policy is not None else {}
        is_of_frames |= any(rule.is_of_frames for rule in rules.values())
        average = policy.average if policy is not None else None
        if policy is not None and policy not in tables:
            tables[policy] = _build_column(policy.mark, tuple(rules))
        weight = -1 if average is None else find_exponent(average.weight)
        typical_ps = 1 if average is None else _compute_time_ps(line, clock, average.typical_bytes)
        table, mark = list(tables).index(policy), ALL.get(policy.mark) if policy else None
        bit, highest = (mark.first, mark.highest) if mark else (0, 0)
        marking = CONGESTION if policy is not None and policy.marks_congestion else 0
        most = MOST_COUNTED if average is not None and average.spaces else 0
        own = (len(classes), table, bit, highest, limit.amount, weight, typical_ps, marking, most)
        rows[k, : len(own)] = own
        decay[k] = _list_powers(weight) if weight >= 0 else 0
        classes += [
            _build_class(Rule(), limit),
            *(_build_class(rule, limit) for rule in rules.values()),
        ]
    column = np.zeros((len(tables), max(map(len, tables.values()))), np.int64)
    for row, classes_of in zip(column, tables.values(), strict=True):
        row[: len(classes_of)] = classes_of
    frames = np.zeros((len(queues), connections * is_of_frames), np.int64)
    return AdmissionTable(rows, np.array(classes, np.int64), column, decay, frames)


def list_causes(policy: DropPolicy | None, limit: Buffer) -> tuple[str, ...]:
    """Return what a queue may lose items for."""
    rules = () if policy is None else policy.list_rules(limit).values()
    found = [OVERFLOW]
    by_class = [rule for rule in rules if rule.room is not None or rule.congested_from is not None]
    found += [THRESHOLD] if by_class else []
    found += [EARLY] if any(rule.curve is not None for rule in rules) else []
    found += [EARLY_PACKET_DISCARD] if any(rule.frames_from is not None for rule in rules) else []
    found += [PARTIAL_PACKET_DISCARD] if any(rule.rest for rule in rules) else []
    return tuple(CAUSES[cause] for cause in found)


def _compute_time_ps(line: Whole, clock: Clock, typical_bytes: int) -> int:
    size_bytes = CELL_BYTES if clock.encapsulation is None else typical_bytes
    return max(1, int(transmission.compute_service_time(line, size_bytes)[0]))


def _build_column(name: str, known: tuple[int, ...]) -> list[int]:
    """Return, by value of a mark, 1 + its number among those known; 0 for others."""
    if not name:
        return [len(known)]
    values = range(ALL[name].highest + 1)
    return [known.index(value) + 1 if value in known else 0 for value in values]


def _list_powers(weight: int) -> list[int]:
    """Return 1 - 1/2^weight to the power of 2^n, each from the one before in 62 places."""
    power, found = (1 << 62) - (1 << 62 - weight), []
    for _ in range(POWERS):
        found.append(power >> 32)
        power = power * power >> 62
    return found


def _build_class(rule: Rule, limit: Buffer) -> list[int]:
    amount = limit.amount if rule.room is None else rule.room
    starts = [NO_LIMIT if n is None else n for n in (rule.frames_from, rule.congested_from)]
    last = [starts[0], int(rule.rest), starts[1]]
    if rule.curve is None:
        return [amount, NO_LIMIT, NO_LIMIT, NO_LIMIT, 0, 0, 0, 0, *last]
    low, high = (buffer.amount << PLACES for buffer in rule.curve[:2])
    top = 2 * high if rule.curve.gentle else high
    cuts = [max(0, width.bit_length() - 32) for width in (high - low, top - high)]
    fields = [amount, low, high, top, int(rule.curve.p * CERTAIN), *cuts, 0, *last]
    assert len(fields) == CLASS_FIELDS  # noqa: S101
    return fields
