"""The mask of a site: which of its texts are transient, and pages without them.

A mask never reads the network or the clock: it says for any page, also one that was never seen,
which of its blocks (visible texts, addresses of links) stand where what stands is transient.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128_hexdigest

from ..content.sketch import Sketch
from .applying.compared import ComparedPages
from .applying.plan import Plan, Ranges, Reach, Row
from .applying.stripper import Stripper, cut_out
from .css_xpath import SUBTREE_SUFFIX
from .files.mask_data import MaskData, Mode
from .files.mask_files import read_mask_file, save_mask_file
from .path import PathKind, Template, TransientPath

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from ..content.versions import Version

__all__ = ["Mask", "PathKind", "Template", "TransientPath"]

_STATE = ("site", "paths", "mode", "templates", "layouts")


@dataclass(frozen=True, slots=True)
class Mask:
    """The transient places on the pages of a site: a sorted tuple of :class:`TransientPath`; immutable.

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
    #: On which pages it acts, what these are compared without, and what is stripped of them.
    _reach: Reach = field(init=False, repr=False, compare=False)
    _comparing: ComparedPages = field(init=False, repr=False, compare=False)
    _stripping: Stripper = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", self.data.paths)
        keeping = {path.key for path in self.paths if path.state == "keep"}
        acting = [
            path
            for path in self.paths
            if path.is_left_out and (path.state or not {path.key, (path.selector, path.attribute, 0, 0)} & keeping)
        ]
        unseen = [path for path in acting if path.is_unseen and path.is_hidden and self.mode == "default"]
        acting = [path for path in acting if not path.is_unseen]
        object.__setattr__(self, "version", self._digest(acting, keeping))
        kept = [(path.selector, path.attribute) for path in self.paths if path.state == "keep"]
        reach = Reach(acting, self.templates, self.layouts)
        object.__setattr__(self, "_reach", reach)
        # For comparing, a page that lacks a visitor counter is one that has it: of what is explained no word stays.
        object.__setattr__(self, "_comparing", ComparedPages(Plan(acting, kept, whole=True), reach, self.version))
        object.__setattr__(self, "_stripping", Stripper(reach, Reach(unseen, self.templates, self.layouts), kept))

    def _digest(self, acting: Iterable[TransientPath], keeping: Iterable[tuple[str, str, int, int]]) -> str:
        """Return a digest of what pages are compared without, "" for nothing."""
        acting = list(acting)
        if not acting:
            return ""
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
            for path in acting
        )
        about = [self.mode, *said, *_sorted(self.templates), *sorted(self.layouts)]
        if any(path.selector.endswith(SUBTREE_SUFFIX) for path in acting):
            about += _sorted(keeping)  # of what stands below a path, they are left
        return xxh3_128_hexdigest("\n".join(about).encode("utf-8", "surrogatepass"))[:16]

    def __getstate__(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in _STATE])

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(_STATE, state, strict=True):
            object.__setattr__(self, name, value)
        self.__post_init__()

    def applies_to(self, url: str | None) -> bool:
        """Return whether something may be hidden, or stripped, of what the page at *url* shows; of that of an unknown URL it may."""
        return self._reach.applies_to(url)

    @property
    def strips(self) -> bool:
        """Whether something is stripped, of any page."""
        return bool(self._stripping)

    def layout(self, rows: Iterable[Row]) -> str:
        """Return a digest of the places of a page, without those that the mask may hide: 16 hexadecimal digits."""
        return self._reach.layout(rows)

    def is_verified(self, version: "Version", *, url: str | None = None) -> bool:
        """Return whether it was seen what changes on pages of the URL template of a page, or with the same places.

        Not so where a path is untested on such pages.
        """
        return self._reach.is_verified(version, url)

    def spans(
        self, html: str, *, url: str | None = None, other: str | None = None, markup: bool = True
    ) -> list[tuple[int, int]]:
        """Return the spans (start, end) that are removed from *html*: sorted, disjoint, none of them empty.

        *other* is another version of the page, if there is one: then a place of the mask counts only if what stands there
        differs between the two. Without *markup*, texts, addresses of links and values of forms count alone.
        """
        return self._stripping.spans(html, url, other, markup=markup)

    def strip(self, html: str, *, url: str | None = None, other: str | None = None, markup: bool = True) -> str:
        """Return *html* without its transient words and values; elements and attributes stay. Never raises on any text.

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
        return cut_out(html, self.spans(html, url=url, other=other, markup=markup))

    def text(self, html: str, *, url: str | None = None, other: str | None = None) -> str:
        """Return the visible text of *html* without its transient words, its white space collapsed."""
        return self._stripping.text(html, url, other)

    def hidden_of(self, version: "Version", *, url: str | None = None, compared: bool = False) -> Mapping[int, Ranges]:
        """Return the ranges stripped of each row of a version, by its index; with *compared*, those left out for comparing."""
        return self._comparing.hidden(version, url) if compared else self._stripping.hidden(version, url)

    def masked(self, version: "Version", *, url: str | None = None, carried: bool = False) -> str:
        """Return the fingerprint of a version under the mask: 32 hexadecimal digits, the same for any order of words.

        Fingerprints compare only under masks of the same ``version``. Addresses of links do not count, as in sketches.
        With *carried*, the page is taken for one that is verified (:meth:`is_verified`), and tested.
        """
        return self.masked_sketch(version, url=url, carried=carried).bag

    def masked_sketch(self, version: "Version", *, url: str | None = None, carried: bool = False) -> Sketch:
        """Return the sketch of the texts that are compared, with their number of words; *carried* as in :meth:`masked`."""
        return self._comparing.sketch(version, url, carried=carried)

    def left_of(self, version: "Version", *, url: str | None = None, carried: bool = False) -> "Version":
        """Return a version with its texts as they are compared; *carried* as in :meth:`masked`."""
        return self._comparing.left_of(version, url, carried=carried)

    def parted(self, version: "Version", *, url: str | None = None) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the texts of a version that are compared as they are, and (text, what is compared of it) of the others."""
        return self._comparing.parted(version, url)

    def save(self, path: "str | PathLike[str]") -> "Path":
        """Write the mask into the file at *path* and return that; hand edits and comments there survive.

        Raises RuleFileError, RuleWriteError.
        """
        return save_mask_file(path, self.data)

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> "Mask":
        """Return the mask in the file at *path*. Raises RuleFileError."""
        return cls.of(read_mask_file(path))

    @classmethod
    def of(cls, data: MaskData) -> "Mask":
        """Return the mask that applies *data* to pages."""
        return cls(data.site, data.paths, data.mode, data.templates, data.layouts)

    @property
    def data(self) -> MaskData:
        """What its file says: the fields, without what is made of them."""
        return MaskData(self.site, self.paths, self.mode, self.templates, self.layouts)


def _sorted(found: Iterable[object]) -> list[str]:
    return sorted(map(repr, found))
