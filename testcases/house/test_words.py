"""A function is named by what it does, and a loop variable by what it goes through."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "interpreter" / "qospec"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if not path.parent.is_symlink())


def list_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = list_words(
    """
    accept accumulate acknowledge acquire adapt add admit advance align allocate allow annotate
    announce answer append apply arbitrate arrange arrive ask assemble assign assume attach
    await
    begin bind blame break bring build bypass call cancel capture carry catch center change
    check choose claim classify clear close collect combine come compare compile complain complete
    compose compute conclude confine connect consume convert copy correct cost count cover
    create cross cut
    decide declare decode decorate decrease decrypt defer delay deliver dequeue derive describe
    diagnose digest discard discover dismiss dispatch divide do double draw drive drop dump embed
    emit encapsulate encode encrypt end enlarge enqueue ensure enter enumerate escape
    estimate evaluate examine execute expand expect expire explain explore extend extract feed fill
    find finish fit flatten flush fold follow forget format forward fuse gather generate get give
    go group grow guess halt hand handle hash hear hide hold identify ignore import indent inherit
    inline insert intersect invert iterate join judge keep know lay leave let list load locate look
    lose lower make map mask match measure meet mend merge mix move multiply name narrow negate
    negotiate normalise notify observe occupy open operate outline pack pair parse partition pass
    peek plan point police pool pop postpone predict prepend print probe process protect prove
    provide prune publish push put quote raise read reassemble rebase rebuild receive recheck
    recover recur redact redirect reduce refer refine refuse release remember remove rename render
    renew renumber reopen repair repeat replace replenish report represent require rescale resend
    reserve resize resolve restart restore resume retire reveal rewind rewrite run save say
    schedule seal see select send separate serve set settle shape shorten show shrink sift sign
    simplify sink size skew skip slice smooth sort spare spell spend split start stop strip style
    submit substitute suggest sum survey tabulate take tamper tell thin tidy tokenize trace
    transcribe translate transmit trim truncate try turn unpack unprotect unroll unwind update use
    vacate verify view wake walk want warm warn watch weigh widen withdraw work wrap write xor zip
    """
)
"""What a function does, in the imperative."""

NOUNS = list_words(
    """
    bound frame guarantee label limit link mark note number order place rank rate record round
    route sample scale score search seed share signal square step tally test value
    """
)
"""Verbs that are first of all nouns: one of them needs its object, as in `number_states`."""

PREDICATES = list_words(
    """
    accepts begins blames breaks can carries closes comes compares concerns conforms contains costs
    covers crosses depends differs draws drops ends equals falls fits follows goes has holds is
    knows looks may meets misses must needs offers opens polices reaches reads remembers reorders
    resizes selects stands starts suffices takes touches uses waits
    """
)
"""What a function asks, in the third person."""

CONVERSIONS = {"as", "from", "on", "to", "with", "without"}
"""Words that name a function with a noun behind them: `to_bytes`, `with_suffix`, `on_start`."""

GIVEN = {
    *("_asdict", "_index_key", "dataclass", "fileno", "getattr", "isatty", "kernel", "main", "qos"),
    *(
        "pytest_addoption",
        "pytest_collect_file",
        "reportinfo",
        "repr_failure",
        "runtest",
        "writable",
    ),
}
"""Decorators, and names that others look for: the standard library, click, pytest, a script."""


@functools.cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def list_functions(path: Path) -> Iterator[str]:
    """Yield the names of functions and methods; no properties, commands and special methods."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef) and not re.fullmatch("__.*__", node.name):
            decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
            if not re.search(r"property|\.(command|group)\(", decorators):
                yield node.name


def is_verb_phrase(name: str) -> bool:
    first, *others = name.strip("_").split("_")
    if others == ["of"]:
        return False
    return (
        first in VERBS | PREDICATES
        or (bool(others) and first in NOUNS | CONVERSIONS)
        or name in GIVEN
    )


def test_functions_are_named_by_verbs() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in MODULES
        for name in list_functions(path)
        if not is_verb_phrase(name)
    ]
    assert found == [], "name what they do, or add a verb with a reason"


def test_no_verb_is_listed_that_no_function_has() -> None:
    names = (name for path in MODULES for name in list_functions(path))
    firsts = {name.strip("_").partition("_")[0] for name in names}
    assert (VERBS | NOUNS | PREDICATES) - firsts == set()


def test_each_is_no_name() -> None:
    """An item has a noun: also one of several variables, an argument, and what is assigned.

    In tests, too. But `each` is a field of the element `delays`, which authors write.
    """
    tests = sorted(Path(__file__).parents[1].rglob("*.py"))
    found = [
        f"{path.name}:{node.lineno}"
        for path in (*MODULES, *tests)
        for node in ast.walk(parse(path))
        if (isinstance(node, ast.Name) and node.id == "each" and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == "each")
    ]
    names = {place.partition(":")[0] for place in found}
    assert names == {"delays.py", "test_delays.py"}, f"name the items: {found}"


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("parse", True),
        ("_read_histogram", True),
        ("is_empty", True),
        ("with_suffix", True),
        ("number_states", True),
        ("number", False),
        ("made", False),
        ("_of", False),
        ("beside", False),
        ("_room", False),
        ("state_of", False),
        ("with", False),
    ],
)
def test_a_verb_phrase_is_told_from_other_names(name: str, right: bool) -> None:  # noqa: FBT001
    assert is_verb_phrase(name) is right
