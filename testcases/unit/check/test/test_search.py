"""A search method is one file, with fields of its own: nothing else names them."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from searches import carried_out, forwards

from qospec.catalogue.kinds import PACKAGES, Catalogue, discover
from qospec.check.test.search import build_search_kind
from qospec.reference.kinds import describe_field

PROBING = '''
from fractions import Fraction
from typing import Annotated

from qospec.catalogue.kinds import Domain, method
from qospec.dataclass import dataclass
from qospec.search.method import Method


@method(source="none: an example")
@dataclass(frozen=True)
class Probing(Method):
    """Try the lowest load, then as many shares of the highest."""

    probes: Annotated[int, Domain("integer", 1, 9)]
    """How many shares."""
    share: Annotated[Fraction, Domain("ratio", 0, 1)] = Fraction(1, 2)
    """The first of them."""

    def __post_init__(self):
        if self.probes * self.share > 1:
            raise ValueError("probes: these are more than the whole load")

    def count_most_loads(self, search, scale):
        return 1 + self.probes

    def choose_next_load(self, progress, goal):
        scale = progress.scales[goal]
        shares = [scale.high * self.share * each for each in range(1, self.probes + 1)]
        return next((x for x in (scale.low, *shares) if progress.find_load(goal, x) is None), None)
'''


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """Return the catalogue with a method of somebody else."""
    folder = tmp_path_factory.mktemp("methods")
    package = folder / "methods_of_somebody_else"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "probing.py").write_text(PROBING, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield discover((*PACKAGES, package.name))


def probing(fields: str) -> str:
    return f"""
search rate in 100 cell/s .. 1_000 cell/s {{
  goal ndr {{ loss = 0 }}
  method = probing
  {fields}
}}
flow user = load(rate = rate) from a to b
"""


def test_a_method_has_fields_of_its_own(small) -> None:
    (search,) = small(probing("probes = 2")).tests[0].cases[0].phases
    assert (search.chooser.probes, search.chooser.share) == (2, Fraction(1, 2))
    (search,) = small(probing("probes = 3, share = 30%")).tests[0].cases[0].phases
    assert carried_out(search, forwards(700)).loads == [100, 300, 600, 900]


def test_bounds_that_a_method_leaves_far_apart_are_not_regular(small) -> None:
    (search,) = small(probing("probes = 3, share = 30%")).tests[0].cases[0].phases
    found = carried_out(search, forwards(700)).found["ndr"]
    assert (found.lower, found.upper) == (600, 900)
    assert (found.ended, found.near, found.regular) == (True, False, False)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "`probing` needs `probes`"),
        ("probes = 3", "probes: these are more than the whole load"),
        ("probes = 10", "`probes` must be at most 9, found 10"),
        ("probes = 2, confirm = 2", "the method `probing` has no `confirm`"),
    ],
)
def test_a_mistake_in_the_fields_of_a_method_is_told(checked, fields, message) -> None:
    bench = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic load(rate: CellRate) = ubr { pcr = rate }
"""
    _, mistakes = checked(f"{bench}test t on bench {{ {probing(fields)} }}")
    assert [mistake.message for mistake in mistakes] == [message]


def test_the_field_of_a_method_is_described_by_its_class(catalogue: Catalogue) -> None:
    kind = build_search_kind(catalogue)
    described = {
        name: describe_field(kind.parameters[name], kind)["description"]
        for name in ("probes", "confirm", "loss", "trial")
        if name in kind.parameters
    }
    assert described["probes"] == "How many shares."
    assert described["trial"].startswith("How long a trial lasts")
    assert described["confirm"].startswith("How many loads in succession")
