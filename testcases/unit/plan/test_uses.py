"""What is found within a device of the library is told at the line that uses it."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.plan.survey import verify

SITES = """qos 1
import std.media, std.devices.crypto_gateways
topology sites {{
  a, b = host
  site = crypto_gateways.in_software(integrity = none, per_packet = 90 us)
  site_2 = crypto_gateways.in_software(integrity = none)
  link a -- site.inner via media.fast_ethernet
  link site.outer -- site_2.outer via media.fast_ethernet
  link site_2.inner -- b via media.fast_ethernet
}}
test t on sites {{
  flow web = packets {{ rate = 1 Mbit/s @ip, size = 512 B @ip }} from {way}
  run {{ measure = 1 s }}
  expect web.lost == 0
}}
"""


@pytest.fixture
def found(tmp_path, problems):
    """Return a function that gives what `qos check` says where the flow goes some way."""

    def tell(way):
        (tmp_path / "a.qos").write_text(SITES.format(way=way), encoding="utf-8")
        verify(check([tmp_path / "a.qos"], discover(), problems), problems)
        return problems.all

    return tell


def test_it_names_the_use_and_has_the_place_in_the_library_below(found):
    (warning,) = (problem for problem in found("b to a") if problem.code == "W0630")
    assert warning.message == "`site_2.encrypt` encrypts without authenticating"
    assert warning.span.source.name.endswith("a.qos")
    assert warning.span.text == "crypto_gateways.in_software(integrity = none)"
    (label,) = warning.secondary
    assert label.text == "here, in `in_software`"
    assert (label.span.source.recorded_name, label.span.text) == (
        "std/devices/crypto_gateways.qos",
        "encrypt",
    )


CALL = """qos 1
import std.devices.signalling
topology alone {
  a = signalling.caller
  x = signalling.exchange(calls = 5)
  link a.line -- x.west via line { rate = 1 Mbit/s @cell, slotted = false }
}
test t on alone {
  run { measure = 1 s }
  report a.call.over.count
}
"""


def test_a_message_that_nobody_hears_is_told_where_its_machine_is_used(tmp_path, problems):
    """What it sends is written within the machine, at places of its own."""
    (tmp_path / "a.qos").write_text(CALL, encoding="utf-8")
    verify(check([tmp_path / "a.qos"], discover(), problems), problems)
    (warning,) = problems.all
    assert (warning.code, warning.span.text) == ("W0626", "signalling.exchange(calls = 5)")
    assert warning.secondary[0].span.text == "callee.setup"
