/**
 * Plans which sessions to remove. A session and those of its sub-agents, at all levels, are a family. A family is removed
 * only as a whole, if no session of it is open, waits or was changed since the limit.
 */
import { readChildStoreKey } from "holdfast/host";
import type { JournalFile } from "holdfast/sqlite";

/** A session in the state in which it was read; it is removed only if unchanged. */
export interface SeenSession {
	readonly id: number;
	/** The value of the key column. */
	readonly storedKey: string;
	readonly key: string;
	readonly name: string;
	/** Key of the session to which a sub-agent's session belongs. */
	readonly parent?: string;
	readonly epoch: number;
	readonly changedAt: number;
	readonly entries: number;
	/** Whether a run is open, an input is queued, or a recorded run has not started. */
	readonly busy: boolean;
	/** Whether it belongs to a sub-agent. */
	readonly isChild: boolean;
}

/** A session and those of its sub-agents. */
export interface Family<Session extends SeenSession = SeenSession> {
	readonly key: string;
	readonly members: readonly Session[];
	/** When the family last changed. */
	readonly changedAt: number;
	readonly busy: boolean;
}

interface Row {
	readonly id: number;
	readonly key: string;
	readonly epoch: number;
	readonly open_run: string | null;
	readonly changed_at: number;
	readonly entries: number;
	readonly waiting: number;
}

/** The time of a session's last change, the number of its entries, and what waits: `s` is its row. */
const columns = `s.id, s.key, s.epoch, s.open_run, (SELECT count(*) FROM inputs WHERE session = s.id) AS waiting,
	(SELECT count(*) FROM entries WHERE session = s.id) AS entries,
	max(s.updated_at, ifnull((SELECT at FROM entries WHERE session = s.id ORDER BY seq DESC LIMIT 1), 0)) AS changed_at`;

/** Returns all families of a file, the most recently changed first. */
export function readFamilies(file: JournalFile): readonly Family[] {
	const recorded = recordedWork(file);
	const sessions: SeenSession[] = [];
	for (const row of file.database.prepare(`SELECT ${columns} FROM sessions s`).iterate() as Iterable<Row>)
		if (!file.isHidden(row.key)) sessions.push(seen(file, row, recorded));
	return familiesOf(sessions);
}

/** Groups sessions into families, the most recently changed first. */
export function familiesOf<Session extends SeenSession>(
	sessions: readonly Session[],
): readonly Family<Session>[] {
	const families = new Map<string, Session[]>();
	for (const session of sessions) {
		const root = rootOf(session);
		const family = families.get(root);
		if (family === undefined) families.set(root, [session]);
		else family.push(session);
	}
	return [...families]
		.map(([key, members]) => ({
			key,
			members,
			changedAt: members.reduce((latest, { changedAt }) => Math.max(latest, changedAt), 0),
			busy: members.some(({ busy }) => busy),
		}))
		.sort((one, other) => other.changedAt - one.changedAt);
}

/** Whether a session is unchanged. Runs within the transaction that starts its removal. */
export function isUnchanged(file: JournalFile, session: SeenSession): boolean {
	const row = file.database.prepare(`SELECT ${columns} FROM sessions s WHERE s.id = ?`).get(session.id);
	if (row === undefined) return false;
	const now = seen(file, row as Row, recordedWork(file));
	return (
		now.storedKey === session.storedKey &&
		now.epoch === session.epoch &&
		now.changedAt === session.changedAt &&
		!now.busy
	);
}

/** Returns the names of sessions with a recorded run that has not ended. */
function recordedWork(file: JournalFile): ReadonlySet<string> {
	const names = new Set<string>();
	if (file.version < 3) return names; // Files this old have no records.
	// A run that ended in the journal but whose record was not updated does not count.
	const rows = file.database
		.prepare(
			`SELECT DISTINCT r.name, (SELECT o.body FROM records o WHERE o.shelf = 'runs' AND o.name = r.name) AS body
			FROM records r WHERE r.shelf IN ('unfinished-runs', 'scheduled-runs') AND NOT EXISTS (
				SELECT 1 FROM entries e JOIN entries n ON n.session = e.session AND n.seq >= e.seq AND n.kind = 'run.ended'
				WHERE e.run_id = r.name AND e.kind <> 'folded')`,
		)
		.iterate();
	for (const { body } of rows as Iterable<{ body: string | null }>) {
		const run = body === null ? undefined : (file.value(body) as { sessionKey?: string });
		if (run?.sessionKey !== undefined) names.add(run.sessionKey);
	}
	return names;
}

function seen(file: JournalFile, row: Row, recorded: ReadonlySet<string>): SeenSession {
	const { key, name, parent } = file.key(file.text(row.key));
	const { id, key: storedKey, epoch, changed_at: changedAt, entries } = row;
	// A record refers to a session by its callers' key or by its own.
	const busy = row.open_run !== null || row.waiting > 0 || recorded.has(name) || recorded.has(key);
	return {
		id,
		storedKey,
		key,
		name,
		...(parent === undefined ? {} : { parent }),
		epoch,
		changedAt,
		entries,
		busy,
		isChild: parent !== undefined,
	};
}

function rootOf({ key, parent }: SeenSession): string {
	let root = key;
	for (let above = parent; above !== undefined; above = readChildStoreKey(above)?.parentStoreKey)
		root = above;
	return root;
}
