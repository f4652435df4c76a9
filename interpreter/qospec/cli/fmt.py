"""`qos fmt`: puts files into the one layout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from qospec.cli import exits, loading, options, output
from qospec.cli.streams import STDIN, read
from qospec.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.diagnostics import Problems
    from qospec.source import Source


class _Asked(NamedTuple):
    """Only look (`check`), and show what would change (`diff`)."""

    check: bool
    diff: bool


@click.command()
@options.paths
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
def fmt(paths: tuple[str, ...], **asked: bool) -> None:
    """Put .qos files into the one layout; `-` reads stdin and writes stdout."""
    from qospec.diagnostics import Problems
    from qospec.yaml_twin.form import is_yaml

    yaml = next((path for path in paths if is_yaml(path)), None)
    if yaml is not None:
        exits.wrong(f"{yaml} is YAML, and `qos fmt` lays out .qos files only")
    problems = Problems()
    if paths == (STDIN,):
        code = _piped(_Asked(**asked), problems)
    else:
        code = _in_place(paths, _Asked(**asked), problems)
    loading.tell(problems, as_json=False)
    sys.exit(code)


def _in_place(paths: tuple[str, ...], asked: _Asked, problems: Problems) -> int:
    """Format files; return the exit code."""
    from qospec.formatting import Damaged, formatted

    changed = same = failed = 0
    for source in _sources(paths, problems):
        try:
            text = formatted(source, problems)
        except Damaged as damaged:
            exits.tell_mistake(damaged)
            failed += 1
            continue
        if text == source.text:
            same += 1
        elif text is not None:
            done = _changed(source, text, asked)
            changed, failed = changed + done, failed + (not done)
    looks = asked.check or asked.diff
    files = loading.counted(changed, "file")
    they = "it" if same == 1 else "they"
    words = "would change" if looks else "changed"
    output.say(f"{files} {words}, {same} as {they} should be", err=True)
    if failed:
        return exits.ERROR
    return exits.FAILED if looks and changed else exits.PASSED


def _changed(source: Source, text: str, asked: _Asked) -> bool:
    """Write a file, or say what would change; return whether that could be done."""
    from qospec.repair import RepairError, rewrite

    if asked.diff:
        _show(source, text)
    elif asked.check:
        output.say(f"would change: {source.name}")
    else:
        try:
            rewrite(source, text)
        except RepairError as error:
            output.say(f"error: {error}", err=True)
            return False
        output.say(f"changed: {source.name}", err=True)
    return True


def _piped(asked: _Asked, problems: Problems) -> int:
    """Format what comes from stdin; return the exit code."""
    from qospec.check.evaluate.context import CheckError
    from qospec.formatting import formatted

    try:
        source = read()
    except CheckError as mistake:
        problems.add(mistake.diagnostic)
        return exits.WRONG
    text = formatted(source, problems)
    if text is None:
        return exits.WRONG
    if asked.diff:
        _show(source, text)
    elif not asked.check:
        output.show_file(text)
    return exits.FAILED if (asked.check or asked.diff) and text != source.text else exits.PASSED


def _sources(paths: tuple[str, ...], problems: Problems) -> Iterator[Source]:
    """Yield the text of every file named and every `.qos` file below the folders named, once.

    Without a path they are those that the project of the current folder names.
    Files of packages are passed over, with a word: they are pinned as they are.
    """
    from qospec.check.evaluate.context import CheckError
    from qospec.check.modules import files
    from qospec.check.modules.project import Projects

    seen: set[Path] = set()
    packages = dict[str, None]()
    projects = Projects(lambda mistake: problems.add(mistake.diagnostic))
    for given in [Path(path) for path in paths] or projects.here():
        try:
            exclude: tuple[Path, ...] = ()
            if files.is_folder(given):
                root = files.root_of(given / "any")
                exclude = projects.at(root).exclude
            found = files.named(given, exclude)
        except CheckError as mistake:
            problems.add(mistake.diagnostic)
            continue
        for file in found:
            if (file != given or not paths) and file.suffix != ".qos":
                continue
            try:
                path = file if file == given else files.inside(file, given)
                if files.real(path) in seen:
                    continue
                seen.add(files.real(path))
                pinned = projects.pinning(path)
                if pinned is None:
                    yield files.source(path, None)
                else:
                    packages[pinned[1].name] = None
            except CheckError as mistake:
                problems.add(mistake.diagnostic)
    for name in packages:
        output.say(f"the package `{name}` is left as it is: its files are pinned", err=True)


def _show(source: Source, text: str) -> None:
    """Print what would change."""
    from difflib import unified_diff

    name = visible(source.name)
    lines = unified_diff(_lines(source.text), _lines(text), name, name)
    for line in lines:
        whole = line.endswith("\n")
        output.say_text(line if whole else f"{line}\n\\ No newline at end of file\n", end="")


def _lines(text: str) -> list[str]:
    """Return lines with their ends, which only a line feed is."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]
