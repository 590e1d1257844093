"""What ``scrapy learn-rules --method list`` prints: the methods that may decide, and the options of each."""

from rich import box
from rich.table import Table
from rich.text import Text

from ..learning.methods.options import METHODS, described
from ..learning.names import JUDGE
from .console import plain_console


def print_methods() -> None:
    """Print each method with its options, their values, defaults and help."""
    console = plain_console()
    console.print(Text(f"{JUDGE}: all learners propose, and one estimate decides (the default; it has no options)"))
    for name, kind in METHODS.items():
        console.print()
        console.print(Text(f"{name}: {(kind.__doc__ or '').partition(chr(10))[0]}"))
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        table.add_column("option", no_wrap=True)
        table.add_column("values", overflow="fold")
        table.add_column("default", overflow="fold")
        table.add_column("what it says", overflow="fold")
        for row in described(name):
            table.add_row(*map(Text, row))
        console.print(table)
