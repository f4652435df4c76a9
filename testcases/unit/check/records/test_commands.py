"""Command lines of programs, and how it is told that they have started."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import Command, Ready, discover
from qospec.check import check
from qospec.diagnostics import Problems

HEAD = """qos 1
import std.media
topology t {
  a, b = host
  link a -- b via media.fast_ethernet
}
test runs on t {
  flow f = program { command = ["cat"] } from a to b
  run { measure = 1 ms }
  report f.sent
}
"""


def check_fields(tmp_path: Path, fields: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return the program of a flow with these fields, and codes, messages and help."""
    path = tmp_path / "a.qos"
    path.write_text(HEAD.replace('command = ["cat"]', fields), encoding="utf-8")
    problems = Problems()
    checked = check([path], discover(), problems)
    found = [(problem.code, problem.message, problem.help) for problem in problems.all]
    flows = [flow for test in checked.suite.tests for case in test.cases for flow in case.flows]
    return [flow.traffic for flow in flows], found


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"listening"', Ready(text="listening")),
        ("5_201", Ready(port=5_201)),
        ("200 ms", Ready(time_ps=200 * 10**9)),
    ],
)
def test_a_text_a_port_or_a_time_says_when_it_is_ready(tmp_path, written, meant):
    ((program,), found) = check_fields(tmp_path, f'command = ["cat", "-u"], ready = {written}')
    assert not found
    assert program.ready == meant
    assert program.command == Command(("cat", "-u"), str(tmp_path.resolve()))


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ('command = "iperf3 -s"', "E0204", "`command` is a list of texts, not a text"),
        ('command = ["iperf3", 1]', "E0204", "`command` is a list of texts, not a list with"),
        ("command = []", "E0205", "`command` names no program"),
        ('command = [""]', "E0205", "`command` names no program"),
        (
            'command = ["cat"], ready = ""',
            "E0204",
            "`ready` is a text, a port or a time, not an em",
        ),
        ('command = ["cat"], ready = 0', "E0205", "`ready` is a port of 1 to 65535, or a time"),
        ('command = ["cat"], ready = 65_536', "E0205", "`ready` is a port of 1 to 65535"),
        ('command = ["cat"], ready = 0 s', "E0205", "`ready` is a port of 1 to 65535, or a time"),
        ('command = ["cat"], ready = 3 B', "E0204", "`ready` is a text, a port or a time, not"),
        ('command = ["cat"], stop = never', "E0214", "`stop` cannot be `never`"),
        ('command = ["cat"], exit = 256', "E0205", "`exit` must be at most 255"),
        ('command = ["cat"], mtu = 2_001 B @ip', "E0205", "`mtu` must be at most"),
    ],
)
def test_what_is_no_command_is_explained(tmp_path, fields, code, message):
    _, found = check_fields(tmp_path, fields)
    ((its_code, its_message, help_text), *_) = found
    assert (its_code, its_message[: len(message)]) == (code, message)
    assert help_text
