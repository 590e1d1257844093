"""What ``scrapy dedup page`` says of a page, place by place: what is done about it, and which words pass."""

import json
from pathlib import Path

from .conftest import Project
from .exporting import place, write_mask

URL = "http://shop.test/item/7"
PAGE = (
    "<html><body><p class=clock>Today is Monday</p><p>One</p><p>Two</p><p>Three</p><b>12 online</b><q>It rains</q><s>Old</s>"
    "<a href='/cart?sid=5'>Cart</a><em>words <i>more</i></em><u>Noon</u><small>5 left</small><h1>A chair</h1></body></html>"
)
BODY = "html/body"
#: Places, what is done about each, and its texts with marks around what passes.
PLACES = [
    (place(f"{BODY}/p.clock", "Today is {…}"), "stripped", ["Today is ⟦Monday⟧"]),
    (place(f"{BODY}/p", position=2), "stripped", ["⟦Two⟧"]),
    (place(f"{BODY}/p", "{…} ree", position=-1), "elsewhere", ["Three"]),
    (place(f"{BODY}/b", only="numbers", act="compare"), "left out", ["⟦12⟧ online"]),
    (place(f"{BODY}/s", state="keep"), "kept", ["Old"]),
    (place(f"{BODY}/a"), "stripped", ["⟦Cart⟧"]),
    (place(f"{BODY}/em", attribute="*"), "stripped", ["⟦words⟧", "⟦more⟧"]),
    (place(f"{BODY}/u", on=["/news/*"]), "elsewhere", ["Noon"]),
    (place(f"{BODY}/small", state="strip"), "stripped", ["⟦5 left⟧"]),
    (place(f"{BODY}/h2"), None, []),
    (place(f"{BODY}/i", position=2), None, []),
]


def test_what_is_done_about_each_place(tmp_path: Path) -> None:
    write_mask("shop.test", *(text for text, _, _ in PLACES))
    Path("page.html").write_text(PAGE, encoding="utf-8")
    told = Project(tmp_path).told("dedup", "page", "page.html", "--url", URL, "--json")
    page, *places = map(json.loads, told.splitlines())
    # The address goes with the whole text of its link.
    expected = [("stripped", ["⟦/cart?sid=5⟧"]), *[(act, marked) for _, act, marked in PLACES if act]]
    assert sorted((each["act"], each["marked"]) for each in places) == sorted(expected)
    assert page["known"]
