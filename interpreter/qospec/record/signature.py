"""A signature of a record: whoever holds a key vouches for its files.

Signed are the checksums that the seal has of all files but reports, which can be made again. It is
by Ed25519 (RFC 8032), which has one length of keys and no parameters to choose.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from qospec.record import seal
from qospec.writing import explain_failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from qospec.document import Document

NAME = "signature.json"
ALGORITHM = "Ed25519"
PURPOSE = b"a record of qospec, signature version 1\n"
"""Before what is signed, so that nothing else that the key signs is taken for a record."""
OWNER_ONLY = 0o600
_OTHERS = 0o077
LONGEST_KEY = 4_096
"""Bytes of a file with a key; one of Ed25519 has some 120."""


class SignatureError(Exception):
    """A key cannot be used, or a signature is not of a record; the message is for the user."""


def create_key(path: Path) -> None:
    """Write a new key into a new file that only its owner can read.

    Raises:
        SignatureError: There is a file, or it cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
    except FileExistsError:
        raise SignatureError(f"`{path}` exists: sign with it without `--new-key`") from None
    except OSError as error:
        raise SignatureError(f"cannot write `{path}`: {explain_failure(error)}") from error


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a PEM file.

    Raises:
        SignatureError: It cannot be read, is no such key, or others can read it.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise SignatureError(f"cannot read `{path}`: it is not a file")
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(LONGEST_KEY)
    except FileNotFoundError:
        raise SignatureError(f"there is no key `{path}`: `--new-key` makes one") from None
    except OSError as error:
        raise SignatureError(f"cannot read `{path}`: {explain_failure(error)}") from error
    if stat.S_IMODE(mode) & _OTHERS:
        raise SignatureError(f"others can read the key `{path}`: `chmod 600 {path}`")
    try:
        key = load_pem_private_key(data, None)
    except TypeError:
        raise SignatureError(f"the key `{path}` has a password, which is not supported") from None
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise SignatureError(
            f"`{path}` holds no private key of {ALGORITHM} in PEM: `--new-key` makes one"
        )
    return key


def sign(checksums: Mapping[str, str], key: Ed25519PrivateKey) -> Document:
    """Return the document of a signature by a key, of the files with these checksums."""
    return {
        "schema": 1,
        "algorithm": ALGORITHM,
        "outcome": _find_outcome(checksums),
        "public_key": key.public_key().public_bytes_raw().hex(),
        "signature": key.sign(_list_signed(checksums)).hex(),
    }


def verify(document: Document, checksums: Mapping[str, str]) -> None:
    """Compare a signature with the files that have these checksums.

    Raises:
        SignatureError: It is of other files, or not by the key that it names.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if document["outcome"] != _find_outcome(checksums):
        raise SignatureError(
            "it is the signature of another record, whose outcome.json has SHA-256"
            f" {document['outcome']}"
        )
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(document["public_key"]))
    try:
        key.verify(bytes.fromhex(document["signature"]), _list_signed(checksums))
    except InvalidSignature:
        raise SignatureError(
            f"the key {document['public_key']} did not sign what the files hold now"
        ) from None


def _find_outcome(checksums: Mapping[str, str]) -> str:
    """Return the checksum of the file with the outcome; "" if there is none."""
    return next((checksums[name] for name in seal.OUTCOMES if name in checksums), "")


def _list_signed(checksums: Mapping[str, str]) -> bytes:
    """Return what is signed: the lines of the seal, in the order of names, without reports."""
    signed = {
        name: checksum
        for name, checksum in checksums.items()
        if name != NAME and not name.startswith(seal.REPORT)
    }
    return PURPOSE + seal.write_lines(signed).encode()
