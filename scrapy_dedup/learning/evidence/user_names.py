"""Names of parameters whose meaning is the same on all sites: the user's lists, and those that say where to return to.

What the user calls relevant or irrelevant moves the prior of a parameter as an opinion that is right nineteen times in twenty
(:data:`.belief.Source.MANUAL`); a name that says where to return to speaks for a constant page just as much
(:mod:`.walls`). No name outvotes what pages show.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

REMEDY: Final = (
    'Write a dictionary such as {"relevant": ["variant"], "irrelevant": ["trk_*"], "return": ["came_from"]}.'
)
KINDS: Final = ("relevant", "irrelevant", "return")
"""What names may be listed as."""

RETURN_NAMES: Final = frozenset(
    "returnto returnurl returnuri returnpath returnpage returntoquery return retpath returl rurl redirect redirectto "
    "redirecturl redirecturi redirectpath redir next nexturl nextpage continue continueurl continueto back backurl backto "
    "backurl goto gotourl destination camefrom comefrom fromurl referer referrer refererurl originurl followup forwardurl "
    "forwardto successurl afterlogin loginredirect targeturl callbackurl relaystate".split()
)
"""Names that say where a log-in page, say, leads back to, without ``_`` and ``-``."""


@dataclass(frozen=True, slots=True)
class Names:
    """The user's lists of names, in lower case; one that ends in ``*`` stands for all of that beginning.

    >>> Names.of({"return": ["zurueck"]}).says_return("q.Zurueck"), Names().says_return("q.return_to"), Names().says_return("q.id")
    (True, True, False)
    """

    relevant: frozenset[str] = frozenset()
    irrelevant: frozenset[str] = frozenset()
    returning: frozenset[str] = frozenset()

    @classmethod
    def of(cls, lists: "Mapping[str, Iterable[str]] | Names | None") -> "Names":
        """Return the lists by kind (KINDS). Raises ValueError, whose message says what is wrong, for anything else."""
        if lists is None or isinstance(lists, Names):
            return lists or cls()
        if not isinstance(lists, Mapping):
            raise ValueError("it must be a dictionary")  # noqa: TRY004 (one kind of error for a wrong value)
        for kind in lists:
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
        found = {kind: _listed(kind, lists.get(kind, ())) for kind in KINDS}
        if both := sorted(found["relevant"] & (found["irrelevant"] | found["return"])):
            raise ValueError(f"{both[0]!r} is listed as relevant, and as irrelevant or return, too")
        return cls(found["relevant"], found["irrelevant"], found["return"])

    def lists(self) -> dict[str, list[str]]:
        """Return the names by kind, as :meth:`of` takes them, empty lists left out."""
        found = zip(KINDS, (self.relevant, self.irrelevant, self.returning), strict=True)
        return {kind: sorted(names) for kind, names in found if names}

    def says_return(self, key: str) -> bool:
        """Return whether the name of a key (``q.return_to``) says where to return to."""
        kind, _, name = key.partition(".")
        name = name.lower()
        if kind not in ("q", "m", "s"):
            return False
        return name.replace("_", "").replace("-", "") in RETURN_NAMES or any(
            name.startswith(entry[:-1]) if entry.endswith("*") else name == entry for entry in self.returning
        )


def names_of(lists: Mapping[str, Iterable[str]] | Names | None) -> Names:
    """Return lists of names, as an argument gives them. Raises ValueError for anything else."""
    try:
        return Names.of(lists)
    except ValueError as error:
        raise ValueError(f"names is {lists!r}: {error}. {REMEDY}") from None


def _listed(kind: str, names: Any) -> frozenset[str]:
    if isinstance(names, str) or not isinstance(names, list | tuple | set | frozenset):
        raise ValueError(f"{kind!r} has {names!r}, not a list of names")  # noqa: TRY004 (one kind of error for a wrong value)
    for name in names:
        if not isinstance(name, str) or not name.strip("*") or "*" in name[:-1]:
            raise ValueError(f"{kind!r} has {name!r}, not the name of a parameter, or the beginning of names and a '*'")
    return frozenset(name.lower() for name in names)
