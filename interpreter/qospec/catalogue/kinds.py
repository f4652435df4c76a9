"""What a specification can name: elements, kinds of traffic, metrics and so on.

Each is a class in a file of its own, marked by one of the decorators below. Checks, help and
fuzzing read the declaration: its docstring, its typed fields with their defaults, and its bounds. A
decorator marks and stores nowhere. A catalogue imports a file once one of its kinds is asked for.
"""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Set
from fractions import Fraction
from functools import cache, cached_property
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from qospec.catalogue.statistics import name_cause
from qospec.dataclass import NamedTuple, dataclass

Role = Literal[
    "element",
    "machine",
    "traffic",
    "arrivals",
    "dropping",
    "congestion",
    "metric",
    "method",
    "export",
    "backend",
]
Duty = Literal["element", "queue", "scheduler", "line", "router", "classifier", "machine"]
Carried = Literal["cell", "packet"]
Counted = Literal["cell", "packet", "frame"]

CARRIED: tuple[Carried, ...] = ("cell", "packet")
"""What moves through a network; no line and no port carries both."""
RECORDS: tuple[Role, ...] = ("traffic", "element", "arrivals", "dropping", "congestion")
"""The roles of kinds that records are made of."""
LOSING: tuple[Role, ...] = ("element", "machine", "traffic")
"""The roles of kinds that state causes of loss."""
NESTED: Mapping[str, Role] = {
    "dropping": "dropping",
    "congestion": "congestion",
    "contract": "traffic",
}
"""By domain of a field that holds a record of another kind: that kind's role."""
STRIPPED = 2
"""At this level of optimisation Python has no docstrings."""
PACKAGES: Mapping[str, tuple[Role, ...]] = {
    "qospec.elements": ("element", "machine"),
    "qospec.traffic": ("traffic", "arrivals"),
    "qospec.dropping": ("dropping",),
    "qospec.congestion": ("congestion",),
    "qospec.metrics": ("metric",),
    "qospec.methods": ("method",),
    "qospec.exports": ("export",),
    "qospec.backends": ("backend",),
}
"""The packages of kinds, each with the roles of those in it; one that is not here may have any."""
NAMED_FREELY: tuple[Role, ...] = ("metric", "backend")
"""The roles of kinds that may have other names than their file: all are imported to find one."""


class Buffer(NamedTuple):
    """A limit on what waits, or a burst: a number of cells, packets or bytes of some layer."""

    amount: int
    unit: Literal["cell", "packet", "byte"]
    layer: str = ""


class Lifetime(NamedTuple):
    """How long something is used: so many packets, so many bytes, or a time in ps."""

    amount: int
    unit: Literal["packet", "byte", "time"]


class Load(NamedTuple):
    """What a source offers: bits per second in a layer, or items per second if there is none."""

    amount: Fraction
    layer: str


class SizeMix(NamedTuple):
    """Sizes in bytes of one layer, each with its weight; if `in_order`, weights count repetitions.

    If a distribution gives them, `law` is how it is written.
    """

    parts: tuple[tuple[int, int], ...]
    layer: str
    in_order: bool = False
    law: str = ""


@dataclass(frozen=True)
class DataFile:
    """A file of data: as its author names it, its path, and the SHA-256 of what it holds."""

    name: str
    path: str = dataclasses.field(compare=False)
    digest: str


@dataclass(frozen=True)
class CaptureFile(DataFile):
    """A file with packets, which is read where they are sent."""


@dataclass(frozen=True)
class ProfileFile(DataFile):
    """A file of values over time.

    Attributes:
        steps: From when on, in ps, and how many items per second, how many seconds of delay or
            which share of losses; ascending from 0.
    """

    steps: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class TraceFile(DataFile):
    """A file with the rate of a link over time: of the two below, one is empty.

    Attributes:
        opportunities_ps: When bytes may be sent, not descending; after the last it begins anew.
        rates: From when on, in ps, and how many bits per second; ascending from 0.
    """

    opportunities_ps: tuple[int, ...]
    rates: tuple[tuple[int, int], ...] = ()


class Curve(NamedTuple):
    """Times by the size of a packet: points (bytes of IP, ps), ascending; a single one is for all.

    Between two points a time is on the line between theirs, rounded to whole picoseconds. Below the
    first point it is that of the first, above the last that of the last.
    """

    points: tuple[tuple[int, int], ...]

    @property
    def least_ps(self) -> int:
        """Return the shortest time of any size."""
        return min(time_ps for _, time_ps in self.points)

    @property
    def most_ps(self) -> int:
        """Return the longest time of any size."""
        return max(time_ps for _, time_ps in self.points)


class Duration(NamedTuple):
    """How long something lasts, in ps: always, or on average if it is random."""

    mean_ps: int
    law: Literal["constant", "exponential"] = "constant"


class Command(NamedTuple):
    """A program and its arguments, and the path of the folder of the file that names it."""

    words: tuple[str, ...]
    folder: str = ""


class Ready(NamedTuple):
    """When a program is taken as started: a text on its output, a port, or a time; one of them."""

    text: str = ""
    port: int = 0
    time_ps: int = 0


@dataclass(frozen=True)
class Domain:
    """What a parameter may hold.

    `name` is one of: time, data, rate, cell rate, length, cells, ratio, integer, truth, choice,
    names, weights, counts, sizes, loads, bursts, windows, codes, buffer, burst, limits by mark,
    ratios by mark, delay per length, load, size mix, curve, duration, times, lifetime, address,
    key, capture, profile, delay profile, loss profile, trace, command, ready, dropping, congestion,
    contract, width, frame rate, call rate, calls. Bounds are in the base unit (ps, bytes, bit/s,
    cells/s, m, cells, frames/s, calls/s, calls, 1), inclusive; a load of packets has those of as
    many bytes. Of an element's rate, load or burst `layers` may be counted; data without any is
    counted in none.
    `implied` is the kind that stands for a field of kinds that is not given.
    """

    name: str
    low: Fraction | int | None = None
    high: Fraction | int | None = None
    choices: tuple[str, ...] = ()
    layers: tuple[str, ...] = ("cell", "line")
    implied: str = ""
    beyond: str = ""
    """What is known of values beyond the bounds, for the message that refuses one."""


OF_PACKETS = ("ip",)  # the `layers` of what counts packets
OF_FRAMES = ("ip", "frame", "line")  # and of what may count what is around them
LONGEST_PS = 10**18
"""The longest time that a field may hold, of 11 days."""
MOST_CAPTURE_BYTES = 2**30
"""Of a file of packets, which is in memory while it is read."""

Time = Annotated[int, Domain("time", 0, LONGEST_PS)]
"""Whole picoseconds."""
Data = Annotated[int, Domain("data", 0, 2**40, layers=OF_PACKETS)]
"""Whole bytes."""
Rate = Annotated[Fraction, Domain("rate", 1, 10**14)]
"""Bits per second, exact."""
CellRate = Annotated[Fraction, Domain("cell rate", Fraction(1, 10**6), 10**11)]
"""Cells per second, exact."""
Length = Annotated[Fraction, Domain("length", 0, 10**9)]
"""Metres, exact."""
DelayPerLength = Annotated[Fraction, Domain("delay per length", 0, 10**9)]
"""Picoseconds per metre, exact."""
Cells = Annotated[int, Domain("cells", 1, 2**31)]
"""A count of cells."""
Ratio = Annotated[Fraction, Domain("ratio", 0, 1)]
Integer = Annotated[int, Domain("integer")]
Boolean = Annotated[bool, Domain("truth")]
Names = Annotated[tuple[str, ...], Domain("names")]
"""A list of names that the author chooses, as the inputs of a scheduler."""
PacketLoad = Annotated[Load, Domain("load")]
"""Bits per second in a layer of packets, or packets per second; exact."""
PacketSizes = Annotated[SizeMix, Domain("size mix")]
"""One size of packets or a mix, in a layer."""
TimeBySize = Annotated[int | Curve, Domain("curve", 1, 10**11)]
"""A time, in ps, for packets of any size, or a curve of times; above 0, up to 100 ms."""
Weights = Annotated[tuple[tuple[str, Fraction], ...], Domain("weights", Fraction(1, 10**6), 10**9)]
"""A number for each name that the author chooses, in order."""
Counts = Annotated[tuple[tuple[str, int], ...], Domain("counts", 1, 10**9)]
"""A whole number for each."""
Sizes = Annotated[tuple[tuple[str, int], ...], Domain("sizes", 1, 2**40, layers=OF_PACKETS)]
"""Whole bytes for each."""
Limit = Annotated[Buffer, Domain("buffer", 1, 2**40, layers=OF_PACKETS)]
UsedFor = Annotated[Lifetime | None, Domain("lifetime", 1)]
"""A number of packets, bytes or ps; None: no end."""
ByMark = Domain("limits by mark", 1, 2**40, layers=OF_PACKETS)
LimitsByMark = Annotated[tuple[tuple[str, Buffer], ...], ByMark]
"""A limit for each value of a mark, by name or number."""
RatiosByMark = Annotated[tuple[tuple[str, Fraction], ...], Domain("ratios by mark", 0, 1)]
"""A ratio for each."""


class UnfitError(ValueError):
    """A field does not fit others, or what is around it; `help` says what to write instead."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


@dataclass(frozen=True)
class Parameter:
    """One field of a kind. `default` is `REQUIRED` when the author must give it."""

    name: str
    domain: Domain
    default: object
    alias: str = ""


class _Required:
    def __repr__(self) -> str:
        return "required"

    def __reduce__(self) -> str:
        return "REQUIRED"  # there is one, in each process


REQUIRED = _Required()


@dataclass(frozen=True)
class Kind:
    """One thing that a specification can name.

    Attributes:
        name: As `.qos` spells it.
        role: What it is used as.
        duty: For an element, its part in the data plane: a queue and a scheduler are served by the
            line that they feed; a router chooses an output per connection; a classifier by
            predicate.
        summary: First line of the class's docstring.
        source: The standard and section that it implements.
        parameters: Its fields by name.
        build: The class: makes the object from arguments by field name, or raises ValueError with
            words for the author. Its other facts are those of its role's base class.
        open_fields: Whether the author may add fields of their own (a classifier's outputs).
        aliases: Other spellings of its name (`clr` for `cell_loss_ratio`).
        renamed: Its fields' former names, each with today's, so that `qos check --fix` can correct
            older files.
        from_contract: For an arrival process: its fields that are those of the traffic that it is
            the source of, by their names there, if the author gives none.
        carries: What an element is for: cells, packets or both; a metric, also for frames of cells.
        described_in: Other classes than `build` that declare some of its fields.
    """

    name: str
    role: Role
    duty: Duty
    summary: str
    source: str
    parameters: Mapping[str, Parameter]
    build: type[Any]
    open_fields: bool = False
    aliases: tuple[str, ...] = ()
    renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    from_contract: Mapping[str, str] = dataclasses.field(default_factory=dict)
    carries: tuple[Counted, ...] = CARRIED
    described_in: tuple[type[Any], ...] = ()

    def __hash__(self) -> int:
        """Return that of its role and name: its tables have none."""
        return hash((self.role, self.name))

    @property
    def is_served(self) -> bool:
        """Return whether items wait in it for the line that it feeds."""
        return self.duty in ("queue", "scheduler")

    def list_statistics(self, carries: str) -> tuple[str, ...]:
        """Return the statistics that a metric offers of cells, of packets, or of frames of cells.

        Frames are wholes, as packets are.
        """
        of_cells: tuple[str, ...] = self.build.statistics
        of_packets: tuple[str, ...] | None = self.build.packet_statistics
        return of_packets if carries != "cell" and of_packets is not None else of_cells

    def find_parameter(self, name: str) -> Parameter | None:
        """Return the parameter that `name` or its usual abbreviation stands for."""
        if name in self.parameters:
            return self.parameters[name]
        return next((p for p in self.parameters.values() if p.alias == name), None)


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The kinds of packages; equal only to itself, so that what is made of it can be kept."""

    packages: tuple[str, ...]

    @cached_property
    def kinds(self) -> Mapping[tuple[Role, str], Kind]:
        """Return all kinds, by role and name."""
        roles: tuple[Role, ...] = get_args(Role)
        return {(r, name): kind for r in roles for name, kind in self.select_role(r).items()}

    @cached_property
    def causes(self) -> frozenset[str]:
        """Return the causes for which elements and endpoints lose items, and names of several."""
        builds = (kind.build for role in LOSING for kind in self.select_role(role).values())
        causes = [cause for build in builds for cause in build.causes]
        return frozenset(causes) | frozenset(map(name_cause, causes))

    @cache  # noqa: B019 -- there is one catalogue, or a few in tests
    def select_role(self, role: Role) -> Mapping[str, Kind]:
        """Return the kinds of one role by name."""
        kinds: dict[str, Kind] = {}
        for kind in self._read(role):
            if kinds.setdefault(kind.name, kind) is not kind:
                raise ValueError(f"two declarations of {role} `{kind.name}`")
        return kinds

    @cache  # noqa: B019
    def find(self, role: Role, name: str) -> Kind | None:
        """Return the kind of that name or alias, if there is one."""
        its = self._read(role, None if role in NAMED_FREELY else name)
        return next((kind for kind in its if name in (kind.name, *kind.aliases)), None)

    def _read(self, role: Role, file: str | None = None) -> Iterator[Kind]:
        """Yield the kinds of one role: of all files, or of those of that name."""
        for package in self.packages:
            files = _list_files(package) if role in PACKAGES.get(package, (role,)) else set()
            for name in files if file is None else {file} & files:
                yield from (kind for kind in _read_kinds(package, name) if kind.role == role)


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """What a class declares about itself."""

    role: Role
    source: str
    duty: Duty = "element"
    name: str = ""
    aliases: tuple[str, ...] = ()
    abbreviations: Mapping[str, str] = dataclasses.field(default_factory=dict)
    renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    open_fields: bool = False
    from_contract: Mapping[str, str] = dataclasses.field(default_factory=dict)
    carries: tuple[Counted, ...] = CARRIED


def _make_marker(role: Role) -> Callable[..., Callable[[type], type]]:
    def decorate(**facts: Any) -> Callable[[type], type]:
        declared = _Mark(role=role, **facts)

        def attach(cls: type) -> type:
            cls.__qospec__ = declared  # type: ignore[attr-defined]
            return cls

        return attach

    return decorate


element = _make_marker("element")
machine = _make_marker("machine")
traffic = _make_marker("traffic")
arrivals = _make_marker("arrivals")
dropping = _make_marker("dropping")
congestion = _make_marker("congestion")
metric = _make_marker("metric")
method = _make_marker("method")
export = _make_marker("export")
backend = _make_marker("backend")


@cache
def discover(packages: tuple[str, ...] = tuple(PACKAGES)) -> Catalogue:
    """Return the catalogue of what the packages declare, the same each time."""
    return Catalogue(packages)


@cache
def _list_files(package: str) -> Set[str]:
    """Return the names of a package's files, in order."""
    modules = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return dict.fromkeys(module.name for module in modules).keys()


@cache
def _read_kinds(package: str, name: str) -> tuple[Kind, ...]:
    """Import a module of a package and return the kinds that it declares."""
    module = importlib.import_module(f"{package}.{name}")
    return tuple(
        read_declaration(value)
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and "__qospec__" in vars(value)
    )


def read_declaration(cls: type) -> Kind:
    """Return the kind that a marked class declares."""
    return _read_declaration(cls)


@cache
def _read_declaration(cls: type) -> Kind:
    mark: _Mark = vars(cls)["__qospec__"]
    return Kind(
        name=mark.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower(),
        role=mark.role,
        duty=mark.duty,
        summary=read_documentation(cls).partition("\n")[0],
        source=mark.source,
        parameters={p.name: p for p in _list_parameters(cls, mark)},
        build=cls,
        open_fields=mark.open_fields,
        aliases=mark.aliases,
        renamed=mark.renamed,
        from_contract=mark.from_contract,
        carries=mark.carries,
    )


def read_documentation(cls: type) -> str:
    """Return a class's docstring; if Python strips docstrings, read from its source."""
    if sys.flags.optimize < STRIPPED:
        return inspect.cleandoc(cls.__doc__ or "")
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # its text was not shipped
        return ""
    return (ast.get_docstring(tree) if isinstance(tree, ast.ClassDef) else None) or ""


def _list_parameters(cls: type, mark: _Mark) -> Iterator[Parameter]:
    if not dataclasses.is_dataclass(cls):
        return
    hints = get_type_hints(cls, include_extras=True)
    # In the order of `__init__`: what is given by name only comes last, wherever it is declared.
    for field in sorted(dataclasses.fields(cls), key=lambda declared: bool(declared.kw_only)):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:
            continue  # a field that the planner sets, not the author
        default = REQUIRED if field.default is dataclasses.MISSING else field.default
        domain = next(extra for extra in get_args(hint)[1:] if isinstance(extra, Domain))
        yield Parameter(field.name, domain, default, mark.abbreviations.get(field.name, ""))
