"""Where commands print: what sites write, such as ``[id]``, ``[/b]`` or ``:a:``, is no markup of ours."""

from rich.console import Console


def plain_console(*, soft_wrap: bool = False, size: tuple[int, int] | None = None) -> Console:
    """Return a console that prints every string as it is; *size* is (columns, lines), if these are known."""
    width, height = size or (None, None)
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap, width=width, height=height)
