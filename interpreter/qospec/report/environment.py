"""Jinja as templates of reports get it: sandboxed, strict, without chance, errors with places.

The only module that imports Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, FileSystemLoader, StrictUndefined
from jinja2.exceptions import (
    SecurityError,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.meta import find_referenced_templates
from jinja2.sandbox import ImmutableSandboxedEnvironment

from qospec.diagnostics import did_you_mean
from qospec.report import (
    arrangement,
    cautions,
    certainty,
    claims,
    curves,
    drawing,
    headline,
    plot,
    reasons,
    text,
    views,
    words,
)
from qospec.report.render import REPORTS, Format, ReportError
from qospec.visible import visible_lines

FUNCTIONS = {
    **views.FUNCTIONS,
    **arrangement.FUNCTIONS,
    **plot.FUNCTIONS,
    **reasons.FUNCTIONS,
    **cautions.FUNCTIONS,
    **claims.FUNCTIONS,
    "curves": curves.curves,
    "with_confidence": certainty.with_confidence,
    "headline": headline.headline,
    "drawing": drawing.drawing,
    **text.FUNCTIONS,
}
"""What a template may call; spec/8-reports.md describes each."""

FILTERS = {
    **cautions.FILTERS,
    **claims.FILTERS,
    **views.FILTERS,
    **words.FILTERS,
    **text.FILTERS,
}
"""What a template may pipe a value through."""

# What a template can raise by itself, or reading one of its parts, beside Jinja's own errors.
_MISTAKES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)

_CHANCE = ("random",)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Missing(StrictUndefined):
    """A name that is not there: any use of it is an error, in words that help."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return str(self._undefined_hint)
        name = str(self._undefined_name)
        if isinstance(self._undefined_obj, Mapping):
            near = did_you_mean(name, map(str, self._undefined_obj))
            return f"there is no `{name}` here" + (f"; did you mean `{near}`?" if near else "")
        near = did_you_mean(name, ["document", "timing", "fingerprint", *FUNCTIONS])
        return f"`{name}` is not defined" + (f"; did you mean `{near}`?" if near else "")


def rendered(report: Format, document: Mapping[str, Any], timing: Mapping[str, Any]) -> str:
    """Return the report; raises ReportError for a mistake of the template."""
    try:
        fingerprint = sha256(_clean(text.as_json(document)).encode()).hexdigest()
    except RecursionError:
        raise ReportError("the record is damaged: it is nested too deeply") from None
    try:
        template = _environment(report).get_template(report.path.name)
        made = template.render(document=document, timing=timing, fingerprint=fingerprint)
    except (TemplateError, *_MISTAKES) as error:
        raise _explained(error, report) from error
    return visible_lines(made)


def checked(report: Format) -> None:
    """Raise ReportError for a mistake of syntax in a template or in a part that it names.

    A part that is not there may be one that is never asked for, so only rendering refuses it.
    """
    environment = _environment(report)
    waiting, seen = [report.path.name], set[str]()
    try:
        while waiting:
            seen.add(name := waiting.pop())
            waiting.extend(_parts(environment, name) - seen)
    except (TemplateError, *_MISTAKES) as error:
        raise _explained(error, report) from error


def _parts(environment: ImmutableSandboxedEnvironment, name: str) -> set[str]:
    """Return what a template names, after compiling it; nothing if it is not there."""
    try:
        filename = str(environment.get_template(name).filename)
    except TemplateNotFound:
        return set()
    tree = environment.parse(Path(filename).read_text(encoding="utf-8"), name, filename)
    return {part for part in find_referenced_templates(tree) if part}


def _clean(made: str) -> str:
    """Return a text without the controls and lone surrogates that a damaged record may hold."""
    return _FORBIDDEN.sub("\ufffd", made)


def _environment(report: Format) -> ImmutableSandboxedEnvironment:
    folders: list[BaseLoader] = [FileSystemLoader(report.path.parent), FileSystemLoader(REPORTS)]
    environment = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader(folders),
        undefined=Missing,
        autoescape=report.is_markup,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=-1,
    )
    environment.globals = {**FUNCTIONS, **{n: environment.globals[n] for n in _OF_JINJA}}
    environment.filters.update(FILTERS)
    for name in _CHANCE:
        del environment.filters[name]
    return environment


_OF_JINJA = ("range", "dict", "namespace", "joiner", "cycler")


def _explained(error: Exception, report: Format) -> ReportError:
    if isinstance(error, TemplateSyntaxError):
        name = _name(error.filename or report.path)
        return ReportError(error.message or "is not a template", name, error.lineno)
    name, line = _place(error, report)
    if isinstance(error, TemplateNotFound):
        return ReportError(f"no template is named `{error.name}`", name, line)
    if isinstance(error, SecurityError):
        return ReportError(f"templates may not do this: {error.message}", name, line)
    if isinstance(error, TemplateError):
        return ReportError(error.message or "something is not defined", name, line)
    return ReportError(f"{type(error).__name__}: {error}", name, line)


def _place(error: BaseException, report: Format) -> tuple[str, int]:
    """Return the template and the line that ran last; Jinja puts them in the traceback."""
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
