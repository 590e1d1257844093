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
    ("dedup/replayed", "Discarded requests scheduled after all, because the rules have changed."),
    ("dedup/samples", "Discards that were fetched all the same, to see whether their rules are right."),
    ("dedup/samples/confirmed", "Those of them that were the page they were taken for; callbacks never get these."),
    ("dedup/samples/differing", "Those that were not; they go on as ordinary responses."),
    ("dedup/refuted", "Rules that samples have refuted, and that are suspended."),
    ("dedup/refuted/manual", "Manual rules that samples have refuted; they go on to act."),
    ("dedup/retracted", "Discarded requests scheduled after all, because their rule was refuted."),
    ("dedup/owed", "Those that will be scheduled in the next crawl of the spider, since it closed before."),
    ("dedup/avoided", "Downloads avoided: distinct URLs discarded, less those that were scheduled after all."),
    (
        "dedup/avoided/bytes",
        "About how many bytes these would have been: the mean of the pages that came, site by site.",
    ),
    ("dedup/avoided/seconds", "About how long the sites would have taken to send them, likewise."),
    ("dedup/avoided/site/<site>", "Downloads avoided on a site, of the 20 sites with most."),
    (
        "dedup/avoided/lost_at_most",
        "How many of the downloads avoided are pages of their own, at most: the upper 95 % bound by the samples.",
    ),
    (
        "dedup/extra/requests",
        "Requests of the plug-in's own that savings have paid for (DEDUP_EXTRA): probes and revisits.",
    ),
    ("dedup/extra/stopped", "Sites of which probes and revisits were given up: they answered with an error."),
    ("dedup/probes/requests", "Answers to probes."),
    ("dedup/probes/pages", "Pages on which a parameter was probed."),
    (
        "dedup/probes/<verdict>",
        "The same by what that has shown of the parameter: irrelevant, required (irrelevant, but there must be one), "
        "relevant or undecided.",
    ),
    ("dedup/revisits", "Answers to revisits: pages that were fetched again, so that passing content can be found."),
    ("dedup/revisits/recorded", "Those of them that were recorded, as another version of the page."),
    ("dedup/cache/shared", "Answers of the HTTP cache with the copy of an equivalent URL (DEDUP_SHARE_CACHE)."),
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
    ("dedup/learned/rules", "Rules that learning has found, of the sites that it was about."),
    ("dedup/learned/times", "How often the crawl has learned."),
    ("dedup/learned/seconds", "How long it took in all."),
    ("dedup/learned/swaps", "How often other rules came into use in the middle of the crawl."),
    (
        "dedup/learned/failed",
        "How often learning ended with an error, took too long, or had no place to write rules to.",
    ),
    ("dedup/errors/<where>", "Faults inside the plug-in; the crawl went on, and the URL was treated as new."),
)
