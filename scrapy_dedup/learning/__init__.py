"""How rules come about: the pipeline as it runs, from what a crawl saw of a site to the rules in its file.

*What is seen.* A crawl records of each response its URL and fingerprints of what the page shows (:mod:`scrapy_dedup.observation`).
:func:`.learn.learn` takes these, site by site. Where texts of pages are kept, :mod:`.alternation` calls it in turns with the
search for what does not last on them (:mod:`.site_masks`, :mod:`scrapy_dedup.masks.learn`): a clock that is left out makes more
pages equal, and URLs that rules make one are further versions of a page.

*One page, one number.* :mod:`.contents` says what tells the page of a response from others: its text, what is unseen as well, or
nothing, as for a redirect, an error or hardly any text. :mod:`.data.clusters` puts each URL into its normal form and gives it the number of
its *content*: URLs with the same number show the same. Of a page that was fetched twice the latest
answer counts, and whether the two were equal is a *control*: it tells how often this site answers oddly.

*URLs as columns.* A URL is taken apart into keys (``path.0``, ``q.id``, ``host.1``): :mod:`.data.url_table` makes a column of small
integers of each. A value of two tokens (``ID.node3``) becomes two keys where pages or the look of the values show it
(:mod:`.data.value_tokens`, :func:`.site_evidence.deep_splits`). A :class:`.data.frame.Frame` is some of the rows, and answers the one question
that all of learning asks: which URLs become one when these keys are dropped?

*The judge.* Such a set of URLs is a *witness group*. It is one page, of which some responses may be odd, or it is several
pages; :mod:`.evidence.witnesses` has a likelihood of both. What a key means is mostly all or nothing, and what its values look
like tells which is likelier (:mod:`.evidence.value_kinds`: drawn at random, a choice of few, a form of the URL, or other), as do
lists of names and the site itself (:mod:`.opinions`). From prior and groups follows the share of groups that
are several pages (:mod:`.evidence.judge`). Up to a twentieth a proposal may act, unless the share is rather a hundredth or more than not, and if it saves more
than the pages are worth that it loses. No step below has another measure. How odd the site is, is believed and not set
(:mod:`.data.error_rate`); an error page that answers with status 200 is found by its URLs, which have nothing in common but what
others have, too, and is no evidence (:mod:`.data.soft_errors`).

*Proposals.* A proposal is one operation under one pattern: drop ``q.sid`` where ``path.0`` is ``shop``. The core learner makes
them (:func:`.learners.core.difference_sets`), in this order:

1. Constant pages (:mod:`.search.constant_pages`): a pattern all of whose URLs show one page, such as a log-in form that 522
   values of ``returnto`` lead to. One page is one group and proves nothing; so :mod:`.search.walls` asks what the values are.
   Those that name other pages speak for a log-in page, ids for a wall in front of many.
2. Keys (:mod:`.search.difference_sets`). With two random keys no two URLs ever agree on the rest, and a test of one key at a
   time sees nothing. So all that differs between URLs of one page is dropped at once, and put back as far as pages that
   became one demand it.
3. Values (:mod:`.search.recoding`): ``page=1`` that is no ``page``, two values that are one, a segment that may be left out.
4. Guards (:mod:`.search.guards`): a key that is noise under ``route=product`` and the page under ``route=search``. Under each answer to
   a key of few answers steps 2 and 3 are done again, and more may be dropped, never less.
5. Case (:mod:`.search.letter_case`), and values that are URLs (:mod:`.search.nested_urls`): their parameters are keys, too.
6. What is left apart: orders that make no difference (:mod:`.search.orders`).

:mod:`.search.emission` writes what was found as operations, each guarded by the values, or the class of values, that were seen.

*Strata.* What holds on the site as a whole need not hold in its forum. :mod:`.decision.strata` judges each proposal in each
section that the paths name, and for each value that it names; sections of which little was seen inherit from the others as
far as these are alike. What is left is a narrower proposal, or one that keeps the key somewhere.

Proposals act together, so the rules that would be deployed are run on all URLs for that, and each group of several pages is held
against the proposals that brought its two nearest URLs together (:mod:`.proposals.blame`).

*Selection.* Where the core leaves duplicates apart, forms of a page that are no part of each other are looked for
(:mod:`.learners.replacing`). They are judged in the same way and added if more is saved (:mod:`.selection`). :mod:`.decision.validation` takes rules away
again while all together lose more pages than the user allows (``DEDUP_MAX_LOSS``).

*Wider and settled.* Accepted proposals are widened to what nobody saw, as far as no URL speaks against it: names of a family, numbered
hosts, spellings (:mod:`.learners.widening`). Then they are settled with the rules that act
already (:mod:`.lifetime.incumbents`): a rule that filters its own evidence is not ended for want of it, only by a
counterexample. :mod:`.decision.weighing` counts what speaks for each rule, and that stands in its file.

*Afterwards.* What is likely and not believed is postponed in the crawl, not filtered (:mod:`.decision.candidates`). What would decide
most is fetched again or probed (:mod:`.asking`). Samples of filtered requests watch a rule, the more the younger it is, and
may refute it (:mod:`.lifetime`). URLs that a page itself names its own are aliases, and are proven as pairs (:mod:`.aliases`).

*Where it is.* :func:`.site_rules.learn_site` has the steps in their order, for one site; :mod:`.learn` calls it for each;
:mod:`.config` holds the numbers. The rooms, from the bottom up: evidence, data, proposals, search, decision, aliases, methods,
lifetime, opinions, learners, asking. A room knows only those before it.
"""
