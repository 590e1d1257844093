"""What readers and writers of other formats have in common."""

from dataclasses import dataclass
from urllib.parse import quote_plus

from ..model import Rule, operation_key_problem
from ..normal_texts import normal_key

__all__ = ["Exported", "Imported", "Inexpressible", "NotExpressible", "query_key"]


@dataclass(frozen=True, slots=True)
class NotExpressible:
    """Something that did not go over, in whole or in part.

    ``what``: the id of a rule that was to be written, or the place of what was read; ``why``: half a
    sentence.
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


class Inexpressible(ValueError):
    """The reason why something cannot be said in another format: half a sentence."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The rules that a text of another format says, and what of it no rule can say."""

    rules: tuple[Rule, ...] = ()
    left_out: tuple[NotExpressible, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """Rules as a text of another format, and what the format cannot say."""

    text: str
    left_out: tuple[NotExpressible, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether no rule is in the text."""
        return not self.text.strip("[] \n")


def query_key(name: str, *, decoded: bool = False) -> str:
    """Return the key of the parameter *name*, for the operations of a rule.

    *decoded*: whether the name is text, in which ``%`` and ``+`` stand for themselves, and not as a URL
    writes it.

    >>> query_key("sid"), query_key("utm_*"), query_key("a[0]"), query_key("a+b", decoded=True)
    ('q.sid', 'q.utm_%2A', 'q.a%5B0%5D', 'q.a%2Bb')

    Raises Inexpressible for a name that no URL can have.
    """
    written = quote_plus(name, errors="surrogatepass") if decoded else name
    if any(char in written for char in "&=#;"):
        raise Inexpressible(f"no parameter has the name {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Inexpressible(f"the name {name!r} is no text") from None
    plain = f"q.{name}"
    key = plain if normal_key(plain) == normal_key(f"q.{written}") else f"q.{written}"
    if key.endswith("*"):
        key = f"{key[:-1]}%2A"
    return key if operation_key_problem(key) is None else key.replace("[", "%5B").replace("]", "%5D")
