"""What a crawl has changed of the rules that act: all its learnings together, as one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...rules.changes import in_short


@attrs.define(eq=False, repr=False)
class SiteHistory:
    """The ids of the rules of one site that acted at first, that act now, and whose place each took."""

    before: set[str]
    now: set[str] = attrs.field(factory=set)
    #: By the id of a rule: whether it is narrower, and the ids of those whose place it took.
    replaced: dict[str, tuple[bool, Sequence[str]]] = attrs.field(factory=dict)

    def kinds(self) -> Iterator[str]:
        """Yield, for each rule, what has become of it since the first learning."""
        replaced: set[str] = set()
        for name in self.now - self.before:
            narrower, roots = self._roots(name, set())
            replaced |= roots
            yield "added" if not roots else "narrower" if narrower else "wider"
        for name in self.before:
            if name in self.now:
                yield "unchanged"
            elif name not in replaced:
                yield "dropped"

    def _roots(self, name: str, met: set[str]) -> tuple[bool, set[str]]:
        """Return whether a rule is narrower than some of the first ones whose place it has, and the ids of these."""
        if name in self.before:
            return False, {name}
        if name in met or name not in self.replaced:
            return False, set()
        met.add(name)
        narrower, names = self.replaced[name]
        found = [self._roots(each, met) for each in names]
        return narrower or any(each for each, _ in found), set().union(*(roots for _, roots in found))


@attrs.define(eq=False, repr=False)
class RuleHistory:
    """What the learnings of a crawl have changed, by site."""

    _sites: dict[str, SiteHistory] = attrs.field(factory=dict, init=False)

    def note(self, site: str, changes: Mapping[str, Any]) -> None:
        """Note what one learning has changed of a site, as :meth:`.RuleChanges.to_dict` says it."""
        wider, narrower = changes["wider"], changes["narrower"]
        gone = {name for names in (*wider.values(), *narrower.values()) for name in names} | set(changes["dropped"])
        kept = set(changes["unchanged"])
        history = self._sites.setdefault(site, SiteHistory(kept | gone))
        history.now = kept | set(changes["added"]) | wider.keys() | narrower.keys()
        history.replaced.update({name: (False, names) for name, names in wider.items()})
        history.replaced.update({name: (True, names) for name, names in narrower.items()})

    def __str__(self) -> str:
        """Return what has changed since the crawl began, in short: ``+1 rule, 1 wider, 3 unchanged``."""
        counts = Counter(kind for history in self._sites.values() for kind in history.kinds())
        return in_short(*(counts[kind] for kind in ("added", "wider", "narrower", "dropped", "unchanged")))
