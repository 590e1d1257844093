"""``learn-rules --probe`` finds out which parameters make no difference, by few requests that are allowed and do nothing."""

import itertools
import json
from typing import Any

from .conftest import Project, Serve
from .crawling import ignore, save_mask, save_rules
from .server import Asked, Server, page, prose

KINDS = 10
#: Folder -> its parameter. Every link has a value of its own.
PARAMETERS = {"req": "tok", "rel": "v", "irr": "w", "clock": "c", "ad": "a", "forbidden": "f"}
LINKED = {f"/{name}/show?id={i}&{key}=x{i}" for name, key in PARAMETERS.items() for i in range(KINDS)}
ACTING = {
    f"/{name}show?{do}id={i}&n={i}x"
    for name, do in (("cart/", "do=addToCart&"), ("log-out/", ""))
    for i in range(KINDS)
}


class Site:
    """Pages with parameters of which nothing is known.

    /req: tok must be there, and is irrelevant. /rel: v matters. /irr: w is irrelevant. /clock: pages say how often they
    were asked for. /ad: what the page is stands in the place of the advertisement that all pages have, the rest is their frame.
    """

    def __init__(self) -> None:
        self.ticks = itertools.count()

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return "User-agent: *\nDisallow: /forbidden/\nAllow: /forbidden/show?id=*&f=\nDisallow: /irr/show?w=\n"
        kind, query = asked.path.split("/")[1], asked.query
        if asked.path == "/":
            return page("start", *sorted(LINKED | ACTING))
        if kind == "req" and "tok" not in query:
            return 404
        text = prose((kind, query.get("id"), query.get("v")))
        if kind == "clock":
            text += f" seen {next(self.ticks)} times"
        frame = f"<body><p>{prose('the frame of all pages')}</p>"
        shown = page("", title="the same") if kind == "ad" else page(text)
        ad = f'<div class="ad">{prose(asked.target, 20)}</div>'
        return shown.replace("<body>", frame).replace("</body>", f"{ad}</body>")


def probed(project: Project, server: Server) -> dict[str, str]:
    """Crawl, and ask; return what each parameter is."""
    more = ("-s", "ROBOTSTXT_OBEY=True", "-s", "DEDUP_LEARN=off", "-s", "DEDUP_REVISITS=0")
    assert project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", *more).returncode == 0
    assert set(server.hits) == {"/", *LINKED, *ACTING}
    done = project.scrapy("learn-rules", "--probe", "300", "--json", "-s", "ROBOTSTXT_OBEY=True")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return {each["key"]: each["said"] for each in records if each["type"] == "probe" and each["pages"]}


def test_what_probes_tell(project: Project, serve: Serve) -> None:
    server = serve(Site())
    save_mask(server.site, {"body > div.ad::text": "{…}"}, directory=project.folder / "dedup-rules")
    save_rules(server.site, ignore("q.sid"), directory=project.folder / "dedup-rules")
    said = probed(project, server)
    told = {"q.tok": "required", "q.v": "relevant", "q.w": "irrelevant"}
    assert {key: said.get(key) for key in told} == told
    assert said["q.id"] not in ("irrelevant", "required")
    assert said.get("q.c", "undecided") == "undecided", "an unstable page says nothing"
    assert said.get("q.a") not in ("irrelevant", "required"), "a mask that hides what pages are proves nothing"
    made_up = [target for target in server.hits if target not in LINKED | ACTING]
    assert sum(target.startswith("/clock/") for target in made_up) <= KINDS, (
        "after a control that differs hardly anything is asked for"
    )
    assert not [target for target in made_up if "addToCart" in target or "log-out" in target], "what may do something"
    assert not [
        each for each in made_up if each.startswith("/irr/show?w=") or ("forbidden" in each and "f=" not in each)
    ]
    assert {server.hits[target] for target in ACTING} == {1}
