"""A session of the language server, played by the client of another library over stdio."""

import asyncio
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

BROKEN = """qos 1

test t on net {
  expect x.lost == 0
"""
WHOLE = """qos 1

topology net {
  a, b = host
  link a -- b via line { rate = 10 Mbit/s @line, carries = packet }
}

test light on net {
  flow call = packets { rate = 1 Mbit/s @ip, size = 200 B @ip } from a to b
  run { measure = 10 ms }
  expect call.lost == 0 pkt  # 💡 two code units
}
"""
WRONG = WHOLE.replace("measure", "mesure")


class Client(LanguageClient):
    """A client that notes how the server ended."""

    ended: tuple[int | None, str]

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        assert server.stderr is not None
        self.ended = server.returncode, (await server.stderr.read()).decode()


class Editor:
    """A client with what the server has published."""

    def __init__(self, folder: Path) -> None:
        self.client = Client("editor", "1")
        self.folder = folder
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.came = asyncio.Event()
        self.versions = 0

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def take(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = list(params.diagnostics)
            self.came.set()

    async def start(self) -> types.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "qospec", "lsp")
        params = types.InitializeParams(
            types.ClientCapabilities(), root_uri=self.folder.as_uri(), process_id=None
        )
        found = await self.client.initialize_async(params)
        self.client.initialized(types.InitializedParams())
        return found

    async def open(self, name: str, text: str) -> list[types.Diagnostic]:
        self.came.clear()
        item = types.TextDocumentItem(self.uri(name), "qos", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await asyncio.wait_for(self.came.wait(), 20)
        return self.published[self.uri(name)]

    async def change(self, name: str, text: str) -> list[types.Diagnostic]:
        self.came.clear()
        self.versions += 1
        which = types.VersionedTextDocumentIdentifier(self.versions, self.uri(name))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        params = types.DidChangeTextDocumentParams(which, [whole])
        self.client.text_document_did_change(params)
        await asyncio.wait_for(self.came.wait(), 20)
        return self.published[self.uri(name)]

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def which(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))


def place(text: str, words: str) -> types.Position:
    """Return where an editor sees the place behind some words."""
    before = text[: text.index(words) + len(words)]
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


async def play(folder: Path) -> None:
    editor = Editor(folder)
    client = editor.client
    can = (await editor.start()).capabilities
    assert can.rename_provider
    assert can.document_formatting_provider

    # A file whose braces do not match does not end the server; mistakes come with their fixes.
    assert [problem.code for problem in await editor.open("a.qos", BROKEN)] == ["E0003"]
    found = await editor.change("a.qos", WRONG)
    (wrong,) = [problem for problem in found if problem.code == "E0104"]
    context = types.CodeActionContext([wrong])
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(editor.which("a.qos"), wrong.range, context)
    )
    (fix,) = actions or []
    assert isinstance(fix, types.CodeAction)
    assert fix.edit is not None
    assert fix.edit.changes is not None
    (edit,) = fix.edit.changes[editor.uri("a.qos")]
    assert edit.new_text == "measure"

    # Mended, nothing is wrong.
    assert await editor.change("a.qos", WHOLE) == []
    said = await client.text_document_hover_async(
        types.HoverParams(editor.which("a.qos"), place(WHOLE, "expect call"))
    )
    assert said is not None
    assert "flow call = packets" in str(said.contents)
    where = await client.text_document_definition_async(
        types.DefinitionParams(editor.which("a.qos"), place(WHOLE, "light on net"))
    )
    assert isinstance(where, types.Location)
    assert where.range.start == types.Position(2, len("topology "))
    offered = await client.text_document_completion_async(
        types.CompletionParams(editor.which("a.qos"), place(WHOLE, "call."))
    )
    assert isinstance(offered, list)
    assert {"lost", "delay"} <= {item.label for item in offered}
    renamed = await client.text_document_rename_async(
        types.RenameParams(editor.which("a.qos"), place(WHOLE, "flow call"), "voice")
    )
    assert renamed is not None
    assert renamed.changes is not None
    assert len(renamed.changes[editor.uri("a.qos")]) == 2
    with pytest.raises(Exception, match="keyword"):
        await client.text_document_rename_async(
            types.RenameParams(editor.which("a.qos"), place(WHOLE, "flow call"), "flow")
        )
    ugly = WHOLE.replace("  a, b = host", "a,b=host")
    assert await editor.change("a.qos", ugly) == []
    edits = await client.text_document_formatting_async(
        types.DocumentFormattingParams(
            editor.which("a.qos"), types.FormattingOptions(2, insert_spaces=True)
        )
    )
    assert [edit.new_text for edit in edits or []] == [WHOLE]
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    assert client.ended == (0, "")


@pytest.mark.slow
def test_a_session_is_answered(tmp_path: Path) -> None:
    asyncio.run(asyncio.wait_for(play(tmp_path), 60))
