"""Lexical errors: what is not a token of the language but is often written, and what to write.

Each error names the terminal that replaces the text, so that parsing can go on.
"""

from __future__ import annotations

import re

from qospec.dataclass import NamedTuple
from qospec.visible import make_visible

BEFORE = r"""
    (?P<EXPONENT>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?[eE][+-]?[0-9]+(?:<unit>)?(?![A-Za-z_]))
    |(?P<GROUPED>(?:[0-9][0-9_]*\.)?[0-9][0-9_]*_(?![0-9])_*[0-9_]*(?:\.[0-9][0-9_]*)?
        (?:<unit>)?(?![A-Za-z_]))
    |(?P<BASED>0[xXbBoO][0-9A-Fa-f_]*[0-9A-Fa-f](?![A-Za-z_]))
    |(?P<POINTED>(?<![\w\])}".])\.(?=[0-9])|[0-9][0-9_]*\.(?![.0-9A-Za-z_])(?:[ \t]*%)?)
    |(?P<SLASHES>//[^\n]*|/\*[^\n]*)
    |(?P<SIGN>===|!==|=<|=>|<>|&&|\|\||:=|\*\*|\.\.\.+|!(?!=)|;)
"""
"""Errors that would match a token of the language; `<unit>` stands for the pattern below."""

UNIT = r"[ \t]*(?!(?:<keyword>)(?![A-Za-z0-9_]))(?:%|[A-Za-zµμ]+(?:/[A-Za-zµμ]+)?(?![A-Za-z0-9_]))"
"""What may be the unit of a number; `<keyword>` stands for the reserved words."""

BEHIND = r"""
    (?P<UNCLOSED>"[^\n]*)
    |(?P<QUOTED>'[^'\n]*')
    |(?P<FOREIGN>(?:[^\W\x00-\x7f]|[\u0300-\u036f])[\w\u0300-\u036f]*)
    |(?P<STRAY>(?s:.))
"""
"""Errors that match no token; one of them matches any character."""

_SIGNS = {
    "===": ("CMP", "=="),
    "!==": ("CMP", "!="),
    "=<": ("CMP", "<="),
    "=>": ("CMP", ">="),
    "<>": ("CMP", "!="),
    "&&": ("AND", "and"),
    "||": ("OR", "or"),
    "&": ("AND", "and"),
    "|": ("OR", "or"),
    "!": ("NOT", "not"),
    ":=": ("EQUAL", "="),
    "\u2264": ("CMP", "<="),
    "\u2265": ("CMP", ">="),
    "\u2260": ("CMP", "!="),
    "\u2192": ("ARROW", "->"),
    "\u2014": ("CABLE", "--"),
    "\u2013": ("MINUS", "-"),
    "\u2212": ("MINUS", "-"),
    "\u00d7": ("TIMES", "*"),
    "\u00b7": ("TIMES", "*"),
    "\u00f7": ("TIMES", "/"),
    "\u2026": ("RANGE", ".."),
    "...": ("RANGE", ".."),
}
"""Operators of other languages, each as ours."""

_SURE = frozenset(_SIGNS) - {"&&", "||", "&", "|", "!", "=>", "\u2014", "\u2013"}
"""Those with only one meaning. `=>` may be an arrow, a dash a link or a minus."""

_QUOTES = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
_LONGEST_BASED = 16
"""Of hexadecimal digits with their `0x`; more may be a key, which no message shows."""
_LONGEST = 30


class LexicalError(NamedTuple):
    """What is wrong, and the terminal that replaces the text, spelled as `word`.

    `replacement` is the fix that is certain to be right, if there is one.
    """

    code: str
    message: str
    help: str
    kind: str = ""
    word: str = ""
    replacement: str | None = None


def explain_mismatch(kind: str, written: str) -> LexicalError:
    """Return the error for a match of the groups above."""
    if kind == "STRAY":
        return _SPECIAL.get(written) or _explain_sign(written)
    return _DESCRIBERS[kind](written)


def _explain_exponent(written: str) -> LexicalError:
    number = re.match(r"[0-9_.]+[eE][+-]?[0-9]+", written)
    unit = written[number.end() :] if number else ""
    digits, _, exponent = written.removesuffix(unit).lower().replace("_", "").partition("e")
    whole, _, decimals = digits.partition(".")
    shift = int(exponent) if len(exponent) <= _LONGEST // 10 else _LONGEST
    replacement = ""
    if abs(shift) + len(digits) < _LONGEST:
        padded = (
            "0" * max(0, -shift - len(whole) + 1)
            + whole
            + decimals
            + "0" * max(0, shift - len(decimals))
        )
        point = len(padded) - max(0, len(decimals) - shift)
        replacement = f"{int(padded[:point] or '0'):_}"
        replacement += f".{padded[point:]}" if padded[point:].strip("0") else ""
    replacement += unit if replacement else ""
    help_text = (
        f"write {replacement}" if replacement else "write it out, with a larger unit if it is long"
    )
    kind = "QUANTITY" if unit else "FLOAT" if "." in replacement else "INT"
    word = replacement or f"1{unit}"
    message = "a number is written without an exponent"
    return LexicalError("E0007", message, help_text, kind, word, replacement or None)


def _explain_grouped(written: str) -> LexicalError:
    number = re.match(r"[0-9_.]+", written)
    digits = number.group() if number else ""
    word = re.sub(r"(?<=_)_+|_+(?![0-9_])", "", digits) + written.removeprefix(digits)
    kind = "QUANTITY" if word[-1] not in "0123456789" else "FLOAT" if "." in word else "INT"
    message = "`_` is only allowed between digits"
    return LexicalError("E0007", message, f"write {shorten(word)}", kind, word)


def _explain_based(written: str) -> LexicalError:
    text = written.lower().replace("_", "")
    base = {"x": 16, "o": 8, "b": 2}[text[1]]
    fits = len(text) <= _LONGEST_BASED and all(int(digit, 16) < base for digit in text[2:])
    help_text = f"write {int(text[2:], base):_}" if fits else "write it with the digits 0 to 9"
    word = str(int(text[2:], base)) if fits else "1"
    return LexicalError(
        "E0007", "numbers are decimal", help_text, "INT", word, word if fits else None
    )


def _explain_pointed(written: str) -> LexicalError:
    message = "a decimal point needs a digit on each side"
    number, _, unit = written.partition(".")
    if not number:
        return LexicalError("E0007", message, "write a 0 before it", replacement="0.")
    unit = unit.strip()
    help_text = f"write {shorten(number)}.0{unit}, or leave the point out"
    word = number + unit
    return LexicalError("E0007", message, help_text, "QUANTITY" if unit else "INT", word, word)


def _explain_slashes(written: str) -> LexicalError:
    line = f"#{written[2:]}" if written.startswith("//") else None
    return LexicalError(
        "E0009",
        "a comment begins with `#`",
        f"write `#` instead of `{written[:2]}`",
        replacement=line,
    )


def _explain_unclosed(written: str) -> LexicalError:
    return LexicalError(
        "E0008",
        "this text is never closed",
        'close it with `"` on the same line',
        "STRING",
        f'{written}"',
    )


def _explain_quoted(written: str) -> LexicalError:
    inner = written[1:-1]
    help_text = f'write "{shorten(inner)}"'
    replacement = None if '"' in inner else f'"{inner}"'
    return LexicalError(
        "E0008",
        'a text is written between `"` and `"`',
        help_text,
        "STRING",
        f'"{inner}"',
        replacement,
    )


def _explain_foreign(written: str) -> LexicalError:
    letter = next(character for character in written if not character.isascii())
    message = f"`{letter}` ({name_character(letter)}) is not allowed in a name"
    return LexicalError(
        "E0009", message, "names are made of a to z, A to Z, 0 to 9 and `_`", "NAME"
    )


def _explain_sign(written: str) -> LexicalError:
    known = _SIGNS.get("..." if written.startswith("...") else written)
    if known is not None:
        message = f"unexpected `{shorten(written)}`"
        replacement = known[1] if written in _SURE else None
        return LexicalError("E0009", message, f"write `{known[1]}`", *known, replacement)
    if written in _QUOTES:
        return LexicalError("E0008", f"`{written}` is a typographic quotation mark", 'write `"`')
    return LexicalError("E0009", f"unexpected `{written}`", "")


def explain_hidden(character: str) -> LexicalError:
    """Return the error for an invisible character."""
    if character == "\r":
        return _SPECIAL[character]
    import unicodedata

    if unicodedata.category(character) == "Zs":
        message = f"this is not a plain space ({name_character(character)})"
        return LexicalError("E0009", message, "write a plain space", replacement=" ")
    message = f"this line contains an invisible character ({name_character(character)})"
    # One that only formats stands for nothing; another may stand for what was meant.
    gone = "" if unicodedata.category(character) == "Cf" else None
    return LexicalError("E0009", message, "delete it, or retype the line", replacement=gone)


def name_character(character: str) -> str:
    """Return a character's code point and its name, if it has one."""
    import unicodedata

    name = unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X}{name and f', {name}'}"


def shorten(text: str, most: int = 40) -> str:
    """Return a text as a message can quote it: on one line, not too long, nothing invisible."""
    shown = make_visible(" ".join(text.split()))
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


_POWER = LexicalError(
    "E0009", "there is no power operator", "write the product out, as in `x * x`", "TIMES", "*"
)

_SPECIAL = {
    "'": LexicalError(
        "E0008", 'a text is written between `"` and `"`', "write `\"` instead of `'`"
    ),
    "%": LexicalError(
        "E0009", "`%` must follow a number", "write the number before it, as in `95%`"
    ),
    "\r": LexicalError(
        "E0009",
        "a carriage return does not end a line",
        "end lines with a line feed",
        replacement="\n",
    ),
    ";": LexicalError(
        "E0009", "a statement ends with its line, not with `;`", "leave it out", replacement=""
    ),
    "**": _POWER,
    "^": _POWER,
}

_DESCRIBERS = {
    "EXPONENT": _explain_exponent,
    "GROUPED": _explain_grouped,
    "BASED": _explain_based,
    "POINTED": _explain_pointed,
    "SLASHES": _explain_slashes,
    "SIGN": lambda written: _SPECIAL.get(written) or _explain_sign(written),
    "UNCLOSED": _explain_unclosed,
    "QUOTED": _explain_quoted,
    "FOREIGN": _explain_foreign,
}

KINDS = frozenset({*_DESCRIBERS, "STRAY"})
"""The groups of the patterns above."""
