"""ESP in a capture: what is encrypted on a link, and its keys for a decoder."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from qospec.capture.error import CaptureError
from qospec.engine.arrays import np
from qospec.engine.security.seal import UNTAMPERED, number_in, read_index, size_in
from qospec.payload.associations import find_encrypting, list_associations
from qospec.payload.packets import prepend_header

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.capture.links import Link
    from qospec.capture.packets import Wrap
    from qospec.ciphers.key import Key
    from qospec.engine.experiment import Experiment
    from qospec.payload.associations import Secured
    from qospec.payload.flight import Items
    from qospec.payload.packets import Bytes

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


def reveal_keys(of: Secured) -> str:
    """Return its line of Wireshark's table `esp_sa`: it shows the keys."""
    encryption, integrity = of.esp.encryption, of.esp.integrity
    middle = len(of.ends) // 2
    ends = [
        str(ipaddress.ip_address(end)) if end else "*"
        for end in (of.ends[:middle], of.ends[middle:])
    ]
    fields = [
        {"ipv4": "IPv4", "ipv6": "IPv6"}[of.esp.family],
        *ends,
        f"0x{of.spi:08x}",
        ENCRYPTIONS[f"{encryption.algorithm}_{encryption.chaining}"],
        _write_hexadecimal(of.encryption_key),
        INTEGRITIES[integrity.name if integrity else ""],
        _write_hexadecimal(of.integrity_key),
    ]
    return ",".join(f'"{field}"' for field in fields)


def _write_hexadecimal(key: Key | None) -> str:
    return f"0x{key.reveal().hex()}" if key is not None and key.length else ""


def find_associations(experiment: Experiment, node: int) -> dict[int, Secured]:
    """Return by index the associations whose packets may leave a node.

    Raises:
        CaptureError: Two of them have one index, and a packet does not show which is its own.
    """
    found: dict[int, Secured] = {}
    paths: dict[int, str] = {}
    for number in find_encrypting(experiment, node):
        path, mine = experiment.nodes[number].path, list_associations(experiment, number)
        common = min(mine.keys() & found.keys(), default=None)
        if common is not None:
            away = max(len(mine), list(paths.values()).count(paths[common]))
            hint = f", at least {away} away, as each successor has the next one" if away > 1 else ""
            raise CaptureError(
                f"`{paths[common]}` and `{path}` encrypt what goes over this link with the same"
                f" index {common}: give one of them another `spi`{hint}"
            )
        found |= mine
        paths |= dict.fromkeys(mine, path)
    return dict(sorted(found.items()))


def list_keys(experiment: Experiment, link: Link) -> dict[int, str]:
    """Return by index the keys of what is encrypted on a link, as Wireshark's table `esp_sa`."""
    found = find_associations(experiment, link.tap.node)
    return {index: f"{reveal_keys(secured)}\n" for index, secured in found.items()}


def make_wrap(associations: Mapping[int, Secured]) -> Wrap:
    """Return what puts ESP around packets that were encrypted, and plain headers around others.

    Packets of one call have one association, or none, and one size inside it.
    """

    def wrap(items: Items, inner: Bytes, size_bytes: int) -> Bytes:
        seal = items.batch.read_column("seal")
        if not seal[0] & UNTAMPERED:
            return prepend_header(items, inner, size_bytes)
        inside = size_in(int(seal[0])) - inner.shape[1]
        made = prepend_header(items, inner, inside) if inside else inner
        numbers = np.array([number_in(number) for number in seal.tolist()])
        association = associations[read_index(int(seal[0]))]
        made = association.tamper(association.seal(numbers, made), seal < 0)
        outside = inner.shape[1] + size_bytes - made.shape[1]
        return prepend_header(items, made, outside) if outside else made

    return wrap


def make_length_reader(associations: Mapping[int, Secured]) -> Callable[[int], int]:
    """Return what tells, given a seal, how long the packet is that was encrypted so."""
    return lambda seal: associations[read_index(seal)].esp.count_protected_bytes(size_in(seal))
