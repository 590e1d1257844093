"""A wiki in MoinMoin, with histories, sub-items and tags. Runs where moin is installed."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from moin import current_app, flaskg
from moin.app import before_wiki, create_app

from .serving import serve
from .words import Words

ITEMS, CHANGES = 30, 32


def fill() -> None:
    """Store the items of the wiki, then change some of them, each a while after the one before."""
    words = Words("wiki")
    names = ["Home", *(name.capitalize() for name in words.names(ITEMS))]
    names += [f"{parent}/{name}" for parent in names[1:9] for name in words.names(2)]
    tags = words.names(6)
    moment = 1_600_000_000
    texts: dict[str, str] = {}
    last: dict[str, dict[str, Any]] = {}
    for name in [*names, *words.random.choices(names[:20], k=CHANGES)]:
        moment += words.random.randrange(3600, 86_400)
        linked = words.random.sample(names, 2) if texts else names[1:]
        links = " ".join(f"[[{other}]]" for other in linked)
        texts[name] = f"{texts.get(name, f'= {words.title()} =')}\n\n{words.text(2)}\n{links}\n"
        meta = {"name": [name], "namespace": "", "itemtype": "default", "contenttype": "text/x.moin.wiki;charset=utf-8"}
        meta |= {"tags": words.random.sample(tags, words.random.randrange(3)), "comment": words.title()}
        before = last.get(name, {"rev_number": 0})
        meta |= {"parentid": before.get("revid"), "rev_number": before["rev_number"] + 1}
        flaskg.data_mtime = moment
        data = BytesIO(texts[name].replace("\n", "\r\n").encode())
        last[name] = dict(current_app.storage[name].store_revision(meta, data, name=name, return_rev=True).meta)


def application(folder: Path) -> object:
    """The wiki in *folder*, which is made there."""
    for command in ("create-instance", "index-create"):
        subprocess.run([Path(sys.executable).with_name("moin"), command], cwd=folder, check=True)
    made = create_app(str(folder / "wikiconfig.py"))
    with made.app_context():
        before_wiki()
        flaskg.add_lineno_attr = False
        fill()
    return made


if __name__ == "__main__":
    serve(application(Path(sys.argv[1])))
