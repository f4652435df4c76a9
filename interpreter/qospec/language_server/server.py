"""The Language Server Protocol 3.17, by pygls; what is answered is made elsewhere."""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from qospec.catalogue.kinds import discover
from qospec.check.modules.files import resolve_links
from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.language_server.answers import Answers, RenameError
from qospec.language_server.session import Session
from qospec.reference.library import load_library
from qospec.repair import find_edits
from qospec.source import Source
from qospec.version import VERSION
from qospec.yaml_twin.form import is_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.diagnostics import Diagnostic
    from qospec.language_server.names import Place
    from qospec.source import Span

PAUSE_S = 0.05
"""How long an editor must rest before what is typed is checked."""
REST_S = 0.3
"""How long it must rest after that before all else in the file is checked again."""
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}
SORTS = {
    "keyword": types.CompletionItemKind.Keyword,
    "name": types.CompletionItemKind.Variable,
    "unit": types.CompletionItemKind.Unit,
}


class Server(LanguageServer):
    """The server, with its session."""

    def __init__(self) -> None:
        super().__init__("qospec", VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.session = Session()
        self.answers = Answers(self.session)
        self._worker = ThreadPoolExecutor(1)
        self._waiting: dict[Path, asyncio.Task[None]] = {}
        self._found: dict[Path, tuple[str, tuple[Diagnostic, ...]]] = {}
        self._told: dict[Path, set[Path]] = {}

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002
        """Say that something of the server is wrong, and go on."""
        if not isinstance(error, JsonRpcException):
            words = f"internal error in qospec: {type(error).__name__}: {error}"
            message = types.ShowMessageParams(types.MessageType.Error, words)
            self.window_show_message(message)

    def read_library(self) -> None:
        """Read beside all else what the first answer would wait for."""
        self._worker.submit(load_library, discover())

    def take(self, uri: str, text: str) -> None:
        """Take the text of a file, and check it as soon as no more is typed."""
        path = find_path(uri)
        self.session.texts[path] = text
        self.check_soon(path)

    def check_soon(self, path: Path) -> None:
        """Check a file as soon as no more is typed in it."""
        if path in self._waiting:
            self._waiting.pop(path).cancel()
        self._waiting[path] = asyncio.create_task(self._check(path))

    async def _check(self, path: Path) -> None:
        """Check a file beside what is asked meanwhile, and publish what is wrong in it.

        The declaration that was edited comes first.
        """
        await asyncio.sleep(PAUSE_S)
        text = self.session.texts[path]
        if not self.session.is_ours(path):
            self._publish(path, text, ())
            return
        loop, session = asyncio.get_running_loop(), self.session
        seen = await loop.run_in_executor(self._worker, session.diagnose_declaration, path, text)
        if seen is not None:
            self._publish(path, text, seen)
            await asyncio.sleep(REST_S)
        found = await loop.run_in_executor(self._worker, session.diagnose, path, text)
        self._publish(path, text, found)

    def _publish(self, path: Path, text: str, found: tuple[Diagnostic, ...]) -> None:
        """Publish what is wrong in a text, if the file still has it."""
        if self.session.texts.get(path) == text:
            self._found[path] = text, found
            self._send_all(path, found)

    def _send_all(self, path: Path, found: Iterable[Diagnostic]) -> None:
        """Publish what is wrong in an open file, and in those that it imports."""
        by_path: dict[Path, list[Diagnostic]] = {path: []}
        for problem in found:
            where = resolve_links(Path(problem.span.source.name))
            if where == path or where not in self.session.texts:  # an open file has its own
                by_path.setdefault(where, []).append(problem)
        for where in self._told.pop(path, set()) - by_path.keys():
            self._send(where, [])
        self._told[path] = set(by_path)
        for where, diagnostics in by_path.items():
            self._send(where, diagnostics)

    def list_found(self, path: Path) -> list[Diagnostic]:
        """Return what is wrong in a file, as far as it is known of its present text."""
        text, found = self._found.get(path, (None, ()))
        known = found if text == self.session.texts.get(path) else ()
        return [
            problem for problem in known if resolve_links(Path(problem.span.source.name)) == path
        ]

    def locate(self, params: Any) -> tuple[Path, int] | None:
        """Return the path and the offset that an editor asks for; None if they are not ours."""
        path = find_path(params.text_document.uri)
        if not self.session.is_ours(path):
            return None
        return path, find_offset(self.session.texts[path], params.position)

    def forget(self, path: Path) -> None:
        """Withdraw what was published of a file that is closed."""
        self.session.close(path)
        if path in self._waiting:
            self._waiting.pop(path).cancel()
        for where in self._told.pop(path, {path}):
            self._send(where, [])

    def _send(self, path: Path, diagnostics: Iterable[Diagnostic]) -> None:
        listed = [describe_diagnostic(diagnostic) for diagnostic in diagnostics]
        params = types.PublishDiagnosticsParams(write_uri(path), listed)
        self.text_document_publish_diagnostics(params)


def find_path(uri: str) -> Path:
    """Return the path of a file, with links resolved."""
    return resolve_links(Path(to_fs_path(uri) or "untitled.qos"))


def write_uri(path: Path) -> str:
    """Return a path as editors name it."""
    return from_fs_path(str(path)) or ""


def find_offset(text: str, position: types.Position) -> int:
    """Return the offset of a position, whose characters are code units of UTF-16."""
    lines = Source("", text).line_starts
    if position.line >= len(lines):
        return len(text)
    start = lines[position.line]
    end = text.find("\n", start)
    line = text[start : len(text) if end < 0 else end]
    units = line.encode("utf-16-le")[: 2 * position.character]
    return start + len(units.decode("utf-16-le", "ignore"))


def make_range(source: Source, start: int, end: int) -> types.Range:
    """Return where a part of a text is, as editors count."""
    return types.Range(_make_position(source, start), _make_position(source, end))


def _make_position(source: Source, offset: int) -> types.Position:
    line, _ = source.find_position(offset)
    before = source.text[source.line_starts[line - 1] : offset]
    return types.Position(line - 1, len(before.encode("utf-16-le")) // 2)


def describe_diagnostic(diagnostic: Diagnostic) -> types.Diagnostic:
    """Return a diagnostic as an editor shows it: the message, notes and help below each other."""
    span = diagnostic.span
    more = [diagnostic.label, *diagnostic.notes, diagnostic.help and f"help: {diagnostic.help}"]
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(
                write_uri(resolve_links(Path(label.span.source.name))),
                find_range(label.span),
            ),
            label.text or "here",
        )
        for label in diagnostic.secondary
    ]
    return types.Diagnostic(
        find_range(span),
        "\n".join([diagnostic.message, *filter(None, more)]),
        severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source="qos",
        related_information=related or None,
    )


def describe_fix(diagnostic: Diagnostic) -> types.CodeAction:
    """Return what applies the fix of a diagnostic."""
    source = diagnostic.span.source
    changes = [types.TextEdit(find_range(edit.span), edit.text) for edit in find_edits(diagnostic)]
    uri = write_uri(resolve_links(Path(source.name)))
    return types.CodeAction(
        diagnostic.help or f"fix {diagnostic.code}",
        types.CodeActionKind.QuickFix,
        [describe_diagnostic(diagnostic)],
        is_preferred=True,
        edit=types.WorkspaceEdit({uri: changes}),
    )


def find_range(span: Span) -> types.Range:
    """Return where a span is, as editors count."""
    return make_range(span.source, span.start, span.end)


def _make_location(place: Place) -> types.Location:
    return types.Location(write_uri(place.path), make_range(place.source, place.start, place.end))


def build_server() -> Server:
    """Return a server that answers all that it can."""
    server = Server()
    _add_files(server)
    _add_answers(server)
    _add_edits(server)
    return server


def _add_files(server: Server) -> None:
    """Add what is said of files: that they are opened, changed, saved and closed."""

    @server.feature(types.INITIALIZED)
    def read_library(params: types.InitializedParams) -> None:  # noqa: ARG001
        server.read_library()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def open_file(params: types.DidOpenTextDocumentParams) -> None:
        server.take(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def change_file(params: types.DidChangeTextDocumentParams) -> None:
        document = server.workspace.get_text_document(params.text_document.uri)
        server.take(params.text_document.uri, document.source)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def save_file(params: types.DidSaveTextDocumentParams) -> None:  # noqa: ARG001
        for path in server.session.texts:  # they may import it
            server.check_soon(path)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def close_file(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(find_path(params.text_document.uri))


def _add_answers(server: Server) -> None:
    """Add what is asked of a place."""
    session, answers, locate = server.session, server.answers, server.locate

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def show_meaning(params: types.HoverParams) -> types.Hover | None:
        at = locate(params)
        said = answers.explain(*at) if at else ""
        if not said:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, f"```text\n{said}\n```")
        return types.Hover(content)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def go_to_definition(params: types.DefinitionParams) -> types.Location | None:
        at = locate(params)
        place = answers.find_definition(*at) if at else None
        return _make_location(place) if place else None

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def list_references(params: types.ReferenceParams) -> list[types.Location]:
        at = locate(params)
        return [_make_location(place) for place in answers.list_uses(*at)] if at else []

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions([".", "@"]))
    def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        at = locate(params)
        found = answers.complete(*at) if at else {}
        return [types.CompletionItem(word, kind=SORTS[sort]) for word, sort in found.items()]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        path = find_path(params.text_document.uri)
        return [
            types.DocumentSymbol(
                node.name.text,
                types.SymbolKind.Class,
                find_range(node.span),
                find_range(node.name.span),
                detail=sort,
            )
            for sort, node in (answers.list_declarations(path) if session.is_ours(path) else ())
        ]


def _add_edits(server: Server) -> None:
    """Add what changes files: fixes, another name, the one layout."""
    session, answers = server.session, server.answers

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def list_fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        return [
            describe_fix(diagnostic)
            for diagnostic in server.list_found(find_path(params.text_document.uri))
            if find_edits(diagnostic) and _is_touching(find_range(diagnostic.span), params.range)
        ]

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        at = server.locate(params)
        if at is None:
            return None
        try:
            places = answers.rename(*at, params.new_name)
        except RenameError as error:
            raise JsonRpcException(str(error)) from None
        changes: dict[str, list[types.TextEdit]] = {}
        for place in places:
            edit = types.TextEdit(_make_location(place).range, params.new_name)
            changes.setdefault(write_uri(place.path), []).append(edit)
        return types.WorkspaceEdit(changes)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def format_file(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        path = find_path(params.text_document.uri)
        if not session.is_ours(path) or is_yaml(path.name):
            return None
        source = Source(str(path), session.texts[path])
        text = format_text(source, Problems())
        if text is None or text == source.text:
            return None
        return [types.TextEdit(make_range(source, 0, len(source.text)), text)]


def _is_touching(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


def serve() -> None:
    """Serve one editor on stdin and stdout until it ends the session."""
    if not os.environ.get("QOS_TRACEBACK"):
        logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
    build_server().start_io()
