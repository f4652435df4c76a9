"""The Jinja environment of reports: sandboxed, strict, without randomness, errors with places.

Only this module and `bytecode` import Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sized
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, FileSystemLoader, StrictUndefined
from jinja2.exceptions import (
    SecurityError,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.meta import find_referenced_templates
from jinja2.sandbox import ImmutableSandboxedEnvironment

from qospec.diagnostics import suggest_name
from qospec.report import (
    arrangement,
    causes,
    cautions,
    claims,
    grid,
    headline,
    parts,
    searches,
    series,
    similar,
    text,
    views,
    words,
)
from qospec.report.bytecode import Bytecode
from qospec.report.charts import (
    brackets,
    columns,
    curves,
    distributions,
    plot,
    timelines,
    topology,
)
from qospec.report.format import NESTED, REPORTS, Format, ReportError
from qospec.visible import make_lines_visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

FUNCTIONS = {
    **views.FUNCTIONS,
    **arrangement.FUNCTIONS,
    **plot.FUNCTIONS,
    **distributions.FUNCTIONS,
    **timelines.FUNCTIONS,
    **series.FUNCTIONS,
    **searches.FUNCTIONS,
    **similar.FUNCTIONS,
    **grid.FUNCTIONS,
    **causes.FUNCTIONS,
    **cautions.FUNCTIONS,
    **claims.FUNCTIONS,
    "brackets": brackets.build_brackets,
    **columns.FUNCTIONS,
    "curves": curves.build_curves,
    "with_confidence": causes.count_with_confidence,
    "headline": headline.write_headline,
    "drawing": topology.draw_topology,
    **parts.FUNCTIONS,
    **text.FUNCTIONS,
}
"""What a template may call; spec/8-reports.md describes each."""

FILTERS = {
    **cautions.FILTERS,
    **claims.FILTERS,
    **searches.FILTERS,
    **series.FILTERS,
    **views.FILTERS,
    **words.FILTERS,
    **text.FILTERS,
}
"""What a template may pipe a value through."""

# What a template or reading one of its parts can raise, besides Jinja's own errors.
_TEMPLATE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)

_RANDOM_FILTERS = ("random",)
_CONTROL_CHARACTERS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class StrictName(StrictUndefined):
    """An undefined name: any use of it is an error with a helpful message."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return str(self._undefined_hint)
        name = str(self._undefined_name)
        if isinstance(self._undefined_obj, Mapping):
            near = suggest_name(name, map(str, self._undefined_obj))
            return f"there is no `{name}` here" + (f"; did you mean `{near}`?" if near else "")
        near = suggest_name(name, ["document", "timing", "fingerprint", "signer", *FUNCTIONS])
        return f"`{name}` is not defined" + (f"; did you mean `{near}`?" if near else "")


class LimitError(Exception):
    """A template exceeded a limit; the message is for its author."""


def render_template(
    report: Format,
    document: Mapping[str, Any],
    timing: Mapping[str, Any],
    fingerprint: str = "",
    signer: str = "",
    most: int = 0,
) -> str:
    """Return the report; it may have at most `most` characters, unless that is 0.

    Raises:
        ReportError: The template has an error.
    """
    fingerprint = fingerprint or _compute_fingerprint(document)
    try:
        template = _make_environment(report).get_template(report.path.name)
        given = {
            "document": document,
            "timing": timing,
            "fingerprint": fingerprint,
            "signer": signer,
        }
        made = _join_pieces(template.generate(given), most) if most else template.render(given)
    except (TemplateError, LimitError, MemoryError, *_TEMPLATE_ERRORS) as error:
        raise _report_error(error, report) from error
    return make_lines_visible(made)


def _compute_fingerprint(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the file that would hold a document."""
    try:
        written = text.as_json(document)
    except RecursionError:
        raise ReportError(NESTED) from None
    return sha256(_without_controls(written).encode()).hexdigest()


def _join_pieces(pieces: Iterator[str], most: int) -> str:
    """Return the pieces joined; raise LimitError in the template's own line if it gets too long."""
    made = []
    for piece in pieces:
        made.append(piece)
        most -= len(piece)
        if most < 0 and isinstance(pieces, Generator):
            pieces.throw(LimitError("makes more text than a report may have"))
    return "".join(made)


def check_syntax(report: Format) -> None:
    """Raise ReportError for a syntax error in a template or in a part that it names.

    A part that does not exist may never be needed, so only rendering reports it.
    """
    environment = _make_environment(report)
    waiting, seen = [report.path.name], set[str]()
    try:
        while waiting:
            seen.add(name := waiting.pop())
            waiting.extend(_list_parts(environment, name) - seen)
    except (TemplateError, LimitError, MemoryError, *_TEMPLATE_ERRORS) as error:
        raise _report_error(error, report) from error


def _list_parts(environment: ImmutableSandboxedEnvironment, name: str) -> set[str]:
    """Return the parts that a template names, after compiling it; none if it does not exist."""
    try:
        filename = str(environment.get_template(name).filename)
    except TemplateNotFound:
        return set()
    tree = environment.parse(Path(filename).read_text(encoding="utf-8"), name, filename)
    return {part for part in find_referenced_templates(tree) if part}


def _without_controls(made: str) -> str:
    """Return a text without control characters and lone surrogates of a damaged record."""
    return _CONTROL_CHARACTERS.sub("\ufffd", made)


class _Folder(FileSystemLoader):
    """A loader for the templates of a folder, which follows no link out of it."""

    def __init__(self, folder: Path, named: str = "") -> None:
        """Serve a folder; the template that the user `named` may itself be a link."""
        super().__init__(folder)
        self._folder = folder
        self._named = named

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        path = self._folder / template
        if template != self._named and _is_outside(path, self._folder):
            raise SecurityError(f"follow the link `{template}` out of their folder")
        return super().get_source(environment, template)


def _is_outside(path: Path, folder: Path) -> bool:
    """Return whether a path, with links resolved, is outside a folder."""
    return not path.resolve().is_relative_to(folder.resolve())


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox that refuses operators with very large results before evaluating them."""

    intercepted_binops = frozenset(("*", "**", "%"))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a member of a document at once, of which templates ask for most."""
        if type(obj) is dict and attribute in obj and not hasattr(dict, attribute):
            return obj[attribute]
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operator; raises SecurityError if it would be too large."""
        if _estimate_size(operator, left, right) > MAX_RESULT:
            raise SecurityError(f"make anything so large by `{operator}`")
        return super().call_binop(context, operator, left, right)


_WIDTH = re.compile(r"%(?:\(.*?\))?[-+ #0]*(?:\d*\.)?(\d+)")

MAX_RESULT = 10**7
"""Characters, items or bits of a number that an operator of a template may make."""


def _estimate_size(operator: str, left: Any, right: Any) -> float:
    """Return roughly how many characters, items or bits the result of an operator would have."""
    if operator == "%":
        return max(map(float, _WIDTH.findall(left)), default=0) if isinstance(left, str) else 0
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        return bits * max(right, 0) if operator == "**" else bits + right.bit_length()
    if operator == "*":
        many, times = (left, right) if isinstance(right, int) else (right, left)
        return len(many) * times if isinstance(many, Sized) and isinstance(times, int) else 0
    return 0


def _make_environment(report: Format) -> ImmutableSandboxedEnvironment:
    beside = _Folder(report.path.parent, report.path.name)
    environment = _Sandbox(
        loader=ChoiceLoader([beside, _Folder(REPORTS)]),
        undefined=StrictName,
        autoescape=report.is_markup,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=-1,
    )
    environment.globals = {**FUNCTIONS, **{n: environment.globals[n] for n in _BUILT_IN}}
    environment.filters.update(FILTERS)
    for name in _RANDOM_FILTERS:
        del environment.filters[name]
    environment.bytecode_cache = Bytecode(environment, markup=report.is_markup)
    return environment


_BUILT_IN = ("range", "dict", "namespace", "joiner", "cycler")


def _report_error(error: Exception, report: Format) -> ReportError:
    if isinstance(error, TemplateSyntaxError):
        name = _name(error.filename or report.path)
        return ReportError(error.message or "not a template", name, error.lineno)
    return ReportError(_write_message(error), *_find_place(error, report))


def _write_message(error: Exception) -> str:
    if isinstance(error, TemplateNotFound):
        return f"there is no template `{error.name}`"
    if isinstance(error, SecurityError):
        return f"templates may not do this: {error.message}"
    if isinstance(error, MemoryError):
        return "uses more memory than a template may"
    if isinstance(error, TemplateError):
        return error.message or "something is not defined"
    return str(error) if isinstance(error, LimitError) else f"{type(error).__name__}: {error}"


def _find_place(error: BaseException, report: Format) -> tuple[str, int]:
    """Return the template and line of an error, from the traceback."""
    place = (report.path.name, 0)
    trace = error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.endswith(".j2"):
            place = (_name(filename), trace.tb_lineno)
        trace = trace.tb_next
    return place


def _name(path: str | Path) -> str:
    """Return a template's path within the library, or a user's template's name."""
    inside = Path(path).is_relative_to(REPORTS)
    return Path(path).relative_to(REPORTS).as_posix() if inside else Path(path).name
