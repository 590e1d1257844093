"""Two repositories in klaus, a browser of git repositories. Runs where klaus is installed."""

import sys
from pathlib import Path

from dulwich.index import commit_tree
from dulwich.objects import Blob, Commit
from dulwich.repo import Repo
from klaus import make_app

from .serving import serve
from .words import Words

COMMITS = 20


def fill(folder: Path) -> list[str]:
    """Make the repositories, with two branches and a tag each, and return where they are."""
    paths = [folder / name for name in Words("repositories").names(2)]
    for path in paths:
        path.mkdir()
        _commits(Repo.init(str(path)), Words(path.name), path.name)
    return list(map(str, paths))


def _commits(repo: Repo, words: Words, name: str) -> None:
    names = words.names(7)
    files = {"README.md": _page(words, name)}
    files |= {
        f"{folder}{each}.py": _code(words)
        for folder, each in zip(("", "", "src/", "src/", "doc/"), names, strict=False)
    }
    last, moment = b"", 1_600_000_000
    for number in range(COMMITS):
        for path in words.random.sample(sorted(files), 1 + number % 2):
            files[path] += f"# {words.text(1)}\n" if path.endswith(".py") else f"\n{words.text(2)}\n"
        moment += words.random.randrange(86_400, 20 * 86_400)
        last = _commit(repo, files, [last] if last else [], moment, words)
        branches = (b"main",) if number > COMMITS // 2 else (b"main", names[5].encode())
        for branch in branches:
            repo.refs[b"refs/heads/" + branch] = last
        if number == COMMITS // 3:
            repo.refs[b"refs/tags/v1.0"] = last
    repo.refs.set_symbolic_ref(b"HEAD", b"refs/heads/main")


def _commit(repo: Repo, files: dict[str, str], parents: list[bytes], moment: int, words: Words) -> bytes:
    blobs = {path: Blob.from_string(text.encode()) for path, text in files.items()}
    for blob in blobs.values():
        repo.object_store.add_object(blob)
    commit = Commit()
    commit.tree = commit_tree(repo.object_store, [(path.encode(), blob.id, 0o100644) for path, blob in blobs.items()])
    commit.parents = parents
    commit.author = commit.committer = words.random.choice([b"Ada <ada@example.org>", b"Bo <bo@example.org>"])
    commit.author_time = commit.commit_time = moment
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = words.title(3, 8).encode()
    repo.object_store.add_object(commit)
    return commit.id


def _page(words: Words, title: str) -> str:
    return f"# {title}\n\n{words.text(3)}\n"


def _code(words: Words) -> str:
    return "".join(f"{name} = {words.random.randrange(1000)}\n" for name in words.names(words.random.randint(6, 14)))


if __name__ == "__main__":
    serve(make_app(fill(Path(sys.argv[1])), "Repositories"))
