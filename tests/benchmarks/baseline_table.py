"""The table of the benchmarks whose figures are frozen (``baseline.py``): their commands, and how figures are read off them.

The name of a figure ends with its kind, behind a colon, which says by how much it may move.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

SITES = Path(__file__).with_name("recorded_sites")

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One run: the arguments of Python, and how figures are taken out of what it prints (JSON; a text where that is none)."""

    figures: Callable[[Any], Figures]
    command: tuple[str, ...]


def benchmarks(data: Path | None) -> dict[str, Benchmark]:
    """All benchmarks for which there is what they need, by name, in the order in which they are run; *data*: what ``--data`` names."""

    def files(pattern: str) -> list[Path]:
        return sorted(data.glob(pattern)) if data is not None else []

    def of(read: Callable[[Any], Figures], module: str, *arguments: object) -> Benchmark:
        return Benchmark(read, ("-m", f"tests.benchmarks.{module}", *map(str, arguments), "--json"))

    found: dict[str, Benchmark] = {}
    for name, more in {"": (), ", odd .01": ("--odd", ".01")}.items():
        if urls := files("data/urls/*.jsonl.gz"):
            found[f"labelled{name}"] = of(_labelled, "labelled", *more, *urls)
    quiet = {noise: ("--noise", noise, "--soft", "0") for noise in ("0", ".01", ".03")}
    for name, more in {"quiet": quiet["0"], "noise .01": quiet[".01"], "noise .03": quiet[".03"], "mixed": ()}.items():
        for script in files("worlds/score.py"):
            found[f"worlds, {name}"] = Benchmark(_worlds, (str(script), *more, "--json"))
    made = partial(of, _synthetic, "synthetic", "--methods", "pipeline", "--level")
    found |= {f"synthetic, {level}": made(level) for level in ("L0", "L1", "L2", "L3", "L4")}
    found |= {f"synthetic, L2, noise {noise}": made("L2", "--noise", noise) for noise in (".01", ".03", ".1")}
    found["synthetic, L3, noise .03"] = made("L3", "--noise", ".03")
    found["synthetic, L2, clusters .8"] = made("L2", "--clusters", ".8")
    found["small sites"] = of(_small, "small_sites", "--seeds", 100)
    found["small sites, noise .03"] = of(_small, "small_sites", "--seeds", 100, "--noise", ".03")
    sites = {path.name.split(".")[0]: path for path in (*sorted(SITES.glob("*.jsonl.gz")), *files("sites/*.jsonl.gz"))}
    for name, more in {"": (), ", injected": ("--injected",)}.items():
        for site, path in sites.items():
            found[f"recorded, {site}{name}"] = of(_recorded, "recorded", path, *more, *_labels(path))
    for name, more in {"": (), ", injected": ("--injected",)}.items():
        for site, path in sites.items():
            found[f"replay, {site}{name}"] = of(_replay, "replay", path, "--rate", "0", *more)
    for site, path in sites.items():
        for noise, refetches in (("typed", "0"), ("all", "10")):
            more = ("--noise", noise, "--refetches", refetches, *_labels(path))
            found[f"likeness, {site}, {noise}"] = of(_likeness, "likeness", path, *more)
    found["likeness, traps"] = of(_likeness, "likeness", "--traps")
    found["news"] = of(_news, "news", "--seeds", 3)
    for script in files("repro/cases/[0-9]*.py"):
        found[f"cases, {script.stem}"] = Benchmark(_case, (str(script),))
    found["transient"] = of(_transient, "transient", "--only", "cases")
    found["lifecycle"] = of(_lifecycle, "lifecycle")
    for name, more in {"": (), ", quiet": ("--quiet",)}.items():
        found[f"aliases{name}"] = of(_aliases, "aliases", *more)
    for name, more in {"": (), ", quiet": ("--quiet",)}.items():
        found[f"live{name}"] = of(_live, "live", *more)
    found["fleet"] = of(_fleet, "fleet")
    found["faults, kill"] = Benchmark(_faults, ("-m", "tests.faults.kill", "--runs", "12"))
    found["faults, fleet"] = Benchmark(_faults, ("-m", "tests.faults.fleet", "--runs", "6"))
    found["learning time"] = of(_learning, "speed", "--only", "learning", "--only", "learning-scale", "--quick")
    found["speed"] = of(_speed, "speed", "--only", "keys", "--only", "crawl", "--quick")
    return found


def _labels(site: Path) -> tuple[str, ...]:
    """The option for other labels of a recorded site, where there are some beside it: those of a crawl without cookies, say."""
    return tuple(
        f"--labels={path}" for path in sorted(site.parent.glob(f"{site.name.split('.')[0]}-*.labels.tsv.gz"))[:1]
    )


# What is frozen of each


def _synthetic(found: Any) -> Figures:
    (level,) = found["levels"].values()
    micro = level["pipeline"]["micro"]
    return {"removed: share": micro["oracle_compression"], "lost": micro["lost"]}


def _labelled(found: Any) -> Figures:
    scores = {file["name"]: file["methods"]["learned rules"] for file in found["files"]}
    scores = {"all": found["averages"]["learned rules"]["micro"], **scores}
    figures = {f"{name}: share": each["oracle_compression"] or 0.0 for name, each in scores.items()}
    return figures | {f"{name}: lost": each["lost"] for name, each in scores.items()}


def _small(found: Any) -> Figures:
    return {"removed: share": found["removed_share"], "lost": found["lost"]}


def _worlds(found: Any) -> Figures:
    found = found["summary"]
    shares = ("compression_new", "compression_seen", "compression_new_in_traps", "merge_passed", "traps_passed")
    return {f"{name}: share": found[name] for name in shares} | {
        "lost": found["lost_page_rate"],
        "wrong": found["wrong_merges"],
    }


def _recorded(found: Any) -> Figures:
    _, cold, warm = found[0]["crawls"]
    figures = {"warm: share": warm["saved_share"] or 0.0, "warm, all in: share": warm["saved_share_all_in"] or 0.0}
    figures["warm: downloads"] = warm["downloads"]
    return figures | {"cold: lost": cold["lost_count"], "warm: lost": warm["lost_count"]}


def _replay(found: Any) -> Figures:
    figures: Figures = {}
    for each in found:
        rate = f"{each['rate']:g} a second"
        figures |= {f"{rate}, {name}: share": each["saved"][name] or 0.0 for name in ("cold", "warm")}
        figures |= {f"{rate}, all in: share": each["all_in"] or 0.0, f"{rate}: lost": each["lost"]}
        figures[f"{rate}, learning, CPU ms per download: time"] = each["learning_ms"]
    return figures


def _likeness(found: Any) -> Figures:
    figures: Figures = {}
    for noise, refetches in dict.fromkeys((each["noise"], each["refetches"]) for each in found):
        crawls = [each for each in found if (each["noise"], each["refetches"]) == (noise, refetches)]
        name = f"{noise}, {refetches} refetches"
        figures[f"{name}, recall: share"] = sum(each["recall"] for each in crawls) / len(crawls)
        figures[f"{name}: wrong"] = sum(each["wrong"] for each in crawls)
    return figures


def _news(found: Any) -> Figures:
    figures: Figures = {}
    for each in found:
        name = f"seed {each['seed']}"
        figures |= {f"{name}, {kind}: shown": share for kind, share in each["share"].items()}  # the last crawl stays
        figures[f"{name}, values: lost"] = figures.get(f"{name}, values: lost", 0) + each["missing"] * (
            each["crawl"] > 1
        )
    return figures


def _case(printed: str) -> Figures:
    return {f"{name}: passed": mark == "ok" for mark, name in re.findall(r"^(ok|FAIL) +(.+)$", printed, re.MULTILINE)}


def _faults(printed: str) -> Figures:
    ((runs, bad),) = re.findall(r"^(\d+) of \d+ runs, .*: (none|\d+) with a loss", printed, re.MULTILINE)
    return {"runs: lost": 0 if bad == "none" else int(bad), "runs: passed": int(runs)}


def _transient(found: Any) -> Figures:
    figures: Figures = {}
    for mode, by_versions in found["cases"].items():
        for versions, outcome in by_versions.items():
            for part in ("unseen", "few"):
                counts, name = outcome[part], f"{mode}, {versions} versions, {part}"
                figures[f"{name}, recall: share"] = counts["found"] / (counts["found"] + counts["missed"])
                figures[f"{name}, tokens: wrong"] = counts["wrong"]
    return figures


def _lifecycle(found: Any) -> Figures:
    figures: Figures = {f"{each['name']}: rules": each["rules"][1] for each in found["cases"]}
    figures |= {f"{each['name']}, files the same: passed": each["same"] for each in found["cases"]}
    figures |= {f"{each['name']}: downloads": each["downloads"] for each in found["cases"] if each["pages"]}
    figures |= {f"{each['name']}, pages: passed": each["pages"] for each in found["cases"] if each["pages"]}
    thin = found["thin"]
    figures |= {"thin sites: share": thin["removed"] / thin["duplicates"], "thin sites: lost": thin["lost"]}
    return figures | {
        "thin sites, unfounded rules: wrong": thin["unfounded"],
        "thin sites, merged: wrong": thin["merged"],
    }


def _aliases(found: Any) -> Figures:
    figures: Figures = {}
    for each in found["crawled"]:
        name = each["style"]
        figures |= {f"{name}, warm: downloads": each["warm"], f"{name}, cold: downloads in real time": each["cold"]}
        figures |= {f"{name}: lost": each["lost_cold"] + each["lost_warm"], f"{name}: wrong": each["wrong"]}
    for each in found["learned"]:
        figures[f"{each['style']} {each['seed']}, recall: share"] = each["recall"]
    return figures


def _live(found: Any) -> Figures:
    ours = {each["name"].rpartition(" ")[2]: each for each in found if each["name"].startswith("scrapy-dedup")}
    figures: Figures = {f"{name}: downloads in real time": each["until"][-1] or 10_000 for name, each in ours.items()}
    return figures | {f"{name}: lost": each["lost"] for name, each in ours.items()}


def _fleet(found: Any) -> Figures:
    figures: Figures = {"as a job grows, per page: bytes": found["grown"][0]}
    for each in found["crawls"]:
        if each["name"] != "plain":
            name = f"{each['workers']} workers, {each['name']}"
            figures |= {f"{name}: downloads in real time": each["downloads"], f"{name}: lost": each["lost"]}
            figures[f"{name}, per request: trips"] = each["trips"]
    return figures


def _learning(found: Any) -> Figures:
    costs = [(f"{part}, {each['urls']} URLs", each) for part in ("learning", "learning-scale") for each in found[part]]
    figures: Figures = {
        f"{name}, CPU us per URL: time": 1e6 * each["cpu_seconds"] / each["urls"] for name, each in costs
    }
    figures |= {f"{name}: share": each["oracle_compression"] or 0.0 for name, each in costs}
    return figures | {f"{name}: lost": each["lost"] for name, each in costs}


def _speed(found: Any) -> Figures:
    figures: Figures = {f"keys: {each['what']}, by w3lib: time": each["ratio"] for each in found["keys"]}
    return figures | {
        f"crawl, {each['kind']['name']}, {each['variant']}: time": each["ratio"] for each in found["crawl"]
    }
