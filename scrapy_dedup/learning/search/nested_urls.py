"""Values that are URLs: by their own canonical keys, and less the parameters of them that say nothing here.

Source: url-parameter-relevance, the passage on nested URLs. What makes no difference in the URL of a site that was
crawled, the rules of that site say. Of another one only the pages that its URLs are nested in can tell: so its
parameters are columns beside those of the outer URL, and are dropped jointly with them or put back.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...rules import Absent, Ignore, Literal, Nested, OneOf, RuleBook
from ...rules.actions import inner_url
from ...urls import normal_parts, site_of_url, values_of
from ..config import current
from ..data.frame import Frame, Level
from ..data.grouping import varying
from ..data.judgement import Deep, SiteUrls, book_of
from ..data.sampling import SEED
from ..data.url_table import REPEAT, Table, joined_repeats, seeds_of, with_inverse
from ..evidence.arrays import ABSENT, Codes, Rows
from ..evidence.shares import worth_asking
from ..proposals.combining import rules_of
from ..proposals.dropping import dropped
from ..proposals.proposal import Match, Proposal
from .difference_sets import drop_set

MIN_URL_SHARE = 0.9
"""Share of a key's values that must be URLs for it to be nested."""
_INSIDE = "\x1e"
"""What parts the key of an inner parameter: the outer key, the inner site, the inner key (no URL holds it)."""


def nested_urls(found: Sequence[Proposal], frame: Frame, sample: SiteUrls, deep: Deep) -> list[Proposal]:
    """Return the keys whose values are URLs to be canonicalized, and what is irrelevant beside them.

    *found* are proposals of the site's own keys: they say what makes no difference in a URL of its own that is nested.
    """
    keys = [key for key in sorted(frame.columns) if key.startswith("q.") and _are_urls(key, frame)]
    if not keys:
        return []
    book = book_of(rules_of(sample.site, found), sample, deep)
    opened = _opened(frame, keys, book)
    levels = drop_set(opened, {}, np.random.default_rng(SEED)).levels
    gone = [key for key, level in levels.items() if level is Level.DROPPED]
    operations = _operations(opened, keys, gone)
    outer = [key for key in gone if key in frame.columns and key not in keys]
    left = {key: codes for key, codes in frame.columns.items() if key not in outer}
    canonical = Frame(
        frame.table, frame.rows, left | {key: _shown(frame, key, one, book) for key, one in operations.items()}
    )
    groups = canonical.groups({})
    nested = []
    for key, operation in operations.items():
        concerned = varying(groups, frame.columns[key])
        clean = concerned & (groups.contents == 1)
        good, total = int(clean.sum()), int(concerned.sum())
        if good >= current().proposed_groups and worth_asking(total - good, total):
            # What no rule of the inner site says is known only where it was seen.
            match = _sections(frame, groups.order[clean[groups.group]]) if operation.ignore else ()
            nested.append(Proposal(match, key, operation))
    known = {proposal.key for proposal in found}
    beside = [Proposal((), key, dropped(frame.table, frame.rows, key)) for key in outer if key not in known]
    return [*nested, *beside] if nested else []


def _operations(opened: Frame, keys: Sequence[str], gone: Sequence[str]) -> dict[str, Nested]:
    """Return the operation for each key whose values are URLs; *gone* are the columns that are dropped."""
    inner: dict[str, dict[str, dict[str, Ignore]]] = {key: {} for key in keys}
    groups = opened.groups(dict.fromkeys(gone, Level.DROPPED))
    for column in gone:
        if _INSIDE in column:
            outer, site, key = column.split(_INSIDE)
            operation = dropped(opened.table, np.arange(len(opened)), column)
            speaking = (varying(groups, opened.columns[column]) & (groups.contents == 1))[groups.group]
            rows = groups.order[speaking]
            for place in _places(opened, outer, site, rows[opened.columns[column][rows] != ABSENT]):
                if isinstance(operation, Ignore):
                    inner[outer].setdefault(place, {})[key] = operation
    return {key: Nested(ignore) for key, ignore in inner.items()}


def _places(frame: Frame, key: str, site: str, rows: Rows) -> list[str]:
    """Return the first segments of the URLs of *site* that some rows have, or the site alone where they are many.

    What was tested in fewer sections of a site than a rule needs groups is known of these only.
    """
    vocabulary = frame.table.vocabulary
    sections = {
        values_of(vocabulary[code]).get("path.0") or "" for code in np.unique(frame.columns[key][rows]).tolist()
    }
    return (
        [site] if len(sections) >= current().proposed_groups else [f"{site}/{section}" for section in sorted(sections)]
    )


def _sections(frame: Frame, rows: Rows) -> Match:
    """Return the pattern of the first segments that some rows have, if they are fewer than a rule needs groups."""
    codes = np.unique(frame.columns["path.0"][rows]).tolist() if "path.0" in frame.columns else []
    if not codes or len(codes) >= current().proposed_groups:
        return ()
    values = [frame.table.vocabulary[code] for code in codes if code != ABSENT]
    if not values:
        return (("path.0", Absent()),)
    optional = ABSENT in codes
    return (("path.0", Literal(values[0], optional) if len(values) == 1 else OneOf(values, optional)),)


def _shown(frame: Frame, key: str, operation: Nested, book: RuleBook) -> Codes:
    """Return the codes of a key with the values that *operation* shows alike made one."""
    first: dict[str, int] = {}
    present, place = with_inverse(frame.columns[key])
    alike = np.array(present)
    for number, code in enumerate(present.tolist()):
        url = inner_url(key, frame.table.vocabulary[code]) if code != ABSENT else None
        if url is not None:
            alike[number] = first.setdefault(book.nested_key(url, operation), code)
    codes: Codes = alike[place]
    return codes


def _are_urls(key: str, frame: Frame) -> bool:
    """Return whether nearly all values of a key are absolute URLs."""
    texts = [frame.table.vocabulary[code] for code in np.unique(frame.columns[key]).tolist() if code != ABSENT]
    urls = sum("%3A%2F%2F" in text and inner_url(key, text) is not None for text in texts)
    return bool(texts) and urls >= MIN_URL_SHARE * len(texts)


def _opened(frame: Frame, keys: Sequence[str], book: RuleBook) -> Frame:
    """Return a frame in which the parameters of URLs that are values of *keys* are columns of their own.

    Its table is the frame's rows. The codes of new texts are added to the vocabulary, which all tables share.
    """
    columns = dict(frame.columns)
    repeated = set(frame.table.repeated)
    for key in keys:
        present, place = with_inverse(columns.pop(key))
        bases = np.zeros(len(present), dtype=np.int32)
        inner: defaultdict[str, Codes] = defaultdict(lambda: np.zeros(len(present), dtype=np.int32))  # noqa: B023
        for number, code in enumerate(present.tolist()):
            text = frame.table.vocabulary[code] if code != ABSENT else ""
            url = inner_url(key, text) if REPEAT not in text else None
            if url is None:
                bases[number] = code
                continue
            base, values = _parts(book.nested_key(url, Nested()), book)
            bases[number] = _code(frame.table, base)
            for name, value in values.items():
                inner[f"{key}{_INSIDE}{name}"][number] = _code(frame.table, value)
                if REPEAT in value:
                    repeated.add(f"{key}{_INSIDE}{name}")
        columns[key] = bases[place]
        columns |= {name: codes[place] for name, codes in inner.items()}
    columns = dict(sorted(columns.items()))
    urls = [frame.table.urls[row] for row in frame.rows.tolist()]
    table = replace(
        frame.table,
        urls=urls,
        columns=columns,
        content=frame.content,
        lone=frame.lone,
        seeds=seeds_of(columns),
        repeated=frozenset(repeated),
    )
    return Frame(table, np.arange(len(urls)))


def _parts(url: str, book: RuleBook) -> tuple[str, Mapping[str, str]]:
    """Return a URL without its query, and the values of its parameters by site and key."""
    origin, path, _ = normal_parts(url)
    site = site_of_url(url, groups=book.groups)
    values = values_of(url, groups=book.groups)
    parameters = {key: value for key, value in values.items() if key.startswith("q.")}
    return origin + path, {f"{site}{_INSIDE}{key}": value for key, value in joined_repeats(parameters)}


def _code(table: Table, text: str) -> int:
    """Return the code of a text, a new one where it has none."""
    code = table.numbers.get(text)
    if code is None:
        code = table.numbers[text] = len(table.vocabulary)
        table.vocabulary.append(text)
    return code
