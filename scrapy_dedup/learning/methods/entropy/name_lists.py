"""Lists of names that are generally relevant or irrelevant, and rules made by hand.

Source: url-parameter-relevance, "a rule that deems any parameter having a name equal to vid, file, or
path to be relevant, and ... sessionid to be irrelevant"; prefixes of tracking parameters are ours.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ...parameter_names import IRRELEVANT
from .relevance import Relevance


def name_of(key: str) -> str:
    """Return the name of the parameter that a key stands for: ``q.sid`` is ``sid``."""
    kind, dot, name = key.partition(".")
    return name if dot and kind in {"q", "m", "s"} else key


@dataclass(frozen=True, slots=True, init=False)
class NameList:
    """Names of parameters, without regard to case; one that ends in ``*`` stands for all of that beginning.

    >>> NameList(relevant=["file"], irrelevant=["utm_*"]).relevance("q.utm_source")
    <Relevance.IGNORE: 'ignore'>
    """

    relevant: frozenset[str]
    irrelevant: frozenset[str]

    def __init__(self, relevant: Iterable[str] = (), irrelevant: Iterable[str] = ()) -> None:
        object.__setattr__(self, "relevant", frozenset(name.lower() for name in relevant))
        object.__setattr__(self, "irrelevant", frozenset(name.lower() for name in irrelevant))

    def relevance(self, key: str) -> Relevance | None:
        """Return what the list says of a key, None where it says nothing; relevant beats irrelevant."""
        name = name_of(key).lower()
        if _among(name, self.relevant):
            return Relevance.ACCEPT
        return Relevance.IGNORE if _among(name, self.irrelevant) else None


def _among(name: str, listed: frozenset[str]) -> bool:
    return name in listed or any(entry.endswith("*") and name.startswith(entry[:-1]) for entry in listed)


DOCUMENT_NAMES = NameList(relevant=["vid", "file", "path"], irrelevant=["sessionid"])
"""The names that the document gives as examples."""

KNOWN_NAMES = NameList(relevant=DOCUMENT_NAMES.relevant, irrelevant=IRRELEVANT)
"""The document's, with session ids and tracking parameters whose names are unmistakable."""
