"""Fields of a table: what a key of it may hold, and when and how it is written. Each is described once, for both ways."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .errors import FormError

__all__ = ["TableField", "flag", "number", "one_of", "only_keys", "share", "shown", "string", "strings", "written"]

#: What no database can hold.
_TOO_MANY: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class TableField:
    """A key of a table, and the attribute that it says of what the table is about; named the same unless given.

    ``read`` returns the attribute for (key, value in the file), and raises FormError; ``write`` returns the value for
    the attribute; ``when`` tells of the whole whether the key is written at all.
    """

    key: str
    read: Callable[[str, Any], Any]
    write: Callable[[Any], Any] = lambda value: value
    when: Callable[[Any], object] = lambda _: True
    attribute: str = ""

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.attribute or self.key


def written(fields: Iterable[TableField], whole: Any) -> dict[str, Any]:
    """Return what is written of *whole*, by key."""
    return {field.key: field.write(getattr(whole, field.name)) for field in fields if field.when(whole)}


# What a key may hold


def fitting(
    fits: Callable[[Any], object], remedy: str, form: Callable[[Any], Any] = lambda value: value
) -> Callable[[str, Any], Any]:
    """Return the check for values that fit, which are returned in a *form*; *remedy* says what does, with ``{key}`` for the key."""

    def value_that_fits(key: str, value: Any) -> Any:
        if not fits(value):
            raise FormError(f"{key} is {value!r}", remedy.format(key=key))
        return form(value)

    return value_that_fits


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


string: Final = fitting(lambda value: isinstance(value, str), "{key} is a string in quotes")
flag: Final = fitting(lambda value: isinstance(value, bool), "{key} is true or false")
number: Final = fitting(lambda value: _is_whole(value) and 0 <= value < _TOO_MANY, "{key} is a number, 0 or more")
share: Final = fitting(
    lambda value: (_is_whole(value) or isinstance(value, float)) and 0 <= value <= 1,
    "{key} is a number between 0 and 1",
    float,
)


def strings(key: str, value: Any) -> tuple[str, ...]:
    """Return *value* if it is a list of strings. Raises FormError."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise FormError(f"{key} is no list of strings", f'write {key} = ["one", "two"]')
    return tuple(value)


def one_of(*known: str) -> Callable[[str, Any], str]:
    """Return the check for one of the *known* words."""
    return fitting(lambda value: value in known, f"a {{key}} is one of {', '.join(filter(None, known))}")


# Tables in one line


def only_keys(form: Mapping[str, Any], names: set[str]) -> None:
    """Raise FormError where a table has other keys than these."""
    unknown = sorted(set(form) - names)
    if unknown:
        raise FormError(
            f"{', '.join(unknown)} does not belong here",
            f"beside it only {', '.join(sorted(names))} may stand",
        )


def shown(form: Any) -> str:
    """Return what stands in a file as a message shows it, shortened."""
    text = str(form) if not isinstance(form, str) else f'"{form}"'
    return text if len(text) <= 60 else text[:57] + "..."
