"""The files of a run as a worker elsewhere needs them, which shares no disk with this machine.

Keys decide no time and no loss, so only what compares bytes needs them: all else is sent stars in
their place. A pickle holds the files; whoever shows the shipment itself shows none of them.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.modules import files
from qospec.check.modules.project import Projects
from qospec.check.records.keys import LONGEST_FILE_BYTES, NAMED_FILE
from qospec.dataclass import NamedTuple
from qospec.resources import STDLIB
from qospec.run.workers import UnreachableError
from qospec.run.workshop import Order, Workshop, hash_sources
from qospec.secret import WITHHELD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.source import Source

MOST_BYTES = 100_000_000
"""All files together; more takes longer than many runs."""
OF_PROJECT = ("qos.toml", "qos.lock")
"""Files that say what belongs to a project."""


class Shipment(NamedTuple):
    """The order of a run and its files.

    Attributes:
        order: What its jobs have in common, with the digest of these files.
        paths: What was named; a file of the library by its name in records.
        texts: What is in files, by their paths on the machine that sends them; of the library none.
        captures: What is in captures, likewise.
    """

    order: Order
    paths: tuple[str, ...]
    texts: dict[str, bytes]
    captures: dict[str, bytes]

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {len(self.texts) + len(self.captures)} files"

    def open(self, folder: Path) -> Workshop:
        """Return where the jobs are done: the files are checked, and only captures stay.

        They are below `folder` as they were below the root of the machine that sent them.

        Raises:
            StaleError: Here they are something else.
        """
        root = Path(tempfile.mkdtemp(prefix="qos-", dir=folder)).resolve()
        try:
            for name, data in {**self.texts, **self.captures}.items():
                path = _move(name, root)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            paths = tuple(_move(name, root) for name in self.paths)
            workshop = Workshop(self.order._replace(paths=paths, texts=()))
            workshop.check()
        finally:
            for name in self.texts:
                _move(name, root).unlink(missing_ok=True)
            if not self.captures:
                shutil.rmtree(root)
        return workshop


def pack(sources: Sequence[Source], order: Order, *, keyed: bool) -> Shipment:
    """Return the files of a run, with the keys in them or without.

    Raises:
        UnreachableError: A capture cannot be read, or they are too much to send.
    """
    named = order.paths or Projects(lambda _: None).list_here()
    paths = tuple(_name(files.resolve_links(path)) for path in named)
    held, texts, captures = [], dict[str, bytes](), dict[str, bytes]()
    for source in sources:
        path = files.resolve_links(Path(source.name))
        if files.is_of_library(path):
            held.append(source)
        elif source.digest:
            held.append(source)
            captures[str(path)] = _read(path)
        else:
            text = source.text if keyed else NAMED_FILE.sub(rf"\1{WITHHELD}\1", source.shown)
            held.append(replace(source, text=text))
            texts[str(path)] = text.encode()
            if keyed:
                texts |= {str(file): _read(file) for file in _list_keys(source.text, path)}
        texts |= {str(file): _read(file) for file in _list_project(path)}
    size = sum(map(len, (*texts.values(), *captures.values())))
    if size > MOST_BYTES:
        raise UnreachableError(
            f"the files of the run are {size // 10**6} MB, and workers are sent"
            f" {MOST_BYTES // 10**6} MB at most: select fewer cases, or run them with `-j`"
        )
    return Shipment(order._replace(digest=hash_sources(held)), paths, texts, captures)


def _list_keys(text: str, home: Path) -> Iterator[Path]:
    """Yield the files of keys that a file of a project names."""
    for found in NAMED_FILE.finditer(text):
        path = files.resolve_links(home.parent / found[2])
        is_own = path.is_relative_to(files.find_root(home)) and files.is_file(path)
        if is_own and path.stat().st_size <= LONGEST_FILE_BYTES:
            yield path


def _list_project(path: Path) -> Iterator[Path]:
    """Yield what says to which project a file belongs."""
    for folder in path.parents:
        yield from filter(files.is_file, (folder / name for name in OF_PROJECT))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreachableError(f"cannot read `{path}` to send it to workers: {error}") from error


def _name(path: Path) -> str:
    return files.write_recorded_path(path, path) if files.is_of_library(path) else str(path)


def _move(name: str, root: Path) -> Path:
    """Return where a file of another machine is below a root; of the library, where that is."""
    path = Path(name)
    if not path.is_absolute():
        return STDLIB.joinpath(*path.parts[1:])
    return root.joinpath(*path.parts[1:])
