"""Renders a user's template in a process of its own, limited in time, memory and output.

A template is a program that may come from anywhere. Jinja's sandbox limits what it can access, and
this module what it can consume.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.report.format import NESTED, ReportError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MIB = 2**20
SIGNAL_INTERVAL_S = 0.2
BYTES_PER_CHARACTER = 20
"""Bytes of memory that a character of a record may need."""


class Limits(NamedTuple):
    """What a template may use: CPU time in seconds, memory in MiB, output in MiB.

    A long call cannot be interrupted when its time is over; its process is killed `grace_s` later.
    """

    time_s: int = 60
    memory_mib: int = 1_024
    output_mib: int = 64
    grace_s: int = 5


LIMITS = Limits()


def render(
    path: Path,
    document: Mapping[str, Any],
    timing: Mapping[str, Any],
    fingerprint: str = "",
    signer: str = "",
) -> str:
    """Return the report of a user's template; raises ReportError."""
    given = {"document": document, "timing": timing, "fingerprint": fingerprint, "signer": signer}
    return _run_process({"path": str(path), **given})


def check_syntax(path: Path) -> None:
    """Raise ReportError for a syntax error in a user's template or in a part of it."""
    _run_process({"path": str(path)})


def _run_process(request: dict[str, Any]) -> str:
    name = request["path"].rpartition("/")[2]
    try:
        text = json.dumps({**request, "limits": LIMITS}).encode()
    except RecursionError:
        raise ReportError(NESTED) from None
    try:
        done = subprocess.run(  # noqa: S603 - this very module
            [sys.executable, "-P", "-m", __name__],
            input=text,
            capture_output=True,
            timeout=4 * (LIMITS.time_s + LIMITS.grace_s),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ReportError(describe_timeout(LIMITS), name) from None
    if done.returncode < 0:
        raise ReportError(f"{describe_timeout(LIMITS)}, or too much memory", name)
    if done.returncode:
        (why,) = done.stderr.decode(errors="replace").splitlines()[-1:] or [""]
        raise ReportError(f"its process cannot run: {why}", name)
    answer = json.loads(done.stdout)
    if "made" in answer:
        return str(answer["made"])
    raise ReportError(*answer["error"])


def describe_timeout(limits: Limits) -> str:
    """Return the message for a template that does not end."""
    return f"takes more than {limits.time_s} s, the most that a template may"


def _confine(limits: Limits, characters: int) -> None:
    """Limit this process; if possible, exceeding a limit raises LimitError or MemoryError."""
    import resource
    import signal

    from qospec.report.environment import LimitError

    def end(*_: object) -> None:
        raise LimitError(describe_timeout(limits))

    memory = limits.memory_mib * MIB + BYTES_PER_CHARACTER * characters
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    killed_s = limits.time_s + limits.grace_s
    resource.setrlimit(resource.RLIMIT_CPU, (killed_s, killed_s))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, end)
    # Repeatedly, because in some places Jinja takes any exception for a missing attribute.
    signal.setitimer(signal.ITIMER_PROF, limits.time_s, SIGNAL_INTERVAL_S)


def _serve() -> dict[str, Any]:
    from pathlib import Path

    from qospec.report import environment
    from qospec.report.format import read_format

    text = sys.stdin.buffer.read()
    request = json.loads(text)
    limits = Limits(*request["limits"])
    _confine(limits, len(text))
    try:
        report = read_format(Path(request["path"]))
        if "document" not in request:
            environment.check_syntax(report)
            return {"made": ""}
        most = limits.output_mib * MIB
        names = ("document", "timing", "fingerprint", "signer")
        given = {name: request[name] for name in names}
        made = environment.render_template(report, **given, most=most)
    except ReportError as error:
        return {"error": [error.message, error.template, error.line]}
    return {"made": made}


if __name__ == "__main__":
    answer = _serve()
    import signal

    signal.setitimer(signal.ITIMER_PROF, 0)
    sys.stdout.write(json.dumps(answer))
