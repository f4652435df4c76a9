"""What `qos doctor` finds, on machines that are made for that; and that the command says it."""

import gzip
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from qospec import cli
from qospec.cli import exits
from qospec.doctor import Cache, Machine, examine, is_ready
from qospec.linux.disciplines import MODULES

VERSIONS = {"click": "8.2.1", "numba": "0.62.0", "hypothesis": "6.139.0"}


class Made(Machine):
    """A machine that has everything, except for what a test takes from it."""

    python = "3.11.2"
    versions = VERSIONS
    cache = Cache("/cache/kernels/1", stays=True, kernels=9)
    variables = {}  # noqa: RUF012 -- never changed
    programs = frozenset({"gcc", "tc", "tshark", "unshare"})
    kernel = "/cache/linux/linux"
    modules = "".join(f"kernel/net/sched/{name}.ko\n" for name in MODULES)
    namespaces = True

    def list_requirements(self):
        return ">=3.11", [
            "click<9,>=8.2",
            "numba<0.69,>=0.62",
            'hypothesis<6.171,>=6.139; extra == "fuzz"',
            'ruff<0.18,>=0.17; extra == "dev"',
        ]

    def find_version(self, package):
        return self.versions.get(package)

    def find_cache(self):
        return self.cache

    def read_variable(self, name):
        return self.variables.get(name, "")

    def count_processors(self):
        return 3

    def find_program(self, name):
        return f"/usr/bin/{name}" if name in self.programs else None

    def find_kernel(self):
        return self.kernel

    def list_modules(self):
        return self.modules

    def can_unshare(self):
        return self.namespaces


def make(**taken) -> Machine:
    machine = Made()
    for name, value in taken.items():
        setattr(machine, name, value)
    return machine


def test_nothing_is_to_do_where_everything_is_there():
    findings = examine(make())
    assert {finding.state for finding in findings} == {"present"}
    assert [finding.name for finding in findings] == [
        *("python", "click", "numba", "extra fuzz", "compiled kernels", "processors", "tshark"),
        *("kernel in virtual time", "gcc", "tc", "network namespaces", "control of traffic"),
        "traffic generators",
    ]
    assert not any(finding.remedy for finding in findings)


@pytest.mark.parametrize(
    ("taken", "name", "remedy"),
    [
        ({"python": "3.10.14"}, "python", "install a Python >=3.11"),
        ({"versions": VERSIONS | {"click": "8.1.9"}}, "click", "pip install 'click<9,>=8.2'"),
        ({"versions": VERSIONS | {"click": "9.0"}}, "click", "pip install 'click<9,>=8.2'"),
        ({"versions": {"click": "8.2"}}, "numba", "pip install 'numba<0.69,>=0.62'"),
    ],
)
def test_what_each_run_needs_is_missing(taken, name, remedy):
    findings = examine(make(**taken))
    assert not is_ready(findings)
    (finding,) = [finding for finding in findings if finding.state == "missing"]
    assert finding.name == name
    assert finding.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("taken", "name", "words"),
    [
        ({"versions": {"click": "8.2", "numba": "0.62"}}, "extra fuzz", "qospec[fuzz]"),
        (
            {"cache": Cache("/x/qospec-1", stays=False, kernels=0)},
            "compiled kernels",
            "NUMBA_CACHE_DIR",
        ),
        ({"cache": Cache("/c", stays=True, kernels=0)}, "compiled kernels", "qos warm"),
        ({"variables": {"QOS_KERNELS": "python"}}, "compiled kernels", "unset QOS_KERNELS"),
        ({"programs": Made.programs - {"tshark"}}, "tshark", "tshark"),
        ({"kernel": None}, "kernel in virtual time", "make kernel"),
        ({"programs": Made.programs - {"gcc"}}, "gcc", "gcc"),
        ({"programs": Made.programs - {"tc"}}, "tc", "iproute2"),
        ({"namespaces": False}, "network namespaces", "user namespaces"),
        ({"modules": "sch_tbf.ko"}, "control of traffic", "extra modules"),
    ],
)
def test_what_some_commands_use_is_absent_and_nothing_else(taken, name, words):
    findings = examine(make(**taken))
    assert is_ready(findings)
    (finding,) = [finding for finding in findings if finding.state == "absent"]
    assert finding.name == name
    assert words in finding.remedy


def test_a_kernel_that_does_not_tell_its_modules_is_not_said_to_lack_them():
    (finding,) = [found for found in examine(make(modules=None)) if found.state == "absent"]
    assert (finding.name, finding.remedy) == ("control of traffic", "")
    assert "does not tell" in finding.found


@pytest.mark.parametrize(
    ("written", "known"),
    [
        (gzip.compress(b"CONFIG_NET_SCH_TBF=y\nCONFIG_NET_ACT_POLICE=m\n"), "sch_tbf act_police"),
        (gzip.compress(b"# CONFIG_NET_SCH_TBF is not set\n"), ""),
        (b"no archive", None),
    ],
    ids=["some", "none", "no archive"],  # an archive has the time at which it was written
)
def test_a_kernel_without_a_list_of_modules_is_asked_for_its_configuration(
    tmp_path, monkeypatch, written, known
):
    monkeypatch.setattr("os.uname", lambda: SimpleNamespace(release="without a folder"))
    monkeypatch.setattr(Machine, "configuration", tmp_path / "config.gz")
    assert Machine().list_modules() is None
    (tmp_path / "config.gz").write_bytes(written)
    found = Machine().list_modules()
    assert found == (known if known is None else "".join(f"{x}.ko\n" for x in known.split()))


def test_the_command_says_what_is_found(monkeypatch):
    monkeypatch.setattr("qospec.doctor.Machine", Made)
    done = CliRunner().invoke(cli.qos, ["doctor"])
    assert (done.exit_code, done.output.splitlines()[0]) == (exits.PASSED, "✓ python: 3.11.2")
    monkeypatch.setattr(Made, "python", "3.9.1")
    done = CliRunner().invoke(cli.qos, ["doctor", "--json"])
    assert done.exit_code == exits.ERROR
    document = json.loads(done.stdout)
    assert (document["schema"], document["ready"]) == (1, False)
    assert document["findings"][0]["name"] == "python"


def test_it_runs_here_and_imports_no_compiler():
    program = (
        "import sys\nfrom qospec.doctor import Machine, examine, is_ready\n"
        "assert is_ready(examine(Machine()))\nprint({'numba', 'numpy'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")
