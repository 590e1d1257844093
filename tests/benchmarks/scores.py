"""The scores of a normalisation: what it saves, and what it loses.

Every figure here comes from two columns, in file order: the key that a method gives each URL, and
the fingerprint of what that URL answered. The URL that stands for a key is the first one that has
it, as in a crawl; every later one is *discarded*.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts of one method on one set of URLs; adding two of them pools the sets.

    urls: URLs scored (N). pages: distinct contents among them (C).
    kept: URLs that stand for a key. represented: distinct contents among those.
    right: discarded URLs whose stand-in has the same content. support_pairs, false_pairs: pairs of
    URLs that share a key, and those of them whose contents differ.
    """

    urls: int
    pages: int
    kept: int
    represented: int
    right: int
    support_pairs: int
    false_pairs: int

    def __add__(self, other: "Scores") -> "Scores":
        return Scores(
            self.urls + other.urls,
            self.pages + other.pages,
            self.kept + other.kept,
            self.represented + other.represented,
            self.right + other.right,
            self.support_pairs + other.support_pairs,
            self.false_pairs + other.false_pairs,
        )

    @property
    def duplicates(self) -> int:
        """URLs that an oracle would discard (N - C)."""
        return self.urls - self.pages

    @property
    def lost(self) -> int:
        """Distinct contents that no kept URL shows any more."""
        return self.pages - self.represented

    @property
    def oracle_compression(self) -> float | None:
        """Rightly discarded URLs / all label duplicates, also those no rule can express.

        A wrong merge is not credited. None where there is nothing to discard.
        """
        return self.right / self.duplicates if self.duplicates else None

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


def score(keys: Sequence[str], fingerprints: Sequence[str]) -> Scores:
    """Scores of a method that gave the i-th URL ``keys[i]``; it answered ``fingerprints[i]``."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key, fingerprint in zip(keys, fingerprints, strict=True):
        groups[key].append(fingerprint)
    support = false = right = 0
    for group in groups.values():
        counts = Counter(group)
        pairs = comb(len(group), 2)
        support += pairs
        false += pairs - sum(comb(count, 2) for count in counts.values())
        right += counts[group[0]] - 1
    return Scores(
        urls=len(fingerprints),
        pages=len(set(fingerprints)),
        kept=len(groups),
        represented=len({group[0] for group in groups.values()}),
        right=right,
        support_pairs=support,
        false_pairs=false,
    )


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
