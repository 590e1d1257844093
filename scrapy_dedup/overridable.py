"""Values that measurements replace for a while, such as the numbers on which learning rests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["Overridable"]

T = TypeVar("T")


class Overridable(Generic[T]):
    """A value that is made when it is first asked for, and that another one may replace for a while.

    >>> price = Overridable(lambda: 20)
    >>> with price.using(40):
    ...     price.current()
    40
    >>> price.current()
    20
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: list[T] = []

    def current(self) -> T:
        """Return the value that holds."""
        if not self._values:
            self._values.append(self._make())
        return self._values[-1]

    @contextmanager
    def using(self, value: T) -> Iterator[T]:
        """Have another value hold for a while: for measuring; not for several threads."""
        self._values.append(value)
        try:
            yield value
        finally:
            self._values.pop()
