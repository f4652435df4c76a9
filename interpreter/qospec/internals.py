"""Takes and replaces names that other packages do not promise to keep, loudly when one is gone.

Python sets any attribute of anything. A name that a new release no longer looks at would be
replaced without effect, and what depends on it would be lost in silence: cached kernels, equal
draws of equal seeds, the protection from a project's own `types.py`.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_NOTHING = object()


class MissingNameError(Exception):
    """The installed release of a package has no such name."""


def find_internal(owner: Any, name: str) -> Any:
    """Return an attribute of a module, a class or an object of another package.

    Raises:
        MissingNameError: There is none.
    """
    value = getattr(owner, name, _NOTHING)
    if value is _NOTHING:
        raise MissingNameError(_describe(owner, name))
    return value


def replace_internal(owner: Any, name: str, value: Any) -> Any:
    """Replace an attribute, and return what it was.

    Raises:
        MissingNameError: There is none.
    """
    replaced = find_internal(owner, name)
    setattr(owner, name, value)
    return replaced


@contextmanager
def substitute_internal(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute for a while.

    Raises:
        MissingNameError: There is none.
    """
    replaced = replace_internal(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, replaced)


def _describe(owner: Any, name: str) -> str:
    """Return what is missing in which release, and which one to install."""
    if isinstance(owner, ModuleType):
        path = owner.__name__
    else:
        bases = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
        base = next(base for base in bases if base.__module__.partition(".")[0] != "qospec")
        path = f"{base.__module__}.{base.__qualname__}"
    package = path.partition(".")[0]
    if package in sys.stdlib_module_names:
        version = sys.version.partition(" ")[0]
        return f"Python {version} has no `{path}.{name}`, which qospec needs: use an older Python"
    from importlib import metadata

    wanted = next(
        requirement.partition(";")[0].strip()
        for requirement in metadata.requires("qospec") or ()
        if requirement.startswith(package)
    )
    return (
        f"{package} {metadata.version(package)} has no `{path}.{name}`, which qospec needs: "
        f"install a release with which it was tested, `pip install '{wanted}'`"
    )
