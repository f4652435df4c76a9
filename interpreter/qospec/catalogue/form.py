"""The form of items at a place: cells or packets, and of which sizes.

It belongs to a place and not to a flow: an element may lengthen packets, or cut them into others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import UnfitError
from qospec.dataclass import NamedTuple
from qospec.protocol.aal import ENCAPSULATIONS
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.fragments import list_fragment_bytes
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.catalogue.kinds import Carried
    from qospec.protocol.aal import Adaptation
    from qospec.protocol.esp import Esp
    from qospec.secret import Secret

    Keys = tuple[Secret | None, ...]
    """What both ends of an association hold."""


class EndsDifferError(UnfitError):
    """The two ends of an association do not agree: each of them may be wrong."""


class Form(NamedTuple):
    """What the items of a flow are at one place.

    Attributes:
        carries: Whether they are cells or packets.
        sizes: Each size in bytes, ascending, with a number of items; none if only the kind is
            known, or if no item gets here.
        sent: For how many items that the source sends these are, on average.
        headers: The bytes of each header that elements have put around the packets, the outermost
            last; below 0, of one that was taken off although none had put it there.
        inside: How the packets are encrypted, and the form of those inside; None if they are not.
        fragmented: If some were cut, the form in which they were sent on, and that of the packets.
        frames: If they are cells of packets, how these are adapted, their form, and the MTU, in
            bytes, of what cut them.
        rekeyed: Whether the association that encrypts them is replaced on the way.
        spi: The index of that association.
        keys: The keys that are given for it; None for one that is drawn. Of cells, () if they are
            not encrypted.
        changed: Whether a fault has changed what some carry.
        copied: Whether a fault has put copies of some among them.
        heeded: Whether notices to their target may come to be among them,
        noticed: and whether they do.
        dont_fragment: Whether the headers with which they were sent forbid to cut them, by DF.
        unverified: Whether some were decrypted though their check of integrity may have failed.
        family: The version of IP of the packets as they were sent; "" if it is not known.
        is_tagged: Whether they have a tag, where this depends on the flow.
        tag_bytes: The bytes of that tag, which their sizes count here: on such a line, and in the
            queues ahead of it.
    """

    carries: Carried
    sizes: tuple[tuple[int, int], ...] = ()
    sent: int = 1
    headers: tuple[int, ...] = ()
    inside: tuple[Esp, Form] | None = None
    fragmented: tuple[Form, Form] | None = None
    frames: tuple[Adaptation, Form, int] | None = None
    rekeyed: bool = False
    spi: int = 0
    keys: Keys = ()
    changed: bool = False
    copied: bool = False
    heeded: bool = False
    noticed: bool = False
    dont_fragment: bool = False
    unverified: bool = False
    family: str = ""
    is_tagged: bool = False
    tag_bytes: int = 0

    @property
    def smallest_bytes(self) -> int:
        """Return the smallest size; 0 if none is known."""
        return self.sizes[0][0] if self.sizes else 0

    @property
    def largest_bytes(self) -> int:
        """Return the largest size; 0 if none is known."""
        return self.sizes[-1][0] if self.sizes else 0

    @property
    def largest_packet_bytes(self) -> int:
        """Return the largest size without a tag, as an MTU counts it; 0 if none is known."""
        return self.largest_bytes - self.tag_bytes

    @property
    def is_in_tunnel(self) -> bool:
        """Return whether they are encrypted, or have another header around their own."""
        return self.inside is not None or bool(self.headers)

    @property
    def is_whole(self) -> bool:
        """Return whether DF forbids to cut them; the header that a tunnel puts around does not."""
        own = not self.headers and (not self.inside or self.inside[0].mode == "transport")
        return self.dont_fragment and own

    def with_tag(self, tag_bytes: int) -> Form:
        """Return the form of packets that have got a tag of so many bytes; 0: lost it again."""
        by_bytes = tag_bytes - self.tag_bytes
        return self.resize(lambda size: size + by_bytes)._replace(tag_bytes=tag_bytes)

    def compute_mean(self, length: Callable[[int], int]) -> Fraction:
        """Return the mean sum of a length that depends on the size, for each item sent."""
        return Fraction(sum(length(size) * count for size, count in self.sizes), self.sent)

    def resize(self, size_after: Callable[[int], int]) -> Form:
        """Return the form of as many items of other sizes."""
        counts: dict[int, int] = {}
        for size, count in self.sizes:
            after = size_after(size)
            counts[after] = counts.get(after, 0) + count
        return self._replace(sizes=tuple(sorted(counts.items())))

    def with_header(self, header_bytes: int) -> Form:
        """Return the form of packets with a header put around them; below 0, with it taken off."""
        is_undone = header_bytes < 0 and self.headers[-1:] == (-header_bytes,)
        headers = self.headers[:-1] if is_undone else (*self.headers, header_bytes)
        return self.resize(lambda size: size + header_bytes)._replace(headers=headers)

    def seal(self, esp: Esp, spi: int = 0, *, rekeyed: bool = False, keys: Keys = ()) -> Form:
        """Return the form of packets that are encrypted, by one association or several.

        Raises:
            ValueError: They already are, or were changed before.
        """
        if self.inside:
            raise ValueError("these packets are encrypted already, and one tunnel takes no other")
        self.check_unchanged()
        return self.resize(esp.count_protected_bytes)._replace(
            inside=(esp, self), rekeyed=rekeyed, spi=spi, keys=keys
        )

    def check_unchanged(self) -> None:
        """Raise ValueError if what is to be encrypted may have been changed."""
        self.check_verified()
        if self.changed:
            raise ValueError(
                "a fault ahead of it changes what some carry, and what is encrypted is not told"
                " from what was sent: put the fault behind it"
            )

    def check_verified(self) -> None:
        """Raise UnfitError if some may have failed their check of integrity."""
        if self.unverified:
            raise UnfitError(
                "these packets were decrypted with `verify = false`, and some may be changed",
                "put an `esp_verify` ahead of it",
            )

    def check_family(self, family: str) -> None:
        """Raise ValueError if the outermost header is known not to be of this version of IP."""
        around_bytes = sum(self.headers)
        if 0 < around_bytes < IPV4_HEADER_BYTES:
            raise ValueError(
                f"transport mode protects what an IP header carries, and the {around_bytes} B ahead"
                " of these packets are none: write `mode = tunnel`"
            )
        found = "ipv4" if around_bytes > 0 else self.family
        if found not in (family, ""):
            raise ValueError(
                f"transport mode over {family} takes packets of that family, and these are of"
                f" {found}: write `family = {found}` at both ends, or `mode = tunnel`"
            )

    def open_sealed(
        self, esp: Esp, spi: int = 0, *, rekeyed: bool = False, keys: Keys = ()
    ) -> Form:
        """Return the form of packets that are decrypted.

        Of those in the clear, and of those of another association, none are left.

        Raises:
            ValueError: They were encrypted otherwise, or changed since.
        """
        if self.inside is None:
            return self
        made, form = self.inside
        if spi != self.spi and not rekeyed:
            return form
        if spi != self.spi:
            raise EndsDifferError(
                f"the association of these packets has the `spi` {self.spi}, and with `overlap`"
                f" all above {spi} are taken for its successors",
                "give both ends the same `spi`",
            )
        if made != esp:
            same = " and ".join(f"`{name}`" for name in made.list_differences(esp))
            raise EndsDifferError(
                f"these packets are encrypted by {made}, and not by {esp}",
                f"give both ends the same {same}",
            )
        if keys != self.keys:
            raise EndsDifferError(
                "these packets are encrypted with another key",
                "give both ends the same, or none, so that one is drawn for both",
            )
        if self.rekeyed and not rekeyed:
            raise EndsDifferError(
                "the association of these packets is replaced by `rekey` at its other end, and here"
                " no `overlap` says for how long packets of the old one are decrypted",
                "write an `overlap` here, or take the `rekey` away there",
            )
        if self.changed and not made.icv_bytes:  # what nothing authenticates passes
            form = form._replace(changed=True)
        sealed = form.resize(made.count_protected_bytes).sizes
        if not {*self.sizes} <= {*sealed} or form.headers != self.headers:
            raise UnfitError(
                "these packets have another size than they were encrypted to",
                "put a `reassemble` ahead of it" if self.fragmented else "",
            )
        if sealed == self.sizes:
            return form
        left = {size for size, _ in self.sizes}  # the others were lost
        return form._replace(
            sizes=tuple(e for e in form.sizes if made.count_protected_bytes(e[0]) in left)
        )

    def limit_to(self, limit_bytes: int) -> Form:
        """Return the form of those items that are not larger than a limit."""
        if self.largest_bytes <= limit_bytes:
            return self
        return self._replace(sizes=tuple(size for size in self.sizes if size[0] <= limit_bytes))

    def cut(self, mtu_bytes: int) -> Form:
        """Return the form of packets of which those that are larger are cut into fragments.

        Raises:
            ValueError: Some are fragments already, would become too many, are not verified, or
                forbid it.
        """
        if self.largest_bytes <= mtu_bytes:
            return self
        if self.is_whole:
            raise UnfitError(
                "their source discovers the MTU of its path, and forbids to cut them by the flag"
                " DF",
                "put a `tell_mtu` in its place, lead them past it, or discover no MTU",
            )
        self.check_verified()
        if self.fragmented:
            raise ValueError("these are fragments already, and are not cut again")
        if self.copied:
            raise ValueError(
                "a fault ahead of it sends some packets twice, and copies are not cut: put the"
                " fault behind it"
            )
        counts: dict[int, int] = {}
        for size, count in self.sizes:
            for fragment in list_fragment_bytes(size, mtu_bytes):
                counts[fragment] = counts.get(fragment, 0) + count
        made = self._replace(sizes=tuple(sorted(counts.items())))
        return made._replace(fragmented=(made, self))

    def reassemble(self) -> Form:
        """Return the form of packets that are put together again.

        Raises:
            ValueError: Their fragments have been changed since, or are not verified.
        """
        if self.fragmented is None:
            return self
        self.check_verified()
        made, packets = self.fragmented
        if self._replace(fragmented=None) != made.with_faults(self):
            raise ValueError("these fragments are not as they were cut: undo first what was done")
        return packets.with_faults(self)

    def cut_into_cells(self, adaptation: Adaptation, mtu_bytes: int) -> Form:
        """Return the form of the cells of packets.

        Raises:
            ValueError: Some are too large, are not verified, or cannot be told from each other in
                cells.
        """
        self.check_verified()
        if self.largest_bytes > mtu_bytes:
            room_bytes = ENCAPSULATIONS[adaptation.encapsulation].largest_mtu_bytes
            larger = f", or write `mtu = {self.largest_bytes} B` here and at the other end"
            raise UnfitError(
                f"{self.largest_bytes} B exceed its MTU of {mtu_bytes} B",
                f"send packets of at most {mtu_bytes} B @ip"
                + larger * (self.largest_bytes <= room_bytes),
            )
        if self.fragmented:
            raise UnfitError(
                "some of these packets are fragments, which it does not cut",
                "put a `reassemble` ahead of it, or take the `fragment` away and give it an `mtu`"
                " that is large enough",
            )
        if self.copied:
            raise UnfitError(
                "some of these packets are copies that a fault made, which it does not cut",
                "put the fault behind what makes packets of the cells",
            )
        if self.noticed:
            raise UnfitError(
                "notices to a source are among these packets, which it does not cut",
                "put the `tell_mtu` where no cells are between it and the source",
            )
        cells = sum(adaptation.count_cells(size) * count for size, count in self.sizes)
        sizes = ((CELL_BYTES, cells),) if cells else ()
        frames = (adaptation, self, mtu_bytes)
        return Form("cell", sizes, self.sent, frames=frames, family=self.family)

    def reassemble_cells(self, adaptation: Adaptation, mtu_bytes: int) -> Form:
        """Return the form of packets of which these are the cells.

        Raises:
            ValueError: They are of no packets, were adapted otherwise, or are still encrypted.
        """
        if not self.sizes:
            return Form("packet")
        if self.frames is None:
            raise UnfitError(
                "these cells carry no packets", "lead only cells of an `aal_segment` there"
            )
        if self.keys:
            raise UnfitError("these cells are still encrypted", "put a `cell_decrypt` ahead of it")
        made, packets, made_mtu_bytes = self.frames
        if made != adaptation:
            raise EndsDifferError(
                f"these cells are made with {made}, and not with {adaptation}",
                "give both ends the same `aal` and `encapsulation`",
            )
        if made_mtu_bytes != mtu_bytes:
            raise EndsDifferError(
                f"they are cut with an MTU of {made_mtu_bytes} B, and not of {mtu_bytes} B",
                f"write `mtu = {max(made_mtu_bytes, mtu_bytes)} B` at both ends",
            )
        return packets

    def with_faults(self, other: Form) -> Form:
        """Return this form, with what faults did to another one, and what has come among it."""
        return self._replace(changed=other.changed, copied=other.copied, noticed=other.noticed)
