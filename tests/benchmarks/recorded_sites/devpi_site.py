"""A package index in devpi, with its web pages. Runs where devpi-server and devpi-web are installed."""

import base64
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import requests
from devpi_server.config import get_pluginmanager, parseoptions
from devpi_server.main import xom_from_config

from .serving import serve
from .words import Words

PROJECTS = 45


def fill(site: str) -> None:
    """Two users with an index each and one that inherits from both, projects of several versions, some with pages of documentation."""
    words = Words("packages")
    stages = [("ada", "stable", []), ("bo", "stable", []), ("ada", "dev", ["ada/stable", "bo/stable"])]
    for user in ("ada", "bo"):
        requests.put(f"{site}/{user}", json={"password": user, "email": f"{user}@example.org"}).raise_for_status()
    tokens = {}
    for user in ("ada", "bo"):
        found = requests.post(f"{site}/+login", json={"user": user, "password": user}).json()["result"]
        tokens[user] = {"X-Devpi-Auth": base64.b64encode(f"{user}:{found['password']}".encode()).decode()}
    for user, index, bases in stages:
        options = {"type": "stage", "bases": bases, "volatile": True}
        requests.put(f"{site}/{user}/{index}", json=options, headers=tokens[user]).raise_for_status()
    for name in words.names(PROJECTS):
        user, index, _ = words.random.choice(stages)
        for number in range(words.random.randint(1, 5)):
            upload(f"{site}/{user}/{index}/", tokens[user], words, name, f"{number // 3}.{number}")


def upload(stage: str, headers: dict[str, str], words: Words, name: str, version: str) -> None:
    """Upload a version of a project: its source, and of each second one its documentation."""
    text = {"description": f"{name}\n{'=' * len(name)}\n\n{words.text(4)}\n", "summary": words.title()}
    fields = {"name": name, "version": version, "metadata_version": "2.1", "author": words.names(1)[0], **text}
    source = io.BytesIO()
    with tarfile.open(fileobj=source, mode="w:gz") as archive:
        body = "".join(f"{key}: {value}\n" for key, value in fields.items()).encode()
        information = tarfile.TarInfo(f"{name}-{version}/PKG-INFO")
        information.size = len(body)
        archive.addfile(information, io.BytesIO(body))
    file = {"content": (f"{name}-{version}.tar.gz", source.getvalue())}
    data = {":action": "file_upload", "filetype": "sdist", "pyversion": "source", **fields}
    requests.post(stage, data=data, files=file, headers=headers).raise_for_status()
    if len(name) % 2:
        return
    pages = io.BytesIO()
    with zipfile.ZipFile(pages, "w") as archive:
        links = "".join(f'<a href="{page}.html">{page}</a> ' for page in ("index", "usage"))
        for page in ("index", "usage"):
            archive.writestr(
                f"{page}.html", f"<html><title>{name}</title><body>{links}<p>{words.text(5)}</p></body></html>"
            )
    file = {"content": (f"{name}-{version}.doc.zip", pages.getvalue())}
    data = {":action": "doc_upload", "name": name, "version": version}
    requests.post(stage, data=data, files=file, headers=headers).raise_for_status()


if __name__ == "__main__":
    place = f"--serverdir={Path(sys.argv[1]) / 'server'}"
    subprocess.run([Path(sys.executable).with_name("devpi-init"), place, "--no-root-pypi"], check=True)
    xom = xom_from_config(parseoptions(get_pluginmanager(), ["devpi-server", place, "--offline-mode"]))
    application = xom.create_app()
    xom.thread_pool.start()
    serve(application, fill)
    xom.thread_pool.shutdown()
