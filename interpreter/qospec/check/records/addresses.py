"""Addresses of packets, such as "10.1.0.7" or "2001:db8::1", and networks that a class tests for.

In classes each address is a number, and so is each end of a network.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.values import Text, Value

if TYPE_CHECKING:
    from qospec.source import Span

VERSION_6 = 2**32
"""Addresses of IPv6 are numbered after those of IPv4."""
NONE = -1

_PREFIX = re.compile("0|[1-9][0-9]{0,2}")
_ZONE = "a zone (`%`) has a meaning on one host only"
_NETWORK = "this is a network: write an address in it"


def read_address(value: Value, name: str, span: Span) -> str:
    """Return the address of a field in its shortest form; raises CheckError."""
    import ipaddress

    text = _require_text(value, name, span, f'{name} = "10.1.0.7"')
    try:
        return str(ipaddress.ip_address(_require_plain(text)))
    except ValueError:
        raise make_error(
            "E0214",
            f'"{text}" is not an address',
            span,
            note=_ZONE if "%" in text else _NETWORK if "/" in text else "",
            help='write an IPv4 or IPv6 address: "10.1.0.7", "2001:db8::1"',
        ) from None


def number_address(text: str) -> int:
    """Return the number of an address; NONE if there is no address."""
    import ipaddress

    if not text:
        return NONE
    address = ipaddress.ip_address(text)
    return int(address) + (VERSION_6 if address.version == 6 else 0)  # noqa: PLR2004


def ends(value: Value, name: str, span: Span) -> tuple[int, int]:
    """Return the numbers of the first and the last address that a text stands for.

    Raises:
        CheckError: It is neither an address nor a network.
    """
    import ipaddress

    text = _require_text(value, name, span, f'{name} in "10.1.0.0/16"')
    try:
        network = ipaddress.ip_network(_require_plain(text))
    except ValueError:
        meant = _guess_meant(text)
        raise make_error(
            "E0214",
            f'"{text}" is neither an address nor a network',
            span,
            note=_explain_network(text) if meant else "",
            help=f'write "{meant}"' if meant else 'write one such as "10.1.0.7" or "10.1.0.0/16"',
        ) from None
    return number_address(str(network[0])), number_address(str(network[-1]))


def _require_text(value: Value, name: str, span: Span, example: str) -> str:
    if isinstance(value, Text):
        return value.text
    raise make_error(
        "E0204",
        f"`{name}` is an address, not {value.what}",
        span,
        help=f"write a text: `{example}`",
    )


def _require_plain(text: str) -> str:
    """Return a text that may be an address; raises ValueError for another."""
    prefix = text.partition("/")[2]
    if "%" in text or ("/" in text and not _PREFIX.fullmatch(prefix)):
        raise ValueError
    return text


def _explain_network(text: str) -> str:
    """Return what is wrong with a network, if it can be guessed."""
    prefix = text.partition("/")[2]
    if "%" in text:
        return _ZONE
    if "." in prefix:
        return "a mask is written as the number of its bits"
    return "bits behind the prefix are set" if _PREFIX.fullmatch(prefix) else "a prefix is a number"


def _guess_meant(text: str) -> str:
    """Return the address or the network that was meant; "" if none can be guessed."""
    import ipaddress

    bare = re.sub("%[^/]*", "", text)
    try:
        network = str(ipaddress.ip_network(bare, strict=False))
    except ValueError:
        return ""
    return network if "/" in bare else bare
