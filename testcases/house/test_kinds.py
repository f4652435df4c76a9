"""Every kind keeps the contract of its role: a base class whose facts have types and defaults."""

import ast
import dataclasses
import inspect
import sys

import pytest

from qospec.catalogue.kinds import Kind, discover
from qospec.engine.element import Element
from qospec.engine.measure.metric import Metric
from qospec.engine.queue.drop_policy import DropPolicy
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.traffic import CellTraffic, PacketTraffic

BASES = {
    "element": (Element,),
    "arrivals": (Arrivals,),
    "traffic": (CellTraffic, PacketTraffic),
    "dropping": (DropPolicy,),
    "metric": (Metric,),
}
KINDS = sorted(discover().kinds.values(), key=lambda kind: (kind.role, kind.name))
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.role}-{kind.name}")


@every_kind
def test_a_kind_derives_from_the_base_class_of_its_role(kind: Kind) -> None:
    assert issubclass(kind.build, BASES[kind.role])


@every_kind
def test_no_field_has_the_name_of_a_fact(kind: Kind) -> None:
    """The default of the fact would become that of the field."""
    fields = dataclasses.fields(kind.build) if dataclasses.is_dataclass(kind.build) else ()
    facts = {name for base in BASES[kind.role] for name in vars(base)}
    assert facts.isdisjoint(field.name for field in fields)


def test_traffic_is_declared_of_what_its_base_class_is_for() -> None:
    for kind in discover().of("traffic").values():
        packets = issubclass(kind.build, PacketTraffic)
        assert kind.carries == (("packet",) if packets else ("cell",))


@pytest.mark.parametrize("base", [each for bases in BASES.values() for each in bases])
def test_each_fact_is_explained(base: type) -> None:
    (tree,) = ast.parse(inspect.getsource(base)).body
    assert isinstance(tree, ast.ClassDef)
    unexplained = [
        ast.unparse(fact)
        for fact, below in zip(tree.body, [*tree.body[1:], None], strict=True)
        if isinstance(fact, ast.AnnAssign)
        and not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant))
    ]
    assert not unexplained
    if sys.flags.optimize < 2:
        assert all(value.__doc__ for name, value in vars(base).items() if name[0] != "_")
