"""What sites declare of their URLs is read as the documents of No-Vary-Search and Clean-param say: their examples."""

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules

#: A header, and whether it says that a parameter tells nothing of the page.
NO_VARY_SEARCH: list[tuple[str, dict[str, bool]]] = [
    ("params", {"a": True}),
    ('params=("a")', {"a": True, "b": False}),
    ('params, except=("x")', {"x": False, "a": True}),
    ("key-order", {"a": False}),
    ('params=("utm_source" "utm_medium" "utm_campaign")', {"utm_medium": True, "utm": False}),
    ('params, except=("productId")', {"productId": False, "a": True}),
    ("params=?1", {"a": True}),
    ('params, key-order, except=("x")', {"x": False, "a": True}),
    ("params=?0", {"a": False}),
    ("params=()", {"a": False}),
    ('params=("%C3%A9+%E6%B0%97")', {"%C3%A9+%E6%B0%97": True}),
    ('unknown-key, params=("a")', {"a": True}),
    ('params=("a"), params=("b")', {"a": False, "b": True}),
    ('params=("a";q=1 "b\\"c");x, d=@1659578233, e=%"f%c3%bc" ,\tf=token/x', {"a": True, "b%22c": True}),
    *(
        (wrong, {"a": False, "x": False})
        for wrong in (
            *('key-order="not a boolean"', 'params="not a boolean or inner list"', "params=(not-a-string)"),
            *('params=("a"), except=("x")', "params=(), except=()", 'params=?0, except=("x")', 'except=("x")'),
            *("params, except=(not-a-string)", 'params, except="not an inner list"', "params, except=?1", "except=()"),
            *('params=("é")', 'params=("a""b")', "params=(", 'params="', "params,", "params key-order"),
            *("Params, params=1", "params, x=@999999999999999", "unknown-key"),
        )
    ),
]
#: A line of robots.txt, a parameter, a path that it is about, and one that it is not.
CLEAN_PARAM = [
    ("Clean-param: ref /some_dir/get_book.pl", "ref", "/some_dir/get_book.pl", "/get_book.pl"),
    ("Clean-param: sid /index.php", "sid", "/index.php5", "/x/index.php"),
    ("clean-param : sid&sort /forum/*.php # twice", "sort", "/forum/a/list.php", "/forum/list.html"),
    ("Clean-param: s&ref /forum*/showthread.php", "ref", "/forum_old/showthread.php", "/forum/index.php"),
    ("Clean-param: someTrash&otherTrash", "otherTrash", "/any", None),
    *(
        (wrong, "a", None, "/b")
        for wrong in (
            *("Clean-param:", "Clean-param: & /b", "Clean-param: a b/c", "Clean-param: a /b /c", "Clean-param: a /b?c=1"),
            *("Clean-param: \\ud800 /é", f"Clean-param: {'&'.join(['abcdefghi'] * 51)}"),
        )
    ),
]  # fmt: skip


def seen(base: str, name: str, **more: object) -> list[Observation]:
    """Twelve pages, three of which were met under two values of a parameter: too few to learn from without a word of the site."""
    return [
        Observation(f"{base}?id={page}&{name}={value + page}", f"{base} {page}", words=100, **more)  # type: ignore[arg-type]
        for value, pages in ((100, 12), (200, 3))
        for page in range(pages)
    ]


def is_dropped(book: RuleBook, base: str, name: str) -> bool:
    return book.equivalent(f"{base}?id=5&{name}=123", f"{base}?id=5&{name}=345")


def test_no_vary_search() -> None:
    cases = [
        (f"http://n{number}x{other}.test/view", header, name, expected)
        for number, (header, names) in enumerate(NO_VARY_SEARCH)
        for other, (name, expected) in enumerate(names.items())
    ]
    rows = [row for base, header, name, _ in cases for row in seen(base, name, headers={"no-vary-search": header})]
    book = learn_rules(rows)
    found = [(header, name, is_dropped(book, base, name)) for base, header, name, _ in cases]
    assert found == [(header, name, expected) for _, header, name, expected in cases]
    assert len(learn_rules(seen("http://n.test/view", "a"))) == 0


def test_clean_param() -> None:
    rows, cases = [], []
    for number, (line, name, *paths) in enumerate(CLEAN_PARAM):
        for path, expected in zip(paths, (True, False), strict=True):
            site = f"http://c{number}{expected}.test".lower()
            if path is not None:
                cases.append((f"{site}{path}", line, name, expected))
                robots = {"clean-param": f"{line}"}
                rows += [
                    *seen(f"{site}{path}", name),
                    Observation(f"{site}/robots.txt", "robots", words=100, headers=robots),
                ]
    book = learn_rules(rows)
    found = [(line, name, is_dropped(book, base, name)) for base, line, name, _ in cases]
    assert found == [(line, name, expected) for _, line, name, expected in cases]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://example.com", "https://example.com/?"),
        ("https://example.com/?a=x", "https://example.com/?%61=%78"),
        ("https://example.com/?a=é", "https://example.com/?a=%C3%A9"),
        ("https://example.com/?a=x&&&&", "https://example.com/?a=x"),
        ("https://example.com/?a=", "https://example.com/?a"),
        ("https://example.com/?a=%20", "https://example.com/?a=+"),
    ],
)
def test_what_no_vary_search_takes_for_the_same_query(first: str, second: str) -> None:
    assert RuleBook().equivalent(first, second)
