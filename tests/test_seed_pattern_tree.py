"""The paper "pattern-tree", figure by figure."""

import pytest

from scrapy_dedup.learning.pattern_tree import FAITHFUL, IMPROVED, Ignore, Keep, Options, Replace, SetLiteral, learn


def figure_4() -> tuple[list[str], list[int]]:
    """Pages under two formations: the archive is a mirror, pageid and path_1 are one number."""
    urls, content = [], []
    for page in range(40):
        urls.append(f"http://www.example.com/archive{page % 4}/display?pageid={10 + page}")
        urls.append(f"http://www.example.com/archive{(page * 3 + 1) % 4}/{10 + page}/display?sid={1000 + page * 7}")
        content += [page, page]
    return urls, content


@pytest.mark.parametrize("selection", ["naive", "graph"])
@pytest.mark.parametrize("options", [FAITHFUL, IMPROVED])
def test_figure_4_two_formations_become_one(options: Options, selection: str) -> None:
    urls, content = figure_4()
    rules = learn(urls, content, options, selection=selection)
    assert len({rules.canonical(url) for url in urls}) == len(set(content))


def test_figure_4c_operations() -> None:
    urls, content = figure_4()
    (rule,) = learn(urls, content).rules
    assert rule.operations == {
        "scheme": Keep("http"),
        "host.1": Keep("www"),
        "path.0": Ignore(),
        "path.1": Replace("q.pageid"),
        "path.2": Keep("display"),
        "q.sid": Ignore(),
    }
    assert SetLiteral("display") not in rule.operations.values()
