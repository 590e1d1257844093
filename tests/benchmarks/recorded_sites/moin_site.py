"""A wiki in MoinMoin, with histories, sub-items and tags. Runs where moin is installed."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

from moin import current_app, flaskg
from moin.app import before_wiki, create_app

from .serving import serve
from .words import Words

ITEMS, CHANGES = 36, 40


def fill() -> None:
    """Store the items of the wiki, then change some of them, each a while after the one before."""
    words = Words("wiki")
    names = ["Home", *(name.capitalize() for name in words.names(ITEMS))]
    names += [f"{parent}/{name}" for parent in names[1:9] for name in words.names(2)]
    tags = words.names(6)
    moment = 1_600_000_000
    texts: dict[str, str] = {}
    for name in [*names, *words.random.choices(names[:20], k=CHANGES)]:
        moment += words.random.randrange(3600, 86_400)
        links = " ".join(f"[[{other}]]" for other in words.random.sample(names, 3))
        texts[name] = f"{texts.get(name, f'= {words.title()} =')}\n\n{words.text(2)}\n{links}\n"
        meta = {"name": [name], "namespace": "", "itemtype": "default", "contenttype": "text/x.moin.wiki;charset=utf-8"}
        meta |= {"tags": words.random.sample(tags, words.random.randrange(3)), "comment": words.title()}
        flaskg.data_mtime = moment
        current_app.storage[name].store_revision(meta, BytesIO(texts[name].replace("\n", "\r\n").encode()), name=name)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for command in ("create-instance", "index-create"):
        subprocess.run([Path(sys.executable).with_name("moin"), command], cwd=folder, check=True)
    application = create_app(str(folder / "wikiconfig.py"))
    with application.app_context():
        before_wiki()
        flaskg.add_lineno_attr = False
        fill()
    serve(application)
