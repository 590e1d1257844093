"""Learn the priors of kinds of values from sites of which the pages are known.

    python -m tests.benchmarks.priors [--worlds DIR] [--labelled FILE...] [--recorded FILE...] [--real] [--write]

Prints the priors set by hand, those that fit all sites, and those that fit real sites alone, and how well each explains sites
that were left out of it (mean log-likelihood of a proposal). ``--write`` writes the package's file of learned priors, which
says from what kinds of data, how many sites and proposals, and when.
"""

import argparse
import datetime
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from scrapy_dedup.learning.evidence import value_kinds
from scrapy_dedup.learning.evidence.value_kinds import PRIORS_FILE, ValueKind
from scrapy_dedup.learning.evidence.witnesses import EQUALS

from .fitting.priors import HAND_SET, PSEUDO, Known, Priors, fitted, left_out, log_likelihood
from .fitting.strata_of_sites import Judged, add_arguments, chosen, judged_proposals
from .scoring.checks import print_table

DIGITS = 4
SMALL, SEEDS = 80, 2
COMMAND = "python -m tests.benchmarks.priors --worlds DIR --labelled FILE... --recorded FILE... --write"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.priors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, SMALL, SEEDS)
    parser.add_argument("--real", action="store_true", help="write what fits real sites alone")
    parser.add_argument("--write", action="store_true", help="write the package's file")
    args = parser.parse_args(argv)
    found = [one for site in chosen(args) for one in judged_proposals(site)]
    known = Known.of(found)
    every = fitted(known)
    real = fitted(known, ~known.generated)
    _print(known, {"set by hand": HAND_SET, "all sites": every, "real sites": real})
    if args.write:
        target = Path(str(files(value_kinds.__package__).joinpath(PRIORS_FILE)))
        command = COMMAND.replace("--write", "--real --write") if args.real else COMMAND
        priors, used = (real, [one for one in found if not one.generated]) if args.real else (every, found)
        target.write_text(
            text_of(priors, used, datetime.datetime.now(tz=datetime.timezone.utc).date(), command), "utf-8"
        )
        print(f"wrote {target.name}")
    return 0


def _print(known: Known, fits: dict[str, Priors]) -> None:
    rows = []
    for kind in ValueKind:
        for name, priors in fits.items():
            one = priors[kind]
            rows.append((kind.value, name, one.right, one.mixed, one.wrong, *one.equals, one.unlike))
    columns = ("kind", "priors", "right", "mixed", "wrong", *(f"equal {share:g}" for share in EQUALS), "unlike")
    title = f"Priors by kind of values; {len(known.sites)} proposals of {len(set(known.sites))} sites"
    print_table(title, columns, rows, left=2, width=150)
    by_hand = log_likelihood(known, dict.fromkeys(known.sites, HAND_SET))
    print(f"mean log-likelihood of a proposal, set by hand: {by_hand:.4f}")
    print(f"  learned, its site left out: {log_likelihood(known, left_out(known)):.4f}")
    print(f"  learned from other real sites: {log_likelihood(known, left_out(known, generated=False)):.4f}")


def text_of(priors: Priors, found: Sequence[Judged], today: datetime.date, command: str = COMMAND) -> str:
    """Return the file of learned priors."""
    lines = [
        "# What is believed of a key by the kind of its values, before anything of it is seen.",
        "# Learned (see docs/benchmarks.md), and drawn towards the values set by hand (HAND_SET in tests/benchmarks/fitting/priors.py),",
        f"# which count as {PSEUDO:g} proposals. Reviewed; do not edit figures one by one.",
        "",
        "[learned]",
        f"on = {today.isoformat()}",
        f'by = "{command}"',
        "",
    ]
    for data in dict.fromkeys(one.data for one in found):
        some = [one for one in found if one.data == data]
        sites = len({one.site for one in some})
        lines += ["[[learned.from]]", f'data = "{data}"', f"sites = {sites}", f"proposals = {len(some)}", ""]
    for kind in ValueKind:
        one = priors[kind]
        lines += [f"[kinds.{kind.value}]"]
        lines += [f"{name} = {round(getattr(one, name), DIGITS)}" for name in ("right", "mixed", "wrong")]
        lines += [f"equals = [{', '.join(str(round(share, DIGITS)) for share in one.equals)}]"]
        lines += [f"unlike = {round(one.unlike, DIGITS)}", ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
