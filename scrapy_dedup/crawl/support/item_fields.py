"""Fields of items, by name: read, and replaced in every type of item that Scrapy takes."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from itemadapter import ItemAdapter

#: From the strings of a field to those in their place; None leaves the field alone.
Rewrite = Callable[[list[str]], list[str] | None]

_MISSING: Any = object()


def with_field(item: Any, name: str, rewrite: Rewrite) -> Any:
    """Return *item* with a field rewritten: the same object where its type allows, else a copy.

    A dotted *name* leads into nested items, and into each of a list of them. A field
    holds a string or a list of strings, and anything else is left alone. No other field is
    touched, and of a frozen item ``__post_init__`` and validators are not run again.

    Raises what the item raises where it does not take the new value.
    """
    if not ItemAdapter.is_item(item):
        return item
    adapter = ItemAdapter(item)
    old = _value(adapter, name)
    if old is not _MISSING:
        new = _rewritten(old, rewrite)
        return item if new is old else _with_value(item, name, new)
    head, dot, rest = name.partition(".")
    old = _value(adapter, head) if dot else _MISSING
    if old is _MISSING:
        return item
    if isinstance(old, list) or type(old) is tuple:
        parts = [with_field(part, rest, rewrite) for part in old]
        same = all(part is before for part, before in zip(parts, old, strict=True))
        new = old if same else type(old)(parts)
    else:
        new = with_field(old, rest, rewrite)
    return item if new is old else _with_value(item, head, new)


def values_of(item: Any, name: str) -> Iterator[Any]:
    """Yield what :func:`with_field` would look at: the value of a field, or of that field of each of several nested items."""
    if not ItemAdapter.is_item(item):
        return
    adapter = ItemAdapter(item)
    value = _value(adapter, name)
    if value is not _MISSING:
        yield value
        return
    head, dot, rest = name.partition(".")
    value = _value(adapter, head) if dot else _MISSING
    if value is not _MISSING:
        for part in value if isinstance(value, list) or type(value) is tuple else (value,):
            yield from values_of(part, rest)


def holds_text(value: Any) -> bool:
    """Whether a value can be rewritten: a string, or a list or tuple of strings."""
    if isinstance(value, str):
        return True
    return (isinstance(value, list) or type(value) is tuple) and bool(value) and all(isinstance(x, str) for x in value)


def _value(adapter: ItemAdapter, name: str) -> Any:
    try:
        return adapter[name]
    except (KeyError, AttributeError):  # a field that was never set
        return _MISSING


def _rewritten(old: Any, rewrite: Rewrite) -> Any:
    """Return the value in the place of *old*, or *old* itself."""
    if not holds_text(old):
        return old
    if isinstance(old, str):
        strings = rewrite([old])
        return old if strings is None else "".join(strings)
    strings = rewrite(list(old))
    return old if strings is None else type(old)(strings)


def _with_value(item: Any, name: str, value: Any) -> Any:
    if _is_frozen_model(item, name):
        return item.model_copy(update={name: value})
    try:
        ItemAdapter(item)[name] = value
    except (AttributeError, TypeError):  # frozen
        item = copy.copy(item)
        object.__setattr__(item, name, value)
    return item


def _is_frozen_model(item: Any, name: str) -> bool:
    """Whether *item* is a pydantic model that, or of which this field, is frozen."""
    fields = getattr(type(item), "model_fields", None)
    if not isinstance(fields, dict) or not hasattr(item, "model_copy"):
        return False
    return bool(type(item).model_config.get("frozen") or getattr(fields.get(name), "frozen", False))
