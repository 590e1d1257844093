"""The log that the workers of a job share, and the slots they have taken: what is asked of the Redis server.

Methods raise RedisError. Those that say so wait long, and are called in threads.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from secrets import token_hex
from time import time
from typing import Any, Final

from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.settings import BaseSettings

from . import scripts
from .log_data import Entry, Joined, OtherFormatError, Reply, SharedRuleTexts, number_of, pack, unpacked

#: Slots are spread over so many sets, which Redis packs as long as each has no more than 512.
BUCKETS: Final = 4096
#: Entries in one answer, and those beside the packed ones: they are packed when there are as many again.
MOST: Final = 500
FRESH: Final = 256
#: Slots written at once.
_MANY: Final = 2_000
NOTHING: Final = "0-0"
#: Of the keys and lines. It becomes another one with the first release that could not read those of the one before.
FORMAT: Final = 1


class SharedLog:
    """The keys of one job on a Redis server."""

    def __init__(self, settings: BaseSettings, spider: str) -> None:
        from scrapy_redis import connection, defaults

        given = {name: settings.get(name) for name in settings if str(name).startswith("REDIS_")}
        # Unless the user says otherwise, a connection that Redis has closed is opened again once, and nobody waits for
        # more. What is packed is no text.
        given["REDIS_PARAMS"] = {
            "retry": Retry(NoBackoff(), 1),
            **settings.getdict("REDIS_PARAMS"),
            "decode_responses": False,
        }
        given.pop("REDIS_DECODE_RESPONSES", None)
        self.worker = token_hex(4)
        #: The name of the job; "" as long as it has not joined.
        self.job = ""
        queue = settings.get("SCHEDULER_QUEUE_KEY") or defaults.SCHEDULER_QUEUE_KEY
        self.queue = queue % {"spider": spider}
        self.prefix = f"{self.queue}:dedup:"
        self._client: Any = connection.from_settings(BaseSettings(given))
        register = self._client.register_script
        self._join, self._exchange, self._publish = map(register, (scripts.JOIN, scripts.EXCHANGE, scripts.PUBLISH))
        self._beat, self._forget_dead, self._leave = map(register, (scripts.BEAT, scripts.FORGET_DEAD, scripts.LEAVE))
        self._pack = register(scripts.PACK)

    def _called(self, script: Any, *arguments: object) -> list[Any]:
        found: list[Any] = script(keys=[self.prefix], args=arguments)
        return found

    def join(self, job: str, digest: str) -> Joined:
        """Join the job, or begin it under the name *job*. Raises OtherFormatError."""
        given = job, digest, self.worker, int(time()), FORMAT
        found, *rest = self._called(self._join, *given)
        if _text(found) != str(FORMAT):
            self.job = ""
            raise OtherFormatError(
                f"the workers of this job share what they have seen in format {_text(found)}, and this release of "
                f"scrapy-dedup knows format {FORMAT}. Let all workers of a job be of one release; or, once the others "
                f"have ended, delete the keys {self.prefix}* so that what is seen is kept anew"
            )
        self.job = _text(rest[0])
        return Joined(self.job, int(rest[1]), _text(rest[2]), bool(rest[3]))

    def exchange(
        self,
        last: str,
        version: int,
        lines: Sequence[str] = (),
        changed_slots: Iterable[tuple[str, int]] = (),
        claim: tuple[int, str] | None = None,
    ) -> Reply:
        """Hand over *lines*, claim a slot, and hear of the others.

        *changed_slots* have become taken ("+") or free ("-").
        """
        slot, line = claim or (0, "")
        given: list[object] = [last, version, self.worker, MOST, "\n".join(lines)]
        given += [_bucket(slot), slot, f"\n{line}" if lines else line] if claim else ["", "", ""]
        given.append(self.job)
        for sign, each in changed_slots:
            given += [sign, _bucket(each), each]
        status, now, known, more, entries = self._called(self._exchange, *map(_encoded, given))
        found = [Entry.of(_text(name), _text(fields[1])) for name, fields in entries]
        return Reply(_text(status), int(now), _text(known), int(more) > 0, int(more) == 2, found)

    # What a worker that joins, or was away for long, has to read: in threads

    def packed(self, last: str) -> Iterator[Entry]:
        """Yield the entries after *last*, the packed ones first; it waits long."""
        known = number_of(last)
        at, again = 0, False
        while True:
            before = at
            while chunks := self._client.lrange(f"{self.prefix}packed", at, at + 7):
                at += len(chunks)
                for chunk in chunks:
                    for name, text in unpacked(chunk):
                        if number_of(name) > known:
                            yield Entry.of(name, text)
                            known = number_of(name)
            fresh = self._client.xrange(f"{self.prefix}log", "-", "+")
            # What was packed between these two steps is in neither of them.
            trimmed = _text(self._client.hget(f"{self.prefix}meta", "trimmed") or NOTHING)
            if number_of(trimmed) <= known or (again and at == before):
                break
            again = True
        for name, fields in fresh:
            if number_of(_text(name)) > known:
                yield Entry.of(_text(name), _text(next(iter(fields.values()))))

    def pack(self) -> bool:
        """Pack the older ones of the entries, if there are many; it waits. Return whether there may be more of them."""
        if self._client.xlen(f"{self.prefix}log") < 2 * FRESH:
            return False
        before = self._client.hget(f"{self.prefix}meta", "trimmed")
        entries = self._client.xrange(f"{self.prefix}log", "-", "+", count=FRESH)
        found = [(_text(name), _text(next(iter(fields.values())))) for name, fields in entries]
        if before is None or not found:
            return False
        return bool(self._called(self._pack, _text(before), found[-1][0], pack(found), self.job))

    # Rules

    def write_slots(self, version: int, slots: Sequence[int]) -> None:
        """Note that *slots* are taken by the rules of a version that does not count yet; it waits long."""
        for at in range(0, len(slots), _MANY):
            with self._client.pipeline(transaction=False) as pipe:
                by_bucket: dict[int, list[int]] = {}
                for slot in slots[at : at + _MANY]:
                    by_bucket.setdefault(_bucket(slot), []).append(slot)
                for bucket, some in by_bucket.items():
                    pipe.sadd(f"{self.prefix}slots:{version}:{bucket}", *some)
                pipe.execute()

    def forget_slots(self, version: int) -> None:
        """Forget the slots of a version that does not count any more, or never will; it waits."""
        self._client.unlink(*(f"{self.prefix}slots:{version}:{bucket}" for bucket in range(BUCKETS)))

    def rules(self, since: int) -> SharedRuleTexts:
        """Return what versions after *since* say; it waits."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hmget(f"{self.prefix}meta", "version", "digest")
            pipe.hgetall(f"{self.prefix}rules")
            pipe.hgetall(f"{self.prefix}suspended")
            (version, digest), texts, suspended = pipe.execute()
        new = {}
        for site, value in texts.items():
            of_version, _, text = value.partition(b" ")
            if int(of_version) > since:
                new[_text(site)] = zlib.decompress(text).decode()
        return SharedRuleTexts(
            int(version or 0), _text(digest or ""), new, {_text(name): _text(why) for name, why in suspended.items()}
        )

    def publish(
        self,
        before: int,
        last: str,
        rules: SharedRuleTexts,
        slots: Iterable[int],
        *,
        even_with_news: bool = False,
    ) -> tuple[bool, int]:
        """Let *rules* count, unless *before* does not any more, or entries have come after *last*.

        With *even_with_news* they count whatever has come. *slots* are those that :meth:`write_slots` has not written.
        Return whether they count now, and the version that does; that is 0 where Redis holds another job, or has lost the
        entry *last*.
        """
        fields: list[object] = []
        for site, text in rules.texts.items():
            fields += ["rules", site, b"%d " % rules.version + zlib.compress(text.encode())]
        for name, why in rules.suspended.items():
            fields += ["suspended", name, why]
        given: list[object] = [
            before,
            last,
            rules.digest,
            int(even_with_news),
            BUCKETS,
            len(fields) // 3,
            *fields,
            self.job,
        ]
        for slot in slots:
            given += [_bucket(slot), slot]
        done, version = self._called(self._publish, *given)
        return bool(done), int(version)

    def publish_own(self, before: int, digest: str) -> tuple[bool, int]:
        """Let the rules count that the files of this worker say, and nothing else, as it is alone; it waits."""
        self._client.unlink(f"{self.prefix}rules", f"{self.prefix}suspended")
        rules = SharedRuleTexts(before + 1, digest, {}, {})
        return self.publish(before, NOTHING, rules, (), even_with_news=True)

    # Workers

    def beat(self, state: str, milliseconds: int, finished: str = "") -> tuple[str, str, dict[str, str]]:
        """Show that the worker is alive, and that nothing was left to do when the log had the entry *finished*.

        Return the leader, when nothing was left to do, and the state of each worker, "" of the dead ones.
        """
        found = self._called(self._beat, self.worker, state, milliseconds, finished, int(time()), self.job)
        leader, at_end, *rest = map(_text, found)
        return leader, at_end, dict(zip(rest[::2], rest[1::2], strict=True))

    def leave(self) -> int:
        """Leave the job; return how many workers are alive."""
        left: Any = self._called(self._leave, self.worker)
        return int(left)

    def forget_dead(self, workers: Iterable[str]) -> int:
        """Forget workers that are dead; return how many of them are found dead for the first time."""
        number: Any = self._called(self._forget_dead, *workers)
        return int(number)

    def clear(self) -> None:
        """Forget the job."""
        names = [f"{self.prefix}{name}" for name in ("meta", "log", "packed", "rules", "suspended", "dead")]
        version = int(self._client.hget(f"{self.prefix}meta", "version") or 0)
        for each in range(1, version + 2):
            self.forget_slots(each)
        self._client.unlink(*names)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _bucket(slot: int) -> int:
    return slot % BUCKETS


def _encoded(value: object) -> object:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)
