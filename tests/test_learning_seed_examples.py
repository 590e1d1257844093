"""The worked examples of the documents, as sites with pages enough, through the pipeline as it is deployed."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from random import Random

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.alternation import StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.methods.entropy import FingerprintedUrl, Relevance, host_rules, proposals_of
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.pages.response import fingerprint_body
from scrapy_dedup.rules import Nested
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

Forms = Callable[[int, Random], Sequence[str]]
"""The URLs of page *n*."""


def sid(rng: Random) -> str:
    return f"{rng.getrandbits(128):032X}"


def marketwatch(n: int, rng: Random) -> Sequence[str]:
    guid = f"%7B{n:08X}%2DBB62%2D457C%2DA82E%2D05EE3F6F16C8%7D"
    options = product(("yhoo/", ""), ("source=blq/yhoo&", ""), ("siteid=yhoo&", ""), ("dist=yhoo&", ""))
    return [
        f"http://www.marketwatch.com/news/{brand}story.asp?{source}{siteid}{dist}guid={guid}"
        for brand, source, siteid, dist in options
    ]


def informationweek(n: int, rng: Random) -> Sequence[str]:
    page = "http://www.informationweek.com/showArticle.jhtml"
    article = f"articleID={60401364 + n}"
    return [
        f"{page};jsessionid={sid(rng)}?{article}",
        f"{page}?{article}&tid={rng.randrange(1000, 9999)}",
        f"{page}?{article}",
    ]


def amazon(n: int, rng: Random) -> Sequence[str]:
    page = f"http://www.amazon.fr/exec/obidos/ASIN/{2709606810 + n}/"
    q1, q2 = (rng.randrange(1038383000, 1038384000) for _ in range(2))
    return [
        f"{page}qid={q1}/sr=1-{n % 30}/ref=sr_1_3_{n % 30}/",
        f"{page}qid={q2}/br=1-{n % 20}/ref=br_lf_b_{n % 20}/",
        f"{page}ref=br_lf_b_{n % 20}/",
    ]


def player(n: int, rng: Random) -> Sequence[str]:
    """URLs (1) to (3), (7) and (8)."""
    file = f"file=news{20080115 + n}"
    return [
        f"http://xyz.com/content/video?{file}&player=small",
        f"http://xyz.com/content/video?player=small&{file}",
        f"http://xyz.com/content/video?player=small&{file}&irrelevantparam={rng.randrange(9)}",
        f"http://xyz.com/content/video?junk={rng.randrange(1000)}&{file}&player=small",
    ]


def nested(n: int, rng: Random) -> Sequence[str]:
    """URLs (12) to (14)."""
    return [
        f"http://xyz.com/video?irrelevant={rng.randrange(10**6)}"
        f"&url=http%3A%2F%2Fabc.com%2Fvideo{n}%3Firrelevant2%3D{rng.randrange(10**6)}"
        for _ in range(3)
    ]


def nested_only(n: int, rng: Random) -> Sequence[str]:
    """As (12) to (14), with nothing irrelevant beside the inner URL, and something relevant in it."""
    inner = f"http%3A%2F%2Fabc.com%2Fp%3Fq%3D{n}"
    return [f"http://www.xyz.com/f?url={inner}{sid}" for sid in ("", *(f"%26sid%3D{rng.randrange(99)}" for _ in "ab"))]


def nested_in_its_own_site(n: int, rng: Random) -> Sequence[str]:
    """URLs (12) to (14); the site of the inner URL is known by its own pages."""
    inner = f"http%3A%2F%2Fxyz.com%2Fwatch%3Fid%3D{n}%26irrelevant2%3D"
    return [
        *(f"http://xyz.com/watch?id={n}&irrelevant2={rng.randrange(10**6)}" for _ in range(2)),
        *(
            f"http://xyz.com/frame?irrelevant={rng.randrange(10**6)}&url={inner}{rng.randrange(10**6)}"
            for _ in range(2)
        ),
    ]


def path_and_file(n: int, rng: Random) -> Sequence[str]:
    """URLs (15) to (18), with something irrelevant beside them."""
    tuple_ = f"path=cats/{('kittens', 'tigers', 'lions', 'lynxes')[n % 4]}&file={chr(97 + n // 4)}.mpg"
    return [f"http://xyz.com/video?{tuple_}&x={rng.randrange(10**6)}" for _ in range(2)]


def paths(n: int, rng: Random) -> Sequence[str]:
    return [f"http://site.com/{path}?video=a{n}.mpeg" for path in ("path1", "path2")]


def hosts(n: int, rng: Random) -> Sequence[str]:
    return [f"http://{host}.site.com/watch?video={n}" for host in ("www1", "www2")]


def spelled(n: int, rng: Random) -> Sequence[str]:
    return [f"http://site.com/v?v={name}" for name in (f"video{n}.mpg", f"VIDEO{n}.MPG")]


def mirrors(n: int, rng: Random) -> Sequence[str]:
    """``us.php.net`` and ``de.php.net``; a slash at the end, and the name of an index."""
    return [f"http://{host}.php.net/manual/f{n}{end}" for host in ("us", "de") for end in ("/", "", "/default.asp")]


EXAMPLES = (
    marketwatch,
    informationweek,
    amazon,
    player,
    nested,
    nested_only,
    nested_in_its_own_site,
    path_and_file,
    paths,
    hosts,
    spelled,
    mirrors,
)


@pytest.mark.parametrize("forms", EXAMPLES)
def test_example(forms: Forms) -> None:
    """Forty pages are seen under all their URLs; of twenty others, and one of these, each has one key of its own."""
    rng = Random(1)
    seen = [
        Observation(url, f"{kind_of(url)} page {n}", status=200, words=80) for n in range(40) for url in forms(n, rng)
    ]
    book = learn_rules(seen)
    keys: dict[tuple[int, str], set[str]] = {}
    for n in (7, *range(40, 60)):
        for url in forms(n, rng):
            keys.setdefault((n, kind_of(url)), set()).add(book.canonical_key(url))
    assert {page: len(own) for page, own in keys.items()} == dict.fromkeys(keys, 1)
    assert len(set[str]().union(*keys.values())) == len(keys), "pages are kept apart"


def kind_of(url: str) -> str:
    """Tell pages of one number apart: a frame is another page than what is shown in it."""
    return "frame" if "/frame" in url else "page"


def of_the_inner_site(n: int, rng: Random) -> Sequence[str]:
    return [f"http://abc.com/video{n}?irrelevant2={rng.randrange(10**6)}" for _ in range(3)]


def seen_under(forms: Forms, numbers: range = range(40)) -> list[Observation]:
    rng = Random(2)
    return [
        Observation(url, f"{url.split('/')[2]} page {n}", status=200, words=80)
        for n in numbers
        for url in forms(n, rng)
    ]


def keys_of(book: RuleBook, forms: Forms) -> set[str]:
    """Return the keys of pages that were not seen, each of which has one."""
    rng = Random(3)
    found = [{book.canonical_key(url) for url in forms(n, rng)} for n in range(40, 60)]
    assert [len(keys) for keys in found] == [1] * 20
    keys = set[str]().union(*found)
    assert len(keys) == 20
    assert {book.canonical_key(key) for key in keys} == keys
    return keys


def nested_operation(book: RuleBook) -> Nested:
    (found,) = {rule.ops["q.url"] for rule in book.for_site("xyz.com") if "q.url" in rule.ops}
    assert isinstance(found, Nested)
    return found


def test_nested_urls_of_a_site_that_is_learned_in_the_same_run() -> None:
    """Its own rules say what makes no difference, and nothing is said of it twice."""
    book = learn_rules([*seen_under(nested), *seen_under(of_the_inner_site)])
    assert nested_operation(book) == Nested()
    assert keys_of(book, nested) == {f"http://xyz.com/video?url=http%3A%2F%2Fabc.com%2Fvideo{n}" for n in range(40, 60)}


def test_nested_urls_of_a_site_that_is_known() -> None:
    known = learn_rules(seen_under(of_the_inner_site))
    book = learn_rules(seen_under(nested), known=known)
    assert nested_operation(book) == Nested()
    both = RuleBook([*book, *known])
    assert keys_of(both, nested)


def test_nested_urls_of_a_site_that_was_never_crawled() -> None:
    """What is irrelevant in them was seen in this frame, of this inner site: of others nothing is said."""
    book = learn_rules(seen_under(nested))
    assert [place for place, _ in nested_operation(book).ignore] == ["abc.com"]
    assert keys_of(book, nested) == {f"http://xyz.com/video?url=http%3A%2F%2Fabc.com%2Fvideo{n}" for n in range(40, 60)}
    for frame in ("http://xyz.com/video?url=http%3A%2F%2Fdef.com", "http://xyz.com/out?url=http%3A%2F%2Fabc.com"):
        assert not book.equivalent(f"{frame}%2Fv%3Firrelevant2%3D123456", f"{frame}%2Fv%3Firrelevant2%3D654321")
    assert not book.equivalent("http://abc.com/video1?irrelevant2=123456", "http://abc.com/video1?irrelevant2=654321")


def test_of_a_nested_url_only_what_was_tested_is_ignored() -> None:
    """The inner ``q`` is the page; ``sid`` below ``/p`` says nothing of ``sid`` below ``/list``."""
    book = learn_rules(seen_under(nested_only))
    assert [place for place, _ in nested_operation(book).ignore] == ["abc.com/p"]
    frame = "http://www.xyz.com/f?url=http%3A%2F%2Fabc.com%2F"
    assert book.equivalent(f"{frame}p%3Fq%3D7%26sid%3D5", f"{frame}p%3Fq%3D7")
    assert not book.equivalent(f"{frame}p%3Fq%3D7%26sid%3D5", f"{frame}p%3Fq%3D8%26sid%3D5")
    assert not book.equivalent(f"{frame}list%3Fq%3D7%26sid%3D5", f"{frame}list%3Fq%3D7")


def test_what_matters_in_a_nested_url_is_kept() -> None:
    def languages(n: int, rng: Random) -> Sequence[str]:
        inner = "http%3A%2F%2Fabc.com%2Fvideo%3Fv%3D{}%26lang%3D{}%26irrelevant2%3D{}"
        lang = ("en", "de", "fr")[n % 3]
        return [f"http://xyz.com/video?url={inner.format(n // 3, lang, rng.randrange(10**6))}" for _ in range(3)]

    assert len(keys_of(learn_rules(seen_under(languages)), languages)) == 20


@pytest.mark.parametrize("forms", [nested, nested_only])
def test_nested_urls_by_the_method_of_the_document(forms: Forms) -> None:
    """The value of the parameter is canonicalized before its entropies are taken."""
    found = host_rules(FingerprintedUrl(each.url, each.fingerprint) for each in seen_under(forms))
    book = RuleBook(rules_of("xyz.com", proposals_of(found)))
    assert (
        found.everywhere.get("q.url", *(part["q.url"] for part in found.by_path.values())).relevance is Relevance.ACCEPT
    )
    assert len(keys_of(book, forms)) == 20


def store_row(url: str, text: str | None) -> ObservationRow:
    body = f"<title>{text}</title><p>{text}, which has a few words to say.</p>".encode()
    found = fingerprint_body(body, "text/html")
    return ObservationRow("", url.split("/")[2], url, 1e9, 200, fingerprints=found, length=len(body))


def test_nested_urls_from_a_store(tmp_path: Path) -> None:
    """The outer site comes first by its name, and is learned again when the inner one is known."""

    def outer(n: int, rng: Random) -> Sequence[str]:
        return [url.replace("xyz.com", "aaa.com") for url in nested(n, rng)]

    seen = [*seen_under(outer), *seen_under(of_the_inner_site)]
    with Store.open(tmp_path / "store.db") as store:
        store.add([store_row(each.url, each.fingerprint) for each in seen])
        book = learn_rules_and_masks(StoredEvidence(store), known=RuleBook()).learned.book
    assert [rule.ops["q.url"] for rule in book.for_site("aaa.com") if "q.url" in rule.ops] == [Nested()]
    assert len(keys_of(book, outer)) == 20
