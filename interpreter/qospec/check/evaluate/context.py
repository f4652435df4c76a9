"""What every part of the checker needs: the catalogue, the limits, and where mistakes go."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Diagnostic, Label, Problems

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from qospec.catalogue.kinds import Catalogue, Role
    from qospec.check.evaluate.scope import Binding
    from qospec.check.evaluate.values import Value
    from qospec.diagnostics import Edit
    from qospec.source import Span
    from qospec.syntax import ast

IS_MISSING = "E0105"
"""The mistake of not writing something, which no value of a variable mends."""
OF_A_FIELD = ("E0202", "E0204", "E0205", "E0206")
"""Codes of mistakes in the value of a field, whose name the message begins with."""

USED_HERE = "used here"
"""The label of what uses something that was given elsewhere."""

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def rename_field(message: str, name: str) -> str:
    """Return what is said of a field as said of the parameter that gives its value, if one does."""
    return re.sub(r"^`\w+`", f"`{name}`", message) if name else message


class Meaning(NamedTuple):
    """What a name means where it is written: something declared, or what `qos explain` knows."""

    name: ast.Name
    declared: Span | None
    explained: str = ""


class Case(NamedTuple):
    """A case, or a test: its name, its test, and its sweeps' variables with their places.

    `bases` are the tests that its test is built on, the outermost last.
    """

    name: str
    test: Span
    variables: tuple[tuple[str, Span], ...]
    bases: tuple[ast.Test, ...] = ()
    heirs: tuple[ast.Test, ...] = ()
    """By base, the test that is built on it."""
    phase: tuple[tuple[str, Span], ...] = ()
    """The variables of the phase that is being evaluated, with the places of their values."""

    def find_base(self, span: Span) -> int | None:
        """Return the index of the base that a place lies in, if it lies in one."""
        return next((i for i, base in enumerate(self.bases) if span in base.span), None)

    def move_to_use(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a mistake in a base as one of the test that is built on it.

        A base is correct on its own, which was checked. So the mistake is in its use: in the one
        argument that the place names, or else in all of it.
        """
        first = self.find_base(diagnostic.span)
        if first is None:
            return diagnostic
        others = [label.span for label in diagnostic.secondary]
        more = [span for span in others if span in self.bases[first].span]
        name, place = self._find_argument(first, [diagnostic.span])
        if not name:
            name, place = self._find_argument(first, [diagnostic.span, *more])
        remedy = diagnostic.help
        if name and remedy.startswith("write `"):  # in the base
            remedy = f"choose another `{name}`"
        message = diagnostic.message
        if diagnostic.code in OF_A_FIELD:
            message = rename_field(message, self.find_parameter_at(diagnostic.span))
        here = f"here, in `{self.bases[first].name.text}`"
        labels = (Label(diagnostic.span, diagnostic.label or here), *diagnostic.secondary)
        label = f"in the case `{self.name}`" if self.variables else ""
        return replace(
            diagnostic,
            message=message,
            span=place,
            label=label,
            secondary=labels,
            help=remedy,
            fix=(),
        )

    def _find_argument(self, first: int, places: Sequence[Span]) -> tuple[str, Span]:
        """Return the one argument of the test that places in a base name, and where it is.

        Without one, "" and what the test is built on.
        """
        words, place = _compile_words(*places), places[0]
        found: list[tuple[str, ast.Argument]] = []
        for base, heir in zip(self.bases[first:], self.heirs[first:], strict=True):
            given = _pair_arguments(heir.base, base.parameters)
            found = [(name, argument) for name, argument in given if name in words]
            place, words = heir.base_path.span, set()
            if len(found) == 1:
                place, words = found[0][1].span, _compile_words(found[0][1].value.span)
        return (found[0][0] if len(found) == 1 else ""), place

    def find_parameter_at(self, place: Span) -> str:
        """Return the parameter that the test gives a value for what is written in a base.

        "" if more than its name is written there, or if the place is in no base.
        """
        first, name, parameter = self.find_base(place), place.text, ""
        for base, heir in zip(self.bases[first:], self.heirs[first:], strict=True):
            if first is None or name not in {parameter.name.text for parameter in base.parameters}:
                return ""
            given = dict(_pair_arguments(heir.base, base.parameters))
            parameter, name = name, given[name].value.span.text if name in given else ""
        return parameter

    def find_words_at_use(self, place: Span) -> str:
        """Return what is written somewhere, in a base with what the test gives its parameters."""
        first, text = self.find_base(place), flatten_text(place.text)
        for base, heir in zip(self.bases[first:], self.heirs[first:], strict=True):
            if first is None:
                break
            given = dict(_pair_arguments(heir.base, base.parameters))
            values: dict[str, str] = {}
            for parameter in base.parameters:
                value = (
                    given[parameter.name.text].value
                    if parameter.name.text in given
                    else parameter.default
                )
                if value is not None:
                    values[parameter.name.text] = replace_names(
                        flatten_text(value.span.text), values
                    )
            text = replace_names(text, values)
        return text

    def annotate(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a mistake with the case that it comes from, if the case is to blame.

        That is so if it names a swept variable, or lies outside the test: what is wrong with any
        value was reported before. Where it names the variable of a phase, its value is shown.
        """
        span = diagnostic.span
        if span in self.test and (hidden := self._explain_hidden_parameter(diagnostic)):
            return hidden
        words = set(re.findall(r"\w+", span.text)) if span in self.test else None
        for name, place in self.variables:
            if (words is None or name in words) and not _blames_elsewhere(diagnostic):
                swept = Label(place, f"in the case `{self.name}`")
                return replace(diagnostic, secondary=(*diagnostic.secondary, swept))
        for name, place in self.phase if diagnostic.code != IS_MISSING else ():
            if name in _compile_words(span) and span in self.test and not diagnostic.secondary:
                value = Label(place, f"`{name}` has this value")
                return replace(diagnostic, secondary=(value,))
        return diagnostic

    def _explain_hidden_parameter(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """Return the mistake of naming a parameter of a base, which is not known here."""
        unknown = diagnostic.code == "E0101" or diagnostic.message.endswith("not a kind")
        for base in self.bases if unknown else ():
            for parameter in base.parameters:
                if parameter.name.text == diagnostic.span.text:
                    return replace(
                        diagnostic,
                        code="E0101",
                        message=f"`{parameter.name.text}` is a parameter of `{base.name.text}`, "
                        "not known here",
                        label="",
                        secondary=(Label(parameter.span, "declared here"),),
                        help="write its value",
                        fix=(),
                    )
        return None


def _blames_elsewhere(diagnostic: Diagnostic) -> bool:
    """Return whether another place than where something is used is to blame, too."""
    return any(label.text != USED_HERE for label in diagnostic.secondary)


def flatten_text(text: str) -> str:
    """Return a text in one line, with single blanks."""
    return " ".join(text.split())


def replace_names(text: str, values: Mapping[str, str]) -> str:
    """Return a text with other texts in place of names: in parentheses where they are sums."""

    def replace_name(name: re.Match[str]) -> str:
        value = values.get(name[0], name[0])
        return f"({value})" if re.search(r" (\+|-|if|of|/|\*) ", value) else value

    return re.sub(r"(?<![\w.@])[A-Za-z_]\w*(?! *=[^=])", replace_name, text)


def _compile_words(*places: Span) -> set[str]:
    return {word for place in places for word in re.findall(r"\w+", place.text)}


def _pair_arguments(
    written: ast.Path | ast.Call | None, parameters: Sequence[ast.Parameter]
) -> list[tuple[str, ast.Argument]]:
    """Return the arguments of a use, each with the name of its parameter."""
    arguments: Sequence[ast.Argument] = getattr(written, "arguments", ())  # a path has none
    return [
        (argument.name.text if argument.name else parameters[place].name.text, argument)
        for place, argument in enumerate(arguments)
    ]


class BuiltIns(Protocol):
    """The names that no file declares; `check.builtins` implements it."""

    def find_value(self, name: ast.Name) -> Value | None: ...  # noqa: D102 -- said there, as those below

    def list_names(self, role: Role | None = None) -> Iterable[str]: ...  # noqa: D102

    def knows(self, name: str) -> bool: ...  # noqa: D102
    def is_reserved(self, name: str) -> bool: ...  # noqa: D102

    def find_module(self, name: str) -> str: ...  # noqa: D102

    def suggest_name(self, name: str, declared: Container[str]) -> str: ...  # noqa: D102


FEWER = "loop or sweep over fewer values, or check a part of the project"


@dataclass(frozen=True)
class Limits:
    """Limits of a specification, so that checking always ends.

    Attributes:
        cases: Of all tests of one file.
        elements: Of one topology.
        inner: Of all devices inside devices of one check, counted as often as it occurs:
            elements, machines, invariants, and the devices themselves.
        items: Of a list, a range, or an array.
        iterations: Of all loops and sweeps of one check.
        loops: Iterations of the loops of one topology, device or case.
        steps: How many values one check may evaluate, each counted as often as it is evaluated.
        errors: After how many errors checking ends.
        bits: Of a number's numerator and denominator.
        imports: How many files may be read.
        depth: How many files a chain of imports may have.
        sampled: How many cases of each test are made, for who asks only what names mean; None: all.
    """

    cases: int = 10_000
    elements: int = 1_000_000
    inner: int = 100_000
    items: int = 100_000
    iterations: int = 100_000
    loops: int = 10_000
    steps: int = 1_000_000
    errors: int = 100
    bits: int = 4_096
    imports: int = 1_000
    depth: int = 100
    sampled: int | None = None


class CheckError(Exception):
    """A mistake in the text; ends the evaluation of the expression that holds it.

    `also` are further mistakes that were found with it, and are reported with it.
    """

    def __init__(self, diagnostic: Diagnostic, also: tuple[CheckError, ...] = ()) -> None:
        self.diagnostic = diagnostic
        self.also = also
        super().__init__(diagnostic.message)


class IndexedError(CheckError):
    """An index behind what has no items; the remedy is to leave it out."""

    def __init__(self, what: str, index: Span) -> None:
        super().__init__(make_error("E0215", what, index).diagnostic)

    def add_before(self, written: Span) -> CheckError:
        """Return the mistake with its remedy: what is written before the index."""
        return CheckError(replace(self.diagnostic, help=f"write `{flatten_text(written.text)}`"))


class LimitReached(Exception):  # noqa: N818 -- nothing failed
    """A limit is reached, of errors or of work: checking ends here."""


def make_error(  # noqa: PLR0913 -- the parts of a message, by name
    code: str,
    message: str,
    span: Span,
    *,
    label: str = "",
    secondary: tuple[Span, str] | None = None,
    note: str = "",
    near: str = "",
    help: str = "",  # noqa: A002 -- what it is called wherever it is read
    fix: tuple[Edit, ...] = (),
) -> CheckError:
    """Return a mistake to raise: what, where, a second place, a fact, and the help.

    `near` is what was probably meant, and takes the place of label and help.
    """
    if near:
        label, help = f"did you mean `{near}`?", f"write `{near}`"  # noqa: A001
    labels = (Label(*secondary),) if secondary else ()
    notes = (note,) if note else ()
    return CheckError(Diagnostic(code, message, span, label, labels, notes, help, fix))


def explain_lacking_arguments(name: str, lacking: Sequence[str], use: Span) -> CheckError:
    """Return the mistake of giving no value for some parameters of `name`, all of them at once."""
    *others, last = (f"`{name}`" for name in lacking)
    needed = f"{', '.join(others)} and {last}" if others else last
    added = ", ".join(f"{name} = …" for name in lacking)
    return make_error(IS_MISSING, f"`{name}` needs {needed}", use, help=f"add `{added}`")


def add_use(span: Span, mistake: CheckError, name: str = "") -> CheckError:
    """Return a mistake in what was given for a parameter, with the place that uses it.

    If the name of the parameter is given, the mistake is one of it, not of the field.
    """
    diagnostic = mistake.diagnostic
    is_there = diagnostic.span in span or span in diagnostic.span
    if is_there or diagnostic.secondary:
        return mistake
    message = rename_field(diagnostic.message, name) if diagnostic.code in OF_A_FIELD else ""
    return CheckError(
        replace(
            diagnostic,
            message=message or diagnostic.message,
            secondary=(Label(span, USED_HERE),),
        ),
        mistake.also,
    )


def join_mistakes(mistakes: Sequence[CheckError]) -> CheckError:
    """Return several mistakes as one to raise."""
    first, *others = mistakes
    return CheckError(first.diagnostic, (*first.also, *others))


def make_all(made: Callable[[_Item], _Made], items: Iterable[_Item]) -> list[_Made]:
    """Return the result for each item; raises the mistakes of all items as one."""
    found: list[_Made] = []
    mistakes: list[CheckError] = []
    for item in items:
        try:
            found.append(made(item))
        except CheckError as mistake:
            mistakes.append(mistake)
    if mistakes:
        raise join_mistakes(mistakes)
    return found


def explain_too_deep(span: Span) -> CheckError:
    """Return the mistake of values nested more deeply than can be evaluated."""
    help_text = (
        "name parts of it with `let`, and shorten chains of values that depend on each other"
    )
    return make_error("E0606", "this is nested too deeply", span, help=help_text)


@dataclass
class Context:
    """The state of one check, shared by all of its parts.

    Attributes:
        catalogue: The kinds that are built in.
        problems: Where mistakes go.
        limits: What a specification may ask for.
        built_ins: What names stand for that no file declares.
        evaluating: The chain of names that are being evaluated.
        calling: The declarations with parameters that are being evaluated.
        circular: Those that were found to depend on themselves.
        judging: Whether flows are complete, so that what is evaluated belongs to criteria.
        iterations: How many iterations of loops and points of sweeps there were.
        loop_iterations: How many iterations of loops since a body began.
        choices: How many values with a condition were evaluated.
        steps: How many values were evaluated.
        inner: How much inner devices have added to devices.
        case: The case of a sweep that is being evaluated.
        mistakes: How many were reported, repeated ones included; it rises with each.
        names: By the identity of each name that was looked up, what it means; None: nobody asks.
    """

    catalogue: Catalogue
    problems: Problems
    limits: Limits
    built_ins: BuiltIns
    evaluating: list[Binding] = field(default_factory=list)
    calling: list[Value] = field(default_factory=list)
    circular: set[Value] = field(default_factory=set)
    judging: bool = False
    iterations: int = 0
    loop_iterations: int = 0
    choices: int = 0
    steps: int = 0
    inner: int = 0
    case: Case | None = None
    mistakes: int = 0
    names: dict[int, Meaning] | None = None
    _errors: int = 0
    _reported: set[tuple[str, str, int]] = field(default_factory=set)
    _held: list[tuple[Case, Diagnostic]] = field(default_factory=list)

    def count_iteration(self, span: Span) -> None:
        """Count an iteration of a loop, or a point of a sweep; raises LimitReached."""
        self.iterations += 1
        if self.iterations > self.limits.iterations:
            self._end(
                f"loops and sweeps take more than {self.limits.iterations:_} iterations", span
            )

    def count_loop_iteration(self, span: Span, within: int = 1) -> None:
        """Count an iteration of a loop, and those `within` it; raises LimitReached."""
        self.count_iteration(span)
        self.loop_iterations += 1
        if self.loop_iterations + within - 1 > self.limits.loops:
            self._end(
                f"the loops of one body take more than {self.limits.loops:_} iterations", span
            )

    def count_step(self, span: Span) -> None:
        """Count a value that is evaluated; raises LimitReached beyond the limit."""
        self.steps += 1
        if self.steps > self.limits.steps:
            self._end(f"more than {self.limits.steps:_} values to evaluate", span)

    def count_inner(self, count: int, span: Span) -> None:
        """Count what an inner device adds to another; raises LimitReached beyond the limit."""
        self.inner += count
        if self.inner > self.limits.inner:
            what = f"more than {self.limits.inner:_} elements"
            help_text = "nest fewer devices, or check a part of the project"
            self._end(f"nested devices add {what}", span, help_text)

    def _end(self, message: str, span: Span, help_text: str = FEWER) -> NoReturn:
        self.report(make_error("E0608", message, span, help=help_text))
        raise LimitReached

    @contextmanager
    def check_apart(self) -> Iterator[Problems]:
        """Check something apart: with problems and counts of its own, within the same limits."""
        kept = dict(vars(self))
        apart = Context(self.catalogue, Problems(), self.limits, self.built_ins, names=self.names)
        vars(self).update(vars(apart))
        try:
            yield self.problems
        finally:
            vars(self).update(kept)

    def add_meaning(self, name: ast.Name, declared: Span | None, explained: str = "") -> None:
        """Note where a name is declared, or else what `qos explain` calls what it means."""
        if self.names is not None:
            self.names[id(name)] = Meaning(name, declared, explained)

    def report(self, mistake: CheckError) -> None:
        """Report a mistake, once per place: what is evaluated again is not reported again.

        Raises LimitReached after the last error that is still worth reporting.
        """
        self._report(mistake.diagnostic)
        for check_error in mistake.also:
            self.report(check_error)

    @contextmanager
    def evaluate_for(self, test: Case | None) -> Iterator[None]:
        """Evaluate the cases of a test.

        A mistake in what the test is built on is kept back until all was evaluated: it follows from
        another one of the test, or else the first of them is reported at the use.
        """
        self.case, before = test, self.mistakes
        self._held = []
        try:
            yield
            held = self._held
            wrong_alone = test and any(
                test.find_base(error.span) is not None for error in self.problems.errors
            )
            follows = wrong_alone or self.mistakes > before + len(held)
            if test is not None and held and not follows:
                self.case, self._held = None, []
                self.mistakes = before
                case, first = held[0]
                self._report(case.move_to_use(first))
        finally:
            self.case, self._held = None, []

    def _report(self, diagnostic: Diagnostic) -> None:
        place = (diagnostic.code, diagnostic.span.source.name, diagnostic.span.start)
        is_error = diagnostic.severity == "error"
        self.mistakes += is_error
        if place in self._reported:
            return
        if is_error and self.case and self.case.find_base(diagnostic.span) is not None:
            self._held.append((self.case, diagnostic))
            return
        self._reported.add(place)
        self.problems.add(self.case.annotate(diagnostic) if self.case else diagnostic)
        self._errors += is_error
        if self._errors >= self.limits.errors:
            raise LimitReached
