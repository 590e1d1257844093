"""What the rules of a published method say of URLs, against the method's own function: in rule files as in crawls."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.learning.methods.options import METHODS, described
from scrapy_dedup.learning.methods.policy import policy_of
from scrapy_dedup.rules import Lower

from .conftest import Project
from .test_commands_learn_rules import write_rows

SITE = "http://example.com"


def learned(
    pages: Mapping[str, object], /, method: str = "pattern-tree", **options: Any
) -> tuple[RuleBook, tuple[str, ...]]:
    """Return the rules of a method, and its notes; *pages* is by URL."""
    rows = [Observation(url, f"page {page}", words=200) for url, page in pages.items()]
    found = learn(rows, LearningOptions(policy=policy_of(method, options)))
    (report,) = found.reports
    return found.book, report.notes


def keys(book: RuleBook, pages: Mapping[str, object]) -> int:
    """Return the number of keys of URLs, none of which may be of several pages."""
    by_key: dict[str, set[object]] = {}
    for url, page in pages.items():
        by_key.setdefault(book.canonical_key(url), set()).add(page)
    assert all(len(own) == 1 for own in by_key.values())
    return len(by_key)


def aliased(form: str) -> dict[str, object]:
    """Return pages under a path of two segments, most of which have another URL, a path and a number of theirs."""
    pages: dict[str, object] = {f"{SITE}/item/{n}": n for n in range(60)}
    return pages | {f"{SITE}/{form}?id={n}": n for n in range(40)}


# A segment of the paper is shown whole; a rule file has its stem, its extension, its slash and its parameters


@pytest.mark.parametrize(
    "form",
    ["show", "show.php", "show.tar.gz", "show.v1.0", ".rc", "show/", "show.php/", "a.php/show.php", "show.php;v=1"],
)
def test_an_alias_of_any_form_is_replaced(form: str) -> None:
    pages = aliased(form)
    book, notes = learned(pages)
    assert (keys(book, pages), notes[1:]) == (60, ())
    assert book.equivalent(f"{SITE}/item/777", f"{SITE}/{form}?id=777")
    assert not book.equivalent(f"{SITE}/item/777", f"{SITE}/{form}?id=778")
    assert not book.equivalent(f"{SITE}/item/777", f"{SITE}/other{form.lstrip('.')}?id=777")


def test_an_alias_with_an_extension_through_the_command(project: Project) -> None:
    rows = [Observation(url, f"page {page}", words=200) for url, page in aliased("show.php").items()]
    write_rows(project.folder / "seen.jsonl", rows)
    assert project.scrapy("learn-rules", "--from", "seen.jsonl", "--method", "pattern-tree").returncode == 0
    shown = project.scrapy(
        "dedup", "explain", "--keys-only", *(f"{SITE}/{end}" for end in ("item/7", "show.php?id=7", "show.php?id=8"))
    )
    one, same, other = shown.stdout.splitlines()
    assert one == same != other


@pytest.mark.parametrize(
    ("forms", "pages", "equal", "apart"),
    [
        # A folder is one page with each of its ends.
        (["d{n}/", "d{n}/default.asp"], 30, ["d777/", "d777/default.asp"], ["d777/", "d778/"]),
        (["d{n}/", "d{n}/default.asp", "d{n}/index.html"], 30, ["d777/", "d777/index.html"], ["d777/", "d778/"]),
        (["d{n}/a.php", "d{n}/b.php", "d{n}/c/"], 30, ["d777/a.php", "d777/c/"], ["d777/c/", "d778/a.php"]),
        # A segment is copied with its extension.
        (["item/p{n}.html", "old/x/p{n}.html"], 40, ["item/p77.html", "old/x/p77.html"], ["item/p77.html", "old/x/p78.html"]),
        # Matrix parameters have any value.
        (["view;sid={n}1?id={n}", "view;sid={n}2?id={n}"], 30, ["view;sid=8?id=4", "view;sid=9?id=4"], ["view;sid=1?id=3", "view;sid=1?id=4"]),
    ],
)  # fmt: skip
def test_forms_of_paths_become_one(forms: list[str], pages: int, equal: list[str], apart: list[str]) -> None:
    urls: dict[str, object] = {f"{SITE}/{form.format(n=n)}": n for n in range(pages) for form in forms}
    book, notes = learned(urls)
    assert (keys(book, urls), notes[1:]) == (pages, ())
    assert book.equivalent(*(f"{SITE}/{path}" for path in equal))
    assert not book.equivalent(*(f"{SITE}/{path}" for path in apart))


def test_a_rule_goes_before_the_wider_one_of_the_node_above() -> None:
    """Rules of a tree act node by node, in a rule file the one acts that asks for more: the wider one kept what it did."""
    pages: dict[str, object] = {f"{SITE}/?s={n * 7}": n for n in range(40)}
    pages |= {f"{SITE}/?id={n}": n for n in range(40)}
    pages |= {f"{SITE}/?id={n}&s={n * 11 + visit}": n for n in range(40) for visit in range(1 + n % 2)}
    rows = [Observation(url, f"page {page}", words=200) for url, page in pages.items()]
    policy = policy_of("pattern-tree")
    assert policy is not None
    canonical = policy.decide(SiteUrls.of("example.com", clusters(rows), None)).canonical
    book, _ = learned(pages)
    assert keys(book, pages) == len({canonical(url) for url in pages}) == 101


SEGMENTS = (
    *(
        "a",
        "b.php",
        "c.tar.gz",
        "k=v",
        "x;v=1",
        "y;v={n}",
        "{n}",
        "{n}.html",
        "p{n}",
        "{m}",
        "{m}.asp",
        "",
        "d;{n}",
        "s={n}",
    ),
)


@pytest.mark.parametrize("seed", [1, 5, 31, 45, 74, 98, 105, 116])
def test_of_paths_of_any_form_all_is_said_or_told(seed: int) -> None:
    """Pages under several forms of path, and a few odd responses."""
    rng = Random(seed)
    forms = [
        "/".join(rng.choices(SEGMENTS, k=rng.randint(0, 3)))
        + rng.choice(["", "/"])
        + rng.choice(["", "?id={n}", "?id={n}&s={m}", "?s={m}"])
        for _ in range(rng.randint(2, 4))
    ]
    pages: dict[str, object] = {}
    for n in range(40):
        for form in forms:
            for _ in range(rng.randint(1, 2)):
                url = f"{SITE}/{form.format(n=n, m=rng.randint(0, 500))}"
                pages.setdefault(url, n if rng.random() < 0.97 else f"odd {url}")
    rows = [Observation(url, f"page {page}", words=200) for url, page in pages.items()]
    policy = policy_of("pattern-tree")
    assert policy is not None
    found = clusters(rows)
    canonical = policy.decide(SiteUrls.of("example.com", found, None)).canonical
    book, notes = learned(pages)
    by_key: dict[str, set[str]] = {}
    for url in found.urls:
        by_key.setdefault(book.canonical_key(url), set()).add(canonical(url))
    assert all(len(own) == 1 for own in by_key.values())
    missed = len(by_key) - len({canonical(url) for url in found.urls})
    told = [int(note.split()[3]) for note in notes if note.startswith("the rules leave ")]
    assert told == ([missed] if missed else [])
    assert not missed or any("that a rule file cannot say" in note for note in notes)


def test_what_a_rule_file_cannot_say_is_counted_and_so_are_the_duplicates_that_it_leaves() -> None:
    pages = aliased("kind=x/show.php")
    book, notes = learned(pages)
    assert keys(book, pages) == 100
    assert notes[1:] == (
        "1 rule that a rule file cannot say: parameters in the path (1)",
        "the rules leave 40 of 40 duplicates of the method apart",
    )


# The entropies: what the rule shows alike is analysed as alike


@pytest.mark.parametrize("quotes", ["\u201c\u201d", '""', "%22%22", "  "])
def test_urls_12_to_14_nested_with_their_quotation_marks(quotes: str) -> None:
    """The document prints the marks, and says that the value is what stands between them."""
    opening, closing = quotes[: len(quotes) // 2].strip(), quotes[len(quotes) // 2 :].strip()

    def nested(outer: str, inner: str, page: object) -> str:
        value = f"{opening}http://abc.com/video{page}{inner}{closing}"
        return f"http://xyz.com/video?{outer}url={value}"

    pages = {nested(f"irrelevant={n}&", f"?irrelevant2={n * 3}", n // 3): n // 3 for n in range(45)}
    book, _ = learned(pages, "entropy")
    assert keys(book, pages) == 15
    for page in (3, 777):
        first, second = nested("irrelevant=1&", "?irrelevant2=2", page), nested("irrelevant=2&", "?irrelevant2=3", page)
        assert book.canonical_key(first) == book.canonical_key(second) == book.canonical_key(nested("", "", page))
    assert not book.equivalent(nested("", "", 3), nested("", "", 4))


def test_a_parameter_whose_case_tells_nothing_is_shown_in_lower_case() -> None:
    """The document's first example of case: video.mpg and VIDEO.mpg are one page; here fifteen such pages."""
    pages: dict[str, object] = {f"http://h.com/?v={name}{n}.mpg": n for n in range(15) for name in ("video", "VIDEO")}
    book, notes = learned(pages, "entropy")
    assert (keys(book, pages), notes[1:]) == (15, ())
    assert [rule.ops for rule in book] == [{"q.v": Lower()}]
    assert book.equivalent("http://h.com/?v=Video777.mpg", "http://h.com/?v=video777.mpg")
    alone, _ = learned({"http://h.com/?v=video.mpg": 1, "http://h.com/?v=VIDEO.mpg": 1}, "entropy", minimum=1)
    assert [rule.ops for rule in alone] == [{"q.v": Lower()}]


def test_a_parameter_whose_case_tells_the_page_is_kept() -> None:
    """The document's second example."""
    names = ("video.mpg", "VIDEO.mpg", "video2.mpg", "VIDEO2.mpg")
    assert not learned({f"http://h.com/?v={name}": name for name in names}, "entropy", minimum=1)[0]


def test_case_is_dropped_where_no_path_objects() -> None:
    """Values without capitals say nothing of case; those of another path whose case tells the page do."""
    pages: dict[str, object] = {f"http://h.com/a?v={name}{n}": n for n in range(15) for name in ("x", "X")}
    pages |= {f"http://h.com/b?v=y{n}": f"b{n}" for n in range(30)}
    assert [rule.ops for rule in learned(pages, "entropy")[0]] == [{"q.v": Lower()}]
    pages |= {f"http://h.com/c?v={name}{n}": f"{name}{n}" for n in range(15) for name in ("z", "Z")}
    book, _ = learned(pages, "entropy")
    assert not book.equivalent("http://h.com/c?v=z1", "http://h.com/c?v=Z1")


# Options


def option_values(method: str) -> dict[str, list[str]]:
    """Return, by option, values of each kind that its description names."""
    kinds = {
        "whole number": ["0", "1", "40"],
        "whole number from 1": ["1", "40"],
        "number": ["0", "0.5", "1"],
        "bits": ["0", "0.5", "3"],
        "days": ["0", "1"],
        "0 to 1": ["0", "1"],
        "1 to 4": ["1", "4"],
        "NAME,..": ["", "id,s*"],
        "query,path,host": ["query", "query,path,host"],
    }
    return {
        name: [value for kind in right.split(" | ") for value in kinds.get(kind, [kind])]
        for name, right, _, _ in described(method)
    }


def pairwise(values: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Yield options such that every two values of two options meet in one of them at least."""
    missing = {frozenset({(a, x), (b, y)}) for a, b in combinations(values, 2) for x in values[a] for y in values[b]}
    while missing:
        found = dict(sorted(min(missing, key=sorted)))
        for name in [name for name in values if name not in found]:
            met = {
                value: sum(frozenset({(name, value), one}) in missing for one in found.items())
                for value in values[name]
            }
            found[name] = max(met, key=lambda value: met[value])
        missing -= {frozenset(pair) for pair in combinations(found.items(), 2)}
        yield found


def formations() -> dict[str, object]:
    """Return pages of several formations, with session ids, folders, two spellings, and pages of one URL."""
    pages: dict[str, object] = {}
    for n in range(40):
        pages |= {f"{SITE}/{'abc'[n % 3]}/item{n}.html?s={visit * 41 + n}": n for visit in range(2)}
        pages |= {f"{SITE}/view?id={n}&sid={visit * 43 + n}": f"v{n}" for visit in range(2)}
        pages |= {f"{SITE}/show.php?id=item{n}": n, f"{SITE}/{'ABC'[n % 3]}/item{n}.html": n, f"{SITE}/x/{n}/": f"x{n}"}
    return pages


@pytest.mark.parametrize("method", METHODS)
def test_every_two_options_go_together(method: str) -> None:
    pages = formations()
    acting = set()
    for options in pairwise(option_values(method)):
        book, notes = learned(pages, method, **options)
        assert notes[0].startswith(f"decided by the method {method} alone")
        acting.add(bool(book))
    assert True in acting
