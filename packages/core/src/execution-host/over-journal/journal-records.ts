// Records over the journal: a run, checkpoint or event without a record is read from the journal, so that regular turns
// need no extra writes (keeps I2, I5). Records exist only for data from other sources: claims, notifications, outputs.
import { isUnreadable } from "../../facts/index.ts";
import type { Journal, RunIndex } from "../../host/index.ts";
import { numbered, type RecordSpace, type StoredRecord } from "../../host/index.ts";
import { unfinishedShelf } from "../keep-runs.ts";
import { isFinal, type RunRecord } from "../run-record.ts";
import { runEventsOf } from "./run-events-of.ts";
import { entriesOf, runCheckpoints, runOfJournal } from "./run-of-journal.ts";

type Named = StoredRecord & { readonly name: string };

const checkpointShelf = "checkpoints ";
const childShelf = "children ";
const eventShelf = "events ";

/** Creates records that supplement a journal. Missing data is read from the journal. */
export function journalRecords(records: RecordSpace, runs: RunIndex, journal: Journal): RecordSpace {
	async function runOf(runId: string): Promise<RunRecord | undefined> {
		const location = await runs.locate(runId);
		try {
			return location && runOfJournal(runId, location, await entriesOf(journal, location));
		} catch (error) {
			// A damaged journal has no readable run, but the recorded end still counts.
			if (isUnreadable(error)) return undefined;
			throw error;
		}
	}
	/** Records from before the run started come first. Later ones keep their positions. */
	async function checkpointsOf(runId: string): Promise<readonly Named[]> {
		const stored = await records.list(`${checkpointShelf}${runId}`);
		const location = await runs.locate(runId);
		if (location === undefined) return stored;
		const leading = stored.filter(({ name }, index) => name === numbered(index + 1)).length;
		const derived = runCheckpoints(runId, location, await entriesOf(journal, location)).map((checkpoint) => {
			const version = checkpoint.version + leading;
			const value = { ...checkpoint, checkpointId: `${runId}.${version}`, version };
			return { name: numbered(value.version), revision: 0, value };
		});
		return joined(derived, stored);
	}
	/** A child's id is the key of the call that requested it. These children precede those recorded by others. */
	async function childrenOf(runId: string): Promise<readonly Named[]> {
		const location = await runs.locate(runId);
		const found: Named[] = [];
		for (const { fact } of location === undefined ? [] : await entriesOf(journal, location)) {
			if (fact.kind !== "tool.started" || fact.attempt > 1) continue;
			const child = fact.idempotencyKey;
			if ((await runs.locate(child)) === undefined) continue;
			found.push({ name: `${numbered(0)} ${numbered(found.length)}`, revision: 0, value: child });
		}
		return found;
	}
	async function eventsOf(runId: string): Promise<readonly Named[]> {
		const location = await runs.locate(runId);
		if (location === undefined) return [];
		const events = runEventsOf(await entriesOf(journal, location));
		return events.map((value, index) => ({ name: numbered(index + 1), revision: 0, value }));
	}
	return {
		async get(address) {
			const stored = await records.get(address);
			const { shelf, name } = address;
			if (shelf === "runs") {
				const record = stored.value as RunRecord | undefined;
				if (record !== undefined && isFinal(record.status)) return stored;
				const run = await runOf(name);
				return run === undefined ? stored : { ...stored, value: merged(record, run) };
			}
			if (shelf === "checkpoints") return { ...stored, value: (await checkpointsOf(name)).at(-1)?.value };
			if (stored.value !== undefined) return stored;
			if (shelf === "event-counts") {
				const { length } = await eventsOf(name);
				return length === 0 ? stored : { ...stored, value: length };
			}
			return stored;
		},
		async list(shelf, options = {}) {
			if (shelf === unfinishedShelf) {
				const names = [
					...(await records.list(shelf)).map(({ name }) => name),
					...(await runs.unfinishedRuns()),
				];
				const rows = [...new Set(names)].map((name) => ({ name, revision: 0, value: "unfinished" }));
				return cut(rows, options);
			}
			if (shelf.startsWith(checkpointShelf))
				return cut(await checkpointsOf(shelf.slice(checkpointShelf.length)), options);
			const stored = await records.list(shelf, options);
			if (shelf.startsWith(childShelf))
				return cut(joined(await childrenOf(shelf.slice(childShelf.length)), stored), options);
			if (shelf.startsWith(eventShelf))
				return cut(joined(await eventsOf(shelf.slice(eventShelf.length)), stored), options);
			return stored;
		},
		commit: (expected, writes) => records.commit(expected, writes),
	};
}

/** Combines a run's status from the journal with its record's claims and notes. */
function merged(record: RunRecord | undefined, run: RunRecord): RunRecord {
	if (record === undefined) return run;
	// Claimed but not started: the journal does not contain it yet.
	const status = run.status === "queued" ? record.status : run.status;
	const { lease, ...others } = record;
	const kept = lease === undefined || isFinal(status) ? others : record;
	const output = record.output ?? run.output;
	return {
		...kept,
		status,
		...(run.error === undefined ? {} : { error: run.error }),
		...(output === undefined ? {} : { output }),
	};
}

/** Returns the journal's records; separate records of the same name replace them. */
function joined(derived: readonly Named[], stored: readonly Named[]): readonly Named[] {
	const written = new Set(stored.map(({ name }) => name));
	const all = [...derived.filter(({ name }) => !written.has(name)), ...stored];
	return all.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function cut(
	rows: readonly Named[],
	{ after = "", limit = Number.POSITIVE_INFINITY }: { readonly after?: string; readonly limit?: number },
): readonly Named[] {
	return rows
		.filter(({ name }) => name > after)
		.sort((one, other) => (one.name < other.name ? -1 : 1))
		.slice(0, limit);
}
