// Atomic changes of several keys, as Redis scripts.
//
// Keys, each after the prefix: `seq` is a counter; `spaces:KIND` contains the spaces with records; `rows:KIND:SPACE`
// contains the records by number, `order:KIND:SPACE` their numbers in order, `names:KIND:SPACE` the numbers of the named
// ones. A counter that an evicting or restored server has lost continues after the last number of the space, so that no
// record is overwritten.

const insert = `
	local seq = redis.call('INCR', KEYS[1])
	local last = tonumber(redis.call('ZREVRANGE', KEYS[4], 0, 0)[1])
	if last and last >= seq then
		seq = last + 1
		redis.call('SET', KEYS[1], string.format('%.0f', seq))
	end
	redis.call('HSET', KEYS[3], seq, ARGV[2])
	redis.call('ZADD', KEYS[4], seq, seq)
	if ARGV[3] then redis.call('HSET', KEYS[5], ARGV[3], seq) end
	redis.call('SADD', KEYS[2], ARGV[1])
	return seq
`;

/** Keys: seq, spaces, rows, order, names. Arguments: space, row, optional name. */
export const appendScript: string = `
	if ARGV[3] and redis.call('HEXISTS', KEYS[5], ARGV[3]) == 1 then return 0 end
	${insert}
`;

/** The same. */
export const putScript: string = `
	local old = redis.call('HGET', KEYS[5], ARGV[3])
	if old then
		redis.call('HDEL', KEYS[3], old)
		redis.call('ZREM', KEYS[4], old)
	end
	${insert}
`;

/** Keys: rows, names. Argument: name. Returns number and row. */
export const findScript: string = `
	local seq = redis.call('HGET', KEYS[2], ARGV[1])
	if not seq then return false end
	return { seq, redis.call('HGET', KEYS[1], seq) }
`;

/** Keys: rows, order. Arguments: command, from, to, offset, count. Returns alternating numbers and rows. */
export const pageScript: string = `
	local page = {}
	for _, seq in ipairs(redis.call(ARGV[1], KEYS[2], ARGV[2], ARGV[3], 'LIMIT', ARGV[4], ARGV[5])) do
		page[#page + 1] = seq
		page[#page + 1] = redis.call('HGET', KEYS[1], seq)
	end
	return page
`;

/** Keys: spaces, rows, order, names. Argument: space. Returns the number of records. */
export const clearScript: string = `
	local count = redis.call('ZCARD', KEYS[3])
	redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
	redis.call('SREM', KEYS[1], ARGV[1])
	return count
`;

/**
 * Keys: spaces, rows, order, names. Arguments: space, then alternating numbers and names. Returns the number of records
 * removed.
 */
export const removeScript: string = `
	local removed = 0
	for at = 2, #ARGV, 2 do
		removed = removed + redis.call('HDEL', KEYS[2], ARGV[at])
		redis.call('ZREM', KEYS[3], ARGV[at])
		if redis.call('HGET', KEYS[4], ARGV[at + 1]) == ARGV[at] then redis.call('HDEL', KEYS[4], ARGV[at + 1]) end
	end
	if redis.call('EXISTS', KEYS[3]) == 0 then redis.call('SREM', KEYS[1], ARGV[1]) end
	return removed
`;

/** Key: rows. Arguments: number, row. */
export const rewriteScript: string = `
	if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
	redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
	return 1
`;
