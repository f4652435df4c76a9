"""Random files from the grammar: all its rules, with words that sometimes have a meaning."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from lark import Lark

from qospec.resources import SPEC

if TYPE_CHECKING:
    from random import Random

START = "file"
DEEPEST = 30
"""Rules within rules; beyond it each rule ends as soon as it can."""
LONGEST = 3_000
"""Words of a sentence, about."""

NAMES = (
    "a b p i x y red black load rate bench switch video voice host line fifo strict classify delay "
    "gcra vc_switch cbr vbr_rt ubr constant greedy poisson burst limit order classes time pcr scr "
    "mbs cdvt connections phases even random oam joint rx tx entry exit vc category cell clp sent "
    "lost policed mean max p99 std media stm1 devices sitline encryptor min len Int Time CellRate "
    "Rate Ratio Device Name Count measure warmup repeat seed overload covers slotted"
).split()
QUANTITIES = "5 us;2 ms;60 s;149.76 Mbit/s;53 B/cell;352_720 cell/s;10 km;0 s;40%;1e3 s;2 cell/min"
NUMBERS = "0 1 2 3 7 64 4_000 99999999999999999999 1000000000"
FRACTIONS = "0.0 0.5 1.5 0.000000000001 123456789.987654321"
WORDS = {
    "NAME": NAMES,
    "INT": NUMBERS.split(),
    "FLOAT": FRACTIONS.split(),
    "QUANTITY": QUANTITIES.split(";"),
    "STRING": ['""', '"a title"', '"Grüße"'],
    "CMP": "== != <= >= < >".split(),
    "TIMES": ["*", "/"],
    "COMMENT": ["# note\n", "## doc\n"],
}
ON_A_NEW_LINE = frozenset(
    "LET TRAFFIC DEVICE TOPOLOGY TEST PROPERTY REFERENCE PORT LINK FOR FLOW SWEEP CONTROL SEARCH "
    "GOAL POINT AT RUN REPORT FORALL SKIP EXPECT REQUIRE INVARIANT IMPORT RBRACE".split()
)


class Language(NamedTuple):
    """The grammar's expansions by rule, the shortest depth of each, and the spelling of words."""

    expansions: dict[str, list[list[str]]]
    depths: dict[str, int]
    spelt: dict[str, str]


@functools.cache
def language() -> Language:
    """Return the language of `spec/qos.lark`."""
    lark = Lark((SPEC / "qos.lark").read_text(encoding="utf-8"), parser="lalr", start=START)
    expansions: dict[str, list[list[str]]] = {}
    for rule in lark.rules:
        symbols = [symbol.name for symbol in rule.expansion]
        expansions.setdefault(rule.origin.name, []).append(symbols)
    depths: dict[str, int] = {}
    while len(depths) < len(expansions):
        for name, ways in expansions.items():
            known = [way for way in ways if all(s in depths or s not in expansions for s in way)]
            if name not in depths and known:
                depths[name] = 1 + min(_depth(way, depths) for way in known)
    spelt = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    return Language(expansions, depths, spelt)


def _depth(way: list[str], depths: dict[str, int]) -> int:
    return max((depths.get(symbol, 0) for symbol in way), default=0)


def sentence(random: Random) -> str:
    """Return a text that the grammar accepts; a statement begins a line."""
    expansions, depths, spelt = language()
    words: list[str] = []
    waiting = [(START, 0)]
    while waiting:
        symbol, depth = waiting.pop()
        if symbol not in expansions:
            line = "\n" if symbol in ON_A_NEW_LINE or words[-1:] == ["{"] else " "
            words += [line, random.choice(WORDS.get(symbol) or [spelt.get(symbol, symbol)])]
            continue
        ways = expansions[symbol]
        if depth > DEEPEST or len(words) > LONGEST:
            least = min(_depth(way, depths) for way in ways)
            ways = [way for way in ways if _depth(way, depths) == least]
        waiting += [(symbol, depth + 1) for symbol in reversed(random.choice(ways))]
    return "".join(words).strip().replace("qos 2", "qos 1") + "\n"
