"""What ``scrapy learn-rules --method list`` prints: the methods that may decide, and the options of each."""

from textwrap import wrap

from ...learning.choices import JUDGE
from ...learning.methods.options import METHODS, described

_WIDTH = 110


def print_methods() -> None:
    """Print each method with its options: name, default, help and the values that are right."""
    print(f"{JUDGE}: all learners propose, and one estimate decides. The default; it has no options.")
    for name, kind in METHODS.items():
        print(f"\n{name}: {kind.__doc__}")
        for option, right, default, text in described(name):
            for number, line in enumerate(wrap(f"{text} ({right})", _WIDTH - 42)):
                print(f"  {f'{option}={default}' if not number else '':38}  {line}")
