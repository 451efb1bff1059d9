// The statements that read sessions. Each uses an index regardless of the number of sessions and entries; a test checks
// each plan.
import { type ListOptions, never, toStored } from "holdfast/host";

/** The statements of a schema. */
export interface Statements {
	/**
	 * Reads sessions for leases, in the order of their digests, with the lowest epoch for new ones, and the inbox of each
	 * unless it is large.
	 */
	readonly look: string;
	readonly inbox: string;
	/** Reads entries by digest, after a seq, up to a limit. */
	readonly entries: string;
	/** Reads chunks by digest, after a seq and sub, through a seq, up to a limit. */
	readonly chunks: string;
	readonly head: string;
	/** Lists the sessions in a state. */
	list(options: ListOptions): { readonly text: string; readonly values: readonly unknown[] };
}

/** `lives` returns the SQL that checks whether a worker is alive, given its table alias. */
export function statements(schema: string, lives: (alias: string) => string): Statements {
	const columns = `s.id, s.key, s.incarnation, s.epoch, s.open_run, s.seq, s.last_kind, s.waiting, s.created_at, s.updated_at`;
	const owner = `LEFT JOIN LATERAL (SELECT w.name, ${lives("w")} AS alive FROM ${schema}.workers w
		WHERE w.id = s.owner AND s.open_run IS NOT NULL) o ON true`;
	const viewOf = (sessions: string): string =>
		`SELECT ${columns}, o.name AS owner_name, o.alive AS owner_alive FROM ${sessions} s ${owner}`;
	const view = viewOf(`${schema}.sessions`);
	// Few sessions are in any of these states: they are read by the state's index, and sorted.
	const atWork = `SELECT * FROM ${schema}.sessions WHERE open_run IS NOT NULL AND look_at IS NULL`;
	const toLookAt = `SELECT * FROM ${schema}.sessions WHERE look_at IS NOT NULL`;
	const alive = `WITH alive AS MATERIALIZED (SELECT w.id, w.name FROM ${schema}.workers w WHERE ${lives("w")})`;
	const unanswered = `SELECT DISTINCT session FROM ${schema}.inputs WHERE (kind = 'message' OR (kind = 'steer' AND worker IS NOT NULL))
		AND (kind = 'steer' OR worker IS NULL OR worker NOT IN (SELECT name FROM alive))`;
	const sources = {
		any: `${schema}.sessions`,
		open: `(${atWork} UNION ALL ${toLookAt})`,
		waiting: `${schema}.sessions`,
		orphaned: `(${atWork} AND (owner IS NULL OR owner NOT IN (SELECT id FROM alive)) UNION ALL
			SELECT t.* FROM (${unanswered}) i CROSS JOIN LATERAL (SELECT * FROM ${schema}.sessions WHERE id = i.session OFFSET 0) t
				WHERE t.open_run IS NULL)`,
	};

	const columnsOfInput = ["position", "id", "kind", "run_id", "dedupe_key", "worker", "at", "body"];
	const inputs = `${columnsOfInput.map((name) => `i.${name}`).join()} FROM ${schema}.inputs i`;
	const fields = columnsOfInput.map((name) => `'${name}', i.${name}`).join();

	function list(options: ListOptions): { text: string; values: unknown[] } {
		const { after, prefix = "", limit, state = "any", changedSince = 0, dueBy = never } = options;
		const values: unknown[] = [];
		const value = (given: unknown): string => `$${values.push(given)}`;
		const where: string[] = [];
		// The index contains the beginnings of keys; the rest of the key decides among equal beginnings.
		if (after !== undefined) {
			const place = value(toStored(after));
			where.push(`s.key > ${place}`, `${indexed("s.key")} >= ${indexed(place)}`);
		}
		if (prefix !== "") {
			const place = value(toStored(prefix));
			where.push(`starts_with(s.key, ${place})`, `${indexed("s.key")} >= ${indexed(place)}`);
			const end = endOfPrefix(toStored(prefix));
			if (end !== undefined) where.push(`${indexed("s.key")} < ${value(end)}::text`);
		}
		if (changedSince > 0) where.push(`s.updated_at >= ${value(changedSince)}`);
		if (state === "waiting")
			where.push(`s.look_at <= ${value(Math.min(dueBy, never))}`, "s.last_kind = 'waiting'");
		if (state === "orphaned") where.push("s.last_kind IS DISTINCT FROM 'waiting'");
		const order = state === "any" ? `${indexed("s.key")}, s.key` : "s.key";
		const conditions = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
		const some = limit === undefined ? "" : `LIMIT ${value(limit)}`;
		const text = `${state === "orphaned" ? alive : ""} ${viewOf(sources[state])} ${conditions} ORDER BY ${order} ${some}`;
		return { text, values };
	}

	return {
		// Passed as a single array: the planner, which does not see its length, keeps one plan.
		look: `SELECT s.id, s.epoch, s.open_run, s.seq, o.name AS owner_name, o.alive AS owner_alive, m.value AS highest,
				CASE WHEN s.waiting BETWEEN 1 AND ${seenInputs} THEN (SELECT json_agg(json_build_object(${fields})) FROM (
					SELECT ${inputs} WHERE i.session = s.id ORDER BY i.position) i)
				WHEN s.waiting > 0 THEN NULL ELSE '[]' END AS inbox
			FROM ${schema}.meta m CROSS JOIN unnest((SELECT $1::uuid[])) WITH ORDINALITY d (digest, number)
			LEFT JOIN LATERAL (SELECT * FROM ${schema}.sessions WHERE digest = d.digest OFFSET 0) s ON true ${owner}
			WHERE m.name = 'highest_deleted_epoch' ORDER BY d.number`,
		inbox: `SELECT ${inputs}
			WHERE i.session = (SELECT id FROM ${schema}.sessions WHERE digest = $1) ORDER BY i.position`,
		entries: `SELECT e.seq, e.at, e.run_id, e.kind, e.version, e.body FROM ${schema}.sessions s
			CROSS JOIN LATERAL (SELECT * FROM ${schema}.entries n WHERE n.session = s.id
				AND n.seq >= greatest(s.first_seq, $2::bigint + 1) ORDER BY n.seq LIMIT $3) e WHERE s.digest = $1 ORDER BY e.seq`,
		chunks: `SELECT c.seq, c.sub, c.body FROM ${schema}.sessions s
			CROSS JOIN LATERAL (SELECT * FROM ${schema}.chunks n WHERE n.session = s.id AND n.seq >= s.first_seq
				AND (n.seq, n.sub) > ($2, $3) AND n.seq <= $4 ORDER BY n.seq, n.sub LIMIT $5) c
			WHERE s.digest = $1 ORDER BY c.seq, c.sub`,
		head: `${view} WHERE s.digest = $1`,
		list,
	};
}

/** Maximum number of inputs read with a session; further ones are read separately. */
const seenInputs = 8;
/** Indexed characters of a key. */
const indexedLength = 600;

function indexed(text: string): string {
	return text.startsWith("$") ? `left(${text}::text, ${indexedLength})` : `left(${text}, ${indexedLength})`;
}

/**
 * Returns an upper bound of all texts with a prefix, cut to the length that the index stores; undefined if there is
 * none.
 */
export function endOfPrefix(prefix: string): string | undefined {
	const points = Array.from(prefix).slice(0, indexedLength);
	while (points.at(-1) === "\u{10ffff}") points.pop();
	const last = points.pop()?.codePointAt(0);
	if (last === undefined) return undefined;
	// Surrogates are not characters.
	const next = last === 0xd7ff ? 0xe000 : last + 1;
	return points.join("") + String.fromCodePoint(next);
}
