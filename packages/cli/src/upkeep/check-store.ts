/** Checks a server's store for damage: the journal's guarantees about its rows, in one read-only snapshot. */
import type { PostgresHostOptions } from "@holdfast/postgres";
import { livingWorkers, readStore } from "@holdfast/postgres/upkeep";
import { decodeValue, type JSONValue } from "@holdfast/upp";
import {
	type DumpBatch,
	type DumpTables,
	decodeFact,
	fromStored,
	lookAt,
	type StoreDump,
} from "holdfast/host";
import { Story } from "./check-entries.ts";
import { inputKinds, isJson, isRead, noCounts } from "./check-rows.ts";
import type { Counts, Problem } from "./finding.ts";

/** The findings of a check of a server's store. */
export interface StoreReport {
	readonly counts: Counts;
	readonly problems: readonly Problem[];
	/** Number of problems found but not listed. */
	readonly unlisted: number;
}

/** Maximum number of problems listed. */
const most = 100;

/** Checks a store that may be in use. Rejects if the store is unavailable, as a host does. */
export async function checkStore(options: PostgresHostOptions): Promise<StoreReport> {
	const living = await livingWorkers(options);
	const report = await readStore(options, (dump) => checkDump(dump));
	const held = living.reduce((sum, { sessions }) => sum + sessions, 0);
	return { ...report, counts: { ...report.counts, workers: living.length, held } };
}

const reader = {
	text: fromStored,
	fact: decodeFact,
	lookAt: (last: Parameters<typeof lookAt>[0][number]) => lookAt([last], null),
};

/** Checks a dump row by row. */
async function checkDump(dump: StoreDump): Promise<StoreReport> {
	const check = new DumpCheck();
	for await (const batch of dump.rows()) check.add(batch);
	return check.end();
}

class DumpCheck {
	readonly #counts = noCounts();
	readonly #problems: Problem[] = [];
	readonly #sessions = new Map<number, DumpTables["sessions"]>();
	readonly #files = new Map<number, { readonly row: DumpTables["files"]; kept: number }>();
	#unlisted = 0;
	#story: { readonly session: number; readonly story: Story } | undefined;
	#reported = new Set<number>();

	add(batch: DumpBatch): void {
		this.#counts.bytes += batch.rows.reduce((sum, row) => sum + bytesOf(row), 0);
		switch (batch.table) {
			case "sessions":
				for (const row of batch.rows) this.#session(row);
				return;
			case "entries":
				for (const row of batch.rows) this.#entry(row);
				return;
			case "chunks":
				for (const row of batch.rows) this.#chunk(row);
				return;
			case "inputs":
				for (const row of batch.rows) this.#input(row);
				return;
			case "dedupe":
				this.#counts.dedupe += batch.rows.length;
				for (const { session, position } of batch.rows)
					if (position > (this.#sessions.get(session)?.inputs ?? 0))
						this.#found("a dedupe key names an input that was never received", session);
				return;
			case "values":
				this.#counts.values += batch.rows.length;
				for (const { session, owner, name, body } of batch.rows)
					if (!isRead(() => decodeValue(JSON.parse(body) as JSONValue)))
						this.#found(`the value ${fromStored(name)} of ${fromStored(owner)} is damaged`, session);
				return;
			case "timers":
				this.#counts.timers += batch.rows.length;
				for (const { session, name, body } of batch.rows)
					if (body !== null && !isRead(() => decodeValue(JSON.parse(body) as JSONValue)))
						this.#found(`the body of timer ${fromStored(name)} is damaged`, session);
				return;
			case "files":
				this.#counts.files += batch.rows.length;
				for (const row of batch.rows) this.#files.set(row.id, { row, kept: 0 });
				return;
			case "pieces":
				for (const { file, bytes } of batch.rows) {
					const found = this.#files.get(file);
					if (found !== undefined) found.kept += bytes.length;
				}
				return;
			case "records":
				this.#counts.records += batch.rows.length;
				for (const { shelf, name, body } of batch.rows)
					if (!isRead(() => decodeValue(JSON.parse(body) as JSONValue)))
						this.#found(`the record ${fromStored(name)} of ${fromStored(shelf)} is damaged`);
		}
	}

	end(): StoreReport {
		this.#endStory();
		for (const [id, session] of this.#sessions)
			if (!this.#reported.has(id) && session.seq > 0)
				this.#found(`its row counts ${session.seq} entries, but it has none`, id);
		for (const { row, kept } of this.#files.values())
			if (kept !== row.size)
				this.#found(`file ${fromStored(row.name)} has ${kept} of its ${row.size} bytes`, row.session);
		return { counts: this.#counts, problems: this.#problems, unlisted: this.#unlisted };
	}

	#session(row: DumpTables["sessions"]): void {
		this.#counts.sessions++;
		this.#sessions.set(row.id, row);
		if (row.epoch < 0) this.#found("its epoch is below 0", row.id);
	}

	#entry(row: DumpTables["entries"]): void {
		if (this.#story?.session !== row.session) {
			this.#endStory();
			const found = (what: string): void => this.#found(what, row.session);
			this.#story = { session: row.session, story: new Story(reader, this.#counts, { found }) };
			this.#reported.add(row.session);
		}
		const { seq, run, kind, version, body } = row;
		this.#story.story.next({ id: seq, seq, run: null, run_id: run, kind, version, body });
	}

	#endStory(): void {
		if (this.#story === undefined) return;
		const { session, story } = this.#story;
		const row = this.#sessions.get(session);
		if (row === undefined) this.#found("entries belong to a session that does not exist");
		else {
			story.end({ open_run: row.openRun, look_at: row.lookAt });
			if (story.seq !== row.seq)
				this.#found(`its row counts ${row.seq} as its last entry, but it is ${story.seq}`, session);
		}
		this.#story = undefined;
	}

	#chunk({ session, seq, sub, body }: DumpTables["chunks"]): void {
		this.#counts.chunks++;
		const last = this.#sessions.get(session)?.seq ?? 0;
		if (seq > last) this.#found(`chunk ${sub} after entry ${seq}, and the last entry is ${last}`, session);
		if (!isJson(body)) this.#found(`chunk ${sub} after entry ${seq} is damaged`, session);
	}

	#input({ session, position, kind, body }: DumpTables["inputs"]): void {
		this.#counts.inputs++;
		const row = this.#sessions.get(session);
		const input = `input ${position}`;
		if (row === undefined) this.#found(`${input} waits for a session that does not exist`);
		else if (row.inputs < position) this.#found(`${input} is not counted`, session);
		if (!inputKinds.has(kind)) this.#found(`${input} is of the unknown kind ${kind}`, session);
		if (!isJson(body)) this.#found(`the body of ${input} is damaged`, session);
	}

	#found(what: string, session?: number): void {
		const row = session === undefined ? undefined : this.#sessions.get(session);
		if (this.#problems.length >= most) this.#unlisted++;
		else this.#problems.push(row === undefined ? { what } : { what, session: fromStored(row.key) });
	}
}

function bytesOf(row: DumpBatch["rows"][number]): number {
	if ("bytes" in row) return row.bytes.length;
	return "body" in row && row.body !== null ? Buffer.byteLength(row.body) : 0;
}
