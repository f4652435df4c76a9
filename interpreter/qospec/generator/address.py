"""The address of a traffic generator: where its server is, and on which of its ports hosts are.

Such as `otg://10.0.0.5:8443?a=eth1&b=eth2`; `otg+https://…` is encrypted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from qospec.backend import BackendError
from qospec.dataclass import NamedTuple
from qospec.generator.configuration import Port

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMES = ("otg", "otg+https")
MOST_PORT = 65_535
HOW_TO_WRITE = (
    "write `otg://SERVER:PORT?HOST=LOCATION&HOST=LOCATION`, with the hosts of the topology and the"
    " generator's names of its ports"
)
OF_MAC = {".mac": "address", ".next_mac": "next_address"}
"""Behind the name of a host: the address of its MAC, and that to which it sends."""

_SHAPE = re.compile(
    r"(otg|otg\+https)://([^\s/?#:@\[\]]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})/?(\?.*)?"
)
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")


class Address(NamedTuple):
    """Where a generator is.

    Attributes:
        written: As it was given.
        url: Of its server.
        ports: Where each host is.
    """

    written: str
    url: str
    ports: dict[str, Port]


def parse_address(written: str) -> Address:
    """Return an address.

    Raises:
        BackendError: It is none; the message says how one is written.
    """
    found = _SHAPE.fullmatch(written)
    if found is None or not 1 <= int(found[3]) <= MOST_PORT:
        raise BackendError(f"`{written}` is no address of a traffic generator: {HOW_TO_WRITE}")
    scheme = "https" if found[1].endswith("https") else "http"
    given = dict(_split_fields(written, found[4] or ""))
    ports = {
        host: Port(location) for host, location in given.items() if not host.endswith(tuple(OF_MAC))
    }
    for name, value in given.items():
        suffix = next((suffix for suffix in OF_MAC if name.endswith(suffix)), None)
        if suffix is None:
            continue
        host = name.removesuffix(suffix)
        if host not in ports:
            raise BackendError(f"`{name}` is of no port: give its location, too, `{host}=LOCATION`")
        if not _MAC.fullmatch(value):
            raise BackendError(f"`{name}={value}` is no address of a MAC, as 02:00:00:00:00:01 is")
        ports[host] = ports[host]._replace(**{OF_MAC[suffix]: value})
    return Address(written, f"{scheme}://{found[2]}:{found[3]}", ports)


def _split_fields(written: str, query: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values behind the question mark of an address."""
    seen: set[str] = set()
    for field in query.removeprefix("?").split("&") if len(query) > 1 else ():
        name, separator, value = (unquote(part) for part in field.partition("="))
        if not (name and separator and value):
            raise BackendError(f"`{field}` of `{written}` names no port: {HOW_TO_WRITE}")
        if name in seen:
            raise BackendError(f"`{written}` names `{name}` twice: a host is on one port")
        seen.add(name)
        yield name, value
