"""What Redis does for a fleet in one step each: scripts in its own language, Lua.

All keys of a job begin with one prefix, ``KEYS[1]``:

=============== ==================================================================
``meta``        a hash: ``job`` (a name), ``format`` (a number: of all these keys,
                and of lines), ``version`` of the rules, ``digest`` of what slots
                are made by, ``trimmed`` (the last entry that is packed),
                ``finished`` (the last entry when nothing was left to do)
``log``         a stream of entries, each the lines of one worker
``packed``      a list of older entries, compressed, some hundreds in each
``slots:V:B``   by version and bucket: sets of the slots that are taken
``rules``       a hash: site -> version, and the text of its rule file, compressed
``suspended``   a hash: site and rule -> why it is suspended
``workers``     a hash: worker -> when it has joined
``alive:W``     what worker W is doing; it expires when W is dead
``leader``      the worker that learns; it expires likewise
``dead``        a set: workers that have been found dead
=============== ==================================================================
"""

from typing import Final

#: Tell of the job, and make it where it is not there yet. ARGV: name, digest, worker, seconds since 1970, format.
#: Return format, job, version, digest, and whether no other worker is alive. Where the format is another one nothing is
#: changed, and the rest is not to be read.
JOIN: Final = """
local p = KEYS[1]
if redis.call('HSETNX', p .. 'meta', 'job', ARGV[1]) == 1 then
  redis.call('HSET', p .. 'meta', 'format', ARGV[5], 'version', '1', 'digest', ARGV[2], 'trimmed', '0-0')
end
local meta = redis.call('HMGET', p .. 'meta', 'format', 'job', 'version', 'digest')
if meta[1] ~= ARGV[5] then return {meta[1] or 'none'} end
local no_other_alive = 1
for _, worker in ipairs(redis.call('HKEYS', p .. 'workers')) do
  if worker ~= ARGV[3] and redis.call('EXISTS', p .. 'alive:' .. worker) == 1 then no_other_alive = 0 end
end
redis.call('HSET', p .. 'workers', ARGV[3], ARGV[4])
return {meta[1], meta[2], meta[3], meta[4], no_other_alive}
"""

_KNOWN: Final = """
local function numbers(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function is_later(one, two)
  local a, b = numbers(one)
  local c, d = numbers(two)
  return a > c or (a == c and b > d)
end
-- Whether the log is not that of the job, or has lost what was its last entry.
local function is_another_log(p, meta, job, last)
  if meta[1] ~= job then return true end
  return is_later(last, meta[3]) and #redis.call('XRANGE', p .. 'log', last, last) == 0
end
"""

#: Hand over lines, claim a slot, and hear of the others. ARGV: the last entry that is known, version, worker, how many
#: entries to return, the lines, then, of the slot to be claimed, its bucket, the slot ("" where none is) and its line;
#: the name of the job; then sign, bucket and slot of each that has become taken ("+") or free ("-").
#: Return status, version, the last entry that is known then, whether there are more, and entries. Status is "lost"
#: where the log is another one, "stale" where the rules are, "taken" where the slot is, else "ok".
EXCHANGE: Final = (
    _KNOWN
    + """
local p, last, worker, most = KEYS[1], ARGV[1], ARGV[3], tonumber(ARGV[4])
local log = p .. 'log'
local meta = redis.call('HMGET', p .. 'meta', 'job', 'version', 'trimmed')
if is_another_log(p, meta, ARGV[9], last) then return {'lost', 0, last, 0, {}} end
local entries, more = {}, 0
if last ~= meta[3] and not is_later(last, meta[3]) then more = 2 end
if more == 0 then
  entries = redis.call('XRANGE', log, '(' .. last, '+', 'COUNT', most)
  if #entries == most then more = 1 end
  if #entries > 0 then last = entries[#entries][1] end
end
local status, lines = 'ok', ARGV[5]
local current = meta[2] == ARGV[2]
if current then
  for i = 10, #ARGV, 3 do
    local command = ARGV[i] == '+' and 'SADD' or 'SREM'
    redis.call(command, p .. 'slots:' .. meta[2] .. ':' .. ARGV[i + 1], ARGV[i + 2])
  end
end
if ARGV[7] ~= '' then
  if not current then
    status = 'stale'
  elseif redis.call('SADD', p .. 'slots:' .. meta[2] .. ':' .. ARGV[6], ARGV[7]) == 0 then
    status = 'taken'
  end
  if status ~= 'taken' then lines = lines .. ARGV[8] end
end
if lines ~= '' then
  local id = redis.call('XADD', log, '*', 'e', worker .. '\\n' .. lines)
  if more == 0 then last = id end
end
return {status, meta[2], last, more, entries}
"""
)

#: Let other rules count, and free the slots by those of before. ARGV: the version before, the last entry that is known,
#: digest, whether entries that are not known may be there, number of buckets, number of fields, then name of the hash,
#: field and value of each of these; the name of the job; then bucket and slot of each slot that is not in the new sets
#: yet. Return whether they count, and the version that does, 0 where the log is another one.
PUBLISH: Final = (
    _KNOWN
    + """
local p = KEYS[1]
local meta = redis.call('HMGET', p .. 'meta', 'job', 'version', 'trimmed')
local version, fields = meta[2], tonumber(ARGV[6])
if is_another_log(p, meta, ARGV[7 + 3 * fields], ARGV[2]) then return {0, '0'} end
if version ~= ARGV[1] then return {0, version} end
if ARGV[4] == '0' then
  if #redis.call('XRANGE', p .. 'log', '(' .. ARGV[2], '+', 'COUNT', 1) > 0 then return {0, version} end
end
local new = tostring(tonumber(version) + 1)
for i = 7, 6 + 3 * fields, 3 do
  redis.call('HSET', p .. ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
for i = 8 + 3 * fields, #ARGV, 2 do
  redis.call('SADD', p .. 'slots:' .. new .. ':' .. ARGV[i], ARGV[i + 1])
end
redis.call('HSET', p .. 'meta', 'version', new, 'digest', ARGV[3])
for bucket = 0, tonumber(ARGV[5]) - 1 do
  redis.call('UNLINK', p .. 'slots:' .. version .. ':' .. bucket)
end
return {1, new}
"""
)

#: Pack the entries up to one, unless the log is another one by now. ARGV: the last entry that was packed before, that one,
#: what they are packed into, job.
PACK: Final = """
local p = KEYS[1]
local meta = redis.call('HMGET', p .. 'meta', 'trimmed', 'job')
if meta[1] ~= ARGV[1] or meta[2] ~= ARGV[4] then return 0 end
redis.call('RPUSH', p .. 'packed', ARGV[3])
redis.call('HSET', p .. 'meta', 'trimmed', ARGV[2])
local ms, seq = string.match(ARGV[2], '^(%d+)-(%d+)$')
redis.call('XTRIM', p .. 'log', 'MINID', ms .. '-' .. string.format('%d', tonumber(seq) + 1))
return 1
"""

#: Show that a worker is alive, even one that was taken for dead, and become the leader if there is none. ARGV: worker,
#: what it is doing, milliseconds until it counts as dead, the last entry if nothing is left to do, seconds since 1970, job.
#: Return the leader, that entry, and worker and state of each worker, "" for those that are dead.
BEAT: Final = """
local p = KEYS[1]
redis.call('HSETNX', p .. 'workers', ARGV[1], ARGV[5])
redis.call('SET', p .. 'alive:' .. ARGV[1], ARGV[2], 'PX', ARGV[3])
local leader = redis.call('GET', p .. 'leader')
if not leader or leader == ARGV[1] then
  redis.call('SET', p .. 'leader', ARGV[1], 'PX', ARGV[3])
  leader = ARGV[1]
end
if ARGV[4] ~= '' and redis.call('HGET', p .. 'meta', 'job') == ARGV[6] then
  redis.call('HSET', p .. 'meta', 'finished', ARGV[4])
end
local found = {leader, redis.call('HGET', p .. 'meta', 'finished') or ''}
for _, worker in ipairs(redis.call('HKEYS', p .. 'workers')) do
  found[#found + 1] = worker
  found[#found + 1] = redis.call('GET', p .. 'alive:' .. worker) or ''
end
return found
"""

#: Take dead workers out. ARGV: workers. Return how many of them are found dead for the first time.
FORGET_DEAD: Final = """
local p, number = KEYS[1], 0
for _, worker in ipairs(ARGV) do
  if redis.call('EXISTS', p .. 'alive:' .. worker) == 0 then
    redis.call('HDEL', p .. 'workers', worker)
    number = number + redis.call('SADD', p .. 'dead', worker)
  end
end
return number
"""

#: Take a worker out. ARGV: worker. Return how many are alive then.
LEAVE: Final = """
local p = KEYS[1]
redis.call('HDEL', p .. 'workers', ARGV[1])
redis.call('DEL', p .. 'alive:' .. ARGV[1])
if redis.call('GET', p .. 'leader') == ARGV[1] then redis.call('DEL', p .. 'leader') end
local left = 0
for _, worker in ipairs(redis.call('HKEYS', p .. 'workers')) do
  left = left + redis.call('EXISTS', p .. 'alive:' .. worker)
end
return left
"""
