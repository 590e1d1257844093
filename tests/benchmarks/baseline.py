"""Figures of all benchmarks, frozen in a file, and compared with those of today.

    python -m tests.benchmarks.baseline --compare [--data DIR] [--only NAME]...
    python -m tests.benchmarks.baseline --freeze [--data DIR] [--only NAME]...

Runs the benchmarks of the table below, takes the figures out of the JSON that each prints, and compares them with
``baseline.json`` beside this file, or writes them into it. What needs recorded sites, labelled URL sets or the
second generator of sites is left out unless ``--data`` names the folder that has them (``sites/``, ``data/urls/``,
``worlds/score.py``). Sites are crawled quiet, as when the file was frozen; what is called noisy or injected has pages
of which no two responses are equal. Figures of time are those of the machine on which they were frozen; compare them on one machine.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .crawling.server import ROOT
from .scoring.table import print_table

FILE = Path(__file__).with_suffix(".json")

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One run: a module of this package with its arguments, and how figures are taken out of what it prints.

    ``data`` are the files below ``--data`` that are given to it, as a pattern; "" for none.
    """

    module: str
    arguments: tuple[str, ...]
    figures: Callable[[Any], Figures]
    data: str = ""


def _scores(found: Any) -> Figures:
    (level,) = found["levels"].values()
    micro = level["pipeline"]["micro"]
    return {"removed share": micro["oracle_compression"], "lost": micro["lost"]}


def _labelled(found: Any) -> Figures:
    pooled = found["averages"]["learned rules"]["micro"]
    figures: Figures = {"removed share, pooled": pooled["oracle_compression"], "lost, pooled": pooled["lost"]}
    for file in found["files"]:
        figures[f"removed share, {file['name']}"] = file["methods"]["learned rules"]["oracle_compression"] or 0.0
    return figures


def _small(found: Any) -> Figures:
    return {"removed share": found["removed_share"], "lost": found["lost"]}


def _worlds(found: Any) -> Figures:
    summary = found["summary"]
    names = ("compression_new", "compression_seen", "merge_passed", "traps_passed", "lost_page_rate")
    return {name: summary[name] for name in names}


def _recorded(found: Any) -> Figures:
    figures: Figures = {}
    for site in found:
        for crawl in site["crawls"]:
            name = f"{site['name']} {crawl['name']}"
            figures |= {f"{name}, downloads": crawl["downloads"], f"{name}, saved share": crawl["saved_share"]}
            figures[f"{name}, lost"] = crawl["lost_count"]
    return figures


def _live(found: Any) -> Figures:
    return {f"{each['name']}, downloads to all pages": each["until"][-1] or 0 for each in found}


def _aliases(found: Any) -> Figures:
    figures: Figures = {}
    for each in found["crawled"]:
        figures |= {
            f"{each['style']}, {name}": each[name] for name in ("plain", "cold", "warm", "lost_cold", "lost_warm")
        }
    return figures


def _speed(found: Any) -> Figures:
    figures: Figures = {f"keys: {each['what']}, ratio to w3lib": each["ratio"] for each in found.get("keys", ())}
    figures |= {f"crawl: {each['kind']['name']}, {each['variant']}": each["ratio"] for each in found["crawl"]}
    return figures


def _transient(found: Any) -> Figures:
    figures: Figures = {}
    for mode, by_versions in found["cases"].items():
        for versions, outcome in by_versions.items():
            for part in ("unseen", "few"):
                counts, name = outcome[part], f"{mode}, {versions} versions, {part}"
                figures[f"{name}, recall"] = counts["found"] / (counts["found"] + counts["missed"])
                figures[f"{name}, wrong tokens"] = counts["wrong"]
    return figures


def _likeness(found: Any) -> Figures:
    figures: Figures = {}
    for noise, refetches in dict.fromkeys((each["noise"], each["refetches"]) for each in found):
        crawls = [each for each in found if (each["noise"], each["refetches"]) == (noise, refetches)]
        name = f"{noise}, {refetches} refetches"
        figures[f"{name}, recall"] = sum(each["recall"] for each in crawls) / len(crawls)
        figures[f"{name}, wrong pairs"] = sum(each["wrong"] for each in crawls)
    return figures


def _synthetic(*arguments: str) -> Benchmark:
    return Benchmark("synthetic", ("--methods", "pipeline", *arguments), _scores)


URLS, WORLDS = "data/urls/*.jsonl.gz", "worlds/score.py"
RECORDED = ("wordpress", "dokuwiki", "apache-docs", "cgit", "oscar")
BENCHMARKS: Mapping[str, Benchmark] = {
    **{level: _synthetic("--level", level) for level in ("L0", "L1", "L2", "L3", "L4")},
    **{f"L2, noise {noise}": _synthetic("--level", "L2", "--noise", noise) for noise in (".01", ".03", ".1")},
    "L3, noise .03": _synthetic("--level", "L3", "--noise", ".03"),
    "L2, clusters .8": _synthetic("--level", "L2", "--clusters", ".8"),
    "small sites": Benchmark("small_sites", ("--seeds", "100"), _small),
    "small sites, noise .03": Benchmark("small_sites", ("--seeds", "100", "--noise", ".03"), _small),
    "labelled": Benchmark("labelled", (), _labelled, URLS),
    "labelled, odd .01": Benchmark("labelled", ("--odd", ".01"), _labelled, URLS),
    "worlds, quiet": Benchmark("", ("--noise", "0", "--soft", "0"), _worlds, WORLDS),
    "worlds, noise .01": Benchmark("", ("--noise", ".01", "--soft", "0"), _worlds, WORLDS),
    "worlds, noise .03": Benchmark("", ("--noise", ".03", "--soft", "0"), _worlds, WORLDS),
    "worlds, mixed": Benchmark("", (), _worlds, WORLDS),
    **{f"recorded, {name}": Benchmark("recorded", (), _recorded, f"sites/{name}.jsonl.gz") for name in RECORDED},
    **{
        f"recorded, {name}, injected": Benchmark("recorded", ("--injected",), _recorded, f"sites/{name}.jsonl.gz")
        for name in RECORDED
    },
    **{f"likeness, {name}": Benchmark("likeness", (), _likeness, f"sites/{name}.jsonl.gz") for name in RECORDED},
    "likeness, traps": Benchmark("likeness", ("--traps",), _likeness),
    "live": Benchmark("live", ("--quiet",), _live),
    "live, noisy": Benchmark("live", (), _live),
    "aliases": Benchmark("aliases", ("--quiet",), _aliases),
    "aliases, noisy": Benchmark("aliases", (), _aliases),
    "transient": Benchmark("transient", ("--only", "cases"), _transient),
    "speed": Benchmark("speed", ("--quick", "--quiet"), _speed),
    "speed, noisy": Benchmark("speed", ("--quick", "--only", "crawl"), _speed),
}


def run(benchmark: Benchmark, data: Path | None) -> Figures | None:
    """Run a benchmark and return its figures; None where its data is not there."""
    files = sorted(data.glob(benchmark.data)) if data is not None and benchmark.data else []
    if benchmark.data and not files:
        return None
    arguments = [*benchmark.arguments, "--json"]
    if not benchmark.module:
        command = [sys.executable, str(files[0]), "--python-path", sys.executable, *arguments]
    else:
        crawled = benchmark.module == "recorded" and "oscar" in files[0].name
        labels = files[0].with_name("oscar-nocookies.labels.tsv.gz") if crawled else None
        more = ["--labels", str(labels)] if labels is not None and labels.exists() else []
        command = [sys.executable, "-m", f"tests.benchmarks.{benchmark.module}", *arguments, *more, *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return {name: round(float(value), 5) for name, value in benchmark.figures(json.loads(done.stdout)).items()}


def frozen() -> dict[str, Figures]:
    """The figures in the file; none where there is no file."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def write(figures: Mapping[str, Figures]) -> None:
    """Write figures into the file, in the order of the table."""
    order = {name: figures[name] for name in BENCHMARKS if name in figures}
    FILE.write_text(json.dumps(order, indent=1) + "\n", "utf-8")


def print_figures(name: str, before: Figures, now: Figures) -> None:
    """Print the figures of a benchmark, frozen and today's, and by how much those differ that do."""
    rows: list[Sequence[object]] = []
    for figure in dict.fromkeys((*before, *now)):
        old, new = before.get(figure), now.get(figure)
        change = "" if old is None or new is None or old == new else f"{new - old:+.4g}"
        rows.append((figure, *("-" if value is None else f"{value:.5g}" for value in (old, new)), change))
    print_table(name, ("figure", "frozen", "today", "difference"), rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and compare or freeze; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.baseline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--compare", action="store_true", help="print today's figures beside those of the file")
    what.add_argument("--freeze", action="store_true", help="write today's figures into the file")
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--only", action="append", choices=list(BENCHMARKS), metavar="NAME", help=", ".join(BENCHMARKS))
    options = parser.parse_args(arguments)
    known = frozen()
    for name in options.only or BENCHMARKS:
        found = run(BENCHMARKS[name], options.data)
        if found is None:
            print(f"{name}: no data; --data says where it is")
        elif options.freeze:
            known[name] = found
            write(known)
        else:
            print_figures(name, known.get(name, {}), found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
