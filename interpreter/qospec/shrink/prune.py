"""What a draft no longer uses, taken away: declarations and imports."""

from __future__ import annotations

from qospec.diagnostics import Edit
from qospec.shrink.draft import Draft, paths_in, without_comments


def pruned(draft: Draft, name: str) -> Draft:
    """Return a draft with what the declaration of that name needs, itself included."""
    declared = {each.name.text: each for each in draft.tree.declarations}
    needed, waiting = {name}, [name]
    while waiting:
        node = declared.get(waiting.pop())
        used = {path.name.text for path in paths_in(node)} if node is not None else set()
        waiting += used - needed
        needed |= used
    edits = [
        draft.removed(each) for each in draft.tree.declarations if each.name.text not in needed
    ]
    kept = [each for each in draft.tree.imports if each.name in needed]
    lines = "".join(f"import {draft.raw(each)}\n" for each in kept)
    start = len(draft.text) - len(draft.text.partition("\n")[2])
    ends = [each.span.end for each in draft.tree.imports]
    if ends:
        edits.append(Edit(draft.between(start, max(ends)), lines))
    found = Draft.read(without_comments(draft.changed(edits)))
    assert found is not None  # noqa: S101 -- whole declarations and imports are left
    return found
