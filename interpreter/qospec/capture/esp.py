"""ESP in a capture: the bytes that an association makes of packets, and its keys for a decoder.

Times and sizes are those of the emulation; only the bytes are computed here, from what the device
that encrypted a packet has noted of it: index of the association, sequence number, size inside.
Keys are drawn from the seed, for each device that encrypts its own.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, NamedTuple

from qospec.capture.error import CaptureError
from qospec.capture.packets import GATEWAYS, outer_header
from qospec.ciphers.esp import Association, Rows
from qospec.ciphers.key import Key
from qospec.engine.arrays import np
from qospec.engine.security import association
from qospec.engine.security.seal import index_in, number_in, size_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.capture.links import Link
    from qospec.capture.packets import Bytes, Wrap
    from qospec.capture.sightings import Items
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.protocol.esp import Esp

ENCRYPTIONS = {
    "aes_cbc": "AES-CBC [RFC3602]",
    "aes_ctr": "AES-CTR [RFC3686]",
    "aes_gcm": "AES-GCM with 16 octet ICV [RFC4106]",
    "triple_des_cbc": "TripleDES-CBC [RFC2451]",
    "null_null": "NULL",
}
"""By algorithm and chaining, what Wireshark calls a transform in its table `esp_sa`."""
INTEGRITIES = {
    "": "NULL",
    "hmac_md5_96": "HMAC-MD5-96 [RFC2403]",
    "hmac_sha1_96": "HMAC-SHA-1-96 [RFC2404]",
    "hmac_sha2_256_128": "HMAC-SHA-256-128 [RFC4868]",
    "hmac_sha2_384_192": "HMAC-SHA-384-192 [RFC4868]",
    "hmac_sha2_512_256": "HMAC-SHA-512-256 [RFC4868]",
}


class Secured(NamedTuple):
    """One direction of a security association; see `ciphers.esp.Association`."""

    esp: Esp
    spi: int
    encryption_key: Key
    integrity_key: Key | None = None
    ends: bytes = b""

    def sealed(self, numbers: Whole, packets: Bytes) -> Bytes:
        """Return packets of one size sealed, with these sequence numbers.

        A packet passes a link once, but captures are made again and at several links: so each call
        has an association of its own, which does not refuse the numbers of another.
        """
        keys = self.encryption_key, self.integrity_key
        association = Association(self.esp, self.spi, *keys, self.ends)
        (made,) = association.seal(Rows(numbers, packets))
        return made

    def revealed(self) -> str:
        """Return its line of Wireshark's table `esp_sa`: it shows the keys."""
        encryption, integrity = self.esp.encryption, self.esp.integrity
        middle = len(self.ends) // 2
        ends = [
            str(ipaddress.ip_address(each)) if each else "*"
            for each in (self.ends[:middle], self.ends[middle:])
        ]
        fields = [
            {"ipv4": "IPv4", "ipv6": "IPv6"}[self.esp.family],
            *ends,
            f"0x{self.spi:08x}",
            ENCRYPTIONS[f"{encryption.algorithm}_{encryption.chaining}"],
            _hexadecimal(self.encryption_key),
            INTEGRITIES[integrity.name if integrity else ""],
            _hexadecimal(self.integrity_key),
        ]
        return ",".join(f'"{field}"' for field in fields)


def _hexadecimal(key: Key | None) -> str:
    return f"0x{key.revealed().hex()}" if key is not None and key.length else ""


def associations_on(experiment: Experiment, node: int) -> dict[int, Secured]:
    """Return by index the associations whose packets may leave a node.

    Raises:
        CaptureError: Two of them have one index, and a packet does not show which is its own.
    """
    found: dict[int, tuple[str, Secured]] = {}
    for number in _encrypting(experiment, node):
        path, element = experiment.nodes[number].path, experiment.nodes[number].element
        assert isinstance(element, association.Association)  # noqa: S101 -- as `_encrypting` finds
        if element.spi in found:
            raise CaptureError(
                f"`{found[element.spi][0]}` and `{path}` encrypt what goes over this link with the"
                f" same index {element.spi}: give one of them another `spi`"
            )
        names = (*experiment.seed, "esp", path)
        found[element.spi] = path, _secured(element.esp, element.spi, names)
    return {index: secured for index, (_, secured) in sorted(found.items())}


def key_table(experiment: Experiment, link: Link) -> str:
    """Return the keys of what is encrypted on a link, as the table `esp_sa` of Wireshark.

    Raises:
        CaptureError: Nothing is.
    """
    found = associations_on(experiment, link.tap.node)
    if not found:
        raise CaptureError(f"nothing that goes over `{link.name}` is encrypted, so it has no keys")
    return "".join(f"{each.revealed()}\n" for each in found.values())


def _secured(esp: Esp, spi: int, names: tuple[str, ...]) -> Secured:
    encryption, integrity = esp.encryption, esp.integrity
    ends = b"".join(each.packed for each in GATEWAYS[esp.family]) if esp.mode == "tunnel" else b""
    return Secured(
        esp,
        spi,
        Key.drawn(encryption.key_bytes + encryption.salt_bytes, (*names, "encryption")),
        Key.drawn(integrity.key_bytes, (*names, "integrity")) if integrity else None,
        ends,
    )


def _encrypting(experiment: Experiment, node: int) -> list[int]:
    """Return the nodes that have encrypted what leaves a node: nothing is encrypted twice."""
    before: dict[int, list[int]] = {}
    for wire in experiment.wires:
        before.setdefault(wire.to, []).append(wire.node)
    waiting, seen, found = [node], {node}, []
    while waiting:
        here = waiting.pop()
        element = experiment.nodes[here].element
        if isinstance(element, association.Association):
            found += [here] * element.encrypts
            continue
        new = set(before.get(here, ())) - seen
        seen |= new
        waiting += sorted(new)
    return sorted(found)


def sealing(associations: Mapping[int, Secured]) -> Wrap:
    """Return what puts ESP around packets that were encrypted, and plain headers around others.

    Packets of one call have one association, or none, and one size inside it.
    """

    def wrap(items: Items, inner: Bytes, size_bytes: int) -> Bytes:
        seal = items.batch.sealed().seal
        if not seal[0]:
            return outer_header(items, inner, size_bytes)
        inside = size_in(int(seal[0])) - inner.shape[1]
        made = outer_header(items, inner, inside) if inside else inner
        numbers = np.array([number_in(each) for each in seal.tolist()])
        made = associations[index_in(int(seal[0]))].sealed(numbers, made)
        outside = inner.shape[1] + size_bytes - made.shape[1]
        return outer_header(items, made, outside) if outside else made

    return wrap
