"""URLs of real-world shapes, 100,000 of them, under rules of all kinds, and digests of their canonical keys.

    python -m tests.benchmarks.frozen_urls             compare the keys with those that are frozen, and name the blocks that differ
    python -m tests.benchmarks.frozen_urls NAME        print the URLs of a block, each with its key, to be compared with another version's
    python -m tests.benchmarks.frozen_urls --freeze    freeze the keys as they are now

The rules are files in ``tests/frozen/rules``, the digests stand in ``tests/frozen/keys.txt``, one for each 1,000 keys.
"""

import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote
from uuid import UUID

from scrapy_dedup import RuleBook

FROZEN: Final = Path(__file__).parents[1] / "frozen"
RULES: Final = FROZEN / "rules"
KEYS: Final = FROZEN / "keys.txt"
BLOCK: Final = 1000
BLOCKS: Final = 10
"""Of each shape."""
WORDS: Final = (
    "cat dog List view print next red blue S XL home new index Über caf%C3%A9 a+b a%20b 1 2 10 007 -1 3.5 2024-01-31 en de EN "
    "%E2%82%AC red,blue blue,red,red x%2Fy x/y a;b q%3Dr ~u %7Eu .. . * %zz %"
).split()

Shape = Callable[[Random], str]


def _word(rng: Random) -> str:
    return rng.choice(WORDS)


def _hex(rng: Random, digits: int = 32) -> str:
    return f"{rng.getrandbits(4 * digits):0{digits}x}"


def _token(rng: Random) -> str:
    """A value of some class: a number, a date, hex, a uuid, letters, base64, or a word."""
    kind = rng.randrange(9)
    if kind < 2:
        return (
            str(rng.randrange(10 ** (1 + 3 * kind)))
            if kind
            else f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02}-09"
        )
    if kind < 4:
        return _hex(rng, rng.choice((8, 31, 32, 33, 40))) if kind == 2 else str(UUID(int=rng.getrandbits(128)))
    if kind < 6:
        return "".join(rng.choices("abcXYZ019" if kind == 4 else "abAB01-_", k=rng.randrange(1, 24))) + "=" * (kind - 4)
    return _word(rng)


def _query(rng: Random, *pairs: str, names: str = "", most: int = 3) -> str:
    """A query of *pairs*, some of which are missing, and further *names*, in any order, now and then repeated or without value."""
    found = [pair for pair in pairs if rng.random() < 0.9]
    found += [
        rng.choice((f"{name}={_token(rng)}", f"{name}={_word(rng)}", f"{name}=", name))
        for name in rng.choices(names.split() or [""], k=rng.randrange(most + 1 if names else 1))
    ]
    if found and rng.random() < 0.1:
        found.append(rng.choice(found))
    rng.shuffle(found)
    joined = rng.choice(("&", "&", "&", "&", ";")).join(found)
    return f"?{joined}" if joined or rng.random() < 0.05 else ""


def _url(rng: Random, host: str, path: str, query: str = "") -> str:
    """A URL as pages write it: either scheme, with and without "www", a port, a slash, a fragment, other cases."""
    scheme = rng.choice(("http", "https", "https", "HTTP"))
    host = rng.choice((host, f"www.{host}", f"m.{host}", f"WWW.{host}", f"a.b.{host}", f"{host}:8080", f"{host}:80"))
    return f"{scheme}://{host}{path}{rng.choice(('', '', '/'))}{query}{rng.choice(('', '', '', '#top'))}"


def forum(rng: Random) -> str:
    pairs = [f"t={rng.randrange(300)}", f"f={rng.randrange(9)}"]
    path = rng.choice(("/viewtopic.php", "/forum/viewtopic.php", "/viewforum.php", "/memberlist.php"))
    return _url(rng, "forum.example", path, _query(rng, *pairs, names="sid start p view sk hilit sid"))


def topics(rng: Random) -> str:
    topic = f"topic={rng.randrange(99)}{rng.choice(('', '.0', '.15', f'.msg{rng.randrange(999)}', '.new'))}"
    session = rng.choice(("", f"PHPSESSID={_hex(rng)}"))
    return _url(rng, "smf.example", "/index.php", _query(rng, topic, session, names="action sort prev_next id theme"))


def wiki(rng: Random) -> str:
    title = rng.choice(("Cat", "cat", "CAT", "Main_Page", "main%20Page", "Talk:Cat", "talk:cat", "Über"))
    if rng.random() < 0.5:
        return _url(rng, "wiki.example", f"/wiki/{title}", _query(rng, names="action oldid printable redirect"))
    return _url(rng, "wiki.example", "/w/index.php", _query(rng, f"title={title}", names="action oldid diff useskin"))


def shop(rng: Random) -> str:
    parts = [
        rng.choice(("product", "Product", "p", "print", "home")),
        f"{rng.choice(('', '0', '00'))}{rng.randrange(99)}",
    ]
    parts += rng.choices(("color-red", "color-blue", "size-9", "size-10", "sale", "page", "2"), k=rng.randrange(4))
    names = "ref utm_source utm_medium utm_id sort color color size list lang currency q"
    return _url(rng, "shop.example", "/" + "/".join(parts), _query(rng, names=names, most=3))


def facets(rng: Random) -> str:
    chosen = [f"{rng.choice(('f[0]', 'f[1]', 'tag[]', 'f%5B0%5D'))}={_word(rng)}" for _ in range(rng.randrange(4))]
    path = "/catalog/" + "/".join(
        rng.choices(("color", "size", "red", "9", "brand=x", "sort=price"), k=rng.randrange(5))
    )
    return _url(rng, "facets.example", path, _query(rng, *chosen, names="page sort view"))


def java(rng: Random) -> str:
    matrix = "".join(f";{rng.choice(('jsessionid', 'v', 'w'))}={_token(rng)}" for _ in range(rng.randrange(4)))
    path = (
        f"/{rng.choice(('app', 'App', 'do'))}/{_word(rng)}{rng.choice(('', '.html', '.htm', '.jsp', '.HTML'))}{matrix}"
    )
    return _url(rng, "java.example", path, _query(rng, names="id wicket:x action"))


def nested(rng: Random) -> str:
    inner = rng.choice((shop, forum, wiki))(rng)
    value = rng.choice((quote(inner, safe=""), inner, f"%22{quote(inner, safe='')}%22", "/local?sid=1", _word(rng)))
    return _url(
        rng,
        "login.example",
        rng.choice(("/login", "/out", "/share/video")),
        _query(rng, f"{rng.choice(('url', 'url', 'next'))}={value}", names="sid t"),
    )


def bare(rng: Random) -> str:
    text = rng.choice(
        (
            str(rng.randrange(10**12)),
            f"v={rng.randrange(9)}&{_hex(rng, 7)}",
            "print",
            f"/{rng.randrange(99)}/{_word(rng)}",
        )
    )
    return _url(rng, "bare.example", rng.choice(("/", "/style.css", "/news/archive")), f"?{text}")


def dates(rng: Random) -> str:
    path = f"/{rng.randrange(2019, 2026)}/{rng.randrange(1, 13):02}/{rng.randrange(1, 29):02}/{_token(rng)}"
    return _url(
        rng,
        "blog.example",
        rng.choice((path, "/archive" + path, f"/tag/{_word(rng)}/{_word(rng)}/{_word(rng)}")),
        _query(rng, names="p amp replytocom share"),
    )


def hosts(rng: Random) -> str:
    host = rng.choice(
        ("hosts.example", "de.hosts.example", "shard7.hosts.example", "old.example.co.uk", "127.0.0.1", "localhost")
    )
    return _url(rng, host, f"/{_word(rng)}/{_token(rng)}", _query(rng, names="a b c lang"))


def anything(rng: Random) -> str:
    """Texts that are hardly URLs, or long."""
    path = "/".join(rng.choices(WORDS, k=rng.randrange(8)))
    made = f"http://any.example{rng.choice(('/', '//', '', '/./'))}{path}{_query(rng, names=' '.join(WORDS), most=12)}"
    return rng.choice(
        (made, made, made, made.upper(), made[7:], made.replace("=", "=="), made + "&" * rng.randrange(99))
    )


SHAPES: Final = (forum, topics, wiki, shop, facets, java, nested, bare, dates, hosts)


def blocks() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each block, and its URLs: one in twenty is hardly a URL, or long."""
    for shape in SHAPES:
        for number in range(BLOCKS):
            rng = Random(f"{shape.__name__} {number}")
            yield (
                f"{shape.__name__}-{number}",
                [(anything if rng.random() < 0.05 else shape)(rng) for _ in range(BLOCK)],
            )


def digests() -> dict[str, str]:
    """The digest of the keys of each block."""
    book = RuleBook.load(RULES)
    return {
        name: sha256("\n".join(map(book.canonical_key, urls)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for name, urls in blocks()
    }


def frozen() -> dict[str, str]:
    """The digests as they were frozen."""
    return dict(line.split() for line in KEYS.read_text(encoding="utf-8").splitlines())


def main(arguments: list[str]) -> int:
    """Freeze, compare, or print a block; return the exit code."""
    if arguments == ["--freeze"]:
        KEYS.write_text("".join(f"{name} {digest}\n" for name, digest in digests().items()), encoding="utf-8")
        return 0
    if arguments:
        book = RuleBook.load(RULES)
        for url in dict(blocks())[arguments[0]]:
            print(url, book.canonical_key(url))
        return 0
    before, now = frozen(), digests()
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    print(f"{len(different)} of {len(now)} blocks differ{': ' if different else ''}{', '.join(different)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
