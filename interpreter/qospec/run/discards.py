"""Who discarded how many of whom, in words: in one repeat, or in several taken together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def single(loss: Mapping[str, Any]) -> str:
    """Return the sentence of a loss of the record, of one repeat."""
    return sentence({**loss, "least": loss["cells"], "most": loss["cells"], "when": ""})


def sentence(discard: Mapping[str, Any]) -> str:
    """Return the sentence of what was discarded `least` and `most` in a repeat, and `when`."""
    ends = dict.fromkeys(f"{discard[end]:_}" for end in ("least", "most"))
    items = discard["carries"] + "s" * (discard["most"] != 1)
    when = f" {discard['when']}" if discard["when"] else ""
    lost = f"{' to '.join(ends)} {items} of {discard['flow']}{when}"
    return f"{lost}: {discard['element']} ({discard['cause']})"
