"""The language server: what an editor asks of files that are open in it, `qos lsp`.

`session.py` keeps the files as the editor has them, each checked by the one checker; `glance.py`
says ahead of that what is wrong in the declaration that was edited; `names.py` says where names are
declared and used, by what the checker noted; `completion.py` asks it what may stand at a place;
`answers.py` puts these together; `server.py` speaks the Language Server Protocol, and is the only
module that imports pygls.
"""
