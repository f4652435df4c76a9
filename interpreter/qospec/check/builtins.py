"""Names that no file declares: kinds of the catalogue, `host`, and names that the library has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import RECORDS
from qospec.check.device.nodes import HostKind
from qospec.check.modules import imports
from qospec.check.records.kinds import RESERVED, KindValue, explain_not_built
from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from qospec.catalogue.kinds import Catalogue, Role
    from qospec.check.evaluate.values import Value
    from qospec.syntax import ast


@dataclass(frozen=True)
class BuiltIns:
    """The built-in names, as the evaluator needs them."""

    catalogue: Catalogue

    def find_value(self, name: ast.Name) -> Value | None:
        """Return what a name stands for; raises CheckError for what is not built yet."""
        for role in RECORDS:
            kind = self.catalogue.find(role, name.text)
            if kind is not None:
                return KindValue(kind)
        if name.text == "host":
            return HostKind()
        if self.is_reserved(name.text):
            raise explain_not_built(name.text, name.span)
        return None

    def knows(self, name: str) -> bool:
        """Return whether a name is one of them; imports no kind of another name."""
        return name == "host" or any(self.catalogue.find(role, name) for role in RECORDS)

    def list_names(self, role: Role | None = None) -> Iterator[str]:
        """Yield all of them, or the kinds of one role."""
        if role is None:
            yield "host"
        for known in (role,) if role else RECORDS:
            yield from self.catalogue.select_role(known)

    def is_reserved(self, name: str) -> bool:
        """Return whether a name is a word of the language that is not built yet."""
        return name in RESERVED

    def find_module(self, name: str) -> str:
        """Return the module of the library that has this name, as it is imported; "" if none."""
        return imports.find_library_module(name)

    def suggest_name(self, name: str, declared: Container[str]) -> str:
        """Return what to write for a well-known name that only the library has; "" if it has none.

        Args:
            name: A name that is not known here.
            declared: Those that the file declares and imports.
        """
        return imports.suggest_import(name, declared)
