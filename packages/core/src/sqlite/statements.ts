// Every SQL statement of the journal, prepared once per connection.
import { checksumOf, entryChecksums } from "./checksums.ts";
import type { SqlConnection, SqlParameter, SqlStatement } from "./connection.ts";

/** A session's row. */
export interface SessionRow {
	readonly id: number;
	readonly key: string;
	readonly incarnation: string;
	readonly epoch: number;
	readonly owner: number | null;
	readonly open_run: string | null;
	readonly inputs: number;
	readonly created_at: number;
	readonly updated_at: number;
}

/** A session's row joined with data from other tables. */
export interface SessionView extends SessionRow {
	readonly seq: number;
	readonly last_at: number;
	readonly last_kind: string | null;
	readonly waiting: number;
}

/** An entry's row as a list of columns: histories are long, and reading a list takes half the time of an object. */
export type EntryColumns = readonly [
	id: number,
	seq: number,
	run: number | null,
	runId: string | null,
	kind: string,
	version: number,
	at: number,
	body: string,
];

/** A chunk's row. */
export interface ChunkRow {
	readonly seq: number;
	readonly sub: number;
	readonly body: string;
}

/** An input's row. */
export interface InputRow {
	readonly position: number;
	readonly id: string;
	readonly kind: string;
	readonly run_id: string | null;
	readonly dedupe_key: string | null;
	readonly worker: string | null;
	readonly at: number;
	readonly body: string;
}

/** Whether a key belongs to a reachable session: see hidden-sessions.ts. */
const isVisible = (key: string): string => `NOT (${key} >= '"' AND ${key} < '#')`;
/** The name of a session's fold. Numbers from JavaScript arrive as fractions. */
const foldOf = (session: string): string => `'folded ' || CAST(${session} AS INTEGER)`;
/** Seq of the entry that replaces all before it, while rows of those remain: see fold-entries.ts. */
export const foldedAt = (session: string): string =>
	`ifnull((SELECT value FROM meta WHERE name = ${foldOf(session)}), 0)`;
/** Rows that an older release created during the migration have none. */
const incarnationOf = (session: string): string =>
	`ifnull(${session}.incarnation, ${session}.id || '-' || ${session}.created_at)`;
const views = `
	SELECT s.id, s.key, ${incarnationOf("s")} AS incarnation, s.epoch, s.owner, s.open_run, s.inputs, s.created_at, s.updated_at,
		ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0) AS seq,
		ifnull((SELECT at FROM entries WHERE session = s.id ORDER BY seq DESC LIMIT 1), 0) AS last_at,
		(SELECT kind FROM entries WHERE session = s.id ORDER BY seq DESC LIMIT 1) AS last_kind,
		(SELECT count(*) FROM inputs WHERE session = s.id) AS waiting
	FROM sessions s`;
const sessionsAtWork = "SELECT id FROM sessions WHERE open_run IS NOT NULL AND look_at IS NULL";
const openSessions = `${sessionsAtWork} UNION ALL SELECT id FROM sessions WHERE look_at IS NOT NULL`;
const newIncarnation = "lower(hex(randomblob(10)))";
const highestDeletedEpoch = "ifnull((SELECT value FROM meta WHERE name = 'highest_deleted_epoch'), 0)";

const texts = {
	findSession: `SELECT s.id, ${incarnationOf("s")} AS incarnation, s.epoch, s.owner, s.open_run, s.look_at,
		ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0) AS seq FROM sessions s WHERE s.key = ?`,
	sessionId: "SELECT id FROM sessions WHERE key = ?",
	sessionToRead: `SELECT s.id, ${foldedAt("s.id")} AS folded FROM sessions s WHERE s.key = ?`,
	pageToRead: `SELECT s.id, ${foldedAt("s.id")} AS folded, ${incarnationOf("s")} AS incarnation, s.epoch,
		ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0) AS seq FROM sessions s WHERE s.key = ?`,
	sessionIncarnation: "SELECT incarnation FROM sessions WHERE id = ?",
	sessionEpoch: "SELECT epoch FROM sessions WHERE id = ?",
	createSession: `INSERT INTO sessions (key, incarnation, changed, epoch, inputs, created_at, updated_at)
		VALUES (?, ${newIncarnation}, ?, ${highestDeletedEpoch}, 0, ?, ?) RETURNING id, epoch`,
	createTakenSession: `INSERT INTO sessions
		(key, incarnation, epoch, owner, open_run, look_at, inputs, created_at, updated_at)
		VALUES (?, ${newIncarnation}, ${highestDeletedEpoch} + 1, ?, ?, ?, 0, ?, ?) RETURNING id, epoch, incarnation`,
	takeSession: `UPDATE sessions SET epoch = ?, owner = ?, open_run = ?, look_at = ?, updated_at = max(updated_at, ?)
		WHERE id = ?`,
	setOpenRun: "UPDATE sessions SET open_run = ?, look_at = ?, updated_at = ? WHERE id = ?",
	releaseSession: "UPDATE sessions SET owner = NULL WHERE id = ? AND epoch = ?",
	deleteSession: "DELETE FROM sessions WHERE id = ?",
	hiddenSessions: `SELECT id, owner FROM sessions WHERE key >= '"sweep ' AND key < '"sweep!'`,
	hiddenOwner: "SELECT owner FROM sessions WHERE id = ? AND key = ?",
	// If another worker holds a lease on it, the lease is lost, and its run cannot be recovered.
	hideSession:
		"UPDATE sessions SET key = ?, epoch = epoch + 1, changed = NULL, owner = NULL, open_run = NULL, look_at = NULL WHERE id = ?",
	ownSession: "UPDATE sessions SET owner = ? WHERE id = ?",
	disownSession: "UPDATE sessions SET owner = NULL WHERE id = ?",
	disownCopy: "UPDATE sessions SET owner = NULL WHERE id = ? AND key = ?",
	// A session deleted during the copy may have had the new key, and a higher epoch.
	showSession: `UPDATE sessions SET key = ?, changed = ?, epoch = ${highestDeletedEpoch}, owner = NULL, created_at = ?, updated_at = ?
		WHERE id = ?`,
	deleteSomeEntries: `DELETE FROM entries WHERE id IN (
		SELECT id FROM entries WHERE session = :session ORDER BY seq LIMIT :count)`,
	deleteSomeChunks: `DELETE FROM chunks WHERE session = :session AND (seq, sub) IN (
		SELECT seq, sub FROM chunks WHERE session = :session ORDER BY seq, sub LIMIT :count)`,
	deleteSomeDedupe: `DELETE FROM dedupe WHERE session = :session AND key IN (
		SELECT key FROM dedupe WHERE session = :session ORDER BY key LIMIT :count)`,
	deleteSomeEntriesBefore: `DELETE FROM entries WHERE id IN (
		SELECT id FROM entries WHERE session = :session AND seq < :seq ORDER BY seq LIMIT :count)`,
	deleteSomeChunksBefore: `DELETE FROM chunks WHERE session = :session AND (seq, sub) IN (
		SELECT seq, sub FROM chunks WHERE session = :session AND seq < :seq ORDER BY seq, sub LIMIT :count)`,
	keepFold: `INSERT INTO meta (name, value) VALUES (${foldOf("?")}, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	forgetFold: `DELETE FROM meta WHERE name = ${foldOf("?")}`,
	someFold: `SELECT CAST(substr(name, 8) AS INTEGER) AS session, value AS seq FROM meta
		WHERE name >= 'folded ' AND name < 'folded!' LIMIT 1`,
	insertChunk: "INSERT INTO chunks (session, seq, sub, body, sum) VALUES (?, ?, ?, ?, ?)",
	readChunks: `SELECT seq, sub, body FROM chunks WHERE session = ? AND seq >= ? AND (seq, sub) > (?, ?) AND seq <= ?
		ORDER BY seq, sub LIMIT ?`,
	deleteInputs: "DELETE FROM inputs WHERE session = ?",
	deleteValues: "DELETE FROM session_values WHERE session = ?",
	readValue: `SELECT value FROM session_values
		WHERE session = (SELECT id FROM sessions WHERE key = ?) AND owner = ? AND name = ?`,
	findValue: "SELECT 1 FROM session_values WHERE session = ? AND owner = ? AND name = ?",
	listValues: `SELECT name, value FROM session_values
		WHERE session = (SELECT id FROM sessions WHERE key = ?) AND owner = ?`,
	setValue: `INSERT INTO session_values (session, owner, name, value, sum) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (session, owner, name) DO UPDATE SET value = excluded.value, sum = excluded.sum`,
	deleteValue: "DELETE FROM session_values WHERE session = ? AND owner = ? AND name = ?",
	readRecord: "SELECT revision, body FROM records WHERE shelf = ? AND name = ?",
	recordRevision: "SELECT revision FROM records WHERE shelf = ? AND name = ?",
	listRecords: "SELECT name, revision, body FROM records WHERE shelf = ? AND name > ? ORDER BY name LIMIT ?",
	writeRecord: `INSERT INTO records (shelf, name, revision, body, sum) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (shelf, name) DO UPDATE SET revision = excluded.revision, body = excluded.body, sum = excluded.sum`,
	deleteRecord: "DELETE FROM records WHERE shelf = ? AND name = ?",
	nextRevision: `INSERT INTO meta (name, value) VALUES ('record_revision', 1)
		ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value`,
	locateRun: `SELECT s.key AS place, e.seq AS first,
		(SELECT n.seq FROM entries n WHERE n.session = e.session AND n.seq >= e.seq AND n.kind = 'run.ended'
			ORDER BY n.seq LIMIT 1) AS ended
		FROM entries e JOIN sessions s ON s.id = e.session
		WHERE e.run_id = ? AND e.kind <> 'folded' AND ${isVisible("s.key")} AND e.seq >= ${foldedAt("s.id")}
		ORDER BY e.id LIMIT 1`,
	locateWaiting: `SELECT s.key AS place FROM inputs i JOIN sessions s ON s.id = i.session
		WHERE i.run_id = ? AND i.kind = 'message' LIMIT 1`,
	unfinishedRuns: `SELECT open_run AS id FROM sessions WHERE id IN (${openSessions})
		UNION SELECT run_id FROM inputs WHERE kind = 'message' AND run_id IS NOT NULL`,
	// The row of session 0 takes the next id, so that no later entry or other change gets a lower one.
	takePosition: `INSERT INTO entries (id, session, seq, kind, version, at, body)
		VALUES ((SELECT ifnull(max(id), 0) + 1 FROM entries), 0, 0, 'position', 0, 0, '')
		ON CONFLICT (session, seq) DO UPDATE SET id = (SELECT max(id) + 1 FROM entries) RETURNING id AS position`,
	lastPosition: `SELECT max(
		ifnull((SELECT id FROM entries WHERE session = 0), 0),
		ifnull((SELECT e.id FROM entries e CROSS JOIN sessions s ON s.id = e.session
			WHERE ${isVisible("s.key")} ORDER BY e.id DESC LIMIT 1), 0)) AS position`,
	setChanged: "UPDATE sessions SET changed = ? WHERE id = ?",
	// Only the last change of each session.
	changedEntries: `SELECT e.id AS position, s.key, ${incarnationOf("s")} AS incarnation, e.seq
		FROM entries e CROSS JOIN sessions s ON s.id = e.session
		WHERE e.id > ? AND e.id > ifnull(s.changed, 0) AND ${isVisible("s.key")}
			AND e.seq = (SELECT max(seq) FROM entries WHERE session = e.session) ORDER BY e.id LIMIT ?`,
	changedSessions: `SELECT s.changed AS position, s.key, ${incarnationOf("s")} AS incarnation,
			ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0) AS seq
		FROM sessions s WHERE s.changed > ? AND ${isVisible("s.key")}
			AND s.changed > ifnull((SELECT id FROM entries WHERE session = s.id ORDER BY seq DESC LIMIT 1), 0)
		ORDER BY s.changed LIMIT ?`,
	removedSessions: `SELECT position, key, incarnation, seq FROM removed_sessions WHERE position > ?
		ORDER BY position LIMIT ?`,
	firstRemoved: "SELECT number, position FROM removed_sessions ORDER BY number LIMIT 1",
	rememberRemoved: `INSERT INTO removed_sessions (position, key, incarnation, seq)
		SELECT ?, s.key, ${incarnationOf("s")}, ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0)
		FROM sessions s WHERE s.id = ?`,
	forgetRemoved:
		"DELETE FROM removed_sessions WHERE number <= (SELECT max(number) FROM removed_sessions) - ?",
	setTimer: `INSERT INTO timers (session, name, wake_at, due_at, attempt, body, sum)
		VALUES (:session, :name, :at, :at, 0, :body, :sum)
		ON CONFLICT (session, name) DO UPDATE SET wake_at = excluded.wake_at, due_at = excluded.due_at, attempt = 0,
			claim = NULL, body = excluded.body, sum = excluded.sum`,
	cancelTimer: "DELETE FROM timers WHERE session = ? AND name = ?",
	settleTimer:
		"DELETE FROM timers WHERE session = (SELECT id FROM sessions WHERE key = ?) AND name = ? AND claim = ?",
	dueTimers: `SELECT t.session, t.name, t.wake_at, t.body, s.key, ${incarnationOf("s")} AS incarnation
		FROM timers t CROSS JOIN sessions s ON s.id = t.session WHERE t.due_at <= ? ORDER BY t.due_at LIMIT ?`,
	claimTimer: `UPDATE timers SET due_at = ?, attempt = attempt + 1, claim = lower(hex(randomblob(8)))
		WHERE session = ? AND name = ? RETURNING claim, attempt`,
	dueTimersOf: `SELECT t.session, t.name, t.wake_at, t.body, s.key, ${incarnationOf("s")} AS incarnation
		FROM timers t CROSS JOIN sessions s ON s.id = t.session
		WHERE t.due_at <= :at AND (substr(s.key, 1, length(:prefix)) = :prefix) = :begins ORDER BY t.due_at LIMIT :limit`,
	nextTimer: "SELECT min(due_at) AS due FROM timers",
	nextTimerAfter: "SELECT min(due_at) AS due FROM timers WHERE due_at > ?",
	listTimers: `SELECT t.name, t.wake_at, t.body FROM timers t JOIN sessions s ON s.id = t.session WHERE s.key = ?`,
	deleteTimers: "DELETE FROM timers WHERE session = ?",
	findFile: "SELECT id, name, size, at FROM files WHERE session = ? AND owner = ? AND name = ?",
	listFiles: "SELECT id, name, size, at FROM files WHERE session = ? AND owner = ?",
	sizeOfFiles: "SELECT count(*) AS count, ifnull(sum(size), 0) AS size FROM files WHERE session = ?",
	addFile: "INSERT INTO files (session, owner, name, size, at, worker) VALUES (?, ?, ?, ?, ?, ?)",
	showFile: "UPDATE files SET session = ?, size = ?, at = ?, worker = NULL WHERE id = ?",
	// Its readers can continue for a while, unless the time is 0.
	hideFile: "UPDATE files SET session = NULL, worker = NULL, at = ? WHERE id = ?",
	hideFiles: "UPDATE files SET session = NULL, worker = NULL, at = 0 WHERE session = ?",
	looseFiles: "SELECT id, worker, at FROM files WHERE session IS NULL",
	addPiece: "INSERT INTO file_pieces (id, bytes, sum) VALUES (?, ?, ?)",
	readPiece: "SELECT bytes FROM file_pieces WHERE id = ?",
	deleteSomePieces: `DELETE FROM file_pieces WHERE id IN (
		SELECT id FROM file_pieces WHERE id >= :from AND id < :through ORDER BY id LIMIT :count)`,
	deleteFile: "DELETE FROM files WHERE id = ?",
	keepEpoch: `INSERT INTO meta (name, value) VALUES ('highest_deleted_epoch', ?)
		ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
	forecastEpoch: `SELECT ${highestDeletedEpoch} AS epoch`,
	insertEntry: `INSERT INTO entries (session, seq, run, run_id, kind, version, at, body, sum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	readEntries: `SELECT id, seq, run, run_id, kind, version, at, body FROM entries
		WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`,
	settledEntry: `SELECT id FROM entries WHERE session = :session AND seq = :seq AND seq >= ${foldedAt(":session")}
		AND kind IN ('run.ended', 'folded')`,
	// Rows of one run are contiguous, and the first row of another run or writer is marked.
	nameRuns: `UPDATE entries SET run = NULL, run_id = (SELECT f.run_id FROM entries f WHERE f.id = entries.run)
		WHERE session = :session AND seq > :seq AND seq < ifnull((SELECT n.seq FROM entries n
			WHERE n.session = :session AND n.seq > :seq AND n.run_id IS NOT NULL ORDER BY n.seq LIMIT 1), 1e300)`,
	foldInto:
		"UPDATE entries SET run = NULL, run_id = ?, kind = ?, version = ?, body = ?, sum = ? WHERE id = ?",
	kindsFrom: `SELECT seq, kind FROM entries WHERE session = :session AND seq >= max(:seq, ${foldedAt(":session")})
		ORDER BY seq LIMIT 2`,
	lastEntryId: "SELECT ifnull(max(id), 0) AS id FROM entries",
	firstSeq: `SELECT max(ifnull((SELECT min(seq) FROM entries WHERE session = :session), 0), ${foldedAt(":session")}) AS seq`,
	// The row that names a run is either among those of this transaction, whose numbers follow from their seqs, or among
	// those copied before.
	copyEntries: `INSERT INTO entries (id, session, seq, run, run_id, kind, version, at, body, sum)
		SELECT :base + e.seq, :session, e.seq,
			CASE WHEN e.run IS NULL THEN NULL WHEN o.seq > :before THEN :base + o.seq
				ELSE (SELECT c.id FROM entries c WHERE c.session = :session AND c.seq = o.seq) END,
			e.run_id, e.kind, e.version, e.at, e.body, e.sum
		FROM entries e LEFT JOIN entries o ON o.id = e.run
		WHERE e.session = :source AND e.seq > :copied AND e.seq <= :through ORDER BY e.seq`,
	runOfEntry: "SELECT run_id FROM entries WHERE id = ?",
	countInput:
		"UPDATE sessions SET inputs = inputs + 1, changed = ?, updated_at = ? WHERE id = ? RETURNING inputs",
	insertInput: `INSERT INTO inputs (session, position, id, kind, run_id, dedupe_key, worker, at, body, sum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	findDedupe: "SELECT position FROM dedupe WHERE session = ? AND key = ?",
	insertDedupe: "INSERT INTO dedupe (session, key, position) VALUES (?, ?, ?)",
	readInputs: `SELECT position, id, kind, run_id, dedupe_key, worker, at, body FROM inputs
		WHERE session = (SELECT id FROM sessions WHERE key = ?) ORDER BY position`,
	waitingForRun: `SELECT id FROM inputs
		WHERE session = ? AND kind <> 'message' AND (run_id IS NULL OR run_id = ?)`,
	findInput: "SELECT 1 FROM inputs WHERE session = ? AND id = ?",
	drainInput: "DELETE FROM inputs WHERE session = ? AND id = ?",
	viewSession: `${views} WHERE s.key = ?`,
	viewSessions: `${views} WHERE s.key >= max(?, ?) AND ${isVisible("s.key")} ORDER BY s.key`,
	// Restricted to keys with the prefix, because most sessions did not change. No text contains that byte value.
	viewChangedSessions: `${views} WHERE s.key >= max(?, ?) AND s.key < CAST(CAST(? AS BLOB) || x'FF' AS TEXT)
		AND (s.updated_at >= ? OR (s.open_run IS NOT NULL AND last_at >= ?)) AND ${isVisible("s.key")} ORDER BY s.key`,
	// There are few unfinished sessions: the plus makes SQLite use their short lists instead of walking all keys.
	viewOpenSessions: `${views} WHERE +s.key >= max(?, ?) AND s.id IN (${openSessions}) ORDER BY +s.key`,
	viewWaitingSessions: `${views} WHERE +s.key >= max(?, ?) AND s.look_at <= ? ORDER BY +s.key`,
	viewUnfinishedSessions: `${views} WHERE +s.key >= max(?, ?) AND s.id IN (
		${sessionsAtWork} UNION SELECT session FROM inputs) ORDER BY +s.key`,
	// Any worker may start a message for an ended run.
	waitingWorkers: `SELECT DISTINCT CASE kind WHEN 'message' THEN worker END AS worker FROM inputs
		WHERE session = ? AND (kind = 'message' OR (kind = 'steer' AND worker IS NOT NULL))`,
	// Looks up a JSON list of keys, by position in the list.
	positionsOf: `SELECT j.key AS at, s.id || ' ' || s.epoch || ' ' || s.inputs || ' '
		|| ifnull((SELECT sub FROM chunks WHERE session = s.id ORDER BY seq DESC, sub DESC LIMIT 1), 0) || ' '
		|| ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0) AS position FROM json_each(?) j LEFT JOIN sessions s ON s.key = j.value`,
	addWorker: `INSERT INTO workers (name, pid, started, machine, heartbeat, beat_at, uptime) VALUES (?, ?, ?, ?, 0, ?, ?)`,
	restoreWorker: `INSERT INTO workers (id, name, pid, started, machine, heartbeat, beat_at, uptime)
		VALUES (?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at, uptime = excluded.uptime`,
	removeWorker: "DELETE FROM workers WHERE id = ?",
	removeWorkerNamed: "DELETE FROM workers WHERE name = ?",
	disownInputs: "UPDATE inputs SET worker = NULL WHERE worker = ?",
	forgetWorker: `DELETE FROM workers WHERE id = ? AND beat_at < ?
		AND id NOT IN (SELECT owner FROM sessions WHERE open_run IS NOT NULL AND look_at IS NULL AND owner IS NOT NULL)`,
	allWorkers: "SELECT id, name, pid, started, machine, heartbeat, beat_at, uptime FROM workers",
	workerById: "SELECT name, pid, started, machine, heartbeat, beat_at, uptime FROM workers WHERE id = ?",
	workerByName: "SELECT pid, started, machine, heartbeat, beat_at, uptime FROM workers WHERE name = ?",
	dataVersion: "PRAGMA data_version",
};

/** The prepared statements by name. */
export type Statements = Readonly<Record<keyof typeof texts, SqlStatement>> & {
	/** Returns the checksum of a body and its identity, to be stored with the body; null if the connection has none. */
	sumOf(about: readonly SqlParameter[], body: SqlParameter): number | null;
	/** Does so for an entry, which every step writes several of. */
	sumOfEntry(kind: string, version: number, body: string): number | null;
};

/** Prepares all statements. */
export function prepareStatements(connection: SqlConnection): Statements {
	const prepared = Object.entries(texts).map(([name, text]) => [name, connection.prepare(text)]);
	const sumOf: Statements["sumOf"] = (about, body) => checksumOf(connection, about, body);
	const statements: Statements = Object.assign(Object.fromEntries(prepared), {
		sumOf,
		sumOfEntry: entryChecksums(connection),
	});
	// Node 22 returns objects only.
	statements.readEntries.setReturnArrays?.(true);
	return statements;
}
