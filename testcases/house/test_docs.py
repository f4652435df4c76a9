"""What can be named is documented: kinds, diagnostic codes, and the test of each."""

import importlib
import re
from pathlib import Path

import pytest

from qospec.catalogue import PACKAGES, Kind, discover

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "interpreter" / "qospec"
ERRORS = ROOT / "spec" / "errors.md"

CODE = re.compile(r"\b[EW]\d{4}\b")
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
    assert {kind.role for kind in KINDS} == {"element", "traffic", "arrivals", "metric"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.role}-{kind.name}")
def test_a_kind_has_a_summary_and_a_source(kind: Kind) -> None:
    assert kind.summary.endswith("."), "the first line of its docstring is a sentence"
    assert kind.source.strip()


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
