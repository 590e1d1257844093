"""Learning with Spark: what one machine learns, byte for byte, and what is told where it cannot be done."""

import random
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.learning.alternation import learn_rules_and_masks
from scrapy_dedup.learning.imported import ImportedEvidence
from scrapy_dedup.learning.saving import save as save_learned
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules import Ignore, Keep, Rule, RuleBook, Status
from scrapy_dedup.sources.records import SourceError
from scrapy_dedup.spark import canonical_key, learn, rule_book, save

from . import source_files
from .spark_session import local_spark, why_no_spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(why_no_spark() is not None, reason=str(why_no_spark())),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

BEGAN = float(source_files.BEGAN)
SCHEMA = "url string, fingerprint string, status int, time double, redirect string, canonical string"
Row = tuple[str, str, int, float | None, str | None, str | None]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark with one worker, in a zone that is not UTC; it compiles no code for the few rows of a test."""
    with local_spark(
        tmp_path_factory.mktemp("spark"),
        cores=1,
        spark__sql__shuffle__partitions="2",
        spark__sql__session__timeZone="Asia/Tokyo",
        spark__sql__codegen__wholeStage="false",
        spark__sql__codegen__factoryMode="NO_CODEGEN",
    ) as session:
        yield session


def pages(site: str, number: int, *, copies: int = 2, at: float | None = None) -> list[Row]:
    """Pages of a site, each under some session ids."""
    return [
        (f"http://{site}/view?id={page}&sid={(page * copies + copy) * 7919:08x}", f"{site} {page}", 200, at, None, None)
        for page in range(number)
        for copy in range(copies)
    ]


def mixed() -> list[Row]:
    """Records of sites of all kinds: with times and without, nested in each other, noisy, without rules."""
    rows = pages("a.test", 30, at=BEGAN) + pages("b.test", 30) + pages("c.test", 20, at=BEGAN) + pages("plain.test", 1)
    # In the URLs of one site are those of the other, in both directions.
    for one, other in (("a.test", "b.test"), ("b.test", "a.test"), ("outer.test", "a.test")):
        rows += [
            (
                f"http://{one}/to?url=http%3A%2F%2F{other}%2Fview%3Fid%3D{page}%26sid%3D{sid}",
                f"to {page}",
                200,
                None,
                None,
                None,
            )
            for page in range(15)
            for sid in (f"{page}f", f"{page}e")
        ]
    # Of several answers to one URL the latest counts; where no time tells it, the order must not.
    rows += [(url, f"{text} again", 200, None, None, None) for url, text, *_ in rows[70:90]]
    rows += [(url, "later", 200, BEGAN + 9_000, None, None) for url, *_ in rows[:4]]
    rows += [
        ("http://c.test/gone", "", 404, None, None, None),
        ("http://c.test/old", "", 301, None, "http://c.test/view?id=1", None),
    ]
    # Pages that are found under numbers, and say what they are called.
    for page in range(30):
        own = f"http://called.test/page-{page * 31:x}"
        rows += [
            (url, f"called {page}", 200, None, None, own) for url in (own, f"http://called.test/node/{page * 7919}")
        ]
    rows.append(("not a url", "x", 200, None, None, None))
    return rows


def on_one_machine(rows: Iterable[Row], folder: Path, **options: Any) -> dict[str, str]:
    """The texts of the files that one machine writes, by site."""
    with ImportedEvidence(**options) as evidence:
        names = ("status", "time", "redirect", "canonical")
        evidence.add_all(Observation(url, text, **dict(zip(names, rest, strict=True))) for url, text, *rest in rows)
        both = learn_rules_and_masks(evidence, known=RuleBook())
    save_learned(both, folder)
    texts = [path.read_text() for path in folder.glob("*.toml")]
    return {text.partition('site = "')[2].partition('"')[0]: text for text in texts}


def texts_of(found: Iterable[Any]) -> dict[str, str]:
    found = list(found)
    assert [row.problem for row in found if row.problem] == []
    assert len({row.site for row in found}) == len(found)
    return {row.site: row.text for row in found if row.text}


def test_the_same_as_one_machine_in_any_order(spark, tmp_path, caplog):
    """Beside records that cannot be read, which are counted and named."""
    rows = mixed()
    want = on_one_machine(rows, tmp_path / "rules")
    assert want.keys() == {"a.test", "b.test", "c.test", "called.test", "outer.test"}
    assert "nested" in want["outer.test"], "the rules of a site in the URLs of another have a part in its own"
    assert '"alias.canonical" = "declared"' in want["called.test"]
    random.Random(1).shuffle(rows)
    broken = [("http://a.test/empty", "", 200, None, None, None), (None, "x", 200, None, None, None)]
    learned = learn(spark.createDataFrame([*rows, *broken], SCHEMA).repartition(5)).collect()
    said = [record.getMessage() for record in caplog.records if record.name == "scrapy_dedup.spark"]
    assert said[-1] == "2 records could not be read"
    assert any(line.startswith("not read: http://a.test/empty: fingerprint of") for line in said)
    assert texts_of(learned) == want
    assert {row.site: (row.rules, row.pages) for row in learned}["plain.test"] == (0, 1)
    assert on_one_machine(rows, tmp_path / "again") == want


def test_very_large_sites_are_sampled_by_page(spark, tmp_path):
    rows = pages("large.test", 300, copies=3) + pages("small.test", 20)
    rows += [
        (f"http://large.test/view?id={page}&sid={page:x}", "log in", 200, None, None, None)
        for page in range(1000, 1400)
    ]
    rows += [("http://large.test/", "home", 200, float(at), None, None) for at in range(400)]
    rows += [(f"http://large.test/view?id={page}", "", 500, None, None, None) for page in range(100)]
    random.Random(2).shuffle(rows)
    want = on_one_machine(rows, tmp_path / "rules", most_of_site=200)
    learned = learn(spark.createDataFrame(rows, SCHEMA), most_of_site=200).collect()
    assert texts_of(learned) == want
    urls = {row.site: row.urls for row in learned}
    assert urls["small.test"] == 40
    assert 100 < urls["large.test"] < 300
    assert "q.sid" in want["large.test"]


def test_columns_of_a_file(spark, tmp_path):
    from pyarrow import Table, parquet

    rows = pages("a.test", 30, at=BEGAN)
    parquet.write_table(
        Table.from_pylist(
            [
                {"url": url, "fingerprint": text, "status": 200, "colour": "red"}
                | {"time": datetime.fromtimestamp(at or 0, timezone.utc)}
                for url, text, _, at, *_ in rows
            ]
        ),
        tmp_path / "seen.parquet",
    )
    learned = texts_of(learn(spark.read.parquet(str(tmp_path / "seen.parquet"))).collect())
    assert learned == on_one_machine(rows, tmp_path / "rules")
    assert "2026-01-31" in learned["a.test"], "the day is that of UTC, whatever the session's zone"


def test_what_is_learned_can_be_used_and_saved(spark, tmp_path):
    rows = pages("a.test", 30)
    want = on_one_machine(rows, tmp_path / "one")
    known = RuleBook([Rule("a.test", {}, {"q.lang": Keep()}, status=Status.MANUAL)])
    learned = learn(spark.createDataFrame(rows, SCHEMA), known=known).persist()
    book = rule_book(learned)
    assert {rule.status for rule in book} == {Status.MANUAL, Status.ACTIVE}
    save(learned.where("rules > 0"), tmp_path / "rules")
    learned.unpersist()
    assert RuleBook.load(tmp_path / "rules") == book
    urls = spark.createDataFrame([(url,) for url, *_ in rows[:5]] + [(None,)], "url string")
    keyed = urls.withColumn("key", canonical_key(book)("url")).collect()
    assert [row.key for row in keyed] == [row.url and book.canonical_key(row.url) for row in keyed]
    assert keyed[0].key == "http://a.test/view?id=0"
    assert want


def test_a_wrong_column_is_told_before_anything_runs(spark):
    with pytest.raises(SourceError, match=r"the columns are url, hash: url and fingerprint must be among them"):
        learn(spark.createDataFrame([], "url string, hash string"))
    with pytest.raises(
        SourceError, match=r"the column fingerprint is of type binary: it must be string; cast it before"
    ):
        learn(spark.createDataFrame([], "url string, fingerprint binary"))
    with pytest.raises(TypeError, match=r"observations is of type list: it must be a DataFrame of Spark"):
        learn([])  # type: ignore[arg-type]


def test_without_pyspark_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r"pip install 'scrapy-dedup\[spark\]'"):
        learn(None)  # type: ignore[arg-type]
    with pytest.raises(ImportError, match=r"pip install 'scrapy-dedup\[spark\]'"):
        canonical_key(RuleBook([Rule("a.test", {}, {"q.sid": Ignore()})]))
