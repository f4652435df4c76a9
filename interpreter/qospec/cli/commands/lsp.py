"""`qos lsp`: the language server, for editors."""

from __future__ import annotations

from importlib.util import find_spec

import click

from qospec.cli import exits


@click.command()
def lsp() -> None:
    """Serve an editor: the Language Server Protocol on stdin and stdout.

    It shows mistakes with their fixes, explains, completes, finds, renames and formats, in `.qos`
    and `.yaml` files. It needs an extra: `pip install 'qospec[lsp]'`.
    """
    if find_spec("pygls") is None:
        exits.end_for_user("`qos lsp` needs pygls: install it with `pip install 'qospec[lsp]'`")
    from qospec.language_server.server import serve

    serve()
