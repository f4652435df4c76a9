"""Every kind keeps the contract of its role: a base class whose facts have types and defaults."""

import ast
import dataclasses
import inspect

import pytest

from qospec.backend import Backend
from qospec.catalogue.kinds import Kind, discover
from qospec.engine.element import Element
from qospec.engine.endpoint.congestion import CongestionControl
from qospec.engine.endpoint.traffic import ExchangeTraffic
from qospec.engine.measure.metric import Metric
from qospec.engine.queue.drop_policy import DropPolicy
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.traffic import CellTraffic, PacketTraffic, Traffic
from qospec.exporter import Exporter
from qospec.search.method import Method

BASES = {
    "element": (Element,),
    "machine": (Element,),
    "arrivals": (Arrivals,),
    "traffic": (Traffic, CellTraffic, PacketTraffic, ExchangeTraffic),
    "dropping": (DropPolicy,),
    "congestion": (CongestionControl,),
    "metric": (Metric,),
    "method": (Method,),
    "export": (Exporter,),
    "backend": (Backend,),
}
KINDS = sorted(discover().kinds.values(), key=lambda kind: (kind.role, kind.name))
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.role}-{kind.name}")


@every_kind
def test_a_kind_derives_from_the_base_class_of_its_role(kind: Kind) -> None:
    assert issubclass(kind.build, BASES[kind.role])


@every_kind
def test_a_kind_is_found_by_each_of_its_names(kind: Kind) -> None:
    """By that of its file, since only that is imported; of some roles, by any."""
    names = (kind.name, *kind.aliases)
    assert [discover().find(kind.role, name) for name in names] == [kind] * len(names)


@every_kind
def test_no_field_has_the_name_of_a_fact(kind: Kind) -> None:
    """The default of the fact would become that of the field."""
    fields = dataclasses.fields(kind.build) if dataclasses.is_dataclass(kind.build) else ()
    facts = {name for base in BASES[kind.role] for name in vars(base)}
    assert facts.isdisjoint(field.name for field in fields)


@pytest.mark.parametrize(
    "kind", discover().select_role("element").values(), ids=lambda kind: kind.name
)
def test_an_element_can_be_in_a_loop(kind: Kind) -> None:
    """Each has a transition; of another's elements a plan refuses those that have none, E0590."""
    assert kind.build.build_transition is not None


def test_traffic_is_declared_of_what_its_base_class_is_for() -> None:
    for kind in discover().select_role("traffic").values():
        cells = issubclass(kind.build, CellTraffic)
        assert kind.carries == (("cell",) if cells else ("packet",))


@pytest.mark.parametrize("base", [base for bases in BASES.values() for base in bases])
def test_each_fact_is_explained(base: type) -> None:
    (tree,) = ast.parse(inspect.getsource(base)).body
    assert isinstance(tree, ast.ClassDef)
    below = zip(tree.body, tree.body[1:], strict=False)
    explained = [
        fact
        for fact, words in below
        if isinstance(fact, ast.AnnAssign)
        and isinstance(words, ast.Expr)
        and isinstance(words.value, ast.Constant)
    ]
    assert explained == [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    methods = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert all(ast.get_docstring(method) for method in methods)
