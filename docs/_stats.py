"""The names of the stats, with what each of them counts: the table of the reference page."""

from typing import Final

#: (name, what it tells), by name. ``<...>`` stands for a part that varies.
STATS: Final[tuple[tuple[str, str], ...]] = (
    ("dedup/aliases/known", "URLs found to be the page on which they stand, by a proven kind of aliases."),
    (
        "dedup/aliases/sighted",
        "URLs recorded because they may be the page on which they were found, or that declares them.",
    ),
    ("dedup/avoided", "Downloads avoided: distinct URLs filtered, less those that were scheduled after all."),
    (
        "dedup/avoided/bytes",
        "About how many bytes the avoided downloads would have been: the mean of the pages that came, site by site.",
    ),
    (
        "dedup/avoided/lost_at_most",
        "How many of the avoided downloads are other pages, at most (95 %), by all spot checks and witness groups; undecided ones count.",
    ),
    (
        "dedup/avoided/seconds",
        "About how long the crawl would have waited for the avoided downloads, by the clock: the mean of the pages that came, site by site.",
    ),
    ("dedup/avoided/site/<site>", "Downloads avoided on a site, of the 20 sites with most."),
    ("dedup/cache/shared", "Answers of the HTTP cache with the copy of an equivalent URL (DEDUP_SHARE_CACHE)."),
    ("dedup/content_fields/missing", "Fields of DEDUP_CONTENT_FIELDS that no item of the crawl has."),
    (
        "dedup/content_fields/mistaken",
        "Fields of DEDUP_CONTENT_FIELDS that hold something else than their kind says: no strings, text for HTML, or HTML for text.",
    ),
    (
        "dedup/discarded",
        "Requests filtered because an equivalent one is fetched or on its way. A URL counts each time that it is requested.",
    ),
    ("dedup/discarded/gate", "Requests filtered after they had been queued, since their rule is newer."),
    ("dedup/discarded/rule/<id>", "Distinct URLs that a rule has filtered; normal-form where no rule was needed."),
    ("dedup/discarded/urls", "Distinct URLs that were filtered, as far as they are remembered."),
    ("dedup/errors/<where>", "Faults inside the plug-in. The crawl went on, and the URL was treated as new."),
    ("dedup/extra/requests", "Refetches that savings have paid for (DEDUP_EXTRA)."),
    ("dedup/extra/stopped", "Sites of which refetches were given up, since they answered with an error."),
    (
        "dedup/fleet/dead",
        "Workers of the job that were found dead, each counted once; their pages were fetched after all.",
    ),
    ("dedup/fleet/exchanges", "Calls of Redis that have claimed a page or followed the other workers of the job."),
    ("dedup/fleet/led", "1 if the worker has learned for all workers of its job, and done what is left at the end."),
    ("dedup/fleet/lost", "How often Redis had lost what the worker knew, so that the log was read anew."),
    ("dedup/fleet/published", "Versions of the rules that the worker has let count for all workers of its job."),
    (
        "dedup/fleet/recovered",
        "Requests made again that were lost on their way: a worker had died, or had not heard the answer of Redis.",
    ),
    ("dedup/fleet/taken", "Requests whose page another worker of the job was a moment quicker to request."),
    (
        "dedup/items/duplicates",
        "Items of a page whose items were exported before: dropped in mode active, counted in mode shadow (DEDUP_DROP_DUPLICATE_ITEMS).",
    ),
    (
        "dedup/items/unknown_response",
        "Items that are kept, since it is not known which response they came from (see :doc:`/how-to/items-once`).",
    ),
    (
        "dedup/learned/failed",
        "How often learning ended with an error, took too long, or had no place to write rules to.",
    ),
    ("dedup/learned/rules", "Rules found by learning, of the sites that it was about."),
    ("dedup/learned/seconds", "How long learning took in all."),
    ("dedup/learned/swaps", "How often other rules came into use in the middle of the crawl."),
    ("dedup/learned/times", "How often the crawl has learned."),
    ("dedup/ledger/dropped", "Filtered requests that are not in the ledger, because it is full or the store fails."),
    (
        "dedup/ledger/prevented",
        "Requests that a rule would have filtered, but that the ledger could not take: they were fetched.",
    ),
    ("dedup/ledger/written", "Filtered requests handed over to the ledger."),
    ("dedup/masks", "Sites with a mask of transient content, when the crawl starts."),
    (
        "dedup/not_evidence/<reason>",
        "Responses that are not used as evidence, by reason: redirect, status, cut_off, hardly_any_text and so on.",
    ),
    (
        "dedup/owed",
        "Filtered requests of refuted rules that the next crawl of the spider will make, since this one closed before.",
    ),
    ("dedup/postponed", "Requests postponed, since they are probably duplicates, but by no rule that acts."),
    ("dedup/postponed/discarded", "Postponed requests that were filtered later, by a rule that acts by then."),
    ("dedup/postponed/fetched", "Postponed requests that were fetched."),
    (
        "dedup/probes/<verdict>",
        "Pages on which a parameter was probed, by what that has shown: irrelevant, required (irrelevant, but it must be there), relevant, undecided.",
    ),
    ("dedup/probes/pages", "Pages on which a parameter was probed."),
    ("dedup/probes/requests", "Answers to probes."),
    ("dedup/recorded", "Responses recorded in the store, redirects included."),
    ("dedup/recorded/redirects", "Redirects recorded in the store."),
    (
        "dedup/recorded/skipped/cached",
        "Copies that the HTTP cache served under another URL than their own, which are not recorded.",
    ),
    ("dedup/redirects/followed", "Redirects to an equivalent URL, which are followed."),
    ("dedup/refuted", "Learned rules that spot checks have refuted, and that are suspended."),
    ("dedup/refuted/manual", "Manual rules that spot checks have refuted; they go on to act."),
    ("dedup/released", "Canonical keys given free again, because the URL that stood for them failed."),
    ("dedup/released/scheduled", "Filtered requests scheduled in the place of one that failed."),
    ("dedup/replayed", "Filtered requests scheduled after all, because the rules have changed."),
    ("dedup/resumed", "Pages of earlier runs of the job that were taken over at the start."),
    (
        "dedup/resumed/doubtful",
        "Pages of a run that was killed which were not taken over: their links may be lost, so that equivalents are fetched.",
    ),
    ("dedup/retracted", "Filtered requests scheduled after all, because their rule was refuted."),
    ("dedup/revisits", "Answers to refetches: pages fetched again to detect transient content."),
    ("dedup/revisits/recorded", "Answers to refetches that were recorded as another version of the page."),
    ("dedup/rules", "Rules that act (active and manual ones) when the crawl starts."),
    ("dedup/samples", "Spot checks: filtered URLs that were fetched all the same."),
    ("dedup/samples/confirmed", "Spot checks that showed the page they were taken for. Callbacks do not get these."),
    ("dedup/samples/differing", "Spot checks that showed another page. They go on as ordinary responses."),
    (
        "dedup/samples/undecided",
        "Spot checks of which nobody can tell: no page, an answer that many URLs show, or another page of a kind that was not seen to last. They go on, too.",
    ),
    ("dedup/shadow/discarded", "Requests that would have been filtered, on sites in shadow mode."),
    ("dedup/shadow/rule/<id>", "Requests that a rule would have filtered, on sites in shadow mode."),
    (
        "dedup/starter/anew",
        "Refetches of dedup/starter/requests that show what is drawn anew on pages of some URL template, for DEDUP_CONTENT_FIELDS; the others are for learning.",
    ),
    (
        "dedup/starter/requests",
        "Refetches that need no savings (DEDUP_STARTER). Their answers count in dedup/revisits, too.",
    ),
    ("dedup/store/dropped", "Rows that are lost, since the store could not be written or too many waited."),
    ("dedup/store/written", "Rows written into the store: observations and filtered requests."),
    (
        "dedup/transient/ambiguous",
        "Values in which something was left, since it could not be told from stable content.",
    ),
    ("dedup/transient/blocks", "Places of items at which transient content was removed or marked."),
    ("dedup/transient/characters", "Characters of transient content that were removed or marked."),
    (
        "dedup/transient/fields",
        "Values of fields in which transient content was removed or marked; a list of strings counts as one.",
    ),
    ("dedup/transient/items", "Items in which transient content was removed or marked."),
    ("dedup/transient/links", "Requests for links that stand only in transient places of their page."),
    (
        "dedup/transient/unknown_response",
        "Items left alone, since it is not known which response they came from (see :doc:`/how-to/transient-content`).",
    ),
)
