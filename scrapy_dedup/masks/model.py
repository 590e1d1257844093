"""The mask of a site: the places on its pages where what stands does not last."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from xxhash import xxh3_128_hexdigest

from ..pages.blocks import Rows
from ..pages.sketch import Sketch, sketch_of_rows
from ..pages.tokens import blocks_with_offsets
from ..pages.versions import Version
from .apply import Act, Place, Plan, State
from .cutting import cut_out, cuts_of
from .slots import left_of, plain_slot

__all__ = ["Act", "Mask", "Mode", "Place", "State"]

Mode = Literal["default", "seed"]

_MOST_REMEMBERED = 12
"""Of one version: what the masks of a learning, and of the one before, have made of it."""


@dataclass(frozen=True, slots=True)
class Mask:
    """The places on the pages of a site where what stands does not last: a sorted tuple of :class:`Place`; immutable.

    ``mode`` says by which method it was learned. ``version`` is a digest of what pages are compared without, "" for nothing:
    fingerprints under different masks never compare.

    Source: transient-content, FIG. 2, 4A, 4B and 7.
    """

    site: str = ""
    places: tuple[Place, ...] = ()
    mode: Mode = "default"
    version: str = field(init=False, compare=False)
    comparing: Plan = field(init=False, repr=False, compare=False)
    stripping: Plan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A slot that its file does not say exactly would be another one when it is read.
        places = {place.key: replace(place, slot=plain_slot(place.slot, place.attribute)) for place in self.places}
        object.__setattr__(self, "places", tuple(sorted(places.values(), key=lambda place: place.key)))
        comparing = Plan(self.places, comparing=True)
        said = "\n".join([self.mode, *sorted(repr(place.does) for place in comparing.places)])
        version = xxh3_128_hexdigest(said.encode("utf-8", "surrogatepass"))[:16] if comparing.applies_to(None) else ""
        object.__setattr__(self, "version", version)
        object.__setattr__(self, "comparing", comparing)
        object.__setattr__(self, "stripping", Plan(self.places, comparing=False))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.site, self.places, self.mode)

    def obeying(self, before: "Mask") -> "Mask":
        """Return the mask with what the user said in the one *before*: of places with a state, and where others do not act."""
        places = {place.key: place for place in self.places}
        for place in before.places:
            if place.state:
                places[place.key] = place
            elif place.never_on and before.mode == self.mode:
                places[place.key] = replace(places.get(place.key, place), never_on=place.never_on)
        return replace(self, places=tuple(places.values()))

    def lasting(self, version: Version, url: str | None) -> Version:
        """Return a version with its rows as they are compared."""
        hidden = self.comparing.hidden(version.rows(), url) if self.comparing.applies_to(url) else {}
        if not hidden:
            return version
        rows = [
            (selector, attribute, text if at not in hidden else left_of(text, hidden[at], attribute))
            for at, (selector, attribute, text) in enumerate(version.rows())
        ]
        seen = len(version.seen)
        return replace(
            version,
            seen=tuple([row for row in rows[:seen] if row[2]]),
            unseen=tuple([row for row in rows[seen:] if row[2]]),
        )

    def sketch(self, version: Version, url: str | None) -> Sketch:
        """Return the sketch of a version as it is compared."""
        key = self.version, "sketch", url
        if key not in version.compared:
            if len(version.compared) >= _MOST_REMEMBERED:
                version.compared.clear()
            lasting = self.lasting(version, url)
            version.compared[key] = sketch_of_rows(Rows([*lasting.seen], [*lasting.unseen]), url or "")
        found: Sketch = version.compared[key]
        return found

    def spans(self, html: str, *, url: str | None = None, other: str | None = None) -> list[tuple[int, int]]:
        """Return the spans (start, end) that are removed from *html*: sorted, disjoint, none of them empty.

        *other* is another version of the page, if there is one: then a place counts only if what stands there differs between the two.
        """
        blocks, hidden = self.stripping.on_page(html, url, other=other)
        return cuts_of(html, [(blocks[at], ranges) for at, ranges in hidden.items()])

    def strip(self, html: str, *, url: str | None = None, other: str | None = None) -> str:
        """Return *html* without its transient words and values; elements and attributes stay. Never raises on any text.

        *other* is as for :meth:`spans`.

        >>> mask = Mask(places=(Place("p.online::text", slot=("", "users online")),))
        >>> page = "<body><p class=online>{} users online</p><p>A text</p></body>"
        >>> mask.strip(page.format(12))
        '<body><p class=online> users online</p><p>A text</p></body>'
        >>> mask.strip(page.format(12), other=page.format(12)) == page.format(12)
        True
        """
        return cut_out(html, self.spans(html, url=url, other=other))

    def text(self, html: str, *, url: str | None = None, other: str | None = None) -> str:
        """Return the visible text of *html* without its transient words, its white space collapsed."""
        left = blocks_with_offsets(self.strip(html, url=url, other=other))
        return " ".join([block.text for block in left if not block.attribute])
