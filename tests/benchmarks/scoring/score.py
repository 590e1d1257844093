"""The score of a normalisation: what it saves, and what it loses.

Every figure here comes from two columns, in file order: the key that a method gives each URL, and
the fingerprint of what that URL answered. The URL that stands for a key is the first one that has
it, as in a crawl; every later one is *filtered*.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from math import comb

Figures = dict[str, float | int | None]
RATES = ("oracle_compression", "lost_rate", "compression", "dup_reduction", "false_positive_rate")
"""The rates of which there is a macro average."""


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one method on one set of URLs, or of one crawl; adding two of them pools the sets.

    urls: URLs scored (N). pages: distinct contents among them (C).
    kept: URLs that stand for a key. represented: distinct contents among those.
    saved: filtered URLs whose stand-in has the same content. support_pairs, false_pairs: pairs of
    URLs that share a key, and those of them whose contents differ.
    """

    urls: int
    pages: int
    kept: int
    represented: int
    saved: int = 0
    support_pairs: int = 0
    false_pairs: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(*[getattr(self, each.name) + getattr(other, each.name) for each in fields(self)])

    @property
    def duplicates(self) -> int:
        """URLs that an oracle would filter (N - C)."""
        return self.urls - self.pages

    @property
    def lost(self) -> int:
        """Distinct contents that no kept URL shows any more."""
        return self.pages - self.represented

    @property
    def missed(self) -> int:
        """Missed merges: kept URLs that show what another kept URL shows."""
        return self.kept - self.represented

    @property
    def false_merges(self) -> int:
        """Filtered URLs whose stand-in has other content."""
        return self.urls - self.kept - self.saved

    @property
    def removed(self) -> int:
        """Duplicates that are not fetched any more; a page that is lost is none of them."""
        return self.duplicates - self.missed

    @property
    def removed_share(self) -> float | None:
        """Removed duplicates / duplicates; None where there are none."""
        return self.removed / self.duplicates if self.duplicates else None

    @property
    def oracle_compression(self) -> float | None:
        """Saved URLs / all label duplicates, also those no rule can express.

        A wrong merge is not credited. None where there is nothing to filter.
        """
        return self.saved / self.duplicates if self.duplicates else None

    @property
    def lost_rate(self) -> float:
        """1 - distinct contents still represented / distinct contents."""
        return self.lost / self.pages if self.pages else 0.0

    @property
    def compression(self) -> float:
        """Compression rate of the pattern-tree paper, equation 1: 1 - N_norm / N_ori."""
        return 1 - self.kept / self.urls if self.urls else 0.0

    @property
    def dup_reduction(self) -> float | None:
        """Dup-reduction rate, equation 2: 1 - (1 - C_norm/N_norm) / (1 - C_ori/N_ori)."""
        if not self.duplicates:
            return None
        before = 1 - self.pages / self.urls
        return 1 - (1 - self.represented / self.kept) / before

    @property
    def false_positive_rate(self) -> float | None:
        """False-positive rate, equation 3: N_fpp / N_supp; None where nothing was merged."""
        return self.false_pairs / self.support_pairs if self.support_pairs else None

    def figures(self) -> Figures:
        """All counts and rates by name, for JSON."""
        return asdict(self) | {name: getattr(self, name) for name in ("lost", "missed", "false_merges", *RATES)}


def pooled(scores: Iterable[Score]) -> Score:
    """The counts of several sets as of one."""
    return sum(scores, Score(0, 0, 0, 0))


def averages(scores: Iterable[Score]) -> dict[str, Figures]:
    """Micro (all URLs as one set) and macro (mean over the sets) averages."""
    scores = list(scores)
    macro = {name: mean(getattr(each, name) for each in scores) for name in RATES}
    return {"micro": pooled(scores).figures(), "macro": macro}


def score(keys: Sequence[str], fingerprints: Sequence[object]) -> Score:
    """The score of a method that gave the i-th URL ``keys[i]``; it answered ``fingerprints[i]``."""
    groups: defaultdict[str, list[object]] = defaultdict(list)
    for key, fingerprint in zip(keys, fingerprints, strict=True):
        groups[key].append(fingerprint)
    support = false = saved = 0
    for group in groups.values():
        counts = Counter(group)
        pairs = comb(len(group), 2)
        support += pairs
        false += pairs - sum(comb(count, 2) for count in counts.values())
        saved += counts[group[0]] - 1
    return Score(
        urls=len(fingerprints),
        pages=len(set(fingerprints)),
        kept=len(groups),
        represented=len({group[0] for group in groups.values()}),
        saved=saved,
        support_pairs=support,
        false_pairs=false,
    )


def score_of(urls: Sequence[str], contents: Sequence[object], canonical: Callable[[str], str]) -> Score:
    """The score of a canonical function on URLs of known contents."""
    return score([canonical(url) for url in urls], contents)


def lost_pages(urls: Sequence[str], keys: Sequence[str], fingerprints: Sequence[str]) -> list[tuple[str, str, str]]:
    """(a URL of the lost page, the URL that stood for it, their key), one per lost page."""
    first: dict[str, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    shown = {fingerprints[i] for i in first.values()}
    found: dict[str, tuple[str, str, str]] = {}
    for url, key, fingerprint in zip(urls, keys, fingerprints, strict=True):
        if fingerprint not in shown:
            found.setdefault(fingerprint, (url, urls[first[key]], key))
    return list(found.values())


def missed_duplicates(urls: Sequence[str], keys: Sequence[str], fingerprints: Sequence[str]) -> list[tuple[str, str]]:
    """(a kept URL, an earlier kept URL with the same content), one per duplicate still fetched."""
    stand_in: dict[str, str] = {}
    keys_seen: set[str] = set()
    found = []
    for url, key, fingerprint in zip(urls, keys, fingerprints, strict=True):
        if key in keys_seen:
            continue
        keys_seen.add(key)
        if fingerprint in stand_in:
            found.append((url, stand_in[fingerprint]))
        else:
            stand_in[fingerprint] = url
    return found


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are there (the macro average), None when there are none."""
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None
