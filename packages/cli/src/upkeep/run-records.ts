/** Removes an execution host's records of deleted runs. */
import type { RecordSpace } from "holdfast/host";

/** Shelves whose records are keyed by run id. */
const byName = ["runs", "unfinished-runs", "scheduled-runs", "checkpoints", "child-counts", "event-counts"];
/** Shelves that belong to one run each. */
const ofRun = ["checkpoints", "events", "children"];
/** Records removed per transaction. */
const batch = 500;

/** Removes the records of runs, run by run. */
export async function removeRunRecords(records: RecordSpace, runs: readonly string[]): Promise<void> {
	for (const run of runs) {
		const places = byName.map((shelf) => ({ shelf, name: run }));
		const { value } = await records.get({ shelf: "runs", name: run });
		const { dedupeKey } = (value ?? {}) as { dedupeKey?: string };
		if (typeof dedupeKey === "string")
			for (const shelf of ["run-dedupe", "notifications"]) places.push({ shelf, name: dedupeKey });
		for (const shelf of ofRun.map((name) => `${name} ${run}`))
			for (const { name } of await records.list(shelf)) places.push({ shelf, name });
		for (let at = 0; at < places.length; at += batch)
			await records.commit(
				[],
				places.slice(at, at + batch).map((place) => ({ ...place, value: undefined })),
			);
	}
}
