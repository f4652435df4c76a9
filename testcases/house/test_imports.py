"""Imports go one way, and no command loads more than it needs."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from qospec.engine.graph.components import find_components, is_cyclic

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "interpreter" / "qospec"
MODULES = sorted(PACKAGE.rglob("*.py"))

NUMPY_DOOR = PACKAGE / "engine" / "arrays.py"
CIPHERS = PACKAGE / "ciphers"
"""May import NumPy as well: nothing that checks imports them, which is a contract."""

OUTPUT = {"jinja2", "rich"}
ENGINE = {"cryptography", "hypothesis", "llvmlite", "numba", "numpy"}
LANGUAGE = {"lark", "yaml"}

DRIVER = """
import json, pathlib, sys
from qospec.cli import main

target = pathlib.Path(sys.argv.pop(1))
try:
    main()
finally:
    target.write_text(json.dumps(sorted(sys.modules)))
"""


@cache
def imported(path: Path, *, types: bool = False) -> tuple[str, ...]:
    """Return `module` or `module:member` for each import of a file; for types only if `types`."""
    return tuple(find_imports(path, types=types))


def find_imports(path: Path, *, types: bool) -> Iterator[str]:
    """Yield them anew, from the text of the file."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}:{n.name}" for n in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not types:
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def importers(package: str) -> list[Path]:
    def within(name: str) -> bool:
        return name.partition(":")[0].split(".")[0] == package

    return [path for path in MODULES if any(within(name) for name in imported(path))]


def loaded_by(arguments: list[str], tmp_path: Path, **environment: str) -> set[str]:
    """Return the names in `sys.modules` when a fresh `qos` with these arguments ends."""
    target = tmp_path / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(target), *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads(target.read_text()))


def test_nothing_imports_from_the_root() -> None:
    root = [p for p in MODULES if any(n.startswith(("qospec:", ".")) for n in imported(p))]
    assert not root, f"write `from qospec.x import y`, never `from qospec import x`: {root}"


def test_an_import_for_types_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("if TYPE_CHECKING:\n    import a\nelse:\n    import b\ndef f(): import c.d\n")
    assert sorted(imported(path)) == ["b", "c.d"]


def test_imports_form_no_circle_even_for_types_outside_the_evaluator() -> None:
    """Expressions are evaluated by functions that evaluate expressions: that circle is one idea."""
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): (number)
        for number, path in enumerate(MODULES)
    }
    onward = [
        {
            names[module]
            for name in imported(path, types=True)
            for member, package in [(name.replace(":", "."), name.partition(":")[0])]
            for module in [member if member in names else package]
            if module in names
        }
        for path in MODULES
    ]
    circles = [component for component in find_components(onward) if is_cyclic(component, onward)]
    rooms = [{MODULES[number].parent for number in circle} for circle in circles]
    assert rooms == [{PACKAGE / "check" / "evaluate"}]


def test_the_root_imports_nothing_but_its_version() -> None:
    assert set(imported(PACKAGE / "__init__.py")) <= {"qospec.version:VERSION"}
    assert list(imported(PACKAGE / "version.py")) == []


read_installed = cache(metadata.packages_distributions)
"""Reads which packages bring which modules, from the files of each."""


def undeclared(folder: Path, *extras: str) -> dict[str, set[str]]:
    """Return what a folder's files import that no requirement of qospec or its extras names.

    Scripts, which belong to no package, may import those beside them and at the top of the folder.
    """
    requirements = [Requirement(text) for text in metadata.requires("qospec") or ()]
    wanted = {"extra": ""}, *({"extra": extra} for extra in extras)
    declared = {
        canonicalize_name(requirement.name)
        for requirement in requirements
        if any(requirement.marker is None or requirement.marker.evaluate(e) for e in wanted)
    }
    installed = read_installed()
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        modules = {name.partition(":")[0].split(".")[0] for name in imported(path)}
        if not (path.parent / "__init__.py").exists():
            modules -= {entry.stem for at in (path.parent, folder) for entry in at.iterdir()}
        for module in modules - {"qospec", folder.name} - sys.stdlib_module_names:
            if not declared & {canonicalize_name(name) for name in installed.get(module, [module])}:
                found.setdefault(module, set()).add(path.name)
    return found


def test_what_the_package_imports_is_required() -> None:
    missing = undeclared(PACKAGE)
    fuzzing = {path.name for path in importers("hypothesis")}
    serving = {"server.py"}
    spreading = {path.name for path in importers("distributed")}
    assert missing == {
        "distributed": spreading,
        "duckdb": {"sql.py"},
        "hypothesis": fuzzing,
        "lsprotocol": serving,
        "pygls": serving,
        "pytest": {"pytest_plugin.py"},
    }
    assert undeclared(PACKAGE, "cluster", "fuzz", "lsp", "pytest", "sql") == {}


def test_only_fuzzing_imports_hypothesis_which_is_an_extra() -> None:
    assert {path.parent for path in importers("hypothesis")} == {PACKAGE / "fuzz"}


def test_what_the_tests_import_is_in_the_extras() -> None:
    assert undeclared(ROOT / "testcases", "dev", "browser") == {}


@pytest.mark.parametrize("module", ["element", "experiment"])
def test_the_contracts_of_the_engine_import_its_rooms_for_types_only(module: str) -> None:
    """The contract of the engine's rooms exempts both, as it cannot tell types apart."""
    path = PACKAGE / "engine" / f"{module}.py"
    assert any(name.startswith("qospec.engine.") for name in imported(path, types=True))
    assert [name for name in imported(path) if name.startswith("qospec.engine")] == []


def test_only_the_array_door_and_ciphers_import_numpy() -> None:
    """Any other import would bring NumPy into `qos check`, which needs no arrays."""
    assert {path for path in importers("numpy") if path.parent != CIPHERS} <= {NUMPY_DOOR}


def test_named_tuples_are_ours_which_cost_less_at_each_start() -> None:
    standard = [path for path in MODULES if "typing:NamedTuple" in imported(path)]
    assert standard == []


def root_of(node: ast.expr) -> str:
    """Return the name before the first dot; "" if there is no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def names_set_elsewhere(path: Path) -> Iterator[str]:
    """Yield each private name of another package that a file reads, and each name that it sets."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    others = {
        name.asname or name.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and "qospec" not in (getattr(node, "module", None) or node.names[0].name)
        for name in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            sets = isinstance(node.ctx, ast.Store | ast.Del)
            if (sets or re.match("_[a-z]", node.attr)) and root_of(node) in others:
                yield ast.unparse(node)


def test_only_one_module_takes_private_names_of_packages_and_sets_names_in_them() -> None:
    found = {name: path.name for path in MODULES for name in names_set_elsewhere(path)}
    documented = {
        "numba.config.CACHE_DIR": "kernel.py",
        "os._exit": "processes.py",
        "sys.stderr": "streams.py",
        "sys.stdout": "streams.py",
    }
    assert found == documented, "see qospec/internals.py"


@pytest.mark.slow
def test_the_version_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = loaded_by(["--version"], tmp_path)
    ours = {name for name in loaded if name.startswith("qospec.")}
    own = {"cache", "cli", "version", "visible", "writing"}
    assert {name.split(".")[1] for name in ours} == own, "a command is imported when it runs"
    assert "click" not in loaded
    assert loaded.isdisjoint(OUTPUT | ENGINE | LANGUAGE | {"fractions", "hashlib"})


@pytest.mark.slow
def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    assert loaded_by(["--help"], tmp_path).isdisjoint(OUTPUT | ENGINE | LANGUAGE)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["qos ", "qos run --report ", "qos check --", "qos report la"])
def test_a_completion_loads_nothing_heavy(tmp_path: Path, words: str) -> None:
    shell = {
        "_QOS_COMPLETE": "zsh_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    heavy = OUTPUT | ENGINE | LANGUAGE | {"qospec.check", "qospec.run"}
    assert loaded_by([], tmp_path, **shell).isdisjoint(heavy)


TWO_HOSTS = """\
qos 1
import std.media

device wire {
  port one, other: cell
  one.rx -> other.tx
  other.rx -> one.tx
}

topology two_hosts {
  a, b = host
  between = wire
  link a -- between.one via media.stm1
  link between.other -- b via media.stm1
}

test carried on two_hosts {
  flow user = ubr { pcr = 1_000 cell/s } from a to b
  run { measure = 1 s }
  expect user.received > 0
}
"""


@pytest.mark.slow
def test_check_loads_neither_engine_nor_report(tmp_path: Path) -> None:
    loaded = loaded_by(["check", "testcases/suites/eantc"], tmp_path)
    assert {"qospec.elements.gcra", "qospec.metrics"} <= loaded, "this checked nothing"
    assert loaded.isdisjoint(OUTPUT | ENGINE | {"qospec.run", "qospec.report"})


@pytest.mark.slow
def test_check_imports_no_kind_that_a_file_does_not_name(tmp_path: Path) -> None:
    file = tmp_path / "two_hosts.qos"
    file.write_text(TWO_HOSTS)
    loaded = loaded_by(["check", str(file)], tmp_path)
    kinds = {n for n in loaded if re.match(r"qospec\.(elements|traffic|dropping)\.", n)}
    made_of = "qospec.traffic.constant"
    assert kinds == {"qospec.elements.line", "qospec.traffic.ubr", made_of}


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "is_loaded"), [("10 ms", False), ("10 s", True)])
def test_a_run_of_few_items_does_not_load_the_compiler(
    tmp_path: Path, measure: str, *, is_loaded: bool
) -> None:
    file = tmp_path / "two_hosts.qos"
    file.write_text(TWO_HOSTS.replace("1 s", measure))
    loaded = loaded_by(["run", str(file), "--record", str(tmp_path / "records")], tmp_path)
    assert "qospec.engine.kernel" in loaded
    assert ("numba" in loaded) is is_loaded


@pytest.mark.slow
def test_fmt_loads_neither_engine_nor_report_nor_yaml(tmp_path: Path) -> None:
    loaded = loaded_by(["fmt", "--check", "stdlib"], tmp_path)
    assert "qospec.formatting.printer" in loaded
    assert loaded.isdisjoint(OUTPUT | ENGINE | {"yaml"})


@pytest.mark.slow
def test_the_import_contracts_are_kept() -> None:
    """The contracts stand in setup.cfg."""
    command = shutil.which("lint-imports", path=Path(sys.executable).parent)
    assert command, "import-linter is not installed"
    done = subprocess.run(
        [command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
