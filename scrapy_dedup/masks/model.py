"""The mask of a site: which of its texts do not last, and a page without them.

(Design, section 5.) A mask never reads the network or the clock: it says for any page, also one that was never seen,
which of its blocks (visible texts, addresses of links) stand where what stands is passing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from xxhash import xxh3_64_hexdigest, xxh3_128_hexdigest

from ..content.sketch import Sketch, sketch_of_texts
from ..content.tokens import Blocks, Token, blocks, tokens
from ..content.unseen import SOURCE
from ..urls.templates import template_of
from .path import PathKind, Template, TransientPath
from .plan import PageKind, Plan, Ranges, Row, plan_of
from .queries import BELOW
from .seed.changes import changes_between
from .seed.markup import markup_spans
from .seed.paths import TransientPaths
from .spans import by_place, disjoint, lasting_texts, spans_of, without
from .unseen import UnseenPlan

if TYPE_CHECKING:
    from os import PathLike

    from ..content.versions import Version

__all__ = ["Mask", "PathKind", "Template", "TransientPath"]

Mode = Literal["default", "seed"]

MOST_REMEMBERED: Final = 12
"""Of one version: what the masks of a learning, and of the one before, have made of it."""
_Made = TypeVar("_Made")
_FILES = "scrapy_dedup.masks.files"
"""Where masks are read and written. It knows this module and not the other way round: it is looked up by its name when a mask
is saved or loaded, so that callers have both at the mask, as those of rules have them at the book.
"""
_STATE = ("site", "paths", "mode", "templates", "layouts")


@dataclass(frozen=True, slots=True)
class Mask:
    """What does not last on the pages of a site: a tuple of :class:`TransientPath`, sorted; immutable.

    Methods that take a page take it as HTML, with its URL if that is known, and raise for no text. Offsets are in characters of
    that text.

    ``templates`` are the URL templates of which some page was seen in two versions; an empty set stands for all. Of a
    page whose URL is given, and is of no such template, only paths that are true of it, too, hide anything.
    ``layouts`` are digests of the places of pages that were seen in two versions (see :meth:`layout`). ``mode`` says by which method
    it was learned (see :func:`scrapy_dedup.learn_mask`).

    Source: transient-content, FIG. 2, 4A, 4B and 7.
    """

    site: str = ""
    paths: tuple[TransientPath, ...] = ()
    mode: Mode = "default"
    templates: frozenset[Template] = frozenset()
    layouts: frozenset[str] = frozenset()
    #: Digest of what pages are compared without, "" for nothing: fingerprints under different masks never compare.
    version: str = field(init=False, compare=False)
    #: What pages are compared without, and what of it is stripped.
    _hiding: Plan = field(init=False, repr=False, compare=False)
    _stripping: Plan = field(init=False, repr=False, compare=False)
    #: What is stripped of what nobody sees.
    _unseen: UnseenPlan = field(init=False, repr=False, compare=False)
    #: Whether something is hidden on URL templates of any name, and those of which something is.
    _reaches: bool = field(init=False, repr=False, compare=False)
    _reached: frozenset[Template] = field(init=False, repr=False, compare=False)
    #: Those where it is not known whether something is to be hidden.
    _untested: frozenset[Template] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", tuple(sorted(self.paths, key=lambda path: path.key)))
        keeping = {path.key for path in self.paths if path.state == "keep"}
        left_out = [
            path
            for path in self.paths
            if path.is_left_out and (path.state or not {path.key, (path.selector, path.attribute, 0, 0)} & keeping)
        ]
        hiding = [path for path in left_out if not path.is_unseen]
        said = sorted(
            repr(
                (
                    path.key,
                    path.slot,
                    path.typed,
                    path.everywhere,
                    *_sorted(path.templates),
                    *_sorted(path.excepted),
                    *_sorted(path.untested),
                    path.words,
                )
            )
            for path in hiding
        )
        about = [self.mode, *said, *_sorted(self.templates), *sorted(self.layouts)]
        if any(path.selector.endswith(BELOW) for path in hiding):
            about += _sorted(keeping)  # of what stands below a path, they are left
        digest = xxh3_128_hexdigest("\n".join(about).encode("utf-8", "surrogatepass"))[:16]
        object.__setattr__(self, "version", digest if hiding else "")
        stripping = [path for path in hiding if path.is_hidden]
        # For comparing, a page that lacks a visitor counter is one that has it: of what is explained no word stays.
        object.__setattr__(self, "_hiding", self._plan(hiding, whole=True))
        object.__setattr__(self, "_stripping", self._plan(stripping))
        object.__setattr__(self, "_unseen", self._unseen_plan(left_out))
        object.__setattr__(self, "_reaches", any(path.everywhere for path in hiding))
        further = frozenset(template for path in hiding for template in path.templates)
        object.__setattr__(self, "_reached", self.templates | further)
        untested = frozenset(template for path in hiding for template in path.untested)
        object.__setattr__(self, "_untested", untested)

    def _plan(self, paths: Iterable[TransientPath], *, whole: bool = False) -> Plan:
        kept = [(path.selector, path.attribute) for path in self.paths if path.state == "keep"]
        return Plan([plan_of(path, whole=whole) for path in paths], kept=kept, again=not whole)

    def _unseen_plan(self, left_out: Iterable[TransientPath]) -> UnseenPlan:
        paths = [path for path in left_out if path.is_unseen and path.is_hidden and self.mode == "default"]
        templates = None
        if self.templates and not any(path.everywhere for path in paths):
            templates = self.templates.union(*[path.templates for path in paths])
        return UnseenPlan(self._plan(paths), templates)

    def __getstate__(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in _STATE])

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(_STATE, state, strict=True):
            object.__setattr__(self, name, value)
        self.__post_init__()

    def applies_to(self, url: str | None) -> bool:
        """Whether something may be hidden, or stripped, of what the page at *url* shows; of that of an unknown URL it may."""
        if not self.version:
            return False
        return url is None or not self.templates or self._reaches or template_of(url) in self._reached

    @property
    def strips(self) -> bool:
        """Whether something is stripped, of any page."""
        return bool(self._stripping or self._unseen)

    def layout(self, rows: Iterable[Row]) -> str:
        """Return a digest of the places of a page, without those of which something may be hidden: 16 hexadecimal digits."""
        found = sorted({row[0] for row in rows if not row[1]} - self._hiding.selectors)
        return xxh3_64_hexdigest("\n".join(found).encode("utf-8", "surrogatepass"))

    def is_verified(self, version: "Version", *, url: str | None = None) -> bool:
        """Whether it was seen what changes on pages of the URL template of a page, or with the same places.

        Not so where a path is untested on such pages.
        """
        page = self._kind(version.blocks, url)
        return page.is_known and page.template not in self._untested

    def _kind(self, rows: Sequence[Row], url: str | None, *, carried: bool = False) -> PageKind:
        if url is None:
            return PageKind()
        template = template_of(url)
        if not self.templates or template in self.templates:
            return PageKind(template, is_carried=carried)
        verified = carried or (bool(self.layouts) and self.layout(rows) in self.layouts)
        return PageKind(template, is_seen=False, is_verified=verified, is_carried=carried)

    def _compared(self, version: "Version", url: str | None, *, carried: bool = False) -> Mapping[int, Ranges]:
        """Return what is left out of each row of a version when pages are compared, by its index."""
        if not self.applies_to(url):
            return {}
        return self._remembered(
            version,
            ("rows", url and template_of(url), carried),
            lambda: self._hiding.hidden(version.blocks, self._kind(version.blocks, url, carried=carried)),
        )

    def _remembered(self, version: "Version", what: tuple[object, ...], make: Callable[[], _Made]) -> _Made:
        """Return what is made of a version, which depends on nothing else than what pages are compared without."""
        known, key = version.compared, (self.version, what)
        if key not in known:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            known[key] = make()
        found: _Made = known[key]
        return found

    def spans(
        self, html: str, *, url: str | None = None, other: str | None = None, markup: bool = True
    ) -> list[tuple[int, int]]:
        """Return the offsets (start, end) of what is removed from *html*: sorted, disjoint, none of them empty.

        *other* is another version of the page, if there is one: then a place of the mask counts only if what stands there
        differs between the two. Without *markup*, texts, addresses of links and values of forms count alone.
        """
        shows = self._stripping and self.applies_to(url)
        hides = markup and self._unseen.acts_on(url)
        if not shows and not hides:
            return []
        found = blocks(html)
        spans: list[tuple[int, int]] = []
        plan = self._plan_for(html, other)
        for index, ranges in self._stripped(plan, found, url, other).items() if shows else ():
            block = found[index]
            if markup or block.attribute != SOURCE:
                spans += spans_of(html, block, ranges)
        if shows and plan.roots:
            spans += markup_spans(html, plan.roots.paths, plan.kept_roots.paths, plan.lasting_in(found))
        if hides:
            spans += self._unseen.spans(html, self._kind(list(found.rows()), url), other)
        return disjoint(spans)

    def _plan_for(self, html: str, other: str | None) -> Plan:
        """Return what is stripped of *html*: of the document's paths, only those that have changed since the *other* version.

        That is the second way in which the document applies paths (on FIG. 2): "by comparing fingerprints of the tokens".
        """
        if other is None or not self._stripping.roots:
            return self._stripping
        confirmed = TransientPaths(self._stripping.roots.paths).changed(changes_between(html, other)).paths
        return self._plan(
            path
            for path in self.paths
            if path.is_hidden and (not path.selector.endswith(BELOW) or path.selector.removesuffix(BELOW) in confirmed)
        )

    def _stripped(self, plan: Plan, found: Blocks, url: str | None, other: str | None) -> Mapping[int, Ranges]:
        """Return what is stripped of each block of a page, by its index."""
        rows = list(found.rows())
        hidden = plan.hidden(rows, self._kind(rows, url))
        if other is None:
            return hidden
        before, now = by_place(blocks(other).rows()), by_place(rows)
        return {
            index: ranges
            for index, ranges in hidden.items()
            if plan.is_below(*rows[index][:2]) or now[rows[index][:2]] != before.get(rows[index][:2])
        }

    def strip(self, html: str, *, url: str | None = None, other: str | None = None, markup: bool = True) -> str:
        """Return *html* without its passing words and values; elements and attributes stay. Never raises on any text.

        Below the paths of a mask of the mode "seed" scripts, comments and elements without contents (``<meta>``, ``<img>``) go,
        too, and the values of attributes, but those of ids and classes.

        *other* and *markup* are as for :meth:`spans`.

        >>> mask = Mask(paths=(TransientPath("body/p.online", slot=("", "users online")),))
        >>> mask.strip("<body><p class=online>12 users online</p><p>A text</p></body>")
        '<body><p class=online> users online</p><p>A text</p></body>'
        >>> page = "<body><p class=online>{} users online</p></body>"
        >>> mask.strip(page.format(12), other=page.format(12))
        '<body><p class=online>12 users online</p></body>'
        """
        parts = []
        at = 0
        for start, end in self.spans(html, url=url, other=other, markup=markup):
            parts.append(html[at:start])
            at = end
        return "".join([*parts, html[at:]]) if parts else html

    def transient(
        self, html: str, *, url: str | None = None, other: str | None = None, markup: bool = True
    ) -> list[Token]:
        """Return the tokens of *html* of which something is removed.

        Texts, tags that lose a value, scripts and comments; below a path of the mode "seed" whole tags, too.
        """
        spans = self.spans(html, url=url, other=other, markup=markup)
        if not spans:
            return []
        found = []
        at = 0
        for token in tokens(html):
            while at < len(spans) and spans[at][1] <= token.start:
                at += 1
            if at < len(spans) and spans[at][0] < token.end:
                found.append(token)
        return found

    def text(self, html: str, *, url: str | None = None, other: str | None = None) -> str:
        """Return the visible text of *html* without its passing words, its white space collapsed."""
        found = blocks(html)
        hidden: Mapping[int, Ranges] = {}
        if self._stripping and self.applies_to(url):
            hidden = self._stripped(self._plan_for(html, other), found, url, other)
        return " ".join(lasting_texts(found.rows(), hidden))

    def hidden_of(self, version: "Version", *, url: str | None = None, compared: bool = False) -> Mapping[int, Ranges]:
        """Return what is stripped of each row of a version, by its index; or what is left out where it is *compared*."""
        if compared:
            return self._compared(version, url)
        kind = self._kind(version.blocks, url)
        found = dict(self._stripping.hidden(version.blocks, kind)) if self.applies_to(url) else {}
        if self._unseen.acts_on(url):
            unseen = self._unseen.hidden(version.markup, kind)
            found |= {len(version.blocks) + index: ranges for index, ranges in unseen.items()}
        return found

    def masked(self, version: "Version", *, url: str | None = None, carried: bool = False) -> str:
        """Return the fingerprint of what is compared of a version: 32 hexadecimal digits, the same for any order of words.

        Fingerprints compare only under masks of the same ``version``. Addresses of links do not count, as in sketches.
        With *carried*, the page is taken for one that is verified (:meth:`is_verified`), and tested.
        """
        return self.masked_sketch(version, url=url, carried=carried).bag

    def masked_sketch(self, version: "Version", *, url: str | None = None, carried: bool = False) -> Sketch:
        """Return the sketch of the texts that are compared, with their number of words; *carried* as in :meth:`masked`."""
        return self._remembered(
            version,
            ("sketch", url and template_of(url), carried),
            lambda: sketch_of_texts(lasting_texts(version.blocks, self._compared(version, url, carried=carried))),
        )

    def left_of(self, version: "Version", *, url: str | None = None, carried: bool = False) -> "Version":
        """Return a version with what is left of its texts when pages are compared; *carried* as in :meth:`masked`."""
        hidden = self._compared(version, url, carried=carried)
        rows = [
            (selector, "", text if index not in hidden else without(text, hidden[index]))
            for index, (selector, attribute, text) in enumerate(version.blocks)
            if not attribute
        ]
        return replace(version, blocks=tuple([row for row in rows if row[2]]), markup=())

    def parted(self, version: "Version", *, url: str | None = None) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the texts of a version that are compared as they are, and (text, what is compared of it) of the others."""
        hidden = self._compared(version, url)
        whole, cut = [], []
        for index, (_, attribute, text) in enumerate(version.blocks):
            if attribute:
                continue
            if index in hidden:
                cut.append((text, without(text, hidden[index])))
            else:
                whole.append(text)
        return whole, cut

    def save(self, path: "str | PathLike[str]") -> Path:
        """Write the mask into the file at *path* and return that; hand edits and comments there survive.

        Raises RuleFileError, RuleWriteError.
        """
        return Path(import_module(_FILES).save_mask_file(path, self))

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> "Mask":
        """Return the mask in the file at *path*. Raises RuleFileError."""
        mask = import_module(_FILES).load_mask(path)
        assert isinstance(mask, Mask)
        return mask


def _sorted(templates: Iterable[Template]) -> list[str]:
    return sorted(map(repr, templates))
