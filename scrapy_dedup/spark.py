"""Spark: rules learned from a DataFrame of observations, each site by one worker, and canonical keys as a function of a column.

What is learned of a site is what one machine learns of the same observations (``scrapy learn-rules --from``), byte for
byte, in whatever order and partitions they come. Of a very large site a sample of its pages is learned from, drawn before
it comes to one worker (:mod:`scrapy_dedup.learning.data.page_sample`). Needs pyspark, and this package where the workers run.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from .learning.data.by_site import innermost_first, learned_again, rounds_of
from .learning.data.page_sample import ANY_WAY, MOST_OF_SITE, MOST_OF_URL, PageSample, large_page
from .learning.distributed import Row, Task, book_of, complaints, rules_in
from .learning.evidence.user_names import names_of
from .learning.learning_options import MAX_LOSS, LearningOptions
from .rules import RuleBook, update_site
from .sources.records import SourceError
from .sources.tables import COLUMNS

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow
    from pyspark.sql import Column, DataFrame

__all__ = ["canonical_key", "learn", "rule_book", "save"]

logger = logging.getLogger(__name__)

INSTALL: Final = (
    "Spark is driven by pyspark, which is not installed: pip install 'scrapy-dedup[spark]' (and Java 17 or later)"
)
_SEEN: Final = "site string, text string"
_HASHED: Final = f"{_SEEN}, url long, page long, row long, is_evidence boolean, time double"
_FACTS: Final = "kind string, site string, name string, rows long"
_RULES: Final = "site string, text string, rules int, urls int, pages int, gone array<string>, problem string"
_BATCH: Final = 10_000
"""Rows that workers hand over at once."""
_DESCRIPTION: Final = "spark.job.description"
_WHOLE: Final = ("byte", "short", "integer", "long")
_TEXT: Final = ("string",)
#: Types of columns that are no text, by Spark's names.
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "status": (*_WHOLE, "string"),
    **dict.fromkeys(("length", "words"), _WHOLE),
    "time": ("timestamp", "timestamp_ntz", "double", "float", *_WHOLE, "string"),
    **dict.fromkeys(("ends", "password"), ("boolean",)),
    "headers": ("map", "string"),
}


def learn(
    observations: "DataFrame",
    *,
    max_loss: float = MAX_LOSS,
    groups: Mapping[str, Sequence[str]] | None = None,
    known: RuleBook | None = None,
    names: Mapping[str, Iterable[str]] | None = None,
    most_of_site: int = MOST_OF_SITE,
) -> "DataFrame":
    """Return the rule files of all sites that are observed: a DataFrame with a row for each site.

    *observations* has the columns ``url`` and ``fingerprint``, and any other of :class:`.Observation`. It is read several times. The other arguments
    are those of :func:`scrapy_dedup.learn_rules`; of a site with more observations than *most_of_site* about as many
    are learned from, whole pages with all their URLs.

    The columns that are returned: ``site``; ``text``, its rule file (null where it has none); ``rules`` that act; the numbers of
    ``urls`` and ``pages`` that they were learned from; ``gone``, the ids of *known* rules that leave; ``problem``, a fault that kept the
    site from being learned. Records that cannot be read are counted in a warning.

    Raises ImportError without pyspark, TypeError for what is no DataFrame, SourceError (a ValueError) where a column is missing or of a wrong type.
    """
    _pyspark()
    chosen = _checked(observations)
    options = LearningOptions(max_loss=max_loss, site_groups=groups, names=names_of(names))
    task = Task(options, known if known is not None else RuleBook(groups=groups))
    facts = (
        _mapped(chosen, task.facts, _FACTS)
        .groupBy("kind", "site", "name")
        .sum("rows")
        .toDF("kind", "site", "name", "rows")
    )
    facts = facts.persist()
    described: Any = chosen.sparkSession.sparkContext.getLocalProperty(_DESCRIPTION)
    try:
        return _Plan(chosen, facts, task, most_of_site).learned()
    finally:
        facts.unpersist()
        chosen.sparkSession.sparkContext.setLocalProperty(_DESCRIPTION, described)


def rule_book(rules: "DataFrame", groups: Mapping[str, Sequence[str]] | None = None) -> RuleBook:
    """Return the rules of the texts in a DataFrame as :func:`learn` returns it; all of them come to the driver."""
    return book_of({row.site: row.text for row in _with_text(rules)}, groups)


def save(rules: "DataFrame", directory: "str | PathLike[str]") -> None:
    """Write the rule files of a DataFrame as :func:`learn` returns it, site by site, from the driver.

    They are merged with files that are there: what the user said stays. Raises RuleFileError, RuleWriteError.
    """
    for row in _with_text(rules):
        found = rules_in(row.text)
        update_site(directory, row.site, found.rules, found.deep, gone=row.gone)


def canonical_key(rules: RuleBook) -> "Callable[[Column | str], Column]":
    """Return a pandas UDF from a column of URLs to their canonical keys; *rules* are broadcast to the workers once."""
    pyspark = _pyspark()
    import pandas

    session = pyspark.sql.SparkSession.active()
    shared = session.sparkContext.broadcast(rules)

    def key(urls: pandas.Series) -> pandas.Series:
        return urls.map(shared.value.canonical_key, na_action="ignore")

    return pyspark.sql.functions.pandas_udf(key, "string")  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Plan:
    """How the sites of a DataFrame are learned: what is counted first, and which of them are learned before others."""

    observations: "DataFrame"
    facts: "DataFrame"
    task: Task
    most: int

    def learned(self) -> "DataFrame":
        """Return the rows of all sites; those of nested sites are learned at once, and all others when they are asked for."""
        functions = _pyspark().sql.functions
        self._tell("count observations")
        for line in complaints(self.facts.where("kind IN ('bad', 'example')").collect()):
            logger.warning(line)
        sites = self._of("rows")
        large = {row.site: row.rows for row in sites.where(functions.col("rows") > self.most).collect()}
        samples = self._samples(large)
        task, nested = self.task, self._nested(sites)
        order = {site: nested[site] for site in innermost_first(nested)}
        again = learned_again(order)
        named = frozenset(chain.from_iterable(nested.values()))
        last = frozenset(site for site in nested if site not in named and not nested[site] & {*again})
        self._tell("learn sites whose URLs are nested in others")
        done: dict[str, Any] = {}
        for sites_of_round in (*rounds_of([*order], nested), *rounds_of(again, nested)):
            if now := frozenset(sites_of_round) - last:
                task = replace(task, inner={site: row.text for site, row in done.items() if row.text})
                done |= {row.site: row for row in self._learned(replace(task, sites=now), samples).collect()}
        task = replace(task, inner={site: row.text for site, row in done.items() if row.text})
        rest = self._learned(replace(task, without=frozenset(done)), samples)
        return rest.union(self._frame([*done.values()], _RULES)) if done else rest

    def _tell(self, doing: str) -> None:
        """Have Spark's pages and logs say what is done from here on."""
        self.observations.sparkSession.sparkContext.setLocalProperty(_DESCRIPTION, doing)

    def _of(self, kind: str) -> "DataFrame":
        return self.facts.where(f"kind = '{kind}'").drop("kind")

    def _frame(self, rows: Sequence[Sequence[Any]], schema: str) -> "DataFrame":
        return self.observations.sparkSession.createDataFrame(rows, schema)

    def _nested(self, sites: "DataFrame") -> dict[str, frozenset[str]]:
        """Return the sites whose URLs are nested in those of others, and these others, by site."""
        observed = sites.select("site").toDF("name")
        found: defaultdict[str, set[str]] = defaultdict(set)
        for row in self._of("nested").join(observed, "name", "left_semi").collect():
            found[row.site].add(row.name)
            found.setdefault(row.name, set())
        return {site: frozenset(inner) for site, inner in found.items()}

    def _samples(self, large: Mapping[str, int]) -> dict[str, PageSample]:
        """Return the sample of each very large site."""
        if not large:
            return {}
        functions = _pyspark().sql.functions
        self._tell("large pages of very large sites")
        counts = self._hashed(frozenset(large)).groupBy("site", "page").count()
        pages: dict[str, dict[int, int]] = {site: {} for site in large}
        is_large = (functions.col("count") > large_page(self.most)) & (functions.col("page") != ANY_WAY)
        for site, page, count in counts.where(is_large).collect():
            pages[site][page] = count
        return {site: PageSample.of(rows, pages[site], self.most) for site, rows in large.items()}

    def _learned(self, task: Task, samples: Mapping[str, PageSample]) -> "DataFrame":
        # By number: fewer partitions would do for their bytes, and not for the work.
        partitions = int(self.observations.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
        seen = self._sampled(task, samples).repartition(partitions, "site")
        return seen.groupBy("site").applyInArrow(_of_site(task.learned, _RULES), _RULES)

    def _sampled(self, task: Task, samples: Mapping[str, PageSample]) -> "DataFrame":
        """Return the observations that are learned from."""
        small = replace(task, without=task.without | samples.keys())
        found = _mapped(self.observations, small.seen, _SEEN)
        drawn = {site: sample for site, sample in samples.items() if site not in task.without}
        if task.sites is not None:
            drawn = {site: drawn[site] for site in drawn.keys() & task.sites}
        return found.union(self._drawn(drawn)) if drawn else found

    def _drawn(self, samples: Mapping[str, PageSample]) -> "DataFrame":
        """Return the observations of very large sites that are learned from, as :func:`.page_sample.sampled_rows` draws them."""
        pyspark = _pyspark()
        functions, window = pyspark.sql.functions, pyspark.sql.Window
        column = functions.col
        last_first = [functions.desc(name) for name in ("is_evidence", "time", "page", "row")]
        of_url = window.partitionBy("site", "url").orderBy(*last_first)
        of_url = of_url.rowsBetween(window.unboundedPreceding, window.currentRow)
        bounds = [(site, sample.small, sample.large) for site, sample in samples.items()]
        pages = [(site, *bound) for site, sample in samples.items() for bound in sample.urls.items()]
        shown = (
            self._hashed(frozenset(samples))
            .select(
                "*",
                functions.row_number().over(of_url).alias("number"),
                functions.first("page").over(of_url).alias("shown"),
            )
            .where(column("number") <= MOST_OF_URL)
            .join(functions.broadcast(self._frame(bounds, "site string, small long, large long")), "site")
            .join(
                functions.broadcast(self._frame(pages, "site string, shown long, urls long")), ["site", "shown"], "left"
            )
        )
        is_large = column("urls").isNotNull()
        drawn = column("shown") <= functions.when(is_large, column("large")).otherwise(column("small"))
        drawn &= ~is_large | (column("url") <= column("urls"))
        return shown.where(drawn | (column("shown") == ANY_WAY)).select("site", "text")

    def _hashed(self, sites: AbstractSet[str]) -> "DataFrame":
        return _mapped(self.observations, replace(self.task, sites=sites).hashed, _HASHED)


def _mapped(rows: "DataFrame", work: "Callable[[Iterator[dict[str, Any]]], Iterator[Row]]", schema: str) -> "DataFrame":
    """Return what *work* makes of the rows of each partition."""

    def run(batches: "Iterator[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        found = work(chain.from_iterable(batch.to_pylist() for batch in batches))
        while some := list(islice(found, _BATCH)):
            yield _arrow_table(some, schema).to_batches()[0]

    return rows.mapInArrow(run, schema)


def _of_site(
    work: "Callable[[str, list[str]], Iterator[Row]]", schema: str
) -> "Callable[[pyarrow.Table], pyarrow.Table]":
    """Return what gives *work* a site and the texts of its observations."""

    def run(table: "pyarrow.Table") -> "pyarrow.Table":
        return _arrow_table(list(work(table["site"][0].as_py(), table["text"].to_pylist())), schema)

    return run


def _checked(rows: "DataFrame") -> "DataFrame":
    """Return the columns that are read. Raises TypeError, SourceError."""
    functions = _pyspark().sql.functions
    if not hasattr(rows, "mapInArrow"):
        raise TypeError(f"observations is of type {type(rows).__name__}: it must be a DataFrame of Spark")
    types = _columns_read({each.name: each.dataType.typeName() for each in rows.schema.fields})
    # Python is given times of the session's zone without a zone: seconds are none of these.
    forms = {"timestamp": "double", "timestamp_ntz": "string"}
    casts = [
        functions.col(name).cast(forms[kind]).alias(name) if kind in forms else name for name, kind in types.items()
    ]
    return rows.select(*casts)


def _columns_read(types: Mapping[str, str]) -> dict[str, str]:
    """Return those columns of a table that are read, with their types.

    Raises SourceError where one is missing or has a type that cannot be read.
    """
    if not {"url", "fingerprint"} <= types.keys():
        shown = ", ".join([*types][:8]) + (", ..." if len(types) > 8 else "")
        raise SourceError(f"the columns are {shown}: url and fingerprint must be among them")
    found = {name: kind for name, kind in types.items() if name in COLUMNS}
    for name, kind in found.items():
        right = _TYPES.get(name, _TEXT)
        if kind not in right:
            raise SourceError(f"the column {name} is of type {kind}: it must be {' or '.join(right)}; cast it before")
    return found


def _arrow_table(rows: Sequence[tuple[Any, ...]], schema: str) -> "pyarrow.Table":
    """Return the table of rows whose columns are named and typed as in a schema of Spark (``site string, rows long``)."""
    import pyarrow

    types = {"string": pyarrow.string(), "boolean": pyarrow.bool_(), "int": pyarrow.int32(), "long": pyarrow.int64()}
    types |= {"double": pyarrow.float64(), "array<string>": pyarrow.list_(pyarrow.string())}
    typed = pyarrow.schema([(name, types[kind]) for name, kind in map(str.split, schema.split(", "))])
    columns = zip(*rows, strict=True) if rows else ((),) * len(typed)
    return pyarrow.table([pyarrow.array(values, each.type) for values, each in zip(columns, typed, strict=True)], typed)


def _with_text(rules: "DataFrame") -> Iterator[Any]:
    return (row for row in rules.select("site", "text", "gone").toLocalIterator() if row.text)


def _pyspark() -> Any:
    """Return the package pyspark. Raises ImportError, which says what to install."""
    try:
        import pyspark.sql
    except ImportError:
        raise ImportError(INSTALL) from None
    return pyspark
