"""What can be named is documented and tested: kinds and diagnostic codes."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import counts
import pytest
from connected import connected
from tcp_path import BULK, RTT, observe, rounds

from qospec.catalogue.kinds import CARRIED, PACKAGES, Buffer, Catalogue, Kind, Role, discover
from qospec.check.device.observables import list_loss_causes
from qospec.cli import qos
from qospec.diagnostics import Problems
from qospec.engine.arrays import np
from qospec.engine.element import Element, Setting
from qospec.engine.endpoint.congestion import CongestionControl
from qospec.engine.endpoint.traffic import ExchangeTraffic
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.items.batch import FOREVER_PS, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.engine.measure.metric import Metric
from qospec.engine.measure.tally import Delays, Tally
from qospec.engine.queue.drop_policy import DropPolicy
from qospec.engine.random import Draws
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.traffic import CellTraffic, PacketTraffic, Traffic
from qospec.exporter import Exporter
from qospec.model.suite import Goal, Search
from qospec.reference.kinds import describe_kind
from qospec.report.render import render
from qospec.search.method import Method, begin, choose_next_trial
from qospec.search.trial import Request, Trial
from qospec.source import Source, Span

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "interpreter" / "qospec"
ERRORS = ROOT / "spec" / "errors.md"
EXTENDING = ROOT / "docs" / "extending.md"

CODE = re.compile(r"\b[EW]\d{4}\b")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^#{2,4} `?([EW]\d{4})\b", re.MULTILINE)

KINDS = sorted(discover().kinds.values(), key=lambda kind: (kind.role, kind.name))


def kind_modules() -> list[tuple[str, str]]:
    """Return the (package, module) of every file that may declare kinds."""
    return [
        (package.rpartition(".")[2], path.stem)
        for package in PACKAGES
        for folder in importlib.import_module(package).__path__
        for path in sorted(Path(folder).glob("*.py"))
        if path.stem != "__init__"
    ]


def codes_used() -> set[str]:
    return {
        code
        for path in PACKAGE.rglob("*.py")
        for code in CODE.findall(path.read_text(encoding="utf-8"))
    }


def codes_explained() -> list[str]:
    return SECTION.findall(ERRORS.read_text(encoding="utf-8"))


def test_the_catalogue_is_not_empty() -> None:
    assert {kind.role for kind in KINDS} == set(get_args(Role))


def assert_documented(kind: Kind) -> None:
    """A kind has a summary and a source; what is for cells and packets does not mention cells only.

    What an element loses items for stands in the specification.
    """
    assert kind.summary.endswith("."), "the first line of its docstring is a sentence"
    assert kind.source.strip()
    if kind.role in ("element", "metric") and kind.carries == CARRIED:
        described = describe_kind(kind)
        words = " ".join([described["summary"], described["description"], described["source"]])
        counted = described.get("dimension", "")
        for text in (words, counted):
            assert "cell" not in text or "packet" in text, "it is for packets, too"
    if kind.role == "element":
        assert {*list_loss_causes(kind, "lost")} <= causes_of_loss(), "chapter 4 lists all causes"


def test_causes_of_loss_are_found_in_the_specification() -> None:
    assert {"overflow", "policed"} <= causes_of_loss()


def causes_of_loss() -> set[str]:
    """Return the causes that the specification lists."""
    devices = (ROOT / "spec" / "4-devices.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^- `element\.lost`:(.*?)^- ", devices, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`(\w+)`", listed))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.role}-{kind.name}")
def test_a_kind_is_documented(kind: Kind) -> None:
    assert_documented(kind)


@pytest.mark.parametrize(("package", "module"), kind_modules())
def test_a_kind_has_its_unit_test(package: str, module: str) -> None:
    assert (ROOT / "testcases" / "unit" / package / f"test_{module}.py").is_file()


def test_a_code_that_is_used_has_its_section() -> None:
    missing = codes_used() - set(codes_explained())
    assert codes_used()
    assert not missing, f"spec/errors.md does not explain {sorted(missing)}"


def test_a_section_is_of_a_code_that_is_used() -> None:
    unused = set(codes_explained()) - codes_used()
    assert not unused, f"spec/errors.md explains what is never said: {sorted(unused)}"


def test_no_code_has_two_sections() -> None:
    codes = codes_explained()
    assert len(codes) == len(set(codes))


def blocks(language: str) -> list[str]:
    text = EXTENDING.read_text(encoding="utf-8")
    return [block for of, block in BLOCK.findall(text) if of == language]


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """Make a package of the Python in docs/extending.md and discover it as if it were ours."""
    folder = tmp_path_factory.mktemp("extending")
    package = folder / "extensions_of_the_docs"
    package.mkdir()
    (package / "__init__.py").touch()
    for number, block in enumerate(blocks("python")):
        (package / f"example_{number}.py").write_text(block, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield discover((package.name,))


def test_the_documented_kinds_are_found(examples: Catalogue) -> None:
    assert {(role, name) for role, name in examples.kinds} == {
        ("element", "longest_first"),
        ("element", "periodic_loss"),
        ("arrivals", "once"),
        ("traffic", "trickle"),
        ("dropping", "half"),
        ("congestion", "fixed_window"),
        ("metric", "smoothness"),
        ("method", "upwards"),
        ("export", "names"),
        ("backend", "nowhere"),
    }
    for kind in examples.kinds.values():
        assert_documented(kind)


@pytest.mark.parametrize("driver", [build_process, lambda *given: EventProcess(*given).process])
def test_the_documented_element_does_what_it_says(
    examples: Catalogue, driver: Callable[..., Any]
) -> None:
    element = examples.kinds["element", "periodic_loss"].build(every=3)
    connections = connected((Contract("cbr", Fraction(1), 0),))
    process = driver(element, Setting(*connections, Draws(("docs",))))
    kept = []
    for first in (0, 4):  # in two batches, so that the state is carried
        at_ps = np.arange(first, first + 4, dtype=np.int64)
        like = np.zeros(4, np.int32)
        cells = build_batch(
            at_ps=at_ps,
            sent_ps=at_ps,
            connection=like,
            size_bytes=like + 53,
            marks=like.astype(np.uint32),
        )
        step = process((cells,), first + 4)
        assert step.departures[0].count + sum(x.batch.count for x in step.losses) == 4
        kept += step.departures[0].at_ps.tolist()
    assert kept == [0, 1, 3, 4, 6, 7]


def test_the_documented_scheduler_serves_the_longest_queue(examples: Catalogue) -> None:
    """Two packets arrive at the first input, four at the second; at first one waits at each."""
    element = examples.kinds["element", "longest_first"].build(queues=("a", "b"))
    clock = Clock(Fraction(10**9), slotted=False)
    connections = connected((Contract("cbr", Fraction(1), 0),))
    state = element.start(Setting(*connections, Draws(("docs",)), clock))
    packets = []
    for count in (2, 4):
        same = np.zeros(count, np.int64)
        columns = {"size_bytes": (same + 1_500).astype(np.int32), "marks": same.astype(np.uint32)}
        sent_ps = np.arange(count) + 10 * len(packets)
        connection = same.astype(np.int32)
        packets.append(build_batch(at_ps=same, sent_ps=sent_ps, connection=connection, **columns))
    step = element.process(state, tuple(packets), FOREVER_PS)
    assert step.departures[0].sent_ps.tolist() == [0, 10, 11, 12, 1, 13]


def test_the_documented_arrivals_come_once(examples: Catalogue) -> None:
    once = examples.kinds["arrivals", "once"].build(size=2, after=5)
    state = once.start(3, "even", None)
    assert [once.emit(state, until)[0].tolist() for until in (5, 6, 7)] == [[], [5] * 6, []]


def test_the_documented_traffic_has_a_source_that_conforms(examples: Catalogue) -> None:
    trickle = examples.kinds["traffic", "trickle"].build(connections=2)
    name, given = trickle.describe_conforming_source()
    source = discover().select_role("arrivals")[name].build(**given)
    assert source.compute_mean_rate(2) == 2 * trickle.build_contract().peak_cell_rate


def test_the_documented_drop_policy_lets_half_wait(examples: Catalogue) -> None:
    half = examples.kinds["dropping", "half"].build()
    queue = discover().select_role("element")["fifo"].build(Buffer(7, "packet"), half)
    assert queue.discards_for == ("overflow", "threshold")
    assert half.list_rules(queue.buffer)[0].room == 3


def test_the_documented_congestion_control_keeps_its_window(examples: Catalogue) -> None:
    fixed = examples.kinds["congestion", "fixed_window"].build()
    traffic = replace(BULK, algorithm=fixed, initial_window=1)
    _, there, _ = observe(traffic, 12 * RTT, there=[1 + 20])
    windows = rounds(there)
    assert windows[0] == 1
    assert windows[1:3] == [8, 8]
    assert windows[-3:] == [8, 8, 8]


@pytest.mark.usefixtures("examples")
def test_the_documented_property_holds() -> None:
    package = "extensions_of_the_docs"
    found = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith(package)
        for value in vars(module).values()
        if getattr(value, "hypothesis", None) is not None
    ]
    (holds,) = found
    holds()


@pytest.mark.parametrize(
    "base",
    [
        Element,
        Arrivals,
        Traffic,
        CellTraffic,
        PacketTraffic,
        ExchangeTraffic,
        DropPolicy,
        CongestionControl,
        Metric,
        Method,
        Exporter,
    ],
)
def test_each_fact_of_a_base_class_is_documented(base: type) -> None:
    text = EXTENDING.read_text(encoding="utf-8")
    facts = {*vars(base), *vars(base).get("__annotations__", {})}
    assert {
        name for name in facts if name[0] != "_" and not re.search(rf"`{name}\b", text)
    } == set()


def test_the_documented_metric_measures(examples: Catalogue) -> None:
    metric = examples.kinds["metric", "smoothness"].build()
    none = Tally(1, 0, 2, 2, 0, {}, 53, 10)
    some = replace(none, delays=Delays(count=2, sum_ps=8, min_ps=2, max_ps=6))
    assert metric.measure(none) is None
    assert metric.measure(some) == Fraction(1, 2)


def test_the_documented_search_method_goes_upwards(examples: Catalogue) -> None:
    goal = Goal("ndr", Fraction(0), 1, 1, Fraction(0), Fraction(30), (), absolute=True)
    upwards = examples.kinds["method", "upwards"].build()
    search = Search("load", Fraction(10), Fraction(100), None, "upwards", upwards, (goal,), None)
    progress, tried = begin(search), []
    while isinstance(request := choose_next_trial(progress), Request):
        tried.append(request.load)
        progress = progress.add_trial(Trial(request.load, 1, 1, sent=100, lost=request.load > 50))
    assert tried == [10, 40, 70]
    assert request["ndr"][:2] == (40, 70)


def test_the_documented_export_names_the_flows(examples: Catalogue) -> None:
    flow = SimpleNamespace(name="user")
    names = examples.kinds["export", "names"].build()
    assert names.describe(SimpleNamespace(flows=[flow, flow]), None, None) == {
        "flows": ["user", "user"]
    }


def test_the_documented_back_end_refuses_flows(examples: Catalogue) -> None:
    span = Span(Source("a.qos", "flow user"), 0, 9)
    flow, problems = SimpleNamespace(name="user", span=span), Problems()
    nowhere = examples.kinds["backend", "nowhere"].build()
    nowhere.verify(SimpleNamespace(flows=[flow]), span, problems)
    assert [problem.code for problem in problems.errors] == ["E0702"]
    assert nowhere.describe() == {"name": "nowhere"}


def test_the_documented_report_is_made(tmp_path: Path) -> None:
    (template,) = blocks("jinja")
    path = tmp_path / "short.j2"
    path.write_text(template, encoding="utf-8")
    document = {"schema": 1, "cases": [{"name": "a", "verdict": "pass"}]}
    assert render(document, {}, path) == "pass a\n"


def test_a_command_that_is_named_exists() -> None:
    texts = [*PACKAGE.rglob("*.py"), *(ROOT / "spec").glob("*.md"), ROOT / "README.md"]
    named = {
        command
        for path in texts
        for command in re.findall(r"(?:(?<!`)`|/)qos ([a-z]+)", path.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= set(qos.commands)


def test_each_command_is_listed_in_the_readme() -> None:
    listed = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Features")[0]
    shown = set(re.findall(r"qos ([a-z]+)\b", listed))
    lists = re.search(r"qos elements .*", listed)
    assert lists is not None
    shown |= set(re.findall(r"[a-z]+", lists[0]))
    assert set(qos.commands) <= shown


def test_each_loop_over_batches_by_hand_says_what_it_saves() -> None:
    """Those of elements, and of others that the engine puts beside them, such as `relabel`."""
    page = (EXTENDING.parent / "design" / "elements.md").read_text(encoding="utf-8")
    section = page.split("## A batch loop is derived, or says what it saves")[1].split("\n## ")[0]
    paths = counts.list_modules(ROOT, counts.PACKAGE)
    trees = (counts.parse(p) for p in paths if "def process(" in p.read_text(encoding="utf-8"))
    loops = {
        re.sub(r"(?<=.)([A-Z])", r"_\1", n.strip("_")).lower() for n in counts.list_loops(trees)
    }
    rows = re.findall(r"^\| `(\w+)` \| [\d.]+ \| [\d.]+ \|", section, re.MULTILINE)
    fused = {"fused_scheduler", "pass_through"}  # one figure, of what both do together
    assert {*rows, *fused} == loops
    assert all(f"`{name}`" in section for name in fused)
