"""Cases that share what was found of one are warned of as if each were alone, in any order."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.plan.survey import verify

WIRE = """qos 1
import std.media
topology wire {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
test t on wire {{
  sweep m in {swept}
  flow f = tcp {{ {field} }} from a to b
  run {{ measure = {measure} }}
  expect f.lost == 0
}}
"""


@pytest.mark.parametrize(
    ("swept", "field", "measure"),
    [
        ("1 s, 1 ms", "read_every = 500 ms", "m"),
        ("1 ms, 1 s", "read_every = m", "500 ms"),
    ],
)
@pytest.mark.parametrize("step", [1, -1])
def test_a_warning_of_one_case_is_told_in_any_order(
    tmp_path, problems, swept, field, measure, step
):
    order = f"[{', '.join(swept.split(', ')[::step])}]"
    text = WIRE.format(swept=order, field=field, measure=measure)
    (tmp_path / "a.qos").write_text(text, encoding="utf-8")
    verify(check([tmp_path / "a.qos"], discover(), problems), problems)
    assert "W0637" in {problem.code for problem in problems.all}
