"""`qos fmt`: formats files in the one layout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from qospec.cli import exits, loading, options, output
from qospec.cli.streams import STDIN, read
from qospec.dataclass import NamedTuple
from qospec.visible import make_visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.diagnostics import Problems
    from qospec.source import Source


class _Mode(NamedTuple):
    """Whether to change nothing (`check`), and whether to show the changes (`diff`)."""

    check: bool
    diff: bool


@click.command()
@options.paths
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
def fmt(paths: tuple[str, ...], **mode: bool) -> None:
    """Format .qos files. `-` reads stdin and writes stdout."""
    from qospec.diagnostics import Problems
    from qospec.yaml_twin.form import is_yaml

    yaml = next((path for path in paths if is_yaml(path)), None)
    if yaml is not None:
        exits.end_for_user(f"`{yaml}` is YAML; `qos fmt` formats .qos files only")
    problems = Problems()
    if paths == (STDIN,):
        code = _format_stdin(_Mode(**mode), problems)
    else:
        code = _format_files(paths, _Mode(**mode), problems)
    loading.report(problems, as_json=False)
    sys.exit(code)


def _format_files(paths: tuple[str, ...], mode: _Mode, problems: Problems) -> int:
    """Format files; return the exit code."""
    from qospec.formatting import MeaningChangedError, format_text

    changed = same = failed = 0
    for source in _read_sources(paths, problems):
        try:
            text = format_text(source, problems)
        except MeaningChangedError as error:
            exits.report_internal_error(error)
            failed += 1
            continue
        if text == source.text:
            same += 1
        elif text is not None:
            done = _write_or_show(source, text, mode)
            changed, failed = changed + done, failed + (not done)
    looks = mode.check or mode.diff
    files = loading.count_things(changed, "file")
    words = "would change" if looks else "changed"
    if changed or same or not problems.errors:
        output.say(f"{files} {words}, {same} already formatted", err=True)
    if failed:
        return exits.ERROR
    return exits.FAILED if looks and changed else exits.PASSED


def _write_or_show(source: Source, text: str, mode: _Mode) -> bool:
    """Write a file, or say what would change; return whether that could be done."""
    from qospec.repair import RepairError, rewrite

    if mode.diff:
        _show_diff(source, text)
    elif mode.check:
        output.say(f"would change: {source.name}")
    else:
        try:
            rewrite(source, text)
        except RepairError as error:
            output.say(f"error: {error}", err=True)
            return False
        output.say(f"changed: {source.name}", err=True)
    return True


def _format_stdin(mode: _Mode, problems: Problems) -> int:
    """Format what comes from stdin; return the exit code."""
    from qospec.check.evaluate.context import CheckError
    from qospec.formatting import format_text

    try:
        source = read()
    except CheckError as mistake:
        problems.add(mistake.diagnostic)
        return exits.WRONG
    text = format_text(source, problems)
    if text is None:
        return exits.WRONG
    if mode.diff:
        _show_diff(source, text)
    elif not mode.check:
        output.show_file(text)
    return exits.FAILED if (mode.check or mode.diff) and text != source.text else exits.PASSED


def _read_sources(paths: tuple[str, ...], problems: Problems) -> Iterator[Source]:
    """Yield the text of every file named and every `.qos` file below the folders named, once.

    Without a path they are those that the project of the current folder names.
    Files of packages are skipped, and that is reported: they are pinned as they are.
    """
    from qospec.check.evaluate.context import CheckError
    from qospec.check.modules import files
    from qospec.check.modules.project import Projects

    seen: set[Path] = set()
    packages = dict[str, None]()
    projects = Projects(lambda mistake: problems.add(mistake.diagnostic))
    for given in [Path(path) for path in paths] or projects.list_here():
        try:
            exclude: tuple[Path, ...] = ()
            if files.is_folder(given):
                root = files.find_root(given / "any")
                exclude = projects.find_at(root).exclude
            found = files.find_files(given, exclude)
        except CheckError as mistake:
            problems.add(mistake.diagnostic)
            continue
        for file in found:
            if (file != given or not paths) and file.suffix != ".qos":
                continue
            try:
                path = file if file == given else files.resolve_inside(file, given)
                if files.resolve_links(path) in seen:
                    continue
                seen.add(files.resolve_links(path))
                pinned = projects.find_pinning(path)
                if pinned is None:
                    yield files.read_source(path, None)
                else:
                    packages[pinned[1].name] = None
            except CheckError as mistake:
                problems.add(mistake.diagnostic)
    for name in packages:
        output.say(f"skipped the package `{name}`: its files are pinned", err=True)


def _show_diff(source: Source, text: str) -> None:
    """Print what would change."""
    from difflib import unified_diff

    from qospec.secret import redact

    name = make_visible(source.name)
    before, after = redact(source.text), redact(text)
    lines = unified_diff(_split_lines(before), _split_lines(after), name, name)
    for line in lines:
        whole = line.endswith("\n")
        output.say_text(line if whole else f"{line}\n\\ No newline at end of file\n", end="")
    if (before, after) != (source.text, text):
        output.say(f"note: {name} has keys, shown as stars: the diff is no patch of it", err=True)


def _split_lines(text: str) -> list[str]:
    """Return lines with their ends, which only a line feed is."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]
