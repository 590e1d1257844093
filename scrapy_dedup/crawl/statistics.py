"""The names of the stats, with what each of them counts: the table of the reference page."""

from typing import Final

#: (name, what it tells). ``<...>`` stands for a part that varies.
STATS: Final[tuple[tuple[str, str], ...]] = (
    ("dedup/rules", "Rules that act in this crawl (active and manual ones), when it started."),
    ("dedup/recorded", "Responses handed over to the store, redirects included."),
    ("dedup/recorded/redirects", "Those of them that are redirects."),
    ("dedup/recorded/skipped/cached", "Copies that the HTTP cache served under another URL than their own."),
    ("dedup/store/written", "Rows that the store has taken: observations and discards."),
    ("dedup/store/dropped", "Rows that are lost, since the store could not be written or too many waited."),
    ("dedup/discarded", "Requests discarded because an equivalent one is fetched or on its way."),
    ("dedup/discarded/urls", "Distinct URLs among them, as far as they are remembered."),
    ("dedup/discarded/gate", "Those discarded after they had been queued, since their rule is newer."),
    ("dedup/discarded/rule/<id>", "Distinct URLs by the rule that discarded them; normal-form where none was needed."),
    (
        "dedup/aliases/sighted",
        "URLs recorded because they may be the page on which they were found, or that declares them.",
    ),
    ("dedup/aliases/known", "URLs that are such a page, by a proven kind of aliases."),
    ("dedup/redirects/followed", "Redirects followed although their target has the key of their own source."),
    ("dedup/released", "Keys given free again, because the URL that stood for them failed."),
    ("dedup/released/scheduled", "Discarded requests scheduled in the place of one that failed."),
    ("dedup/replayed", "Discarded requests scheduled after all, because the rules of a resumed job have changed."),
    ("dedup/shadow/discarded", "Requests that would have been discarded, on sites in shadow mode."),
    ("dedup/shadow/rule/<id>", "The same by rule."),
    ("dedup/ledger/written", "Discards handed over to the ledger."),
    ("dedup/ledger/dropped", "Discards that are not in the ledger, because it is full or the store fails."),
    (
        "dedup/ledger/prevented",
        "Requests that a rule would have discarded, but that the ledger could not take: they were fetched.",
    ),
    ("dedup/resumed", "Pages of earlier runs of the job that were taken over at the start."),
    (
        "dedup/resumed/doubtful",
        "Pages of a run that was killed which are not: their links may be lost, so that equivalents are fetched.",
    ),
    ("dedup/masks", "Sites with a mask of transient content, when the crawl started."),
    ("dedup/transient/items", "Items in which transient content was stripped or marked."),
    ("dedup/transient/fields", "Values of fields that were, a list of strings counting as one."),
    ("dedup/transient/blocks", "Places in them that were."),
    ("dedup/transient/characters", "Characters that stood there."),
    (
        "dedup/transient/ambiguous",
        "Values in which something was left, since it could not be told from lasting content.",
    ),
    (
        "dedup/transient/unknown_response",
        "Items left alone, since it is not known which response they came from: see :doc:`/usage/transient-content`.",
    ),
    ("dedup/transient/links", "Requests for links that stand in transient places of their page only."),
    ("dedup/learned/rules", "Rules found by learning at the close of the crawl."),
    ("dedup/learned/seconds", "How long it took."),
    ("dedup/learned/failed", "1 if learning ended with an error, took too long, or had no place to write rules to."),
    ("dedup/errors/<where>", "Faults inside the plug-in; the crawl went on, and the URL was treated as new."),
)
