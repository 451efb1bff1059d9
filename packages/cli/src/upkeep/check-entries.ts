/**
 * The journal's guarantees about sessions and their entries: positions without gaps, readable facts, one end per run with
 * nothing after it, and a session row that agrees.
 */
import type { Fact } from "holdfast/host";
import type { JournalFile } from "holdfast/sqlite";
import { type Counts, type Finding, orphans } from "./finding.ts";

interface SessionRow {
	readonly id: number;
	readonly key: string;
	readonly epoch: number;
	readonly open_run: string | null;
	/** Absent in files of older releases. */
	readonly look_at?: number | null;
}

interface EntryRow {
	readonly id: number;
	readonly seq: number;
	readonly run: number | null;
	readonly run_id: string | null;
	readonly kind: string;
	readonly version: number;
	readonly body: string;
}

/** Facts that may follow the end of their run. */
const edits: ReadonlySet<string> = new Set(["message.added", "message.updated", "message.deleted"]);

/** Checks all sessions, each entry by entry. */
export function checkEntries(file: JournalFile, counts: Counts, finding: Finding): void {
	const { database } = file;
	orphans(file, "entries", finding);
	const entries = database.prepare(
		"SELECT id, seq, run, run_id, kind, version, body FROM entries WHERE session = ? AND seq >= ? ORDER BY seq",
	);
	if (file.version >= firstWithIncarnations) checkIncarnations(file, finding);
	const sessions = database.prepare("SELECT * FROM sessions ORDER BY id");
	for (const session of sessions.iterate() as Iterable<SessionRow>) {
		if (file.isHidden(session.key)) {
			counts.hidden++;
			continue;
		}
		const key = file.text(session.key);
		counts.sessions++;
		if (session.epoch < 0) finding.found("its epoch is below 0", key);
		const story = new Story(file, counts, { found: (what) => finding.found(what, key) });
		try {
			for (const entry of entries.iterate(session.id, file.foldedAt(session.id)) as Iterable<EntryRow>)
				story.next(entry);
			story.end(session);
		} catch (error) {
			finding.found(`its entries cannot be read: ${(error as Error).message}`, key);
		}
	}
}

/** The first table version in which sessions have separate ids. */
const firstWithIncarnations = 6;

function checkIncarnations(file: JournalFile, finding: Finding): void {
	const twins = file.database.prepare(
		`SELECT key FROM sessions WHERE incarnation IN (
			SELECT incarnation FROM sessions GROUP BY incarnation HAVING count(*) > 1) ORDER BY key`,
	);
	for (const { key } of twins.iterate() as Iterable<{ key: string }>)
		finding.found("another session has its incarnation", file.text(key));
}

function whenOf(lookAt: number | null): string {
	if (lookAt === null) return "no run of it waits or is parked";
	return lookAt === Number.MAX_SAFE_INTEGER
		? "its run waits without a limit"
		: `its run waits until ${lookAt}`;
}

/** Reads the columns of a row. */
export type RowReader = Pick<JournalFile, "text" | "fact" | "lookAt">;

/** The entries of one session, in order. */
export class Story {
	readonly #file: RowReader;
	readonly #counts: Counts;
	readonly #finding: Finding;
	/** Names of runs by the row that defines them. */
	readonly #names = new Map<number, string>();
	readonly #over = new Set<string>();
	#seq = 0;
	#open: string | undefined;
	#last: Fact | undefined;

	constructor(file: RowReader, counts: Counts, finding: Finding) {
		this.#file = file;
		this.#counts = counts;
		this.#finding = finding;
	}

	/** Position of the last entry. */
	get seq(): number {
		return this.#seq;
	}

	next(row: EntryRow): void {
		const { seq, kind } = row;
		this.#counts.entries++;
		const isFirst = this.#seq === 0;
		if (kind === "folded") {
			this.#counts.folded++;
			if (!isFirst) this.#finding.found(`entry ${seq} is folded, and others precede it`);
		} else if (seq !== this.#seq + 1) {
			const missing = seq - this.#seq - 1;
			this.#finding.found(
				`${missing} ${missing === 1 ? "entry is" : "entries are"} missing before entry ${seq}`,
			);
		}
		this.#seq = seq;
		this.#read(row);
		const run = this.#runOf(row);
		if (run !== undefined) this.#follow(row, run);
	}

	/** Checks the session's row against its entries, after the last one. */
	end({ open_run, look_at }: Pick<SessionRow, "open_run" | "look_at">): void {
		this.#checkOpen(open_run === null ? undefined : this.#file.text(open_run));
		if (look_at === undefined) return;
		const lookAt =
			this.#open === undefined || this.#last === undefined ? null : this.#file.lookAt(this.#last);
		if (look_at !== lookAt)
			this.#finding.found(
				`according to its row, ${whenOf(look_at)}, but according to its entries, ${whenOf(lookAt)}`,
			);
	}

	#checkOpen(open: string | undefined): void {
		if (open === this.#open) return;
		const recorded = open === undefined ? "no run is open" : `run ${open} is open`;
		const is = this.#open === undefined ? "none is" : `run ${this.#open} is`;
		this.#finding.found(`according to its row, ${recorded}, but according to its entries, ${is}`);
	}

	#read({ seq, kind, version, body }: EntryRow): void {
		try {
			this.#last = this.#file.fact(kind, version, body);
		} catch (error) {
			const isNewer = (error as { code?: unknown }).code === "journal_newer";
			const why = isNewer
				? `was written by a newer release (${kind} ${version})`
				: `cannot be read (${kind})`;
			this.#finding.found(`entry ${seq} ${why}`);
		}
	}

	#runOf({ id, seq, run, run_id: name }: EntryRow): string | undefined {
		if (name !== null) this.#names.set(id, this.#file.text(name));
		const found = this.#names.get(run ?? id);
		if (found === undefined) this.#finding.found(`entry ${seq} names no run`);
		return found;
	}

	#follow({ seq, kind }: EntryRow, run: string): void {
		if (kind === "folded" || edits.has(kind)) return;
		if (kind === "run.started") {
			this.#counts.runs++;
			this.#counts.openRuns++;
			if (this.#open !== undefined) this.#finding.found(`entry ${seq} starts a run while another is open`);
			if (this.#over.has(run)) this.#finding.found(`entry ${seq} starts run ${run} again`);
			this.#open = run;
			return;
		}
		if (this.#over.has(run)) {
			this.#finding.found(
				kind === "run.ended"
					? `run ${run} ends a second time at entry ${seq}`
					: `entry ${seq} follows the end of its run`,
			);
			return;
		}
		if (this.#open !== run) this.#finding.found(`entry ${seq} belongs to a run that was not started`);
		if (kind !== "run.ended") return;
		this.#over.add(run);
		if (this.#open !== run) return;
		this.#open = undefined;
		this.#counts.openRuns--;
	}
}
