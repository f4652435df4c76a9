"""The kernel compiler's cache: where it lies, and what happens when it cannot be written."""

import hashlib
import inspect
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qospec.engine import kernel

PROGRAM = """
import numpy as np
from qospec.engine import kernel

@kernel.kernel
def twice(x):
    return 2 * x

@kernel.kernel
def fourfold(x):
    return twice(twice(x))

kernel.notices.update({each: lambda each=each: print(each) for each in ("compiling", "uncached")})
"""


def run(folder: Path, more: str) -> list[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM + more, encoding="utf-8")
    caches = {"NUMBA_CACHE_DIR": str(folder / "cache"), "XDG_CACHE_HOME": str(folder / "other")}
    environment = {**os.environ, **caches}
    environment.pop("QOS_KERNELS", None)
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


SPARED = """
import sys

def show(steps):
    with kernel.spare_compiler(steps):
        print(fourfold(2), kernel.is_compiled(fourfold), "numba" in sys.modules)

show(kernel.FEW_STEPS)
print(kernel.is_compiled(fourfold))
show(1)
show(0)
"""


@pytest.mark.slow
def test_few_steps_run_as_python_until_there_were_more(tmp_path: Path) -> None:
    shown = run(tmp_path, SPARED)
    assert shown == ["8 False False", "True", "compiling", "8 True True", "8 True True"]


@pytest.mark.slow
def test_no_kernel_runs_as_python_where_all_are_to_be_compiled(
    filled: Path, tmp_path: Path
) -> None:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    program = f"import os\nos.environ['QOS_KERNELS'] = 'compiled'\n{SPARED}"
    assert run(tmp_path, program)[0] == "8 True True"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of caches in which `fourfold` of an integer is."""
    folder = tmp_path_factory.mktemp("filled")
    assert run(folder, "print(fourfold(2))") == ["compiling", "8"]
    return folder


@pytest.mark.slow
def test_a_kernel_is_compiled_once_below_the_folder_that_the_user_named(
    filled: Path, tmp_path: Path
) -> None:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    (folder,) = (tmp_path / "cache").iterdir()
    assert len(folder.name) == 16
    assert len(list(folder.rglob("*.nbc"))) == 2
    assert run(tmp_path, "print(fourfold(2))") == ["8"]


@pytest.mark.slow
def test_a_helper_is_compiled_once_whatever_is_passed_to_it(tmp_path: Path) -> None:
    """A number, a constant, and a part of a tuple."""
    program = """
@kernel.kernel
def second(pair):
    return twice(pair[1])

@kernel.kernel
def all_of_them(x):
    return twice(x) + twice(3) + twice(4) + second((x, 5)) + second((6, x))

print(all_of_them(1))
"""
    assert run(tmp_path, program) == ["compiling", "28"]
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 3


@pytest.mark.slow
def test_copies_of_a_kernel_share_the_helpers_that_are_the_same_in_all(tmp_path: Path) -> None:
    program = """
STEP = 1

@kernel.kernel
def advanced(x):
    return x + STEP

@kernel.kernel
def loop(x):
    return advanced(advanced(twice(x)))

print(*(kernel.link_kernel(loop, f"by_{step}", {"STEP": step})(3) for step in (1, 10)))
"""
    assert run(tmp_path, program) == ["compiling", "8 26"]
    names = [path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.nbc")]
    assert sorted(name.partition(".")[2] for name in names) == [
        "advanced_by_10_helper",
        "advanced_by_1_helper",
        "loop_by_1",
        "loop_by_10",
        "twice_helper",
    ]


@pytest.mark.slow
def test_no_index_counts_from_the_end(tmp_path: Path) -> None:
    """The element before the first of a part is the one before it in the whole."""
    program = """
@kernel.kernel
def at(numbers, i):
    return numbers[i]

whole = np.arange(5)
print(at(whole, 4), at(whole[2:], -1))
"""
    assert run(tmp_path, program) == ["compiling", "4 1"]


@pytest.mark.slow
def test_the_compiler_starts_without_packages_that_no_kernel_needs(tmp_path: Path) -> None:
    """They are a tenth of what a run of next to nothing takes."""
    names = ("cffi", "coverage", "yaml")
    assert run(
        tmp_path,
        f"""
import sys
before = set(sys.modules)
kernel.notices.clear()
print(fourfold(2))
print(*(name for name in {names} if name in sys.modules and name not in before))
import cffi, yaml
print(cffi.FFI, yaml.safe_load("a"))
""",
    ) == ["8", "", "<class 'cffi.api.FFI'> a"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))",
        "kernel.find_cache_folder = lambda: '/proc/nowhere'",
    ],
)
def test_a_cache_that_cannot_be_written_is_reported_once_and_the_kernel_runs(
    tmp_path: Path, trouble: str
) -> None:
    lines = run(tmp_path, f"{trouble}\nprint(fourfold(2), fourfold(2.0))")
    assert sorted(lines) == ["8 8.0", "compiling", "uncached"]


def cut(paths: list[Path]) -> None:
    for path in paths:
        path.write_bytes(path.read_bytes()[:-100])


def spoil(paths: list[Path]) -> None:
    for path in paths:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(data)


def empty(paths: list[Path]) -> None:
    for path in paths:
        path.write_bytes(b"")


def exchange(paths: list[Path]) -> None:
    first, second = (path.read_bytes() for path in paths)
    paths[0].write_bytes(second)
    paths[1].write_bytes(first)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [cut, spoil, empty, exchange])
def test_a_damaged_entry_is_thrown_away_and_made_again(
    filled: Path, tmp_path: Path, damage: Callable[[list[Path]], None]
) -> None:
    program = "print(fourfold(2), fourfold(2.5))"
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    damage(sorted((tmp_path / "cache").rglob("*.nbc")))
    assert run(tmp_path, program) == ["compiling", "8 10.0"]
    assert run(tmp_path, program) == ["8 10.0"]


@pytest.mark.slow
def test_an_entry_of_something_else_is_thrown_away_and_made_again(
    filled: Path, tmp_path: Path
) -> None:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    for path in (tmp_path / "cache").rglob("*.nbc"):
        body = pickle.dumps("of something else")
        path.write_bytes(hashlib.blake2b(body, digest_size=16).digest() + body)
    assert run(tmp_path, "print(fourfold(2))") == ["compiling", "8"]
    assert run(tmp_path, "print(fourfold(2))") == ["8"]


@pytest.mark.slow
def test_the_time_that_compiling_takes_is_known(tmp_path: Path) -> None:
    program = "fourfold(2); s = kernel.measure_compiling_s(); fourfold(2)\n"
    program += "print(0.01 < s < 60, s == 0, s == kernel.measure_compiling_s())"
    assert run(tmp_path, program) == ["compiling", "True False True"]
    assert run(tmp_path, program) == ["False True True"]


@pytest.mark.slow
def test_only_what_has_changed_is_compiled_again(tmp_path: Path) -> None:
    program = "print({})\n\n@kernel.kernel\ndef neighbour(x):\n    return x{}\n"
    run(tmp_path, program.format("fourfold(2)", ""))
    assert run(tmp_path, program.format("fourfold(2)", " + 1")) == ["8"]
    assert run(tmp_path, "\n\nprint(fourfold(2))") == ["8"]


@pytest.mark.parametrize("source", ["kernel.py", "intrinsics.py"])
def test_another_way_of_compiling_has_a_folder_of_its_own(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = shutil.copytree(Path(kernel.__file__).parent, tmp_path / "engine")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel, "__file__", str(copied / "kernel.py"))
    folder = inspect.unwrap(kernel.find_cache_folder)
    before = folder()
    with (copied / source).open("a", encoding="utf-8") as file:
        file.write("a = 1\n")
    assert folder() != before


@pytest.mark.slow
@pytest.mark.parametrize("place", ["cache", "cache/*"])
def test_a_cache_that_others_can_write_to_is_not_loaded(
    filled: Path, tmp_path: Path, place: str
) -> None:
    """What stands in a file there would run, as it does from a private folder."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    for path in (tmp_path / "cache").rglob("*.nbc"):
        body = f"cos\nmkdir\n(V{tmp_path / 'ran'}\ntR.".encode()
        path.write_bytes(hashlib.blake2b(body, digest_size=16).digest() + body)
    (folder,) = tmp_path.glob(place)
    folder.chmod(0o777)
    assert run(tmp_path, "print(fourfold(2))")[-1] == "8"
    assert not (tmp_path / "ran").exists()
    folder.chmod(0o700)
    assert run(tmp_path, "print(fourfold(2))")[-1] == "8"
    assert (tmp_path / "ran").exists()


def test_kernels_are_kept_elsewhere_if_others_can_write_to_the_chosen_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "shared"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "ours"))
    folder = inspect.unwrap(kernel.find_cache_folder)()
    assert folder.is_relative_to(tmp_path / "ours")
    assert not list((tmp_path / "shared").iterdir())
