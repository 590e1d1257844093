"""Keys whose values say less than they show: their case means nothing, or they are URLs themselves.

Source: url-parameter-relevance, the passages on case sensitivity, H(F|lower(V)) - H(F|V), and on
nested URLs, both taken given the rest of the URL: two pages whose names differ in case alone, and in
nothing else, are what speaks for the case.
"""

from collections.abc import Callable, Collection, Mapping
from urllib.parse import unquote

import numpy as np

from ...urls import GroupsLike, normal_form, site_of_url, values_of
from ...urls.percent import lower_value
from ..evidence import MIN_GROUPS, tolerable
from ..frame import Frame
from ..grouping import Groups, varying
from ..table import ABSENT, Codes
from .joint import case_merit

MIN_URL_SHARE = 0.9
"""Share of a key's values that must be URLs for it to be nested."""
_CASED = ("path.", "q.", "ext", "m.", "s.")


def case_insensitive(frame: Frame) -> list[str]:
    """Return the keys whose case does not matter, dropped together.

    They are lowered together, since a path is often written in another case as a whole; where pages
    differ after that, the key whose case tells them apart best is put back.
    """
    lowered: dict[str, Codes] = {}
    for key, codes in frame.columns.items():
        if key.startswith(_CASED):
            fewer = _same(frame, codes, lower_value)
            if fewer is not None:
                lowered[key] = fewer
    while lowered:
        groups = _recoded(frame, lowered).groups({})
        concerned = {key: varying(groups, frame.columns[key]) for key in lowered}
        any_of = np.logical_or.reduce(list(concerned.values()))
        bad = any_of & (groups.contents > 1)
        if tolerable(int(bad.sum()), int(any_of.sum())):
            return sorted(key for key in lowered if _clean(groups, concerned[key]) >= MIN_GROUPS)
        merit = {key: case_merit(groups, bad, frame.content, frame.columns[key]) for key in lowered}
        del lowered[max(merit, key=lambda key: (merit[key], key))]
    return []


def nested(frame: Frame, site: str, dropped: Collection[str], sites: GroupsLike = None) -> list[str]:
    """Return the keys whose values are URLs that come in several spellings of one.

    Of URLs of the site itself, *dropped* keys make no difference.
    """

    def identity(value: str) -> str:
        url = normal_form(unquote(value.replace("+", " ")))
        if site_of_url(url, groups=sites) != site:
            return url
        kept = {key: text for key, text in values_of(url, groups=sites).items() if key not in dropped}
        return repr(sorted(kept.items()))

    found = []
    for key, codes in frame.columns.items():
        if key.startswith("q.") and _are_urls(frame, codes):
            fewer = _same(frame, codes, identity)
            if fewer is not None:
                groups = _recoded(frame, {key: fewer}).groups({})
                concerned = varying(groups, codes)
                bad = int((concerned & (groups.contents > 1)).sum())
                if _clean(groups, concerned) >= MIN_GROUPS and tolerable(bad, int(concerned.sum())):
                    found.append(key)
    return sorted(found)


def _clean(groups: Groups, concerned: "np.typing.NDArray[np.bool_]") -> int:
    return int((concerned & (groups.contents == 1)).sum())


def _are_urls(frame: Frame, codes: Codes) -> bool:
    """Tell whether nearly all values of a column are absolute URLs, escaped as in a query."""
    texts = [frame.table.vocabulary[code] for code in np.unique(codes).tolist() if code != ABSENT]
    urls = sum(text[:5].lower() in {"http:", "http%", "https"} and "%3A%2F%2F" in text for text in texts)
    return bool(texts) and urls >= MIN_URL_SHARE * len(texts)


def _same(frame: Frame, codes: Codes, identity: Callable[[str], str]) -> Codes | None:
    """Return the codes with values of one *identity* made one, None where each has its own."""
    present, place = np.unique(codes, return_inverse=True)
    first: dict[str, int] = {}
    shown = [
        code if code == ABSENT else first.setdefault(identity(frame.table.vocabulary[code]), code)
        for code in present.tolist()
    ]
    if shown == present.tolist():
        return None
    return np.asarray(shown, dtype=np.int32)[place]


def _recoded(frame: Frame, columns: Mapping[str, Codes]) -> Frame:
    return Frame(frame.table, frame.rows, {**frame.columns, **columns})
