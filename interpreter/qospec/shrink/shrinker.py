"""Tries smaller and smaller drafts of a failing case, until none that is smaller fails alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from qospec.plan.plan import Cost
from qospec.shrink import mends, passes, phases
from qospec.shrink.context import Context
from qospec.shrink.draft import Draft
from qospec.shrink.inlining import inline_traffic
from qospec.shrink.loops import unroll_loop
from qospec.shrink.prune import prune, without_unused
from qospec.shrink.trial import find_same_failure, find_side
from qospec.shrink.trial import has_passed as it_passes
from qospec.shrink.values import Values
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from qospec.diagnostics import Edit
    from qospec.plan.plan import CasePlan
    from qospec.shrink.mends import Cure
    from qospec.shrink.modules import Modules
    from qospec.shrink.passes import Change
    from qospec.shrink.places import Mend
    from qospec.shrink.trial import Bench, Failure, Tried

Pass = Callable[["Context"], "Iterator[Sequence[Change]]"]
STRUCTURE: tuple[Pass, ...] = (
    phases.replace_loads,
    passes.remove_warmups,
    phases.shorten_trials,
    passes.shorten_lengths,
    phases.use_default_method,
    passes.remove_nodes,
    passes.lower_subscripts,
    passes.shrink_arrays,
    passes.inline_names,
    phases.inline_variables,
    inline_traffic,
    passes.fold_numbers,
    passes.merge_flows,
    passes.reduce_to_parts,
    passes.remove_parentheses,
    passes.bypass_nodes,
    passes.remove_subscripts,
)
"""What makes runs short first: then all else is faster."""
NUMBERS: tuple[Pass, ...] = (passes.round_numbers, passes.fold_numbers)
"""When nothing else gets smaller: before, a number may be needed where it is by what goes later."""
GUESSES: tuple[Pass, ...] = (
    phases.replace_loads,
    passes.remove_warmups,
    phases.shorten_trials,
    passes.shorten_lengths,
    phases.use_default_method,
    passes.reduce_to_parts,
    passes.bypass_nodes,
    passes.round_numbers,
)
"""Only with a change of a device that tells what still counts: in a shorter run, or without the
device, what is expected might fail with any."""
LONGER = 2
"""How many times as long a draft may run as the one before: a rounder time may be a longer one.
Without a limit, what takes away a short `trial` would leave a search with the long default, or with
very many trials at each load."""


class Shrinker:
    """The smallest draft so far, and what tells whether another is one, too.

    Attributes:
        draft: The smallest so far.
        wanted: What fails in it.
        cures: What it passes with.
        searched: Whether every change was tried that it might pass with.
    """

    def __init__(
        self,
        draft: Draft,
        name: str,
        tried: Tried,
        wanted: Failure,
        bench: Bench,
    ) -> None:
        """Take a draft that was tried and fails."""
        self.draft = draft
        self.wanted = wanted
        self.cures: list[Cure] = []
        self.searched = False
        self._name = name
        self._bench = bench
        self._values = Values(bench.checked)
        self._tried = tried
        self._allowed = tried.warnings
        self._known: set[str] = {draft.text}
        self._mends: list[Mend] = []
        self._benches: dict[Mend, Bench] = {}
        self._avoided: tuple[Pass, ...] = ()

    @property
    def is_thorough(self) -> bool:
        """Return whether all steps are made: those left out might fail for another reason."""
        return self.searched and not self._avoided

    @property
    def plan(self) -> CasePlan:
        """Return the plan of the draft."""
        return self._tried.plan

    # ---- what counts

    def _holds(self, draft: Draft | None) -> bool:
        """Return whether the same fails in a draft that was not tried before."""
        if draft is None or draft.text in self._known:
            return False
        self._known.add(draft.text)
        trials, emulated_ps = self.plan.cost
        tried = self._bench.run(draft.text, Cost(LONGER * trials, LONGER * emulated_ps))
        if tried is None or tried.warnings - self._allowed:
            return False
        failure = find_same_failure(tried.document, self.wanted)
        if failure is None or not self._is_mended(draft):
            return False
        self.wanted = failure._replace(label=self.wanted.label)
        self._tried = tried
        return True

    def _is_mended(self, draft: Draft) -> bool:
        """Return whether a draft passes with each change that mended the case."""
        for mend in self._mends:
            tried = self._try_mend(draft, mend)
            if tried is None or not it_passes(tried.document, self.wanted):
                self._mends.sort(key=lambda known: known is not mend)  # it may tell next time, too
                return False
        return True

    def _try_mend(self, draft: Draft, mend: Mend) -> Tried | None:
        """Return what becomes of a draft with a change in a device."""
        if mend.place.path is None:
            text = mends.apply_mend(draft, mend)
            return None if text is None else self._bench.run(text)
        return self._benches[mend].run(draft.text)

    # ---- what would mend it

    def find_mends(self, modules: Modules, bench_with: Callable[[Path, str], Bench]) -> None:
        """Find the changes of single values of devices that mend the case, in half of the time.

        Args:
            modules: The files that the draft imports.
            bench_with: Returns a bench on which a file holds another text.
        """
        before = self._bench.run(self.draft.text)
        assert before is not None  # noqa: S101 -- it fails

        until_s = self._bench.clock.find_half_time_s()

        def try_it(mend: Mend) -> mends.Seen | None:
            if time.monotonic() >= until_s:
                return None
            path = mend.place.path
            if path is not None:
                unit = next(unit for unit in modules.list_units() if unit.path == path)
                text = modules.apply_mend(unit, mend)
                if text is None:
                    return None
                self._benches[mend] = bench_with(path, text)
            tried = self._try_mend(self.draft, mend)
            if tried is None:
                return None
            return mends.Seen(
                it_passes(tried.document, self.wanted), find_side(tried.document, self.wanted)
            )

        sure = find_side(before.document, self.wanted)
        for found in mends.find(self.draft, modules, try_it, sure):
            self.cures = found  # those so far are kept if this is interrupted
        self.searched = time.monotonic() < until_s
        self._mends = [mend for cure in self.cures for mend in cure.mends]
        devices = (node for _, node in mends.list_devices(self.draft, modules))
        if not self.cures and any(isinstance(node, ast.Device) for node in devices):
            self._avoided = GUESSES

    # ---- smaller and smaller

    def start(self) -> None:
        """Have one repeat, and one trial of a load, if that is enough: all else is faster then."""
        for simplify in (_list_repeats, phases.remove_phases, phases.merge_trials):
            self._settle(simplify(self._build_context()))

    def shrink(self) -> None:
        """Make the draft as small as it gets."""
        changed = True
        while changed:
            while changed:
                changed = self._make_round(STRUCTURE) | self._unroll()
            changed = self._make_round(NUMBERS)
        self._settle(passes.remove_guards(self._build_context()))
        self._settle(passes.fold_numbers(self._build_context()))

    def tidy(self, bench: Bench) -> None:
        """Take away what a step left unused and the next one would have, in one run at most.

        Nothing that is unused has an effect on what mends the case, so it is not run with that.
        """
        draft = without_unused(self.draft, self._name, bench.check)
        some = [mend for cure in self.cures for mend in cure.mends if mend.place.path is None]
        if draft.text == self.draft.text or None in [
            mends.apply_mend(draft, mend) for mend in some
        ]:
            return
        tried = bench.run(draft.text)
        failure = tried and find_same_failure(tried.document, self.wanted)
        if tried is not None and failure and not tried.warnings - self._allowed:
            self.draft, self._tried = draft, tried
            self.wanted = failure._replace(label=self.wanted.label)

    def _make_round(self, some: tuple[Pass, ...]) -> bool:
        """Make passes one after another; return whether there was a change."""
        changed = False
        for simplify in some:
            if simplify not in self._avoided:
                changed |= self._settle(simplify(self._build_context()))
        return changed

    def _build_context(self) -> Context:
        return Context(
            self.draft,
            self._values,
            devices=bool(self.cures),
            careful=bool(self._avoided),
            tried=self._tried,
        )

    def _settle(self, places: Iterator[Sequence[Change]]) -> bool:
        """Make the changes of a pass that can be made; return whether there was one."""
        base, all_places = self.draft, list(places)
        kept: list[Edit] = []
        single = [place[0] for place in all_places if len(place) == 1]
        size = len(single)
        while size >= 1:  # all at once, then halves, and so on down to each alone
            rest: list[Change] = []
            for at in range(0, len(single), size):
                some = single[at : at + size]
                more = [edit for change in some for edit in change]
                if self._takes(base, [*kept, *more]):
                    kept += more
                else:
                    rest += some
            single = rest
            size = min(size, len(single) + 1) // 2
        for place in all_places:
            if len(place) > 1:
                found = next((c for c in place if self._takes(base, [*kept, *c])), ())
                kept += found
        return bool(kept)

    def _takes(self, base: Draft, edits: list[Edit]) -> bool:
        """Take a draft with changes if it fails alike; return whether it does."""
        draft = Draft.read(base.apply(edits))
        draft = None if draft is None else prune(draft, self._name)
        if not self._holds(draft):
            return False
        assert draft is not None  # noqa: S101 -- it holds
        self.draft = draft
        return True

    def _unroll(self) -> bool:
        """Write out a loop of a topology where that is no longer; return whether there was one."""
        for node in self.draft.tree.declarations:
            for statement in node.body.statements if isinstance(node, ast.Topology) else ():
                if not isinstance(statement, ast.Loop):
                    continue
                found = unroll_loop(self.draft, self._values, statement, node, [])
                longer = found is None or len(found.text) > len(self.draft.text)
                if not longer and self._holds(found):
                    assert found is not None  # noqa: S101 -- it holds
                    self.draft = found
                    return True
        return False


def _list_repeats(context: Context) -> Iterator[Sequence[Change]]:
    draft = context.draft
    for node, above in draft.nodes:
        run = any(isinstance(ancestor, ast.Run | ast.Point) for ancestor in above)
        if run and isinstance(node, ast.Bind) and node.names[0].text == "repeat":
            yield [(draft.remove(node),)]
