"""How much of a page was on no page before it: what the pages of the speed benchmark are made like.

    python -m tests.benchmarks.new_texts FILE.jsonl.gz...

Prints, for each recorded site, the share of text nodes and of words that no earlier page had.
"""

import sys
from pathlib import Path

from .recordings.pages import parse, texts
from .recordings.recording import Recording

MOST_PAGES = 1500


def new_shares(recording: Recording) -> tuple[int, float, float]:
    """(pages looked at, share of their texts that are new, share of their words)."""
    met: set[str] = set()
    pages = old = new = old_words = new_words = 0
    for answer in list(recording.answers.values())[:MOST_PAGES]:
        root = parse(answer.body, answer.content_type) if "html" in answer.content_type else None
        if answer.status != 200 or root is None:
            continue
        pages += 1
        for text in filter(str.strip, texts(root)):
            words = len(text.split())
            if text in met:
                old, old_words = old + 1, old_words + words
            else:
                new, new_words = new + 1, new_words + words
                met.add(text)
    return pages, new / max(old + new, 1), new_words / max(old_words + new_words, 1)


def main(files: list[str]) -> None:
    """Print a line for each recording."""
    for name in files:
        recording = Recording.load(Path(name))
        pages, share, words = new_shares(recording)
        print(f"{recording.name}: {pages} pages, new texts {share:.3f}, new words {words:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
